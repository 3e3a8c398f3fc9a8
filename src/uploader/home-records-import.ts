import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { writeDurably } from "../disk/durable-file.ts";
import { messageOf, OperatorError } from "../errors.ts";
import { type Fault, ImportRefused } from "../import/fault.ts";
import { importDocument } from "../import/import.ts";
import type { Item } from "../records/items.ts";
import { identityOf, type RecordType, recordTypes, type StoredRecord } from "../records/record-table.ts";
import { type ErasedSpan, ErasedSpans, type Erasure, type ErasureTarget } from "../store/erasure.ts";
import type { Imported, ImportedRecord } from "../store/record-store.ts";
import type { UploadStore } from "../store/upload-store.ts";

/**
 * Takes the home records of central into a gateway's store, after the checks of any import: all of them or, where anything does not fit, none.
 * Records that only the document before had (somebody never lived here, an alert is over) are removed; such an item only leaves this
 * home. The document is kept in the data directory for the next time. What central has erased is erased here first; what was erased here, and is
 * still in the document because central has not, is left out.
 *
 * @throws OperatorError that names the first fault in one line
 */
export async function takeHomeRecords(options: {
  readonly store: UploadStore;
  /** The data directory. */
  readonly directory: string;
  /** JSON. */
  readonly document: string;
}): Promise<Imported> {
  const { store, directory } = options;
  const { erasures, records } = partsOf(options.document);
  await store.takeErasures(erasures);
  const document = JSON.stringify(withheld(records, unanswered(await store.erasures(), erasures)));
  const path = join(directory, recordsName);
  const before = keptRecords(path);
  const imported = await checkedImport(store, document);
  const gone = goneFrom(before, JSON.parse(document));
  await store.forgetRecords(gone);
  await releaseItems(store, gone);
  writeDurably(path, document);
  return imported;
}

/** The erasures and the records of a document of central. */
export function partsOf(text: string): {
  readonly erasures: readonly ErasedSpan[];
  readonly records: Document;
} {
  const { erasures = [], ...records } = JSON.parse(text);
  if (Value.Check(ErasedSpans, erasures)) return { erasures, records };
  throw new OperatorError(
    "what central says was erased of this home is not in a form that this gateway knows",
    "run the same version of Lintel on both",
  );
}

/** Takes out of the document that is kept what was erased here. */
export function forgetKeptRecords(directory: string, target: ErasureTarget): void {
  const path = join(directory, recordsName);
  if (existsSync(path)) writeDurably(path, JSON.stringify(withheld(keptRecords(path), [target])));
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
function withheld(document: Document, targets: readonly ErasureTarget[]): Document {
  if (targets.some((target) => "home" in target)) return {};
  const subjects = new Set(targets.flatMap((target) => ("subject" in target ? target.subject : [])));
  const kept = recordTypes.map(
    (type) => [type, document[type]?.filter((record) => !isOf(record, subjects))] as const,
  );
  return Object.fromEntries(kept.filter(([, records]) => records !== undefined));
}

function isOf({ subjectid }: StoredRecord, subjects: ReadonlySet<number>): boolean {
  return typeof subjectid === "number" && subjects.has(subjectid);
}

async function checkedImport(store: UploadStore, document: string): Promise<Imported> {
  try {
    return await importDocument({ name: "home records", text: document, store, dryRun: false });
  } catch (thrown) {
    if (!(thrown instanceof ImportRefused)) throw thrown;
    const [first] = thrown.faults;
    const more = thrown.count > 1 ? `, and ${thrown.count - 1} more` : "";
    throw new OperatorError(
      `central's records of this home do not fit what this gateway holds (${first === undefined ? "no fault is named" : faultInWords(first)}${more}): none of them was taken in`,
      "correct the record at central with lintel import there, or the one that it clashes with here",
    );
  }
}

function faultInWords({ record, field, given, expected }: Fault): string {
  const what = [record, field].filter((word) => word !== undefined).join(" ");
  const said = given === undefined ? expected : `${given} is given, ${expected} expected`;
  return what === "" ? said : `${what}: ${said}`;
}

type Document = Readonly<Partial<Record<RecordType, readonly StoredRecord[]>>>;

/** Without one, nothing is known to have gone. */
function keptRecords(path: string): Document {
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (thrown) {
    throw new OperatorError(
      `${path} cannot be read (${messageOf(thrown)})`,
      "move it away: the next upload makes another; records that central has withdrawn since the last one then stay here",
    );
  }
}

function goneFrom(before: Document, now: Document): ImportedRecord[] {
  return recordTypes.flatMap((type) => {
    const present = new Set((now[type] ?? []).map((record) => identityOf(type, record)));
    const gone = (before[type] ?? []).filter((record) => !present.has(identityOf(type, record)));
    return gone.map((record) => ({ type, record }));
  });
}

/** Items that are not in the document any more are not in this home any more, wherever else they are. */
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
