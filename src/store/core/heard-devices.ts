import type { Kind } from "../../kinds.ts";
import type { Item } from "../../records/items.ts";
import { type SeriesName, seriesOf } from "../../series.ts";
import type { BatchDevice } from "../batch.ts";
import { deviceOfItem } from "../provisional-item.ts";
import type { Homes } from "./homes.ts";
import { arrays, objects, rowsOf, type Work } from "./work.ts";

/** A series of a stream of a home, with the device as its home is told of it. */
export interface HeldSeries {
  readonly series: SeriesName;
  readonly stream: number;
  /** See `RunPlace`. */
  readonly sealed_before: number;
  readonly device: BatchDevice;
}

/** The series that are held of the streams of a home, in order of stream and series. To be read in one snapshot. */
export function* heldSeries(homes: Homes, home: number): Work<HeldSeries[]> {
  const rows = yield* rowsOf(
    objects<DeviceRow>(
      `SELECT streams.key AS stream, items.record, items.provisional, streams.address, streams.itemid,
         EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item AND stays.home = streams.home) AS lived
       FROM streams JOIN items ON items.key = streams.item WHERE streams.home = $1`,
      home,
    ),
  );
  const held = yield* rowsOf(
    arrays<[stream: number, series: SeriesName, sealed_before: number]>(
      "SELECT stream, series, sealed_before FROM totals WHERE stream = ANY ($1::bigint[]) AND home = $2 ORDER BY stream, series",
      rows.map(({ stream }) => stream),
      homes.of(home),
    ),
  );
  const devices = new Map(rows.map((row) => [row.stream, deviceOf(row)]));
  return held.map(([stream, series, sealed_before]) => {
    // Of the kind of the readings, whatever the inventory has made of the item since.
    return {
      stream,
      series,
      sealed_before,
      device: { ...(devices.get(stream) as BatchDevice), kind: seriesOf(series).kind },
    };
  });
}

interface DeviceRow {
  readonly stream: number;
  readonly record: string;
  /** On SQLite 0 or 1, as `lived`. */
  readonly provisional: boolean | number;
  readonly address: string;
  readonly itemid: number | null;
  readonly lived: boolean | number;
}

/**
 * The device of a stream, as its home is told of it: the item where it has lived there; of an item of other homes nothing but what the home itself has said,
 * because who guesses an address or a number is to learn nothing by it.
 */
function deviceOf({ record: text, provisional, address, itemid, lived }: DeviceRow): BatchDevice {
  const record = JSON.parse(text) as Item;
  const said = { kind: record.typename as Kind, address, itemid: itemid ?? undefined };
  if (!lived) return said;
  const device = deviceOfItem(record, Boolean(provisional));
  return provisional && address === "" ? { ...device, ...said } : device;
}
