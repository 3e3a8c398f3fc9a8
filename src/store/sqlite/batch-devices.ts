import type { Kind } from "../../kinds.ts";
import type { Item } from "../../records/items.ts";
import type { BatchDevice } from "../batch.ts";
import { objects, rowsOf, type Work } from "../core/work.ts";

/** The list of devices that a batch or `DeviceHealth` names by their places. */
export class BatchDevices {
  readonly list: BatchDevice[] = [];
  readonly #places = new Map<string, number>();
  readonly #known: ReadonlyMap<number, BatchDevice>;

  /** `known`: as `devicesByStream` has them. */
  constructor(known: ReadonlyMap<number, BatchDevice>) {
    this.#known = known;
  }

  /** `kind`: of the series whose readings are meant, whatever the inventory has made of the item since. */
  place(stream: number, kind?: Kind): number {
    const name = `${stream} ${kind ?? ""}`;
    const place = this.#places.get(name);
    if (place !== undefined) return place;
    const device = this.#known.get(stream);
    if (device === undefined) throw new Error(`readings are kept under stream ${stream}, which is not there`);
    this.list.push(kind === undefined ? device : { ...device, kind });
    this.#places.set(name, this.list.length - 1);
    return this.list.length - 1;
  }

  /** The same object for the same stream and kind, as `BatchColumns` asks. */
  device(stream: number, kind: Kind): BatchDevice {
    return this.list[this.place(stream, kind)] as BatchDevice;
  }
}

/** The devices of all streams, by key: a home has some tens. */
export function* devicesByStream(): Work<Map<number, BatchDevice>> {
  const rows = yield* rowsOf(
    objects<StreamItemRow>(
      "SELECT streams.key, record, items.address, provisional FROM streams JOIN items ON items.key = item",
    ),
  );
  return new Map(
    rows.map(({ key, record: text, address, provisional }) => {
      const record = JSON.parse(text) as Item;
      const { typename, itemid, subtypename, modelname, vendorname } = record;
      return [
        key,
        {
          kind: typename as Kind,
          address:
            address === null || address.length > address_length_max || address.startsWith("#") ? "" : address,
          itemid: provisional ? undefined : itemid,
          subtype: told(subtypename),
          model: told(modelname),
          vendor: told(vendorname),
        },
      ];
    }),
  );
}

interface StreamItemRow {
  readonly key: number;
  readonly record: string;
  readonly address: string | null;
  readonly provisional: number;
}

function told(value: string | null): string | undefined {
  return value === null || value === "null" || value === "" ? undefined : value.slice(0, word_length_max);
}

/** Lengths that a batch allows. A longer address cannot be a device's. */
const address_length_max = 64;
const word_length_max = 200;
