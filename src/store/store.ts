import { OperatorError } from "../base/errors.ts";
import type { CoverageReason, CoverageState } from "../domain/coverage-record.ts";
import type { DatedFacts } from "../domain/device-facts.ts";
import type { Kind } from "../domain/kinds.ts";
import type { ReadingNumber } from "../domain/reading.ts";
import type { Item, ItemType } from "../domain/records/item.ts";
import type { SeriesName, Value } from "../domain/series.ts";
import type { Token } from "../domain/token.ts";
import type { ErasedSpan, Erasure, ErasurePlan, ErasureTarget, TakenSpan } from "./erasure.ts";
import type { GivenNames, Replaced } from "./inventory/given-names.ts";
import type { RecordStore } from "./inventory/record-store.ts";
import type { NoteStore } from "./note.ts";
import type { Pauses } from "./pause.ts";
import type { Restrictions } from "./restriction.ts";
import type { Retention } from "./retention.ts";

export { type Scope, scopes, type Token } from "../domain/token.ts";

/**
 * Where readings and records live, as the API, sync and the commands see it. Two stores
 * implement it; one conformance suite in test/store holds them equal.
 *
 * `homes` in a request cuts the answer to what these homes have sent, and to items that live or have lived there. A gateway has one home, and does
 * not look which: an empty list alone is none of it.
 *
 * Every read but `thinned` is one snapshot: what a call answers was true at one instant. Times are unix milliseconds.
 */
export interface Store extends RecordStore, Erasures, Pauses, Restrictions, Retention, NoteStore, GivenNames {
  /** Item types of the inventory, every known kind in order of typeid, also those without items; `homes`: counts only what lives or has lived in them. */
  itemTypes(homes?: readonly number[]): Promise<ItemType[]>;

  /** Items of a kind in order of itemid. Where `homes` are named, an item does not tell in which other one it is now; nor does `item`. */
  items(kind: Kind, window: ItemWindow): Promise<Item[]>;

  /** Items whose name has the words of a text in it, in their order, or their address its digits (four at least), those with short names first. Capitals do not matter. */
  itemsLike(text: string, window: Omit<ItemWindow, "skip">): Promise<Item[]>;

  /** Items whose current home it is, of every kind, in order of itemid. */
  itemsIn(homeid: number): Promise<Item[]>;

  /** An item of a kind by name, or by itemid where no item of any kind has that name; `homes`: only one that lives or has lived in one of them. */
  item(kind: Kind, name: string, homes?: readonly number[]): Promise<StoredItem | undefined>;

  /**
   * Overviews of the items that live in some homes now, in order of type and itemid, at the cost of these homes: as far as it is known from what they have sent
   * of the items, and without where else they are by their records. `homes` absent: of all items.
   */
  itemOverviews(homes?: readonly number[]): Promise<readonly ItemOverview[]>;

  /** The state of an item's device, as the homes named tell it (absent: all); undefined where there is no such item. */
  itemState(item: number, homes?: readonly number[]): Promise<ItemState | undefined>;

  /**
   * Items of a kind as in `items`, each with marks of what is kept of it. While a mark stays the same text, so does what it is of; but that the oldest readings may be
   * cleared away. The texts mean nothing in another store.
   */
  itemMarks(kind: Kind, window: ItemWindow): Promise<ItemMarks[]>;

  /** A page of a series of an item, newest first unless the request says otherwise. */
  page(request: PageRequest): Promise<Page>;

  /** The mark of a page, and the page as it is at that moment, encoded, or what is kept under the mark instead. */
  markedPage<Kept>(
    request: PageRequest,
    keptAs: (mark: string) => Kept | undefined,
  ): Promise<Marked<{ readonly page: EncodedPage }, Kept>>;

  /**
   * The identity of a page: while the text stays the same, the page is the same, also of another request. Costs one
   * lookup, however large the page. The text means nothing in another store.
   */
  pageMark(request: PageRequest): Promise<string>;

  /**
   * A number that stays the same only while nothing in the store changes, by any process; undefined where that cannot be
   * told at once.
   */
  changes(): number | undefined;

  /**
   * Readings of a series of an item from old to new, for what reads all of them. Going on from `next` until there
   * is none yields every reading of the span once that was on disk at the first call, whatever arrives meanwhile.
   */
  oldestFirst(request: OldestFirstRequest): Promise<OldestFirst>;

