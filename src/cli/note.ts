import { Argument, type Command, Option } from "commander";
import { OperatorError } from "../base/errors.ts";
import { plainLine } from "../base/text.ts";
import { loadParts } from "../config/gateway-config.ts";
import { type NoteKind, note_words_max, noteKinds } from "../domain/note-kinds.ts";
import type { Note } from "../domain/records/programme-records.ts";
import { notesOfCentral } from "../gateway/uploader/home-at-central.ts";
import { zoneOf } from "../store/derived/home-readings.ts";
import { addNote } from "../store/note-requests.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import type { Store } from "../store/store.ts";
import { shownStore } from "../store/visible-store.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { type AskedMoment, parseMoment } from "./package-options.ts";
import { addStoreOptions, configurationOf, type StoreOptions } from "./store-place.ts";
import { momentText, printTable, type TableColumns } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel note`: what people know of a time in a home, and no sensor tells. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel note add visitor --from 2026-11-19T16:00 --until 2026-11-20T08:00": "on the box",
      'lintel note add hospital --from 2026-11-19 --home 12 --words "a fall" --data /var/lib/lintel-central':
        "at central; it lasts until somebody says otherwise",
      "lintel note list --home 12 --data /var/lib/lintel-central": "the newest first",
      "lintel note remove 4821937465": "by its number",
    },
    notes: [
      "A server may be running on the store. Notes of the box reach central with the next upload, and those of central the box.",
      "Times without an offset are those of the home. The words are personal: downloads have them only with --identifiers full.",
    ],
  });
  const add = command
    .command("add")
    .description("note what was so for a time")
    .addArgument(new Argument("<kind>", "what it was").choices(noteKinds));
  addNoteOptions(add)
    .addOption(
      new Option("--from <date>", "when it began: 2026-11-19T16:00")
        .argParser(parseMoment)
        .makeOptionMandatory(),
    )
    .option("--until <date>", "when it ended; without it, it lasts", parseMoment)
    .option("--item <name>", "the device that it is about, else all of the home")
    .option("--subject <number>", "the participant that it is about", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--words <text>", "more about it")
    .action((kind: NoteKind, options: AddOptions) => addTo(kind, options, context));
  addNoteOptions(command.command("list").description("list the notes of a home, the newest first")).action(
    (options: NoteOptions) => listOf(options, context),
  );
  const remove = command.command("remove <number>").description("remove a note");
  addNoteOptions(remove).action((number: string, options: NoteOptions) =>
    removeFrom(wholeNumber(0, Number.MAX_SAFE_INTEGER)(number), options, context),
  );
}

interface NoteOptions extends StoreOptions {
  readonly home?: number;
}

interface AddOptions extends NoteOptions {
  readonly from: AskedMoment;
  readonly until?: AskedMoment;
  readonly item?: string;
  readonly subject?: number;
  readonly words?: string;
}

function addNoteOptions(command: Command): Command {
  return addStoreOptions(command)
    .option("--home <number>", "the home, at central", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option("--json", "print JSON, as the interface serves notes");
}

async function addTo(kind: NoteKind, options: AddOptions, context: CommandContext): Promise<void> {
  const words = options.words === undefined ? null : plainLine(options.words);
  if ((words?.length ?? 0) > note_words_max)
    throw new OperatorError("the words are too long", `give ${note_words_max} characters at most`);
  const note = await withNotes(options, context, async ({ store, home, zone }) => {
    const { item, subject, from, until } = options;
    const itemid = item === undefined ? null : (await store.itemidsOf([item])).get(item);
    if (itemid === undefined)
      throw new OperatorError(`there is no item ${JSON.stringify(item)}`, "lintel items lists them");
    return addNote(store, {
      ...{ homeid: home, itemid, subjectid: subject ?? null, kind, words },
      start: Math.floor(from(zone)),
      stop: until === undefined ? null : Math.floor(until(zone)),
      source: "coordinator",
      said: Math.floor(context.clock.now().unix_ms / 1000),
    });
  });
  if (options.json) return context.terminal.printJson(note);
  context.terminal.print(`Noted as number ${note.noteid}: ${spanText(note)}.`);
}

async function listOf(options: NoteOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const notes = await withNotes(options, context, async ({ store, home }) =>
    (await shownStore(store)).recordsOf("notes", home),
  );
  notes.reverse();
  if (options.json) return terminal.printJson(notes);
  if (notes.length === 0) return terminal.say("There are no notes of this home: lintel note add writes one.");
  printTable(terminal, columns, notes, ["said", "by", "words"]);
}

async function removeFrom(noteid: number, options: NoteOptions, context: CommandContext): Promise<void> {
  await withNotes(options, context, async ({ store, home, directory }) => {
    const notes = await (await shownStore(store)).recordsOf("notes", home);
    const note = notes.find((one) => one.noteid === noteid);
    if (note === undefined)
      throw new OperatorError(`this home has no note ${noteid}`, "lintel note list shows the numbers");
    if (directory !== undefined && note.source !== "home" && notesOfCentral(directory).has(noteid))
      throw new OperatorError(
        "this note is central's, and would come back with the next upload",
        `run lintel note remove ${noteid} --home ${home} at central`,
      );
    await store.changeNotes(home, { kept: [], removed: [noteid] });
  });
  if (options.json) return context.terminal.printJson({ removed: noteid });
  context.terminal.print(`Note ${noteid} is removed.`);
}

const columns: TableColumns<Note> = {
  number: ({ noteid }) => noteid,
  kind: ({ kind }) => kind,
  from: ({ start }) => momentText(start * 1000),
  until: ({ stop }) => (stop === null ? undefined : momentText(stop * 1000)),
  item: ({ itemid }) => itemid ?? undefined,
  subject: ({ subjectid }) => subjectid ?? undefined,
  by: ({ source }) => source,
  said: ({ said }) => (said === null ? undefined : momentText(said * 1000)),
  words: ({ words }) => words ?? undefined,
};

function spanText({ kind, start, stop }: Note): string {
  const until = stop === null ? "on" : `until ${momentText(stop * 1000)}`;
  return `${kind} from ${momentText(start * 1000)} ${until}`;
}

interface Noted {
  readonly store: Store;
  readonly home: number;
  /** Of the home. */
  readonly zone: string;
  /** Of a gateway, or of a store that nobody has run yet. */
  readonly directory: string | undefined;
}

/** Opens the store that the options name, and finds the home that is meant. @throws OperatorError where that is not known */
function withNotes<Result>(
  options: NoteOptions,
  context: CommandContext,
  use: (noted: Noted) => Promise<Result>,
): Promise<Result> {
  return withStore(options, context, async (store, path) => {
    const directory = path !== undefined && storedRole(path) !== "central" ? path : undefined;
    const file = directory === undefined ? undefined : configurationOf(options);
    const configured = file === undefined ? undefined : loadParts(file, "home").home;
    const home = options.home ?? configured?.id;
    if (home === undefined)
      throw new OperatorError("nobody has said which home is meant", "give --home NUMBER, or set [home] id");
    return use({ store, home, zone: await zoneOf(store, home, configured), directory });
  });
}
