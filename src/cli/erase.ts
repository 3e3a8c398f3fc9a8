import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { GuardedClock, requireBelievedClock } from "../base/guarded-clock.ts";
import { type Removal, removalsIn } from "../export/removals.ts";
import { eraseBeside } from "../gateway/uploader/home-at-central.ts";
import type { Erasure, ErasurePlan, ErasureTarget } from "../store/erasure.ts";
import type { PauseRequest } from "../store/pause.ts";
import { setAsideIn } from "../store/sqlite/data-directory.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import type { Store } from "../store/store.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { listedPause, unkeptIn } from "./erasure-list.ts";
import { pseudonymsOf } from "./package-options.ts";
import { addStoreOptions, type StoreOptions } from "./store-place.ts";
import type { Terminal } from "./terminal.ts";
import { momentText, printTable, type TableColumns } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel erase`: takes away what a home has sent, or all of a participant, for ever. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel erase --subject 7 --dry-run": "what would go, line by line",
      "lintel erase --home 12": "all that home 12 has sent; asks first",
      "lintel erase --list --pauses --json":
        "the record of all that was erased or stopped: keep it beside the backups",
      'lintel erase --list --recipient "University of Oslo" --json':
        "what Oslo is to remove from the packages that it has",
      "lintel erase --again erasures.json": "after an older backup was brought back: erase it all again",
    },
    notes: [
      "A server may be running on the store. What comes later of the erased times is refused, and gateways erase it too with their next",
      "upload. Files that were downloaded, and backups that were made before, are elsewhere and stay: docs/erase.md.",
    ],
    exits: {
      2: "bad arguments or input, or nobody has said that it is meant: nothing changed; or the message says what is left to do",
    },
  });
  addStoreOptions(command)
    .option(
      "--home <number>",
      "all that a home has sent, and its records",
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .option(
      "--subject <number>",
      "the records of a participant, and the readings of the times in which nobody else lived there",
      wholeNumber(0, Number.MAX_SAFE_INTEGER),
    )
    .option("--dry-run", "say what would go, and change nothing")
    .option("--yes", "do not ask")
    .option("--list", "show what was erased so far")
    .option(
      "--pauses",
      "with --list --json: also pauses and restrictions, as --again and lintel backup --erase-again take them",
    )
    .option(
      "--recipient <name>",
      "with --list: what is to be removed from the packages of a recipient, in the numbers that they have",
    )
    .option("--key <file>", "the key of these packages, as lintel fetch takes it")
    .option("--again <file>", "erase what a list has, as --list --json prints it, and this store has not")
    .option("--json", "print what went, or the list, as JSON; needs --yes or --dry-run")
    .action((options: EraseOptions) => erase(options, context));
}

interface EraseOptions extends StoreOptions {
  readonly home?: number;
  readonly subject?: number;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly list?: boolean;
  readonly pauses?: boolean;
  readonly recipient?: string;
  readonly key?: string;
  readonly again?: string;
}

async function erase(options: EraseOptions, context: CommandContext): Promise<void> {
  const { home, subject, list, again } = options;
  const asked = [home, subject, list, again].filter((one) => one !== undefined);
  if (asked.length !== 1)
    throw new OperatorError(
      asked.length === 0
        ? "the command does not say what to erase"
        : "the command names more than one thing to erase",
      "give one of --home, --subject, --list and --again",
    );
  await withStore(options, context, async (store, directory) => {
    if (list) return listErasures(store, options, context);
    if (again !== undefined) return eraseAgain(store, again, { directory, options, context });
    const target = home === undefined ? { subject: subject ?? 0 } : { home };
    await eraseTarget(target, { store, directory, options, context });
  });
}

async function eraseTarget(
  target: ErasureTarget,
  run: { store: Store; directory: string | undefined; options: EraseOptions; context: CommandContext },
): Promise<void> {
  const { store, directory, options, context } = run;
  const { terminal, clock } = context;
  // An erasure reaches up to now: by a clock of another year it would take what is still to come.
  requireBelievedClock(directory === undefined ? clock : new GuardedClock({ clock, directory }));
  if (options.dryRun !== true) await finish(store, directory);
  const at_ms = clock.now().unix_ms;
  const planned = await store.erasurePlan(target, at_ms);
  if (planned === undefined) throw unknown(target);
  if (options.dryRun !== true) {
    if (options.json !== true) sayPlan(planned, terminal);
    await confirm(target, options, terminal);
  }
  const id = crypto.getRandomValues(new Uint8Array(16)).toHex();
  const done = options.dryRun === true ? planned : await store.erase({ target, id, at_ms });
  if (done === undefined) throw unknown(target);
  if (options.dryRun !== true) await finish(store, directory);
  const atGateway = directory !== undefined && storedRole(directory) === "gateway";
  const copies = directory === undefined ? [] : setAsideIn(directory);
  if (options.json) {
    const { spans: _, ...shown } = done;
    terminal.printJson({ dry_run: options.dryRun === true, ...target, ...shown, set_aside: copies });
    return;
  }
  if (options.dryRun) sayPlan(done, terminal);
  else terminal.say(`Erased ${total(done)} readings of ${nameOf(target)}, and ${records(done)} records.`);
  sayWhatStays({ atGateway, directory, copies, done }, terminal);
  if (options.dryRun) terminal.say(terminal.errorColours.dim("This was a dry run: nothing has changed."));
}

/** Does what is left of an erasure that was interrupted: its bytes in the database, and what a gateway keeps beside it. */
async function finish(store: Store, directory: string | undefined): Promise<void> {
  await store.takeErasures([]);
  if (directory === undefined || storedRole(directory) !== "gateway") return;
  eraseBeside(
    directory,
    (await store.erasures()).filter(({ own }) => own === 1),
  );
}

function unknown(target: ErasureTarget): OperatorError {
  return new OperatorError(
    `this store knows no ${nameOf(target)}`,
    "look at the number, and at which store --data, --config or --database name; lintel erase --list shows what was erased before",
  );
}

function nameOf(target: ErasureTarget): string {
  return "home" in target ? `home ${target.home}` : `subject ${target.subject}`;
}

/** On a terminal the number has to be typed; a program says --yes. */
async function confirm(
  target: ErasureTarget,
  { yes, json }: EraseOptions,
  terminal: Terminal,
): Promise<void> {
  if (yes) return;
  const number = String("home" in target ? target.home : target.subject);
  const unsure = (what: string) =>
    new OperatorError(what, "nothing has changed; add --yes if it is meant, or --dry-run to only look");
  if (json || process.stdin.isTTY !== true)
    throw unsure("what is erased cannot be brought back, and nobody can be asked");
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    terminal.progress("");
    const typed = await asking.question(`This cannot be undone. Type ${number} to erase ${nameOf(target)}: `);
    if (typed.trim() !== number) throw unsure(`${JSON.stringify(typed)} is not ${number}`);
  } finally {
    asking.close();
  }
}

function sayPlan({ readings, kept, records: counts, alerts, files }: ErasurePlan, terminal: Terminal): void {
  if (readings.length === 0) terminal.say("No readings go.");
  else printTable(terminal, columns, readings);
  const besides = Object.entries({ ...counts, "alerts of central": alerts, "files of the home": files });
  const named = besides.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`);
  terminal.say(named.length === 0 ? "No records go." : `Records that go: ${named.join(", ")}.`);
  for (const stay of kept)
    terminal.say(
      terminal.errorColours.yellow(
        `! kept: ${stay.readings} readings of ${stay.itemname ?? "all items"} in home ${stay.home}, ${momentText(stay.from_ms)} to ${momentText(stay.before_ms)}: ${stay.why}`,
      ),
    );
}

