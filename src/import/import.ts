import { definitionOf, identityOf, type RecordType, type StoredRecord } from "../records/record-table.ts";
import type { Imported, ImportedRecord } from "../store/record-store.ts";
import { csvRecords } from "./csv-records.ts";
import type { ImportStore } from "./empty-store.ts";
import { Faults, givenText, ImportRefused } from "./fault.ts";
import { type FileFormat, formatOf } from "./file-format.ts";
import { jsonRecords } from "./json-document.ts";
import { ndjsonRecords } from "./json-records.ts";
import { Ledger, type Place } from "./ledger.ts";
import type { RawReceiver, RawRecord } from "./raw-record.ts";
import { type CheckedRecord, RecordCheck } from "./record-check.ts";
import { bytesOf, type TextBlock, textBlocks, UnreadableFile } from "./text-blocks.ts";

export interface ImportOptions extends TakeOptions {
  /** Paths; the format of each is told by its name. */
  readonly files: readonly string[];
}

interface TakeOptions {
  readonly store: ImportStore;
  /** Says what an import would do and changes nothing. */
  readonly dryRun: boolean;
  /** Told after each block of a file. */
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
 */
export async function importFiles({ files, ...options }: ImportOptions): Promise<Imported> {
  const formats = files.map(formatOf);
  const sizes = await Promise.all(files.map(bytesOf));
  const sources = files.map((file, index) => ({
    file,
    format: formats[index] ?? { kind: "json" as const },
    bytes: sizes[index] ?? 0,
    blocks: (whole: "lines" | "character") => textBlocks(file, whole),
  }));
  return importSources(sources, options);
}

/** The same for a JSON document that is at hand as a text; faults give `name` as its file. */
export function importDocument({
  name,
  text,
  ...options
}: TakeOptions & { readonly name: string; readonly text: string }): Promise<Imported> {
  const bytes = Buffer.byteLength(text);
  async function* blocks() {
    yield { text, line: 1, bytesRead: bytes };
  }
  return importSources([{ file: name, format: { kind: "json" }, bytes, blocks }], options);
}

/** Something that holds records: a file, or what has another name in its faults. */
interface Source {
  readonly file: string;
  readonly format: FileFormat;
  readonly bytes: number;
  blocks(whole: "lines" | "character"): AsyncIterable<TextBlock>;
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

class ImportRun {
  readonly faults = new Faults();
  readonly #sources: readonly Source[];
  readonly #options: TakeOptions;
  readonly #ledger: Ledger;
  readonly #checks = new Map<RecordType, RecordCheck>();
  readonly #bytesTotal: number;
  #records = 0;
  #brokenOff = false;
  /** Sound records that nobody has taken yet. */
  #batch: ImportedRecord[] = [];
  /** Records that name an item which may come only later. */
  readonly #named: {
    type: RecordType;
    record: StoredRecord;
    place: Place;
    lineOf: (field: string) => number;
  }[] = [];

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
    }
    yield* this.#taken();
  }

  /** Faults of records whose name or address a record of the store holds. */
  noteClashes({ clashes }: Imported): void {
    for (const { record, type, unique, holder } of clashes) {
      const place = this.#ledger.placeOf(type, identityOf(type, record));
      if (place === undefined) continue;
      const field = unique.fields.at(-1) ?? "";
      this.faults.add({
        ...place,
        record: type,
        field,
        given: givenText(record[field]),
        expected: `a ${unique.meaning} other than that of ${holder} in the store`,
      });
    }
  }

  async *#read({ file, format, blocks }: Source, before: number): AsyncGenerator<void> {
    const receiver: RawReceiver = {
      record: (raw) => this.#receive(raw, file),
      fault: (line, { type, ...fault }) =>
        this.faults.add({ file, line, ...(type === undefined ? {} : { record: type }), ...fault }),
      brokenOff: () => {
        this.#brokenOff = true;
      },
    };
    const progressing = (bytesRead: number) => this.#progress(before + bytesRead);
    if (format.kind === "json") {
      yield* jsonRecords(watched(blocks("character"), progressing), receiver);
    } else if (format.kind === "csv") {
      yield* csvRecords(format.type, watched(blocks("lines"), progressing), receiver);
    } else {
      yield* ndjsonRecords(watched(blocks("lines"), progressing), receiver);
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
      check = new RecordCheck(type);
      this.#checks.set(type, check);
    }
    const checked = check.check(raw, (line, fault) =>
      this.faults.add({ file, line, record: type, ...fault }),
    );
    const place = { file, line: raw.line };
    const lineOf = (field: string) => {
      const index = raw.names.indexOf(field);
      return index === -1 ? raw.line : raw.lineOf(index);
    };
    const { embeds } = definitionOf(type);
    if (embeds !== undefined && typeof checked.record[embeds] === "string") {
      if (checked.sound) this.#named.push({ type, record: checked.record, place, lineOf });
    } else this.#accept(type, checked, place, lineOf);
  }

  /** Takes a record into the batch unless the files have said otherwise before. */
  #accept(
    type: RecordType,
    { record, identity, sound }: CheckedRecord,
    place: Place,
    lineOf: (field: string) => number,
  ): void {
    let welcome = sound;
    const fault = (field: string, expected: string) => {
      welcome = false;
      const { file } = place;
      this.faults.add({
        file,
        line: lineOf(field),
        record: type,
        field,
        given: givenText(record[field]),
        expected,
      });
    };
    if (identity !== undefined) {
      const before = this.#ledger.identify(type, identity, place);
      if (before !== undefined) {
        const [field = ""] = definitionOf(type).identity.slice(-1);
        fault(field, `one record each of ${definitionOf(type).identity.join(", ")} (first in ${at(before)})`);
      }
    }
    for (const { unique, before } of this.#ledger.claim(type, record, place)) {
      fault(unique.fields.at(-1) ?? "", `a ${unique.meaning} of its own (it is that of ${at(before)})`);
    }
    this.#ledger.mention(type, record, place.file, lineOf);
    if (welcome) this.#batch.push({ type, record });
  }

  /** Puts itemids in the place of the names that stand for items, now that all items are known. */
  async #resolveNames(): Promise<void> {
    const field = (type: RecordType) => definitionOf(type).embeds ?? "";
    const names = this.#named.map(({ type, record }) => String(record[field(type)]));
    const unknown = [...new Set(names)].filter((name) => this.#ledger.itemNamed(name) === undefined);
    const stored =
      unknown.length === 0 ? new Map<string, number>() : await this.#options.store.itemidsOf(unknown);
    for (const { type, record, place, lineOf } of this.#named) {
      const name = String(record[field(type)]);
      // As in paths: a name, or the itemid where no item has that name.
      const itemid =
        this.#ledger.itemNamed(name) ??
        stored.get(name) ??
        (/^\d{1,15}$/.test(name) ? Number(name) : undefined);
      if (itemid === undefined) {
        const { file } = place;
        const fault = { given: givenText(name), expected: "name of an item in these files or in the store" };
        this.faults.add({ file, line: lineOf(field(type)), record: type, field: field(type), ...fault });
        continue;
      }
      const resolved = { ...record, [field(type)]: itemid };
      const identity = identityOf(type, resolved);
      this.#accept(type, { record: resolved, identity, sound: true }, place, lineOf);
    }
  }

  /** Finds mentions of records that neither the files nor the store hold. */
  async #checkReferences(): Promise<void> {
    for (const [to, numbers] of this.#ledger.unresolved()) {
      const known = await this.#options.store.knownRecords(to, numbers);
      const missing = numbers.filter((number) => !known.has(number));
      if (missing.length === 0) continue;
      const kept = this.#ledger.holdsAny(to) || (await this.#options.store.keepsRecords(to));
      for (const number of missing) {
        for (const { place, type, reference } of this.#ledger.mentionsOf(to, number)) {
          if (!kept && reference.when === "kept") continue;
          const expected = `number of one of the ${to} in these files or in the store`;
          this.faults.add({
            ...place,
            record: type,
            field: reference.field,
            given: String(number),
            expected,
          });
        }
      }
    }
  }
}

async function* watched(
  blocks: AsyncIterable<TextBlock>,
  progress: (bytesRead: number) => void,
): AsyncGenerator<TextBlock> {
  for await (const block of blocks) {
    yield block;
    progress(block.bytesRead);
  }
}

function at({ file, line }: Place): string {
  return `${file}:${line}`;
}

const batch_records_max = 1_000;
