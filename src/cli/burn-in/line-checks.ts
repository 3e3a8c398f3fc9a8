import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { clockQuality } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import { GuardedClock } from "../../base/guarded-clock.ts";
import { uploadFrom } from "../../gateway/uploader/uploader.ts";
import { TryAgainLater } from "../../web/client/http-request.ts";
import { makeBackup } from "../backup/make-backup.ts";
import { silentLog } from "../doctor/finding.ts";
import { takesConnections } from "../doctor/hardware-checks.ts";
import { restoreFromBackup } from "../restore/from-backup.ts";
import { spanText } from "../terminal-text.ts";
import { type Bench, type BurnInFinding, copiesPath, pause, until } from "./bench.ts";

/** How long the box waits for the technician. */
const patience_ms = 10 * 60_000;
/** A time service asks again after a minute at the latest. */
const time_max_ms = 10 * 60_000;

/** Whether the box starts without a network, and has the time once it has one. */
export async function checkClock(bench: Bench): Promise<BurnInFinding> {
  const { state, keep, terminal, directory } = bench;
  const clock = new GuardedClock({ clock: bench.clock, directory });
  if (state.clock === undefined || state.clock.boot === clock.boot) {
    keep({ clock: { boot: clock.boot } });
    const after = "Two minutes later give it the network again, log in, and run lintel burn-in.";
    terminal.print(
      terminal.colours.bold(`Now take the network away, pull the plug, and plug in again. ${after}`),
    );
    await pause(bench, patience_ms);
    throw new OperatorError("nobody pulled the plug", "run lintel burn-in again");
  }
  const isKnown = () => Promise.resolve(clock.now().quality === clockQuality.synchronised);
  if (await until(bench, time_max_ms, isKnown)) {
    const up = spanText(clock.now().monotonic_ms);
    return {
      outcome: "passed",
      found: `Started without a network, the box had the time ${up} after its start.`,
    };
  }
  const { what } = clock.doubt?.() ?? { what: "No time service has set the clock." };
  return { outcome: "failed", found: `${what} The network was back for ${spanText(time_max_ms)}.` };
}

/** Whether an upload goes on after the line was cut, and nothing differs in the end. */
export async function checkUpload(bench: Bench): Promise<BurnInFinding> {
  const { site, clock, terminal, stop } = bench;
  if (site === undefined) return { outcome: "skipped", found: "this box sends to no central." };
  const log = silentLog(clock);
  const attempt = async (everyDay: boolean) => {
    try {
      return await uploadFrom(site, { everyDay, stop, clock, log });
    } catch (thrown) {
      if (thrown instanceof TryAgainLater) return undefined;
      throw thrown;
    }
  };
  if ((await attempt(false)) === undefined)
    return { outcome: "failed", found: `Central did not take an upload at ${site.target.url}.` };
  terminal.print(
    terminal.colours.bold(
      "Pull out the network cable for a minute, or switch the router off. Then undo that.",
    ),
  );
  if (!(await until(bench, patience_ms, async () => !(await takesConnections(site.target.url, clock)))))
    throw new OperatorError("the line to central was not cut", "run lintel burn-in again");
  terminal.print("The line is cut.");
  if (!(await until(bench, patience_ms, async () => (await attempt(false)) !== undefined)))
    return {
      outcome: "failed",
      found: `${spanText(patience_ms)} after the line was cut no upload went through.`,
    };
  const done = await attempt(true);
  if (done === undefined) return { outcome: "failed", found: "The line broke again in the comparison." };
  const { confirmed_seq, differing_days } = done;
  if (differing_days > 0)
    return { outcome: "failed", found: `${differing_days} days differed at central after the line was cut.` };
  const held = confirmed_seq.toLocaleString("en");
  return {
    outcome: "passed",
    found: `After the line was cut central had all ${held} readings, and no day differed.`,
  };
}

/** Whether a backup of this box makes another one. Both are made on its disk, and removed. */
export async function checkRestore(bench: Bench): Promise<BurnInFinding> {
  const { directory, terminal, clock, version, stop } = bench;
  const copies = copiesPath(directory);
  rmSync(copies, { recursive: true, force: true });
  mkdirSync(copies, { mode: 0o700 });
  try {
    const context = { terminal, clock, version, exitWith: () => {} };
    const [into, data] = [join(copies, "backup"), join(copies, "restored")];
    const { last_seq } = await makeBackup({ data: directory, into }, context);
    const options = { data, days: 0 };
    await restoreFromBackup(into, { options, context, stop, log: silentLog(clock) });
    const restored = await makeBackup({ data, into: join(copies, "again") }, context);
    const count = last_seq.toLocaleString("en");
    return restored.last_seq === last_seq
      ? { outcome: "passed", found: `A backup with all ${count} readings was made and restored.` }
      : { outcome: "failed", found: `Of ${count} readings the restored backup had ${restored.last_seq}.` };
  } catch (thrown) {
    if (thrown instanceof OperatorError)
      return { outcome: "failed", found: `No backup came back: ${thrown.what}.` };
    throw thrown;
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}
