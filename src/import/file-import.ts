import {
  definitionOf,
  identityOf,
  type PlacementRule,
  type RecordType,
  type StoredRecord,
} from "../domain/records/record-table.ts";
import type { Imported, ImportedRecord } from "../store/inventory/record-store.ts";
import { type FileLine, ImportedPlacements, type ImportStore, Ledger } from "./import-ledger.ts";
import { jsonRecords, ndjsonRecords } from "./json-records.ts";
import { recordCheck } from "./record-check.ts";
import {
  bytesOf,
  type FileFault,
  FileFaults,
  type FileFormat,
  formatOf,
  givenText,
  ImportRefused,
  lineOf,
  type RawReceiver,
  type RawRecord,
  type TextBlock,
  textBlocks,
  UnreadableFile,
  wholeText,
} from "./record-files.ts";

interface TakeOptions {
  readonly store: ImportStore;
  /** Says what an import would do and changes nothing. */
  readonly dryRun: boolean;
  /** Told after each piece of a file. */
  readonly onProgress?: (progress: ImportProgress) => void;
}

export interface ImportProgress {
  readonly bytesRead: number;
  readonly bytesTotal: number;
  /** Records read so far. */
  readonly records: number;
}

/**
 * Takes records of files into a store, all of them or, where anything is wrong, none. Throws ImportRefused with
 * every fault found, OperatorError where a file can't be opened or named.
 *
 * @param options.files paths; the format of each is told by its name
 */
export async function importFiles({
  files,
  ...options
}: TakeOptions & { readonly files: readonly string[] }): Promise<Imported> {
  const sources: Source[] = [];
  for (const file of files) {
    // Before its name is judged: of a file that is not there, that is what is wrong.
    const bytes = await bytesOf(file);
    sources.push({ file, bytes, format: formatOf(file), text: () => wholeText(file) });
  }
  return importSources(sources, options);
}

/** The same for a JSON document that is at hand as a text; faults give `name` as its file. */
export function importDocument({
  name,
  text,
  ...options
}: TakeOptions & { readonly name: string; readonly text: string }): Promise<Imported> {
  const bytes = Buffer.byteLength(text);
  return importSources([{ file: name, format: { kind: "json" }, bytes, text: async () => text }], options);
}

/** Something that holds records: a file, or what has another name in its faults. */
interface Source {
  readonly file: string;
  readonly format: FileFormat;
  readonly bytes: number;
  /** All of it, for what is read as a whole. */
  text(): Promise<string>;
}

async function importSources(sources: readonly Source[], options: TakeOptions): Promise<Imported> {
  const run = new ImportRun(sources, options);
  const imported = await options.store.importRecords(run.batches(), {
    dryRun: () => options.dryRun || run.faults.count > 0,
  });
  run.noteClashes(imported);
  const files = sources.map(({ file }) => file);
  if (run.faults.count > 0) throw new ImportRefused(run.faults.count, run.faults.inOrder(files));
  return imported;
}

/** A record that was checked by itself, and the place that it has in the files. */
interface Found {
  readonly file: string;
  readonly raw: RawRecord;
  readonly record: StoredRecord;
  readonly identity: string | undefined;
  readonly sound: boolean;
}

class ImportRun {
  readonly faults = new FileFaults();
  readonly #sources: readonly Source[];
  readonly #options: TakeOptions;
  readonly #ledger: Ledger;
  readonly #stays = new ImportedPlacements();
  readonly #checks = new Map<RecordType, ReturnType<typeof recordCheck>>();
  readonly #bytesTotal: number;
  #records = 0;
  #brokenOff = false;
  /** Sound records that nobody has taken yet. */
  #batch: ImportedRecord[] = [];
  /** Records that name an item which may come only later. */
  readonly #named: Found[] = [];