  /**
   * A page of a series of an item in the order in which its readings came into the store. Going on from `position` neither drops nor
   * repeats a reading, whatever arrives or is cleared away meanwhile, and for as long as the store exists. Undefined where `after` is a
   * position of another store, or readings before it have been changed or joined with others since: then only the beginning is left.
   */
  arrivals(request: ArrivalsRequest): Promise<Arrivals | undefined>;

  /** Every epoch that readings here are numbered in, in order of home and name, or at a gateway of numbers; `homes`: only theirs. */
  heldEpochs(homes?: readonly number[]): Promise<EpochOfHome[]>;

  /**
   * A series of an item in steps of equal length, for plots, at the cost of the readings in it. Each reading of the span once that was on disk at the call,
   * and what arrives meanwhile or not.
   *
   * @throws RangeError where the series has no such field, or the request more steps than `steps_max`
   */
  downsampled(request: DownsampledRequest): Promise<Downsampled>;

  /**
   * Coverage before `before_ms`, newest first: each instant from the first sign of life of an item to the latest is in
   * one interval. The time after the latest is listed only where the item is overdue.
   */
  coverage(request: CoverageRequest): Promise<readonly CoverageInterval[]>;

  /** The token with this id, also an expired one; revoked tokens are gone. */
  token(id: string): Promise<Token | undefined>;
  tokens(): Promise<Token[]>;
  addToken(token: Token): Promise<void>;
  /** False where there is no such token. */
  revokeToken(id: string): Promise<boolean>;
  /** Keeps when tokens were last used, `last_used_ms` by id, and renews sync tokens: see `syncToken_ms`. */
  noteTokenUse(used: ReadonlyMap<string, number>): Promise<void>;

  /** Overview of the store and its items, for `lintel status` and the dashboard. */
  overview(): Promise<Overview>;

  close(): Promise<void>;
}

/** Taking data away for ever: see docs/erase.md. */
export interface Erasures {
  /** All that was erased, here or in another copy of this store, the oldest first. */
  erasures(): Promise<readonly Erasure[]>;

  /** Everything that an erasure would take away; undefined where nobody knows the home or subject. */
  erasurePlan(target: ErasureTarget, now_ms: number): Promise<ErasurePlan | undefined>;

  /**
   * Takes it away in one transaction, and has readings of those times refused from then on. In a database of its own files nothing of it is left in
   * them when it resolves. Answers what was taken; undefined where nobody knows the home or subject, and then nothing has changed.
   */
  erase(request: ErasureRequest): Promise<ErasurePlan | undefined>;

  /** Does the same for what central, or another copy of this store, has erased and this one has not. Answers how many spans were new. */
  takeErasures(spans: readonly TakenSpan[]): Promise<number>;
}

/** An erasure that is asked for: `id`, 32 hex digits, names it in every store that it comes to. */
export interface ErasureRequest {
  readonly target: ErasureTarget;
  readonly id: string;
  readonly at_ms: number;
}

/** One reading of a batch can't be stored, whatever is tried; the others can. */
export class ReadingRefused extends OperatorError {
  constructor(
    what: string,
    remedy: string,
    /** Which reading of the batch. */
    readonly index: number,
  ) {
    super(what, remedy);
  }
}

/**
 * An item as the inventory serves it. Its readings are those that the homes in which it lived have sent, each during its stay there; what other homes
 * hear of it is kept, and is nobody's until the inventory says that it lived there.
 */
export interface StoredItem {
  /** Stays the same for ever, whatever the inventory renames. */
  readonly key: number;
  readonly record: Item;
}

export interface PageRequest {
  readonly series: SeriesName;
  readonly item: number;
  /** Only what these homes have sent; absent: all that is the item's. */
  readonly homes?: readonly number[];
  /** Only readings with a stamp from this on; absent: from the oldest. */
  readonly from_ms?: number | undefined;
  /** Only readings with a stamp below this. */
  readonly before_ms: number;
  /** Newest readings to pass over; costs the same however large. */
  readonly skip: number;
  readonly limit: number;
  /**
   * In the newest second of the window (the one that ends at `before_ms`), only readings numbered up to this
   * are counted and returned: so a walk that continues inside a second is not shifted by what arrived since.
   * Needs a `before_ms` of whole seconds.
   */
  readonly through?: number;
  /**
   * Makes the page oldest first. What is said above of the newest readings and the second below `before_ms` then holds of the oldest and of the
   * second that begins at `from_ms`.
   */
  readonly oldestFirst?: boolean;
  /** The unit of the records' stamps. */
  readonly precision: Precision;
}

/** Unix seconds or milliseconds. */
export type Precision = "s" | "ms";

