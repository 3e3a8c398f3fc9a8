import {
  definitionOf,
  type RecordType,
  type Reference,
  type StoredRecord,
  type Unique,
} from "../records/record-table.ts";
import { normalAddress } from "../store/address.ts";

/** A line of one of the files. */
export interface FileLine {
  readonly file: string;
  readonly line: number;
}

/** Where a number of another record was met before, or without, the record that it names. */
export interface Mention {
  /** Packed. */
  readonly place: number;
  readonly type: RecordType;
  readonly reference: Reference;
}

/**
 * Facts of the files so far that a later line can contradict: the records, their names and addresses, and the numbers
 * they refer to. It holds one entry a record, not the records.
 */
export class Ledger {
  readonly #files: readonly string[];
  readonly #identities = new Map<RecordType, Map<string, number>>();
  readonly #holders = new Map<Unique, Map<string, number>>();
  readonly #itemNames = new Map<string, number>();
  readonly #mentions = new Map<Reference["to"], Map<number, Mention[]>>();

  /** `files`: every file that a place can be in. */
  constructor(files: readonly string[]) {
    this.#files = files;
  }

  /** Where this record stands already; undefined, and noted, if it is new. */
  identify(type: RecordType, identity: string, place: FileLine): FileLine | undefined {
    const of = entry(this.#identities, type, () => new Map<string, number>());
    const before = of.get(identity);
    if (before !== undefined) return this.unpack(before);
    of.set(identity, this.pack(place));
    return undefined;
  }

  /** Where the record of this identity stands. */
  placeOf(type: RecordType, identity: string): FileLine | undefined {
    const packed = this.#identities.get(type)?.get(identity);
    return packed === undefined ? undefined : this.unpack(packed);
  }

  /** Whether the files hold any record of the type. */
  holdsAny(type: RecordType): boolean {
    return this.#identities.has(type);
  }

  /** Values that this record shares with an earlier one although they must be unique, and the place of that one. */
  claim(type: RecordType, record: StoredRecord, place: FileLine): { unique: Unique; before: FileLine }[] {
    const shared: { unique: Unique; before: FileLine }[] = [];
    const { unique: everywhere = [], uniqueInFiles = [] } = definitionOf(type);
    for (const unique of [...everywhere, ...uniqueInFiles]) {
      const value = uniqueValue(unique, record, uniqueInFiles.includes(unique));
      if (value === undefined) continue;
      const holders = entry(this.#holders, unique, () => new Map<string, number>());
      const before = holders.get(value);
      if (before === undefined) holders.set(value, this.pack(place));
      else shared.push({ unique, before: this.unpack(before) });
    }
    const { itemid, itemname } = record;
    if (type === "items" && typeof itemname === "string")
      this.#itemNames.set(copied(itemname), Number(itemid));
    return shared;
  }

  /** The itemid that the files give to a name. */
  itemNamed(name: string): number | undefined {
    return this.#itemNames.get(copied(name));
  }

  /** Notes the numbers by which a record mentions others. `lineOf` gives the line of a field. */
  mention(type: RecordType, record: StoredRecord, file: string, lineOf: (field: string) => number): void {
    for (const reference of definitionOf(type).references ?? []) {
      const { field, to } = reference;
      const number = record[field];
      // A record that came earlier in the files needs no later check.
      if (typeof number !== "number" || this.#identities.get(to)?.has(String(number))) continue;
      const mentions = entry(
        entry(this.#mentions, to, () => new Map<number, Mention[]>()),
        number,
        () => [],
      );
      mentions.push({ place: this.pack({ file, line: lineOf(field) }), type, reference });
    }
  }

  /** Mentions of numbers whose records the files do not hold, by the type they should be of and by number. */
  unresolved(): Map<Reference["to"], Map<number, readonly Mention[]>> {
    const unresolved = new Map<Reference["to"], Map<number, readonly Mention[]>>();
    for (const [to, mentions] of this.#mentions) {
      const known = this.#identities.get(to);
      const open = [...mentions].filter(([number]) => !known?.has(String(number)));
      if (open.length > 0) unresolved.set(to, new Map(open));
    }
    return unresolved;
  }

  /** A place as one number: two hundred thousand objects would be a lot of memory for two hundred thousand lines. */
  pack({ file, line }: FileLine): number {
    return this.#files.indexOf(file) * lines_max + line;
  }

  unpack(packed: number): FileLine {
    return { file: this.#files[Math.floor(packed / lines_max)] ?? "", line: packed % lines_max };
  }
}

/** The unique value of a record, as one text; undefined where the record has none. `lastOnly`: the other fields may have none. */
function uniqueValue(
  { fields, address }: Unique,
  record: StoredRecord,
  lastOnly: boolean,
): string | undefined {
  let text = "";
  for (const field of fields) {
    const value = field === address ? normalAddress(String(record[field] ?? "")) : record[field];
    if ((value === null || value === undefined) && !(lastOnly && field !== fields.at(-1))) return undefined;
    text += `${value}\0`;
  }
  return text;
}

/** A text of its own: a slice of a file would keep the block it was cut from in memory. */
function copied(text: string): string {
  return `${text}\0`;
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

const lines_max = 2 ** 40;
