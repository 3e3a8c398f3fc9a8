import { momentIn } from "../domain/records/record-field.ts";
import {
  definitionOf,
  identityOf,
  type PlacementRule,
  type RecordType,
  type Reference,
  recordTypes,
  type StoredRecord,
  type Unique,
} from "../domain/records/record-table.ts";
import { normalAddress } from "../store/inventory/item-names.ts";
import type { RecordChanges, RecordStore } from "../store/inventory/record-store.ts";

/** A line of one of the files. */
export interface FileLine {
  readonly file: string;
  readonly line: number;
}

/** Where a number of another record was met before, or without, the record that it names. */
interface Mention {
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

/** A record that says from when to when something is somewhere. */
interface DatedPlacement {
  readonly type: RecordType;
  readonly at: unknown;
  /** Unix milliseconds, the end not included. */
  readonly from_ms: number;
  readonly to_ms: number;
  /** Packed; absent: it is a record of the store. */
  readonly place?: number;
}

/** Two records, of which the first contradicts the second: at one time something is at both places. */
interface Contradiction {
  readonly type: RecordType;
  readonly place: number;
  readonly field: string;
  /** The second, in words, where it is one of the store. */
  readonly before: { readonly place: number } | { readonly inStore: string };
}

/** Where things are at what times, by the files and then by the store: an item is in one home, and in the hands of one subject. */
export class ImportedPlacements {
  readonly #byThing = new Map<PlacementRule["what"], Map<string, DatedPlacement[]>>();
  readonly #identities = new Map<RecordType, Set<string>>();

  /** Notes a record of the files; `place` is packed. */
  add(type: RecordType, record: StoredRecord, place: number): void {
    const rule = definitionOf(type).stays;
    if (rule === undefined) return;
    const identities = this.#identities.get(type) ?? new Set();
    this.#identities.set(type, identities.add(identityOf(type, record)));
    const thing = thingOf(rule, record);
    const stay = placementOf(type, rule, record);
    if (stay === undefined) return;
    const things = this.#byThing.get(rule.what) ?? new Map<string, DatedPlacement[]>();
    this.#byThing.set(rule.what, things);
    const stays = things.get(thing);
    if (stays === undefined) things.set(thing, [{ ...stay, place }]);
    else stays.push({ ...stay, place });
  }

  /** Reads what the store says of the same things, and finds what cannot be so at once. */
  async *contradictions(store: ImportStore): AsyncGenerator<Contradiction> {
    for (const [what, things] of this.#byThing) {
      const all = [...things];
      for (let first = 0; first < all.length; first += things_max) {
        const some = new Map(all.slice(first, first + things_max));
        await this.#addStored(what, some, store);
        for (const stays of some.values()) yield* overlapsIn(stays);
      }
    }
  }

  /** Records of the store stand unless the files have them too. */
  async #addStored(
    what: PlacementRule["what"],
    things: Map<string, DatedPlacement[]>,
    store: ImportStore,
  ): Promise<void> {
    for (const type of recordTypes) {
      const rule = definitionOf(type).stays;
      if (rule?.what !== what) continue;
      const numbers = [...new Set([...things.keys()].map((thing) => Number(thing.split(" ")[0])))];
      const replaced = this.#identities.get(type);
      for (const record of await store.recordsWith(type, rule.of[0] ?? "", numbers)) {
        const stays = things.get(thingOf(rule, record));
        const stay = replaced?.has(identityOf(type, record)) ? undefined : placementOf(type, rule, record);
        if (stay !== undefined) stays?.push(stay);
      }
    }
  }
}

function* overlapsIn(stays: readonly DatedPlacement[]): Generator<Contradiction> {
  let reach: DatedPlacement | undefined;
  for (const stay of stays.toSorted((one, other) => one.from_ms - other.from_ms)) {
    if (reach !== undefined && stay.from_ms < reach.to_ms && (stay.at === undefined || stay.at !== reach.at))
      yield* contradictionOf(stay, reach);
    if (reach === undefined || stay.to_ms > reach.to_ms) reach = stay;
  }
}

/** The contradiction of two records that overlap; none where the store has both already, which is not this import's to refuse. */
function* contradictionOf(one: DatedPlacement, other: DatedPlacement): Generator<Contradiction> {
  const [told, before] = one.place === undefined ? [other, one] : [one, other];
  if (told.place === undefined) return;
  const { start, at } = definitionOf(told.type).stays ?? { start: "" };
  yield {
    type: told.type,
    place: told.place,
    // Of a record without a start it is the place that is wrong.
    field: Number.isFinite(told.from_ms) ? start : (at ?? start),
    before:
      before.place === undefined
        ? { inStore: before.at === undefined ? before.type : `${before.type} of ${before.at}` }
        : { place: before.place },
  };
}

function thingOf({ of }: PlacementRule, record: StoredRecord): string {
  return of.map((field) => record[field]).join(" ");
}

/** Undefined where the record puts nothing anywhere. */
function placementOf(
  type: RecordType,
  rule: PlacementRule,
  record: StoredRecord,
): DatedPlacement | undefined {
  const at = rule.at === undefined ? undefined : record[rule.at];
  if (at === null) return undefined;
  const since = rule.unknownStart === "now" ? now_ms : Number.NEGATIVE_INFINITY;
  const from_ms = momentIn(record[rule.start]) ?? since;
  const to_ms =
    (rule.stop === undefined ? undefined : momentIn(record[rule.stop])) ?? Number.POSITIVE_INFINITY;
  return from_ms < to_ms ? { type, at, from_ms, to_ms } : undefined;
}

/** Later than every time in a record. */
const now_ms = Number.MAX_SAFE_INTEGER;
/** Things whose records are asked of the store at once. */
const things_max = 1_000;

/** The part of a store that an import needs. */
export type ImportStore = Pick<
  RecordStore,
  "importRecords" | "knownRecords" | "keepsRecords" | "itemidsOf" | "recordsWith"
>;

/** A store that isn't there yet, for dry runs: it holds nothing, and all that comes would be new. */
export const emptyStore: ImportStore = {
  knownRecords: async () => new Set(),
  keepsRecords: async () => false,
  itemidsOf: async () => new Map(),
  recordsWith: async () => [],
  importRecords: async (batches) => {
    const counts = new Map<RecordType, number>();
    for await (const batch of batches) {
      for (const { type } of batch) counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    const changes: Partial<Record<RecordType, RecordChanges>> = {};
    for (const type of recordTypes) {
      const added = counts.get(type);
      if (added !== undefined) changes[type] = { added, updated: 0, unchanged: 0, adopted: 0 };
    }
    return { changes, clashes: [] };
  },
};
