import { existsSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readPlainFile, writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { decodingBounds } from "../../base/json-decoder.ts";
import { shortLine } from "../../base/text.ts";
import type { Item } from "../../domain/records/item.ts";
import type { Note } from "../../domain/records/programme-records.ts";
import {
  identityOf,
  type RecordType,
  recordTypes,
  type StoredRecord,
} from "../../domain/records/record-table.ts";
import { numbersIn } from "../../domain/records/visible-records.ts";
import { importDocument } from "../../import/file-import.ts";
import { type FileFault, ImportRefused } from "../../import/record-files.ts";
import {
  type ErasedSpan,
  ErasedSpans,
  type Erasure,
  type ErasureTarget,
  isWholeHome,
  type SpanOfDevice,
} from "../../store/erasure.ts";
import type { UploadStore } from "../../store/gateway/upload-store.ts";
import type { Imported, ImportedRecord } from "../../store/inventory/record-store.ts";
import { changed, changesBetween, isEmpty, type NoteChanges } from "../../store/note.ts";
import { isUnderWay, type PausedSpan, PausedSpans, takenOver } from "../../store/pause.ts";
import type { CentralClient } from "../../transfer/central-client.ts";
import { bodyOfFiles, filesInBody, type HomeFiles } from "../../transfer/kept-files.ts";
import { BackupsBody } from "../../transfer/protocol.ts";
import { type HttpClient, jsonBody } from "../../web/client/http-client.ts";
import { eraseInHomeFiles } from "./home-files.ts";

/**
 * Takes the home records of central into a gateway's store, after the checks of any import. A record that does not fit is left out with those
 * that refer to it, and named; the others are taken in.
 * Records that only the document before had (somebody never lived here, an alert is over) are removed; such an item only leaves this
 * home. The document is kept in the data directory for the next time. What central has erased is erased here first; what was erased here, and is
 * still in the document because central has not, is left out.
 *
 * @throws OperatorError that names the first faults in one line, once the records that fit are taken in
 */
export async function takeHomeRecords(options: {
  readonly store: UploadStore;
  /** The data directory. */
  readonly directory: string;
  readonly document: object;
  /** Changes of notes that central was told before it sent the document. */
  readonly told?: NoteChanges | undefined;
}): Promise<Imported> {
  const { store, directory, told = nothingChanged } = options;
  const { erasures, pauses, records } = documentParts(options.document);
  await store.takeErasures(erasures);
  await store.takePauses(takenOver(pauses));
  const erased = await store.erasures();
  eraseInHomeFiles(directory, [...erased, ...(await store.pauses())]);
  const fit = withheld(records, unanswered(erased, erasures), erased);
  const path = join(directory, recordsName);
  const before = keptRecords(path);
  const [home = 0] = [...notesIn(before), ...notesIn(fit), ...told.kept].map(({ homeid }) => homeid);
  // What the home has said since central was told stays, and is told next time.
  const late = changesBetween(changed(notesIn(before), told), await store.recordsOf("notes", home));
  const { imported, faults } = await importFitting(store, fit);
  const gone = goneFrom(before, fit);
  await store.forgetRecords(gone);
  await releaseItems(store, gone);
  // A note that does not fit was not removed here: the next upload must not say so.
  const notes = faults.length === 0 ? fit.notes : await store.recordsOf("notes", home);
  writeDurably(path, JSON.stringify({ ...fit, notes }));
  if (!isEmpty(late)) await store.changeNotes(home, late);
  if (faults.length === 0) return imported;
  const first = faults.slice(0, named_max).join("; ");
  const more = faults.length > named_max ? `; and ${faults.length - named_max} more` : "";
  throw new OperatorError(
    `some of central's records of this home do not fit what this gateway holds (${first}${more}): all others were taken in`,
    "correct the record at central with lintel import there, or the one that it clashes with here",
  );
}

/** The erasures, the pauses and the records of a document of central. */
export function documentParts(document: object): {
  readonly erasures: readonly ErasedSpan[];
  readonly pauses: readonly PausedSpan[];
  readonly records: RecordsDocument;
} {
  const {
    erasures = [],
    pauses = [],
    ...records
  } = document as RecordsDocument & { readonly erasures?: unknown; readonly pauses?: unknown };
  if (Value.Check(ErasedSpans, erasures) && Value.Check(PausedSpans, pauses))
    return { erasures, pauses, records };
  throw new OperatorError(
    "the times of this home that central says nothing is kept of are not in a form that this gateway knows",
    "run the same version of Lintel on both",
  );
}

/** The exchange of records between a home and central, in one upload. */
export function recordsExchange(at: {
  readonly store: UploadStore;
  readonly directory: string;
  /** The number of the home, where the configuration has it. */
  readonly home: number | undefined;
}) {
  let told: NoteChanges | undefined;
  return {
    notes: async (): Promise<NoteChanges | undefined> => {
      const home = at.home ?? (await at.store.heldEpochs()).at(-1)?.home ?? undefined;
      told = home === undefined ? undefined : await untoldNotes(at, home);
      // Central may not take the change, and then its records are the same as before: they are asked for all the same.
      if (told !== undefined) await at.store.noteUpload({ home_records: '""' });
      return told;
    },
    takeHomeRecords: (document: object) => takeHomeRecords({ ...at, document, told }),
  };
}

/** Changes of the notes of a home since the records that central sent last; undefined where there are none. */
async function untoldNotes(
  { store, directory }: { readonly store: UploadStore; readonly directory: string },
  home: number,
): Promise<NoteChanges | undefined> {
  const before = notesIn(keptRecords(join(directory, recordsName)));
  const changes = changesBetween(before, await store.recordsOf("notes", home));
  if (isEmpty(changes)) return undefined;
  // A provisional item has another number at central.
  const named = changes.kept.flatMap(({ itemid }) => itemid ?? []);
  const known = numbersIn(await store.recordsWith("items", "itemid", named), "itemid");
  const kept = changes.kept.map((note) => ({
    ...note,
    itemid: note.itemid !== null && known.has(note.itemid) ? note.itemid : null,
  }));
  return { ...changes, kept };
}

/** Numbers of the notes that central has sent: it is the one to change them. */
export function notesOfCentral(directory: string): ReadonlySet<number> {
  return new Set(notesIn(keptRecords(join(directory, recordsName))).map(({ noteid }) => noteid));
}

function notesIn({ notes = [] }: RecordsDocument): readonly Note[] {
  return notes as unknown as readonly Note[];
}

const nothingChanged: NoteChanges = { kept: [], removed: [] };

/** Takes out of the files of a data directory, and of the document that is kept there, what was erased here, and of the files what is of a pause. */
export function eraseBeside(
  directory: string,
  erasures: readonly ErasedSpan[],
  pauses: readonly PausedSpan[] = [],
): void {
  eraseInHomeFiles(directory, [...erasures, ...pauses]);
  const path = join(directory, recordsName);
  const targets = erasures
    .filter((erasure) => erasure.subject !== null || isWholeHome(erasure))
    .map(({ subject, home }) => (subject === null ? { home } : { subject }));
  if (targets.length > 0 && existsSync(path))
    writeDurably(path, JSON.stringify(withheld(keptRecords(path), targets, erasures)));
}

/** Targets that were erased here, and not at central. */
function unanswered(here: readonly Erasure[], atCentral: readonly ErasedSpan[]): ErasureTarget[] {
  const targets = new Map(
    here.filter(({ own }) => own === 1).map((erasure) => [erasure.subject, erasure.home]),
  );
  for (const { subject } of atCentral) targets.delete(subject);
  return [...targets].map(([subject, home]) => (subject === null ? { home } : { subject }));
}

/** The document without records of what was erased; of the home that is all. */
function withheld(
  document: RecordsDocument,
  targets: readonly ErasureTarget[],
  spans: readonly SpanOfDevice[] = [],
): RecordsDocument {
  if (targets.some((target) => "home" in target)) return {};
  const subjects = new Set(targets.flatMap((target) => ("subject" in target ? target.subject : [])));
  const whole = spans.filter(({ kind }) => kind === null);
  const isErased = (type: RecordType, { start }: StoredRecord) =>
    type === "notes" && whole.some((span) => isUnderWay(span, Number(start) * 1000));
  const kept = recordTypes.map(
    (type) =>
      [type, document[type]?.filter((record) => !isOf(record, subjects) && !isErased(type, record))] as const,
  );
  return Object.fromEntries(kept.filter(([, records]) => records !== undefined));
}

function isOf({ subjectid }: StoredRecord, subjects: ReadonlySet<number>): boolean {
  return typeof subjectid === "number" && subjects.has(subjectid);
}

/** Takes in what fits. The faults, a line each, of records that were left out. */
async function importFitting(
  store: UploadStore,
  document: RecordsDocument,
): Promise<{ imported: Imported; faults: readonly string[] }> {
  const faults: string[] = [];
  let left = document;
  // What refers to a record that was left out does not fit either: a chain of references is short.
  for (let tries = 0; tries < tries_max; tries += 1) {
    const { text, recordAt } = aRecordALine(left);
    try {
      return { imported: await importDocument({ name: "home records", text, store, dryRun: false }), faults };
    } catch (thrown) {
      if (!(thrown instanceof ImportRefused)) throw thrown;
      faults.push(...thrown.faults.map((fault) => faultInWords(fault, recordAt(fault.line))));
      const unfit = new Map(thrown.faults.map(({ line, field }) => [recordAt(line), field]));
      if (unfit.has(undefined)) break;
      left = Object.fromEntries(
        Object.entries(left).map(([type, records]) => [
          type,
          records.flatMap((record) =>
            unfit.has(record) ? partOf(type, record, unfit.get(record)) : [record],
          ),
        ]),
      );
    }
  }
  throw new OperatorError(
    `central's records of this home do not fit what this gateway holds (${faults[0] ?? "no fault is named"}, and ${faults.length} in all): none of them was taken in`,
    "correct the records at central with lintel import there, or run the same version of Lintel on both",
  );
}

/** The part of a record that fits: without its home everything that names it would go too, so of a home the field alone is left out. */
function partOf(type: string, record: StoredRecord, field: string | undefined): StoredRecord[] {
  if (type !== "homes" || field === undefined || field === "homeid" || !(field in record)) return [];
  const { [field]: _, ...rest } = record;
  return [rest];
}

/** The document as a text in which each record has a line of its own, and the record of a line. */
function aRecordALine(document: RecordsDocument): {
  text: string;
  recordAt: (line: number) => StoredRecord | undefined;
} {
  const lines: string[] = ["{"];
  const records: (StoredRecord | undefined)[] = [undefined];
  for (const [index, [type, all]] of Object.entries(document).entries()) {
    lines.push(`${index === 0 ? "" : ","}${JSON.stringify(type)}: [`);
    records.push(undefined);
    for (const [place, record] of all.entries()) {
      lines.push(`${place === 0 ? "" : ","}${JSON.stringify(record)}`);
      records.push(record);
    }
    lines.push("]");
    records.push(undefined);
  }
  lines.push("}");
  return { text: lines.join("\n"), recordAt: (line) => records[line - 1] };
}

function faultInWords(
  { record: type, field, given, expected }: FileFault,
  record: StoredRecord | undefined,
): string {
  const name = type === undefined || record === undefined ? undefined : identityOf(type, record);
  const what = [type, name && shortLine(name, name_max), field]
    .filter((word) => word !== undefined)
    .join(" ");
  const said = given === undefined ? expected : `${given} is given, ${expected} expected`;
  return what === "" ? said : `${what}: ${said}`;
}

const name_max = 60;
/** As many as an import takes. */
const records_bytes_max = 256 * 2 ** 20;
const named_max = 5;
/** Each time at least one record is left out; faults of a try are a thousand at most. */
const tries_max = 8;

type RecordsDocument = Readonly<Partial<Record<RecordType, readonly StoredRecord[]>>>;

/** Without one, nothing is known to have gone. */
function keptRecords(path: string): RecordsDocument {
  try {
    return JSON.parse(readPlainFile(path, records_bytes_max) ?? "{}");
  } catch (thrown) {
    throw new OperatorError(
      `${path} cannot be read (${messageOf(thrown)})`,
      "move it away: the next upload makes another; records that central has withdrawn since the last one then stay here",
    );
  }
}

function goneFrom(before: RecordsDocument, now: RecordsDocument): ImportedRecord[] {
  return recordTypes.flatMap((type) => {
    const present = new Set((now[type] ?? []).map((record) => identityOf(type, record)));
    const gone = (before[type] ?? []).filter((record) => !present.has(identityOf(type, record)));
    return gone.map((record) => ({ type, record }));
  });
}

/** Removes items from this home that the document no longer has, even if they are in another home now. */
async function releaseItems(store: UploadStore, gone: readonly ImportedRecord[]): Promise<void> {
  const itemids = gone.flatMap(({ type, record }) => (type === "items" ? [Number(record["itemid"])] : []));
  if (itemids.length === 0) return;
  const items = (await store.recordsWith("items", "itemid", itemids)) as unknown as Item[];
  const released = items.map((item) => ({
    type: "items" as const,
    record: { ...item, currenthomeid: null, currenthomestart: null, active: 0, activename: "Inactive" },
  }));
  await store.importRecords([released]);
}

const recordsName = "home-records.json";

/** The document in which central answers the records of a home; an import says whether they fit. */
export const HomeRecordsBody = Type.Object({});

/**
 * Asks central for the records of this home and takes them in, unless they are those that were taken last. Answers what changed; undefined
 * where nothing was new.
 *
 * @param options.take checks the document and takes all of it in, or throws and has changed nothing
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function followHomeRecords(options: {
  readonly central: Pick<CentralClient, "ask" | "read" | "url">;
  readonly store: Pick<UploadStore, "uploadState" | "noteUpload">;
  readonly take: (document: object) => Promise<Imported>;
}): Promise<Imported | undefined> {
  const { central, store, take } = options;
  const { home_records } = await store.uploadState();
  const answer = await central.ask({
    method: "GET",
    path: "/roster",
    answer: decodingBounds.homeRecords,
    headers: home_records === undefined ? undefined : { "if-none-match": home_records },
    accept: [304],
  });
  const etag = answer.headers.get("etag");
  if (answer.status === 304 || (etag !== null && etag === home_records)) return undefined;
  if (etag === null)
    throw new OperatorError(
      `central at ${central.url.host} answers no home records (${answer.body.length} bytes without an entity tag)`,
      "check [upload] url, and what stands between this machine and central",
    );
  const imported = await take(central.read(answer, HomeRecordsBody));
  await store.noteUpload({ home_records: etag });
  return imported;
}

/** Has central keep files of this home by name, each in the place of the one before. */
export async function sendHomeFiles(central: HttpClient, files: HomeFiles): Promise<void> {
  if (files.size === 0) return;
  await central.ask({
    method: "PUT",
    path: "/backups",
    body: jsonBody(bodyOfFiles(files)),
    answer: decodingBounds.batchAnswer,
  });
}

/** The files that central keeps of this home, by name, and what time it is there: a spare box may not know that yet. */
export async function homeFilesAt(
  central: HttpClient,
): Promise<{ readonly files: Map<string, Uint8Array<ArrayBuffer>>; readonly now_ms: number | undefined }> {
  const answer = await central.ask({ method: "GET", path: "/backups", answer: decodingBounds.homeFiles });
  const now_ms = Date.parse(answer.headers.get("date") ?? "");
  return {
    files: filesInBody(central.read(answer, BackupsBody)),
    now_ms: Number.isNaN(now_ms) ? undefined : now_ms,
  };
}
