import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import { plainLine } from "../base/text.ts";
import { machineTimezone } from "../base/timezone.ts";
import { loadParts } from "../config/gateway-config.ts";
import { acceptanceAnswer, acceptanceReportOf, type KeptAcceptance } from "../domain/acceptance.ts";
import { type Trial, trialsOf } from "../domain/acceptance-trials.ts";
import { Acceptances, acceptancesIn } from "../gateway/acceptance/acceptances.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { acceptanceFaultsOf } from "../gateway/gateway-status.ts";
import { uploadFrom } from "../gateway/uploader/uploader.ts";
import { acceptancePost, takeLock } from "../store/sqlite/data-directory.ts";
import type { Store } from "../store/store.ts";
import { until } from "./burn-in/bench.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { interruptible } from "./progress.ts";
import { serverLog } from "./serving.ts";
import { Asker } from "./setup/asker.ts";
import {
  addDirectoryOptions,
  configurationOf,
  dataDirectory,
  requireOwner,
  type StoreOptions,
  siteOf,
} from "./store-place.ts";
import { folding, momentText } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel accept`: the record of an installation, at a terminal. The page `/walk` makes the same. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "sudo -u lintel lintel accept": "try each device of this home, and sign the record",
      "lintel accept --show": "the newest record",
      "lintel accept --show --json": "the same as it was signed",
    },
    notes: [
      "The gateway has to run, and the devices have their names and rooms. What was tried already, here or on the page /walk,",
      "is not asked for again for twelve hours. The record goes to central at once.",
    ],
    exits: { 0: "accepted", 1: "not accepted: the record names each fault" },
  });
  addDirectoryOptions(command)
    .option("--tester <name>", "who tries the home (default: ask)")
    .option("--show", "show the newest record, and do nothing")
    .option("--json", "print the signed record as JSON")
    .action((options: AcceptOptions) => accept(options, context));
}

interface AcceptOptions extends StoreOptions {
  readonly tester?: string;
  readonly show?: boolean;
}

async function accept(options: AcceptOptions, context: CommandContext): Promise<void> {
  const directory = dataDirectory(options);
  if (options.show) {
    const [newest] = acceptancesIn(directory);
    if (newest === undefined)
      throw new OperatorError(`${directory} has no record of an installation`, "make one with lintel accept");
    print(newest, options, context);
    return;
  }
  requireOwner(directory, "accept");
  const interrupted = "Interrupted: lintel accept goes on from here.";
  const made = await interruptible(context, { interrupted }, (stop) =>
    withStore(options, context, (store) => work(directory, { options, context, store, stop })),
  );
  if (made !== undefined) print(made, options, context);
}

interface Visited {
  readonly options: AcceptOptions;
  readonly context: CommandContext;
  readonly store: Store;
  readonly stop: AbortSignal;
}

/** Tries every device and line that has not done its task, and signs the record. */
async function work(directory: string, visited: Visited): Promise<KeptAcceptance> {
  const { options, context, stop } = visited;
  const terminal = folding(context.terminal);
  const acceptances = acceptancesOf(directory, visited);
  const asker = new Asker(terminal);
  const end = () => acceptances.stop();
  stop.addEventListener("abort", end);
  try {
    for (const trial of trialsOf(await acceptances.found()))
      if (trial.state !== "done" && trial.state !== "later")
        await tryOne(trial, { acceptances, asker, visited });
    const { faults } = await acceptances.found();
    for (const { what, remedy } of faults)
      terminal.print(`${terminal.colours.yellow("!")} ${plainLine(what)} ${plainLine(remedy)}`);
    const tester =
      options.tester ??
      (await asker.ask("Your name, for the record", (text) => text.trim() || { why: "write your name" }));
    return await acceptances.complete(tester);
  } finally {
    stop.removeEventListener("abort", end);
    asker.close();
  }
}

/** Asks for one task until the device has told of it, or the technician leaves it out. */
async function tryOne(
  { of, title, room, asks, later }: Trial,
  { acceptances, asker, visited }: { acceptances: Acceptances; asker: Asker; visited: Visited },
): Promise<void> {
  const { context, stop } = visited;
  const terminal = folding(context.terminal);
  const { green, red } = terminal.colours;
  const name = `${plainLine(title)}${room === null ? "" : ` (${plainLine(room)})`}`;
  for (;;) {
    const goes = await asker.ask(
      `${name}: ${plainLine(asks)} Press Enter when you go; s leaves it out.`,
      (text) => !/^s/i.test(text.trim()),
    );
    stop.throwIfAborted();
    if (!goes) return;
    acceptances.ask(of);
    if (later) {
      terminal.print(`${green("✓")} ${name} tells later.`);
      return;
    }
    const isDone = await until({ clock: context.clock, stop }, try_ms_max, async () => {
      const { state } = await now(acceptances, of);
      return state === "done";
    });
    if (isDone) {
      terminal.print(`${green("✓")} ${name} did it.`);
      return;
    }
    const { note } = await now(acceptances, of);
    terminal.print(`${red("✗")} ${name} did not answer.${note === null ? "" : ` ${plainLine(note)}`}`);
  }
}

async function now(acceptances: Acceptances, of: string): Promise<Pick<Trial, "state" | "note">> {
  const found = trialsOf(await acceptances.found()).find((one) => one.of === of);
  return found ?? { state: "missed", note: null };
}

function acceptancesOf(directory: string, { options, context, store }: Visited): Acceptances {
  const file = configurationOf(options);
  const { home, walking, upload } =
    file === undefined ? noParts() : loadParts(file, "home", "walking", "upload");
  const clock = new GuardedClock({ clock: context.clock, directory });
  const log = serverLog(context, "warn");
  const gateway = new ControlClient(directory);
  return new Acceptances({
    hold: () => takeLock(directory, acceptancePost),
    ...{ directory, store, clock, version: context.version, home: home.id, timezone: home.timezone, walking },
    flush: () => gateway.flush(),
    troubles: async () => {
      const status = await gateway.statusIfRunning();
      if (status === undefined)
        return [{ what: "The gateway does not run.", remedy: "Start it with sudo systemctl start lintel." }];
      const problem = status.ingest["problem"] as string | undefined;
      return acceptanceFaultsOf({ ...status, problem }, status.conflicts);
    },
    ...(upload && {
      central: {
        url: upload.url,
        verify: (stop) =>
          uploadFrom(siteOf({ config: file }), { everyDay: true, stop, clock: context.clock, log }),
      },
    }),
  });
}

/** Where only a data directory is named. */
function noParts() {
  return { home: { id: undefined, timezone: machineTimezone() }, walking: [], upload: undefined };
}

function print(record: KeptAcceptance, { json }: AcceptOptions, context: CommandContext): void {
  const { signed, key } = record;
  if (!signed.passed) context.exitWith(1);
  if (json) {
    context.terminal.printJson(record);
    return;
  }
  const terminal = folding(context.terminal);
  const { bold, red, dim } = terminal.colours;
  terminal.print(bold(plainLine(acceptanceAnswer(acceptanceReportOf(record)))));
  for (const { what, remedy } of [...signed.faults, ...(record.nights[0]?.signed.faults ?? [])])
    terminal.print(`${red("✗")} ${plainLine(what)} ${plainLine(remedy)}`);
  const of = signed.homeid === null ? "" : ` of home ${signed.homeid}`;
  terminal.print(
    dim(
      `Record ${signed.number}${of}, by ${plainLine(signed.tester)}, ${momentText(signed.finished * 1_000)}, with Lintel ${plainLine(signed.release)}. Signed by the key ${key}.`,
    ),
  );
}

/** A radio needs seconds, a technician on the stairs a minute. */
const try_ms_max = 60_000;
