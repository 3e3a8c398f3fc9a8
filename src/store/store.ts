import type { DeviceFacts } from "../device-facts.ts";
import { OperatorError } from "../errors.ts";
import type { Kind } from "../kinds.ts";
import type { Device, DeviceState, Gap, Reading, ReadingNumber } from "../reading.ts";
import type { CoverageReason, CoverageState } from "../records/coverage.ts";
import type { Item, ItemType } from "../records/items.ts";
import type { SeriesName, Value } from "../series.ts";
import type { Token } from "../token.ts";
import type { AdmissionStore } from "./admission-store.ts";
import type { UncertainTimes } from "./doubts.ts";
import type { EpochOfHome } from "./epoch-of-home.ts";
import type { Erasure, ErasurePlan, ErasureTarget, TakenSpan } from "./erasure.ts";
import type { GivenNames, NameStore } from "./given-names.ts";
import type { IdentityNotes, IdentityStore } from "./identity-store.ts";
import type { ItemOverview, ItemState, ItemWindow } from "./item-overview.ts";
import type { RecordStore } from "./record-store.ts";
import type { Downsampled, DownsampledRequest } from "./thinned.ts";

export { type Scope, scopes, type Token } from "../token.ts";
export type { AdmissionStore, Admitted } from "./admission-store.ts";
export type { IdentityNotes, IdentityStore } from "./identity-store.ts";
export type { ItemOverview, ItemState, ItemWindow } from "./item-overview.ts";
export { type Downsampled, type DownsampledRequest, steps_max } from "./thinned.ts";

/**
 * Where readings and records live, as the API, sync and the commands see it. Two stores
 * implement it; one conformance suite in test/store holds them equal.
 *
 * `homes` in a request cuts the answer to what these homes have sent, and to items that live or have lived there. A gateway has one home, and does
 * not look which: an empty list alone is none of it.
 *
 * Every read but `thinned` is one snapshot: what a call answers was true at one instant. Times are unix milliseconds.
 */
export interface Store extends RecordStore, Erasures, GivenNames {
  /** Item types of the inventory, every known kind in order of typeid, also those without items; `homes`: counts only what lives or has lived in them. */
  itemTypes(homes?: readonly number[]): Promise<ItemType[]>;

  /** Items of a kind in order of itemid. Where `homes` are named, an item does not tell in which other one it is now; nor does `item`. */
  items(kind: Kind, window: ItemWindow): Promise<Item[]>;

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

  /** A page of a series of an item, newest first unless the request says otherwise. */
  page(request: PageRequest): Promise<Page>;

  /** The mark of a page, and the page as it is at that moment, or what is kept under the mark instead. */
  markedPage<Kept>(
    request: PageRequest,
    keptAs: (mark: string) => Kept | undefined,
  ): Promise<Marked<{ readonly page: Page }, Kept>>;

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
  /** Keeps when tokens were last used, `last_used_ms` by id. */
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

/** A gateway's store: ingest writes to it, everything else reads. */
export interface GatewayStore extends Store, AdmissionStore, UncertainTimes, IdentityStore, NameStore {
  /** This store's name in the world, random and made with the database: (epoch, seq) identifies a reading. */
  readonly epoch: string;

  /**
   * Commits readings in one transaction, with full synchronisation, numbered in the given order without gaps; a device that no item has gets a provisional
   * one. When it resolves all are on disk; when it rejects none is, and the next number is unchanged. `notes` are kept in the same transaction: on an SD
   * card every synchronisation of its own counts. Rejects with ReadingRefused when one reading is at fault,
   * with another OperatorError when the disk or the database is; the same batch may then be tried again.
   */
  append(readings: readonly Reading[], notes?: Notes): Promise<Appended>;

  /** Copies all that readings hang on to a file beside the database, where it has changed: `mend` fills damaged tables from there. */
  keepEssentials(): Promise<void>;

  /** How far a driver has read a device's buffer: what the last commit with a cursor of this name kept. */
  cursor(name: string): Promise<string | undefined>;

  /** Known time of every boot so far, oldest first, and how many facts wait for theirs. */
  timeKnown(): Promise<{ readonly boots: readonly BootTime[]; readonly waiting: number }>;

  /** Facts that wait for their time, in order of boot, then of monotonic time, then as they came. */
  waiting(limit: number): Promise<readonly WaitingFact[]>;

  /**
   * The last offset added to a device's own clock, milliseconds, in a reading of the series whose offset was measured;
   * undefined where there is none.
   */
  deviceOffset(series: SeriesName, device: Device): Promise<number | undefined>;
}

/** Notes stored beside readings, or without any. */
export interface Notes {
  /** States of devices; the last of a device counts. */
  readonly states?: readonly HeardState[];
  /** Additions to the counts of dropped data, by name. */
  readonly dropped?: ReadonlyMap<string, number>;
  /** Kept once, however often the same one is told. */
  readonly gaps?: readonly Gap[];
  /** Cursors of drivers by name: see `GatewayStore.cursor`. */
  readonly cursors?: ReadonlyMap<string, string>;
  /** Who was listening; kept before the states, in order of time. */
  readonly listening?: readonly ListeningSpan[];
  /** Facts to keep until their time is known, without stamp or number, and ids of those to keep no longer. */
  readonly held?: readonly HeldFact[];
  readonly released?: readonly number[];
  /** New knowledge of the time in these boots; a boot that is new is the latest. */
  readonly boots?: readonly BootTime[];
  /** Identities of devices, and conflicts, as they are now. */
  readonly identities?: IdentityNotes;
}

/** A state with the name of the driver that heard it. */
export interface HeardState extends DeviceState {
  readonly listener?: string;
  readonly facts?: DeviceFacts;
}

/** For how long, unix milliseconds, the gateway or one of its drivers is known to have listened without a break. */
export interface ListeningSpan {
  readonly listener: string;
  readonly from_ms: number;
  readonly to_ms: number;
}

/** A fact with a time that may have to wait for the clock. */
export type GatewayFact =
  | { readonly reading: Reading }
  | { readonly state: HeardState }
  | { readonly gap: Gap }
  | { readonly listening: ListeningSpan };

/** A fact of a boot, with its monotonic time; the unix times in it are not to be trusted. */
export interface HeldFact {
  readonly boot: string;
  readonly monotonic_ms: number;
  readonly fact: GatewayFact;
}

export interface WaitingFact extends HeldFact {
  readonly id: number;
}

/** Converts monotonic time of a boot to unix time, both in milliseconds. */
export interface Timeline {
  /** Unix time is monotonic time plus this. */
  readonly offset_ms: number;
  /** When it was last compared with the system clock, monotonic. */
  readonly compared_ms: number;
  /** The offset that held before this one, until a monotonic time; absent where there was none. */
  readonly before?: { readonly offset_ms: number; readonly until_ms: number };
}

/** Known time in a run of the machine, in milliseconds. */
export interface BootTime {
  readonly boot: string;
  /** Absent while the boot has not learned the time. */
  readonly timeline?: Timeline;
  /** When the boot was last known to run, monotonic. */
  readonly seen_ms: number;
  /** Present where the offset was only put between those of the boots before and after: how far it may be off. */
  readonly bound_ms?: number;
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

export interface Appended {
  readonly first_seq: number;
  readonly last_seq: number;
  /** Names of provisional items that this commit made. */
  readonly created: readonly string[];
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
