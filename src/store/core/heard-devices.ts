import type { Kind } from "../../kinds.ts";
import type { Item } from "../../records/items.ts";
import type { BatchDevice } from "../batch.ts";
import { deviceOfItem } from "../provisional-item.ts";

/** Streams and the items that they are of, with whether the item has ever lived in the home; to be read with `deviceColumns`. */
export const heardItems = "streams JOIN items ON items.key = streams.item";
export const deviceColumns = `streams.key AS stream, items.record, items.provisional, streams.address, streams.itemid,
  EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item AND stays.home = streams.home) AS lived`;

export interface DeviceRow {
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
export function deviceOf({ record: text, provisional, address, itemid, lived }: DeviceRow): BatchDevice {
  const record = JSON.parse(text) as Item;
  const said = { kind: record.typename as Kind, address, itemid: itemid ?? undefined };
  if (!lived) return said;
  const device = deviceOfItem(record, Boolean(provisional));
  return provisional && address === "" ? { ...device, ...said } : device;
}