const columns: TableColumns<ErasurePlan["readings"][number]> = {
  home: ({ home }) => home,
  item: ({ itemname }) => itemname,
  from: ({ from_ms }) => (from_ms === 0 ? "the beginning" : momentText(from_ms)),
  to: ({ before_ms }) => momentText(before_ms),
  readings: ({ readings }) => readings,
};

function sayWhatStays(
  of: { atGateway: boolean; directory: string | undefined; copies: readonly string[]; done: ErasurePlan },
  terminal: Terminal,
): void {
  const { atGateway, directory, copies, done } = of;
  for (const path of copies)
    terminal.say(`! ${path} was set aside by a restore and is left as it is: remove it.`);
  for (const { id, name } of done.tokens)
    terminal.say(`! token ${id} (${name}) still lets the home upload: lintel token revoke ${id}`);
  if (directory === undefined)
    terminal.say(
      "! PostgreSQL keeps removed rows in its write-ahead log for a while, and in replicas and archives: docs/erase.md.",
    );
  if (atGateway)
    terminal.say(
      "! Central keeps its copy until it is erased there too; lintel fleet shows that it was asked for.",
    );
  terminal.say("! Backups and downloads made before are elsewhere, and stay: docs/erase.md.");
}

const total = ({ readings }: ErasurePlan) =>
  readings.reduce((sum, one) => sum + one.readings, 0).toLocaleString("en");