/** A reading as it is served: its stamp, then its values in the order of the series' fields. */
export type SeriesRecord = { readonly stamp: number } & Readonly<Record<string, Value>>;

/** Something by its mark, or what is kept under that mark. */
export type Marked<Made, Kept> = { readonly mark: string } & (Made | { readonly kept: Kept });

export interface Page {
  readonly records: readonly SeriesRecord[];
  /** Where the next page starts; absent on the last page. */
  readonly next?: PageStart;
}

/** A page as it is sent: a JSON array of its records. */
export interface EncodedPage {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly next?: PageStart;
}

/** A position in a walk, in the terms of the interface: whole unix seconds, and a count within the second below. */
export interface PageStart {
  /** The second of the last reading returned, plus one. */
  readonly before_s: number;
  /** How many readings of that second have been returned so far. */
  readonly skip: number;
  /** The number of the newest reading on disk when that was counted, of the store or of the item. */
  readonly through: number;
}

export interface OldestFirstRequest {
  readonly series: SeriesName;
  readonly item: number;
  /** Only what these homes have sent; absent: all that is the item's. */
  readonly homes?: readonly number[];
  /** Only readings with a stamp from this on, and below `before_ms`. */
  readonly from_ms: number;
  readonly before_ms: number;
  /** The `next` of the answer before. */
  readonly after?: ReadingPosition;
  readonly limit: number;
  /** Has each row end with `homeid` and `clock` of `Provenance`. */
  readonly provenance?: boolean;
  /** Asks for `numbers` too. */
  readonly numbered?: true;
}

/** A reading: stamp in unix milliseconds, then the values in the order of the series' fields, then its provenance where that was asked for. */
export type ReadingRow = readonly [stamp_ms: number, ...values: Value[]];

export interface OldestFirst {
  readonly rows: readonly ReadingRow[];
  /** Which reading each row is, undefined where nobody knows. */
  readonly numbers?: readonly (ReadingNumber | undefined)[];
  /** Where to go on; absent at the end. */
  readonly next?: ReadingPosition;
}

/** A reading's place in the order of its series: by stamp, then by number. */
export interface ReadingPosition {
  readonly stamp_ms: number;
  readonly seq: number;
}

export interface ArrivalsRequest {
  readonly series: SeriesName;
  readonly item: number;
  /** Only what these homes have sent; absent: all that is the item's. */
  readonly homes?: readonly number[];
  /** Only readings with a stamp from `from_ms` on, and below `before_ms`; the same for the whole walk. */
  readonly span: { readonly from_ms: number; readonly before_ms: number };
  /** The `position` of the answer before; absent: from the beginning. */
  readonly after?: ArrivalPosition;
  readonly limit: number;
  readonly precision: Precision;
  /** Gives each record the epoch and number of its reading too. */
  readonly numbered?: boolean;
  /** Has each record end with `homeid` and `clock` of `Provenance`. */
  readonly provenance?: boolean;
}

export interface Arrivals {
  /** The first readings after the position; fewer than `limit` where there are no more now. */
  readonly records: readonly SeriesRecord[];
  /** Where to go on, now or later. */
  readonly position: ArrivalPosition;
}

/** A place in the order of arrival of one series of one item, which is that of its stays one after the other, the latest first. */
export interface ArrivalPosition {
  /** Of the store. */
  readonly epoch: string;
  readonly stays: readonly PlacementPosition[];
}

/** A place in what was recorded during a stay of an item in a home. */
export interface PlacementPosition {
  /** The stay, unix milliseconds, the end not included, and under which key its readings are stored. */
  readonly stream: number;
  readonly from_ms: number;
  readonly before_ms: number;
  /** How often readings of the series had been changed or joined with others. */
  readonly revision: number;
  /** The number of the last reading before it; 0 at the beginning. */
  readonly seq: number;
  /** The stamp of the last reading before it that came in order of time, unix milliseconds. */
  readonly stamp_ms: number;
}

export interface CoverageRequest {
  readonly item: number;
  /** Only what these homes have sent; absent: all that is the item's. */
  readonly homes?: readonly number[];
  /** Only intervals that reach beyond this; absent: from the first. */
  readonly from_ms?: number | undefined;
  /** Only intervals that start before this. */
  readonly before_ms: number;
  readonly skip: number;
  readonly limit: number;
}

export interface CoverageInterval {
  /** Unix milliseconds, start included, stop not. */
  readonly start_ms: number;
  readonly stop_ms: number;
  readonly state: CoverageState;
  readonly reason?: CoverageReason;
  /** How many events are missing, where the device tells. */
  readonly lost?: number;
}