  constructor(sources: readonly Source[], options: TakeOptions) {
    this.#sources = sources;
    this.#options = options;
    this.#ledger = new Ledger(sources.map(({ file }) => file));
    this.#bytesTotal = sources.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Every sound record of the files, in order; those that name items come last. */
  async *batches(): AsyncGenerator<readonly ImportedRecord[]> {
    let before = 0;
    for (const source of this.#sources) {
      try {
        for await (const _ of this.#read(source, before)) yield* this.#taken();
      } catch (thrown) {
        if (!(thrown instanceof UnreadableFile)) throw thrown;
        this.#brokenOff = true;
        const expected = `${thrown.expected} (the rest of the file was not read)`;
        this.faults.add({ file: source.file, line: thrown.line, expected });
      }
      before += source.bytes;
      yield* this.#taken();
    }
    // Whatever names a record of a file that broke off would only be a fault on top of that one.
    if (!this.#brokenOff) {
      await this.#resolveNames();
      await this.#checkReferences();
      await this.#checkStays();
    }
    yield* this.#taken();
  }

  /** Faults of records whose name or address a record of the store holds. */
  noteClashes({ clashes }: Imported): void {
    for (const { record, type, unique, holder } of clashes) {
      const place = this.#ledger.placeOf(type, identityOf(type, record));
      if (place === undefined) continue;
      const field = unique.fields.at(-1) ?? "";
      const expected = `a ${unique.meaning} other than that of ${holder} in the store`;
      this.faults.add({ ...place, record: type, field, given: givenText(record[field]), expected });
    }
  }

  /** Reads a source, and yields after each piece of it. */
  async *#read({ file, format, bytes, text }: Source, before: number): AsyncGenerator<void> {
    const receiver: RawReceiver = {
      record: (raw) => this.#receive(raw, file),
      fault: (line, fault) => this.faults.add({ file, line, ...fault }),
      brokenOff: () => {
        this.#brokenOff = true;
      },
      progress: (bytesRead) => this.#progress(before + bytesRead),
    };
    if (format.kind === "json") {
      jsonRecords(await text(), receiver);
      receiver.progress(bytes);
    } else if (format.kind === "ndjson") yield* ndjsonRecords(watched(file, receiver), receiver);
    else {
      const { csvRecords } = await import("./csv-records.ts");
      yield* csvRecords(format.type, watched(file, receiver), receiver);
    }
  }

  #progress(bytesRead: number): void {
    this.#options.onProgress?.({ bytesRead, bytesTotal: this.#bytesTotal, records: this.#records });
  }