const records = ({ records: counts }: ErasurePlan) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

async function listErasures(
  store: Store,
  { json, pauses, recipient, key }: EraseOptions,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  const erasures = await store.erasures();
  if (recipient !== undefined || key !== undefined) {
    const pseudonyms = pseudonymsOf({ identifiers: "none", recipient, key }, context, false);
    const given = { erased: erasures, paused: await store.pauses() };
    const removals = pseudonyms === undefined ? [] : removalsIn(given, pseudonyms);
    if (json) terminal.printJson(removals);
    else if (removals.length === 0) terminal.say("Nothing is to be removed from these packages.");
    else printTable(terminal, removed, removals);
    return;
  }
  if (json)
    terminal.printJson([...erasures, ...(pauses === true ? (await store.pauses()).map(listedPause) : [])]);
  else if (erasures.length === 0) terminal.say("Nothing was ever erased.");
  else printTable(terminal, listed, erasures);
}

const removed: TableColumns<Removal> = {
  why: ({ why }) => why,
  asked: ({ asked }) => asked,
  homeid: ({ homeid }) => homeid ?? undefined,
  itemid: ({ itemid }) => itemid ?? undefined,
  subjectid: ({ subjectid }) => subjectid ?? undefined,
  from: ({ from }) => from ?? undefined,
  to: ({ to }) => to ?? undefined,
};

const listed: TableColumns<Erasure> = {
  erased: ({ at_ms }) => momentText(at_ms),
  subject: ({ subject }) => subject ?? undefined,
  home: ({ home }) => (home < 0 ? undefined : home),
  device: ({ kind, address, itemid }) => (kind === null ? undefined : `${kind} ${address ?? itemid}`),
  from: ({ from_ms }) => (from_ms === 0 ? undefined : momentText(from_ms)),
  to: ({ from_ms, before_ms }) => (from_ms < before_ms ? momentText(before_ms) : "records only"),
  removed: ({ readings }) => readings,
  "refused since": ({ refused }) => refused,
};

async function eraseAgain(
  store: Store,
  file: string,
  run: { directory: string | undefined; options: EraseOptions; context: CommandContext },
): Promise<void> {
  const { yes, json } = run.options;
  const { terminal } = run.context;
  const { erasures: spans, pauses: told } = unkeptIn(file);
  const atGateway = run.directory !== undefined && storedRole(run.directory) === "gateway";
  // A list of central has the pauses of all homes, and a gateway does not know which of them are its own.
  const pauses = told.filter(({ home }) => (home === 0) === atGateway);
  const known = new Set((await store.erasures()).map(({ id }) => id));
  const fresh = new Set(spans.map(({ id }) => id).filter((id) => !known.has(id)));
  const there = new Set((await store.pauses()).map(pauseName));
  const stops = pauses.filter((pause) => !there.has(pauseName(pause)));
  if (yes !== true && fresh.size + stops.length > 0)
    throw new OperatorError(
      `${file} has ${fresh.size} erasures and ${stops.length} pauses that this store does not know, and what they take away cannot be brought back`,
      "nothing has changed; add --yes if it is meant",
    );
  const taken = await store.takeErasures(spans);
  // Of those that are known the earlier end counts.
  await store.takePauses(pauses);
  await finish(store, run.directory);
  if (json) terminal.printJson({ erasures: fresh.size, spans: taken, pauses: stops.length });
  else
    terminal.say(
      `${fresh.size} erasures were done again; ${new Set(spans.map(({ id }) => id)).size - fresh.size} were done here before. ${stops.length} pauses and restrictions are taken over.`,
    );
}

/** The same pause may be of several homes. */
function pauseName({ id, home }: Pick<PauseRequest, "id" | "home">): string {
  return `${home} ${id}`;
}