export interface Overview {
  readonly epoch: string;
  readonly schemaVersion: number;
  /** How many numbers have been given to readings: at a gateway that of the newest, at central those of all homes together. */
  readonly last_seq: number;
  readonly bytesOnDisk: number;
  readonly items: readonly ItemOverview[];
  /** Counts of dropped data since the store was made, by name. */
  readonly dropped: Readonly<Record<string, number>>;
  /** How many readings and signs of life are on disk without a number, until the time is known. */
  readonly waiting: number;
}

/** An item, what is known of its device, and what is counted of it. */
export interface ItemOverview {
  readonly record: Item;
  readonly provisional: boolean;
  /** When the device was last heard, by any sign of life. */
  readonly heard_ms?: number;
  readonly battery_percent?: number;
  readonly battery_mv?: number;
  readonly linkquality?: number;
  /** The driver that heard it last. */
  readonly listener?: string;
  /** Facts that its driver has told over time, newest first. */
  readonly history?: readonly DatedFacts[];
  /** How often it is heard although nothing happens, milliseconds; absent where it is silent until it is used. */
  readonly expected_ms?: number;
  /** Its driver has listened for more than one and a half times that long since it was heard, and no other device took its place. */
  readonly overdue: boolean;
  /** Another device took its place, as was said in its home. */
  readonly replaced?: Replaced;
  /** Stretches known to be incomplete, and how many events are known to be missing in them. */
  readonly gaps: number;
  readonly lost: number;
  /** Readings per series, and the stamp of the newest. */
  readonly series: readonly {
    readonly series: SeriesName;
    readonly count: number;
    readonly newest_ms: number;
  }[];
}

/** An overview of an item without what is counted of it. */
export type ItemState = Omit<ItemOverview, "gaps" | "lost" | "series">;

/** An item, and marks of what is kept of it. */
export interface ItemMarks {
  readonly record: Item;
  /** Of its series in order of arrival; one of which nothing was ever kept is left out. `readings` are those that are kept. */
  readonly series: readonly {
    readonly series: SeriesName;
    readonly mark: string;
    readonly readings: number;
  }[];
  readonly coverage: string;
  /** Of what is known of its device. */
  readonly device: string;
}

/** Some of the items of a kind. */
export interface ItemWindow {
  readonly skip: number;
  readonly limit: number;
  /** Only those that live or have lived in one of these homes; absent: all. */
  readonly homes?: readonly number[];
}

/** A series of an item in steps of equal length, for plots: see `Store.thinned`. */
export interface DownsampledRequest {
  readonly series: SeriesName;
  readonly item: number;
  /** Only what these homes have sent; absent: all that is the item's. */
  readonly homes?: readonly number[];
  /** Only readings with a stamp from this on, where the first step begins, and below `before_ms`, where the last one ends at the latest. */
  readonly from_ms: number;
  readonly before_ms: number;
  /** Whole milliseconds; at most `steps_max` steps. */
  readonly step_ms: number;
  /** A field of numbers: the value of a reading, in the unit of the series table. */
  readonly field: string;
  /** Bits of a whole field, below 2^31: the value of a reading is these of the field, all others are 0. */
  readonly mask?: number;
  /** Only readings of which another field has this value. */
  readonly only?: { readonly field: string; readonly value: number | string };
}

/**
 * Readings in steps, one entry a step. `least`, `greatest`, `sum` and `last` are of values, in the unit of the field, and NaN where a step has none:
 * a reading whose field is null is counted, and has no value.
 *
 * Of the events of a sensor, with `mask` 0b11: it saw motion where `nonzero` is not 0. With `mask` 0b01 a door opened where `greatest` is 1, closed where
 * `least` is 0, and stands from the step on as `last` says, until the next one that has readings. Battery and tamper bits count for neither.
 */
export interface Downsampled {
  readonly count: Uint32Array;
  /** Readings with a value other than 0: with a mask, those with one of its bits. */
  readonly nonzero: Uint32Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  readonly sum: Float64Array;
  /** Of the latest reading. */
  readonly last: Float64Array;
}

/** Steps in one answer: a year in minutes, which takes 24 MB of memory. */
export const steps_max = 600_000;

/** An epoch, and how far its readings are here. */
export interface EpochOfHome {
  readonly epoch: string;
  /** Null at a gateway that does not know its number. */
  readonly home: number | null;
  /** The number that its readings begin with. */
  readonly first_seq: number;
  readonly last_seq: number;
  /** Of which times nothing of its home is kept any more. */
  readonly erased: readonly ErasedSpan[];
}
