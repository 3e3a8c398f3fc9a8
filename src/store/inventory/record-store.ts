import type { Static } from "@sinclair/typebox";
import { day_ms } from "../../base/time.ts";
import type {
  OwnerType,
  RecordType,
  Reference,
  recordTable,
  StoredRecord,
  Unique,
} from "../../domain/records/record-table.ts";
import type { Visible } from "../../domain/records/visible-records.ts";
import type { Binding } from "../../domain/token.ts";
import type { AskedUses } from "../restriction.ts";
import type { GivenName } from "./given-names.ts";

/** A subject or home, and a mark of each of its lists. */
export interface OwnerMarks {
  readonly number: number;
  readonly marks: ReadonlyMap<OwnedType, string>;
  /** Of a home: the names and places that its devices were given, the time zone of its record, and marks of all else that its derived measures are made of. */
  readonly names?: readonly GivenName[];
  readonly timezone?: unknown;
  readonly measured?: MeasuredMarks | undefined;
}

/** Marks of all that the derived measures of a home are made of, besides names, lines and the time zone. */
export interface MeasuredMarks {
  /** The first sign of life of its devices, unix milliseconds; undefined where there was none. */
  readonly first_ms: number | undefined;
  /**
   * The mark of what the store has of before a moment, unix milliseconds. Readings and coverage that come after the moment, in their order, leave it as it is,
   * but for those of the same `marked_ms`. A change of items, a repair and a late reading change the marks of all moments behind it.
   */
  readonly before: (at_ms: number) => string;
}

/** Interruptions and late readings are told apart by the weeks that they lie in. */
export const marked_ms = 7 * day_ms;

/** The part of a store that holds the programme's records: every type of the record table. */
export interface RecordStore {
  /** The records that a token may see which is bound to these; `restricted`: also what is restricted. `asked`: only homes whose consent covers these uses. */
  visible(binding: Binding, restricted?: boolean, asked?: AskedUses): Promise<Visible>;

  /** The records that a token may see which is bound to none; undefined: nothing is left out, and it sees everything. */
  unrestricted(asked?: AskedUses): Promise<Visible | undefined>;

  /** Every record of a type that stands for itself, in its order; of those that are `seen`, where that is given. */
  records<Type extends LoneType>(type: Type, seen?: Visible): Promise<RecordOf<Type>[]>;

  /** A record by its number. */
  record<Type extends LoneType>(
    type: Type,
    number: number,
    seen?: Visible,
  ): Promise<RecordOf<Type> | undefined>;

  /** The records of a type that a subject or home owns, in their order; none also for an unknown owner. */
  recordsOf<Type extends OwnedType>(type: Type, owner: number, seen?: Visible): Promise<RecordOf<Type>[]>;

  /**
   * Subjects or homes in order of their numbers, each with a mark for each of its lists: while it is the same text, so is the list. The texts mean nothing in
   * another store.
   */
  ownerMarks(
    owners: OwnerType,
    window: { skip: number; limit: number },
    seen?: Visible,
  ): Promise<OwnerMarks[]>;

  /**
   * The records of a type in which a field that holds a number holds one of these, in their order and as they are kept: an
   * embedded item as its itemid. Of items only those of the inventory, no provisional ones; of alerts none that central makes
   * of the health of a home's devices. For the records of a home.
   */
  recordsWith(type: RecordType, field: string, numbers: readonly number[]): Promise<StoredRecord[]>;

  /** Which of these numbers name a record of the type; provisional items are items too. */
  knownRecords(type: Reference["to"], numbers: readonly number[]): Promise<ReadonlySet<number>>;

  /** Whether the store holds any record of the type; provisional items alone are no inventory. */
  keepsRecords(type: Reference["to"]): Promise<boolean>;

  /** itemids of the items that have these names, by name. */
  itemidsOf(names: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Takes in records that are right in themselves and whose references hold: all in one transaction, or none.
   * A record takes the place of the one of the same identity. An item also takes the place of the provisional
   * one with its type and address, whose readings become its own; where both exist, the item has the
   * readings of both afterwards, each with the number it had.
   *
   * Batches are put aside as they come; the inventory is changed only when all have come. Where the iterable
   * throws, the call rejects with what it threw. `dryRun` is asked then: where it says so, or where there are clashes,
   * nothing is changed and the answer says what would have been. One import at a time.
   */
  importRecords(
    batches: AsyncIterable<readonly ImportedRecord[]> | Iterable<readonly ImportedRecord[]>,
    options?: { readonly dryRun?: () => boolean },
  ): Promise<Imported>;
}

/** Types whose records stand for themselves. Items do too, but have lists by kind. */
export type LoneType = Exclude<
  {
    [Type in RecordType]: (typeof recordTable)[Type] extends { owner: OwnerType } ? never : Type;
  }[RecordType],
  "items"
>;

/** Types whose records stand in the list of a subject or home. */
export type OwnedType = {
  [Type in RecordType]: (typeof recordTable)[Type] extends { owner: OwnerType } ? Type : never;
}[RecordType];

/** A record as it is served. */
export type RecordOf<Type extends RecordType> = Static<(typeof recordTable)[Type]["schema"]>;

/** A record to take in: every field of its schema in its order, but an embedded item as its itemid. */
export interface ImportedRecord {
  readonly type: RecordType;
  readonly record: StoredRecord;
}

export interface Imported {
  /** Counts of changes by type, in the order of the record table; types without records are absent. */
  readonly changes: Readonly<Partial<Record<RecordType, RecordChanges>>>;
  readonly clashes: readonly Clash[];
}

export interface RecordChanges {
  readonly added: number;
  /** Records of the same identity that differed. */
  readonly updated: number;
  readonly unchanged: number;
  /** Items, of those added or updated, that took over the readings of a provisional one. */
  readonly adopted: number;
}

/** A record that may not come in because another of the store holds what only one can. */
export interface Clash extends ImportedRecord {
  readonly unique: Unique;
  /** Name of the item that holds it. */
  readonly holder: string;
}
