import { type Static, Type } from "@sinclair/typebox";
import type { RecordType } from "../domain/records/record-table.ts";
import { type Batch, type BatchDevice, numbersAt, pick, seriesIn } from "./batch.ts";
import { closed, Kind, number, time_ms } from "./exchange.ts";
import { normalAddress } from "./inventory/item-names.ts";
import { isUnderWay } from "./pause.ts";

/** The target of an erasure: all that a home has sent and its records, or all of a participant. */
export type ErasureTarget = { readonly home: number } | { readonly subject: number };

const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** A time of which nothing is kept, as stores hand it to each other: of one device of a home, or of all (`kind` is null). */
export const ErasedSpan = Type.Object(
  {
    /** Of all that was erased together: 32 hex digits. `place` numbers its spans. */
    id: Type.String({ pattern: "^[0-9a-f]{32}$" }),
    place: number,
    /** When it was asked for. */
    at_ms: time_ms,
    home: Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER }),
    subject: orNull(number),
    kind: orNull(Kind),
    address: orNull(Type.String({ maxLength: 1_000 })),
    itemid: orNull(number),
    /** Unix milliseconds, the end not included; empty where only records were erased. */
    from_ms: number,
    before_ms: number,
  },
  closed,
);
export type ErasedSpan = Static<typeof ErasedSpan>;

/** Whether a span is of all that a home has sent, whoever lived there: a pause names no participant. */
export function isWholeHome({ subject = null, kind = null }: WholeOrPart): boolean {
  return subject === null && kind === null;
}

type WholeOrPart = { readonly [Field in "subject" | "kind"]?: ErasedSpan[Field] };

/** A span that a store takes over: `own` as another copy of the same store had it, 0 where it is not told. */
export type TakenSpan = ErasedSpan & { readonly own?: number };

/** The same as a store keeps it. */
export interface Erasure extends ErasedSpan {
  /** 1: it was asked for here. 0: it was taken over from central, or from another copy of this store. */
  readonly own: number;
  /** Readings that were removed, and those that came later and were not kept. */
  readonly readings: number;
  readonly refused: number;
}

/** The part of an erasure that other stores are told. */
export function spanOf({ own: _, readings: __, refused: ___, ...span }: Erasure): ErasedSpan {
  return span;
}

/** Everything that an erasure takes away, or would. */
export interface ErasurePlan {
  readonly readings: readonly ItemReadings[];
  /** Readings that stay although they may be looked for among these, each with the reason. */
  readonly kept: readonly KeptReadings[];
  readonly records: Readonly<Partial<Record<RecordType, number>>>;
  /** Alerts that central made, and files of a home that it keeps. */
  readonly alerts: number;
  readonly files: number;
  /** Tokens that are bound to the home: they stay. */
  readonly tokens: readonly { readonly id: string; readonly name: string }[];
  readonly spans: readonly Omit<ErasedSpan, "id" | "place" | "at_ms">[];
}

/** Readings of an item that a home has sent, in a stretch of time, unix milliseconds, the end not included. */
export interface ItemReadings {
  readonly home: number;
  readonly itemname: string;
  readonly from_ms: number;
  readonly before_ms: number;
  readonly readings: number;
}

export interface KeptReadings extends Omit<ItemReadings, "itemname"> {
  /** Null: all items of the home. */
  readonly itemname: string | null;
  readonly why: string;
}

/** A device as a span names it. */
export type Named = Pick<BatchDevice, "kind" | "address" | "itemid">;
/** The fields of a span that say whether it holds a reading. */
export type SpanOfDevice = Pick<ErasedSpan, "kind" | "address" | "itemid" | "from_ms" | "before_ms">;

/** The fields of a span of every device that say so. */
export const everyDevice = { kind: null, address: null, itemid: null } as const;

export function isOfDevice(
  { kind, address, itemid }: Omit<SpanOfDevice, "from_ms" | "before_ms">,
  of: Named,
) {
  if (kind === null) return true;
  if (kind !== of.kind) return false;
  if (address === null && itemid === null) return true;
  return (
    (address !== null && address === normalAddress(of.address)) || (itemid !== null && itemid === of.itemid)
  );
}

/** Finds the span in which a device has nothing kept of a moment; undefined: it is kept. */
export function erasedAt<Span extends SpanOfDevice>(
  spans: readonly Span[],
  device: Named,
  at_ms: number,
): Span | undefined {
  return spans.find((span) => isUnderWay(span, at_ms) && isOfDevice(span, device));
}

/** A batch without the readings that lie in erased spans, whose numbers pass, and how many those are by span. */
export function withoutErased<Span extends SpanOfDevice>(
  batch: Batch,
  spans: readonly Span[],
  from_seq = 0,
): { readonly batch: Batch; readonly refused: ReadonlyMap<Span, number> } {
  const refused = new Map<Span, number>();
  if (spans.length === 0) return { batch, refused };
  const ofDevice = batch.devices.map((device) => spans.filter((span) => isOfDevice(span, device)));
  const series = seriesIn(batch).map(([name, columns]) => {
    const kept: number[] = [];
    for (let index = 0; index < columns.seq.length; index += 1) {
      const at_ms = columns.stamp_ms[index] as number;
      const device = columns.device[index] as number;
      const span = ofDevice[device]?.find((one) => isUnderWay(one, at_ms));
      if (span === undefined) kept.push(index);
      else if ((columns.seq[index] as number) >= from_seq) refused.set(span, (refused.get(span) ?? 0) + 1);
    }
    return [
      name,
      kept.length === columns.seq.length
        ? columns
        : { ...pick(columns, kept), device: numbersAt(columns.device, kept) },
    ] as const;
  });
  return {
    batch: { ...batch, series: Object.fromEntries(series.filter(([, { seq }]) => seq.length > 0)) },
    refused,
  };
}

/** Rows that a document may hand over. */
export const ErasedSpans = Type.Array(ErasedSpan, { maxItems: 100_000 });
