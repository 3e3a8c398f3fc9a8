import {
  definitionOf,
  identityOf,
  type PlacementRule,
  type RecordType,
  recordTypes,
  type StoredRecord,
} from "../records/record-table.ts";
import { momentIn } from "../records/rules.ts";
import type { ImportStore } from "./empty-store.ts";

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
export interface Contradiction {
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
