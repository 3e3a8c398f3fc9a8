import type { Kind } from "../../kinds.ts";
import type { Item } from "../../records/items.ts";
import type { BatchDevice } from "../batch.ts";
import { lookupText } from "../core/lookup-text.ts";
import type { Connection } from "./connection.ts";

/** The list of devices that a batch or `DeviceHealth` names by their places. */
export class BatchDevices {
  readonly list: BatchDevice[] = [];
  readonly #places = new Map<string, number>();
  readonly #items: Items;

  constructor(items: Items) {
    this.#items = items;
  }

  /** `kind`: of the series whose readings are meant, whatever the inventory has made of the item since. */
  place(item: number, kind?: Kind): number {
    const name = `${item} ${kind ?? ""}`;
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const device = this.#items.device(item);
    this.list.push(kind === undefined ? device : { ...device, kind });
    this.#places.set(name, this.list.length - 1);
    return this.list.length - 1;
  }

  /** The same object for the same item and kind, as `BatchColumns` asks. */
  device(item: number, kind: Kind): BatchDevice {
    return this.list[this.place(item, kind)] as BatchDevice;
  }
}

/** Items as the devices that they are. */
export class Items {
  readonly #byKey;
  readonly #byAddress;
  readonly #byNumber;

  constructor(database: Connection) {
    this.#byKey = database.keep("SELECT record, address, provisional FROM items WHERE key = ?");
    this.#byAddress = database.keep("SELECT key FROM items WHERE typename = ? AND address = ?");
    this.#byNumber = database.keep("SELECT key FROM items WHERE itemid = ? AND provisional = 0");
  }

  device(item: number): BatchDevice {
    const row = this.#byKey.get(item) as {
      record: string;
      address: string | null;
      provisional: number;
    } | null;
    if (row === null) throw new Error(`readings are kept under item ${item}, which is not there`);
    const record = JSON.parse(row.record) as Item;
    const address = row.address ?? "";
    return {
      kind: record.typename as Kind,
      address: address.length > address_length_max ? "" : address,
      ...(row.provisional === 1 ? {} : { itemid: record.itemid }),
      ...told("subtype", record.subtypename),
      ...told("model", record.modelname),
      ...told("vendor", record.vendorname),
    };
  }

  /** The key of the item of a device, by its address or else by its number in the inventory. */
  find({ kind, address, itemid }: Pick<BatchDevice, "kind" | "address" | "itemid">): number | undefined {
    const named = address === "" ? undefined : this.#byAddress.values(kind, lookupText(address))[0];
    const found = named ?? (itemid === undefined ? undefined : this.#byNumber.values(itemid)[0]);
    return found === undefined ? undefined : Number(found[0]);
  }
}

function told<Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } {
  const absent = value === null || value === "null" || value === "";
  return (absent ? {} : { [name]: value.slice(0, word_length_max) }) as { [Key in Name]?: string };
}

/** Lengths that a batch allows. A longer address cannot be a device's. */
const address_length_max = 64;
const word_length_max = 200;
