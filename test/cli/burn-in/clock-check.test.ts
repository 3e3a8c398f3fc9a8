import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pc from "picocolors";
import { clockQuality } from "../../../src/base/clock.ts";
import type { Bench, BurnInState } from "../../../src/cli/burn-in/bench.ts";
import { checkClock } from "../../../src/cli/burn-in/line-checks.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-clock-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const today_ms = Date.parse("2026-11-28T09:00Z");

/** A clock whose time passes as soon as somebody waits for it. */
class PassingClock extends SettableClock {
  /** Called after each wait. */
  onWait: (waited_ms: number) => void = () => {};

  override after(delay_ms: number, action: () => void): () => void {
    const cancel = super.after(delay_ms, action);
    queueMicrotask(() => {
      this.advance(delay_ms);
      this.onWait(this.now().monotonic_ms);
    });
    return cancel;
  }
}

/** Checks the clock of a box that asked for a power cut in this boot, which is `one` now. */
async function checked(clock: PassingClock, asked: string | undefined) {
  const printed: string[] = [];
  const kept: Partial<BurnInState>[] = [];
  const bench = {
    ...{ directory, clock, stop: new AbortController().signal },
    state: asked === undefined ? {} : { clock: { boot: asked } },
    keep: (change: Partial<BurnInState>) => kept.push(change),
    terminal: { print: (line: string) => printed.push(line), colours: pc.createColors(false) },
  };
  const finding = await checkClock(bench as unknown as Bench).catch(String);
  return { finding, printed, kept, waited_ms: clock.now().monotonic_ms };
}

function unset(unix_ms = today_ms): PassingClock {
  const clock = new PassingClock(unix_ms);
  clock.quality = clockQuality.unsynchronised;
  return clock;
}

test("a box whose plug nobody pulled is not judged, however right its clock is", async () => {
  for (const asked of [undefined, "one"]) {
    const { finding, printed, kept, waited_ms } = await checked(new PassingClock(today_ms), asked);
    expect(finding).toContain("nobody pulled the plug");
    expect(printed).toEqual([expect.stringContaining("take the network away, pull the plug")]);
    expect(kept).toEqual([{ clock: { boot: "one" } }]);
    expect(waited_ms).toBe(600_000);
  }
});

test("a box that gets the time once it has a network passes", async () => {
  const clock = unset();
  clock.advance(130_000);
  clock.onWait = (up_ms) => {
    if (up_ms >= 200_000) clock.quality = clockQuality.synchronised;
  };
  const found = "Started without a network, the box had the time 3 min 20 s after its start.";
  expect((await checked(clock, "before")).finding).toEqual({ outcome: "passed", found });
});

test("a box that no time service sets in ten minutes fails", async () => {
  const { finding, waited_ms } = await checked(unset(), "before");
  const found = "No time service has set the clock. The network was back for 10 min.";
  expect(finding).toEqual({ outcome: "failed", found });
  expect(waited_ms).toBe(600_000);
});

test("a box that a time service sets to a date which nobody believes fails, and the date is named", async () => {
  const { finding } = await checked(new PassingClock(Date.parse("2043-05-17T00:00Z")), "before");
  expect(finding).toMatchObject({
    outcome: "failed",
    found: expect.stringContaining("shows 2043-05-17, and no time after"),
  });
});