  /** The gathered records, in batches. */
  *#taken(): Generator<readonly ImportedRecord[]> {
    const gathered = this.#batch;
    this.#batch = [];
    for (let start = 0; start < gathered.length; start += batch_records_max) {
      yield gathered.slice(start, start + batch_records_max);
    }
  }

  #receive(raw: RawRecord, file: string): void {
    const { type } = raw;
    this.#records += 1;
    let check = this.#checks.get(type);
    if (check === undefined) {
      check = recordCheck(type);
      this.#checks.set(type, check);
    }
    const { record, identity, faults } = check(raw);
    for (const fault of faults) this.faults.add({ file, record: type, ...fault });
    const found: Found = { file, raw, record, identity, sound: faults.length === 0 };
    if (typeof record[embeddedField(type)] !== "string") this.#accept(found);
    else if (found.sound) this.#named.push(found);
  }

  /** Takes a record into the batch unless the files have said otherwise before. */
  #accept(found: Found): void {
    const { file, raw, record, identity } = found;
    const { type, line } = raw;
    const faults: FileFault[] = [];
    const fault = (field: string, expected: string) =>
      faults.push(faultOf(found, field, givenText(record[field]), expected));
    if (identity !== undefined) {
      const before = this.#ledger.identify(type, identity, { file, line });
      if (before !== undefined) {
        const [field = ""] = definitionOf(type).identity.slice(-1);
        fault(field, `one record each of ${definitionOf(type).identity.join(", ")} (first in ${at(before)})`);
      }
    }
    for (const { unique, before } of this.#ledger.claim(type, record, { file, line })) {
      fault(unique.fields.at(-1) ?? "", `a ${unique.meaning} of its own (it is that of ${at(before)})`);
    }
    for (const one of faults) this.faults.add(one);
    this.#ledger.mention(type, record, file, (field) => lineOf(raw, field));
    if (!found.sound || faults.length > 0) return;
    this.#stays.add(type, record, this.#ledger.pack({ file, line }));
    this.#batch.push({ type, record });
  }

  /** Puts itemids in the place of the names that stand for items, now that all items are known. */
  async #resolveNames(): Promise<void> {
    const nameIn = ({ raw, record }: Found) => String(record[embeddedField(raw.type)]);
    const unknown = [...new Set(this.#named.map(nameIn))].filter(
      (name) => this.#ledger.itemNamed(name) === undefined,
    );
    const stored =
      unknown.length === 0 ? new Map<string, number>() : await this.#options.store.itemidsOf(unknown);
    for (const found of this.#named) {
      const name = nameIn(found);
      const { type } = found.raw;
      const field = embeddedField(type);
      // As in paths: a name, or the itemid where no item has that name.
      const itemid =
        this.#ledger.itemNamed(name) ??
        stored.get(name) ??
        (/^\d{1,15}$/.test(name) ? Number(name) : undefined);
      if (itemid === undefined) {
        const expected = "name of an item in these files or in the store";
        this.faults.add(faultOf(found, field, givenText(name), expected));
        continue;
      }
      const record = { ...found.record, [field]: itemid };
      this.#accept({ ...found, record, identity: identityOf(type, record) });
    }
  }

  /** Finds mentions of records that neither the files nor the store hold. */
  async #checkReferences(): Promise<void> {
    for (const [to, mentions] of this.#ledger.unresolved()) {
      const known = await this.#options.store.knownRecords(to, [...mentions.keys()]);
      const missing = [...mentions].filter(([number]) => !known.has(number));
      if (missing.length === 0) continue;
      const kept = this.#ledger.holdsAny(to) || (await this.#options.store.keepsRecords(to));
      const expected = `number of one of the ${to} in these files or in the store`;
      for (const [number, all] of missing) {
        for (const { place, type, reference } of all) {
          if (!kept && reference.when === "kept") continue;
          const { field } = reference;
          const given = String(number);
          this.faults.add({ ...this.#ledger.unpack(place), record: type, field, given, expected });
        }
      }
    }
  }

  /** Finds what would be at two places at once. */
  async #checkStays(): Promise<void> {
    for await (const { type, place, field, before } of this.#stays.contradictions(this.#options.store)) {
      const other =
        "place" in before ? at(this.#ledger.unpack(before.place)) : `the store: ${before.inStore}`;
      const expected = `${contradictionWords[definitionOf(type).stays?.what ?? "place"]} (as in ${other}): end that one first`;
      this.faults.add({ ...this.#ledger.unpack(place), record: type, field, expected });
    }
  }
}

const contradictionWords: Readonly<Record<PlacementRule["what"], string>> = {
  place: "the item is in another home at that time",
  holder: "another subject has the item at that time",
  enrollment: "the subject is enrolled in the project at that time already",
};

function faultOf({ file, raw }: Found, field: string, given: string, expected: string): FileFault {
  return { file, line: lineOf(raw, field), record: raw.type, field, given, expected };
}

/** The field that holds an item; empty where the record has none. */
function embeddedField(type: RecordType): string {
  return definitionOf(type).embeds ?? "";
}

async function* watched(file: string, receiver: RawReceiver): AsyncGenerator<TextBlock> {
  for await (const block of textBlocks(file)) {
    yield block;
    receiver.progress(block.bytesRead);
  }
}

function at({ file, line }: FileLine): string {
  return `${file}:${line}`;
}

const batch_records_max = 1_000;
