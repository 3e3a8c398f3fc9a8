import { type Static, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { type SeriesName, seriesNames } from "../series.ts";
import { batch_readings_max } from "../store/batch.ts";
import { closed, ExchangedDevice, seq as heldSeq } from "../store/device-health.ts";
import { seq_max } from "../store/intake.ts";
import { type SeriesColumn, stampSchema, valueColumns } from "../store/series-columns.ts";
import { EpochName } from "./protocol.ts";

/** The version of the form below. A change of the form is a new version; batches of a released version stay readable. */
export const batchVersion = 1;

/** A person's home has some tens of devices. */
export const items_max = 10_000;

const seq = Type.Integer({ minimum: 1, maximum: seq_max });

/** The devices that the readings of a series are of; their kind is that of the series. */
const Items = Type.Array(Type.Omit(ExchangedDevice, ["kind"], closed), { maxItems: items_max });

/** The readings of a series: columns of equal length with the names of the table, but for `items`, the list of which `item` has places. */
export type SeriesText = { [column: string]: unknown[] } & { items: Static<typeof Items> };

/** The columns of a series as they are written. */
export function textColumns(series: SeriesName): TextColumn[] {
  return [item, numbers, stamp_ms, ...valueColumns(series)];
}

type TextColumn = Omit<SeriesColumn, "nullable">;

const item: TextColumn = {
  name: "item",
  sql: "INTEGER",
  schema: Type.Integer({ minimum: 0, maximum: items_max - 1 }),
};
const numbers: TextColumn = { name: "seq", sql: "INTEGER", schema: seq, rising: true };
const stamp_ms: TextColumn = { name: "stamp_ms", sql: "INTEGER", schema: stampSchema, rising: true };

function seriesForm(series: SeriesName): TSchema {
  const columns = textColumns(series).map(({ name, rising, schema }) => {
    const difference = TypeGuard.IsUnion(schema) ? Type.Union([Type.Integer(), Type.Null()]) : Type.Integer();
    return [name, Type.Array(rising ? difference : schema, { maxItems: batch_readings_max })];
  });
  return Type.Object({ items: Items, ...Object.fromEntries(columns) }, closed);
}

/** A batch as it is written: see `Batch` for what it means. */
export const BatchText = Type.Object(
  {
    version: Type.Literal(batchVersion),
    epoch: EpochName,
    first_seq: seq,
    from_seq: seq,
    to_seq: heldSeq,
    previous: Type.Optional(Type.String({ pattern: "^[0-9a-f]{16}$" })),
    missing: Type.Array(Type.Tuple([seq, heldSeq]), { maxItems: batch_readings_max + 1 }),
    series: Type.Unsafe<Partial<Record<SeriesName, SeriesText>>>(
      Type.Object(
        Object.fromEntries(seriesNames.map((name) => [name, Type.Optional(seriesForm(name))])),
        closed,
      ),
    ),
  },
  closed,
);
export type BatchText = Static<typeof BatchText>;
