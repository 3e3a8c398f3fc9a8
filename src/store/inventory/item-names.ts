import { type Kind, kinds } from "../../domain/kinds.ts";
import type { Device } from "../../domain/reading.ts";
import { type Item, itemStatus } from "../../domain/records/item.ts";
import type { BatchDevice } from "../batch.ts";

/**
 * A hardware address in the one form that items are found by: lower case, pairs of hex digits joined by
 * colons. Takes the forms people write (`00-0D-6F…`, `000d6f…`, `0x000d6f…`); what is no such number is only
 * trimmed and lowered, and undefined stands for nothing at all.
 */
export function normalAddress(written: string): string | undefined {
  const text = written.trim().toLowerCase();
  const digits = text.replace(/^0x/, "").replace(/[\s:.-]/g, "");
  if (/^([0-9a-f]{2})+$/.test(digits)) return (digits.match(/../g) ?? []).join(":");
  return text === "" ? undefined : text;
}

/**
 * A text as the columns hold it that records are looked up by. PostgreSQL takes neither NUL nor halves of surrogate pairs, and
 * no index takes a key of more than some 2,700 bytes: such a text is known by its hash. What is served comes from the record.
 */
export function lookupText(text: string): string {
  if (text.length <= length_max && !text.includes("\0") && text.isWellFormed()) return text;
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(text)).digest("hex");
  return `${text.slice(0, shown_length).replaceAll("\0", "").toWellFormed()}…${hash}`;
}

/** UTF-16 units, each at most three bytes in UTF-8. */
const length_max = 800;
const shown_length = 100;

/**
 * The columns of an item that are made of its record, and of the address that it is found by (`foundBy`): made here alone, so that
 * record and columns agree. The record is kept as it is served.
 */
export const itemColumns = {
  itemid: "bigint",
  record: "text",
  typename: "text",
  itemname: "text",
  address: "text",
  currenthomeid: "bigint",
} as const;

/** An address as items are found by it; null where there is none. */
export function foundBy(address: string): string | null {
  const normal = normalAddress(address);
  return normal === undefined ? null : lookupText(normal);
}

/** The values of `itemColumns`. */
export function itemValues(record: Item, address: string | null): (string | number | null)[] {
  const { itemid, typename, itemname, currenthomeid } = record;
  return [itemid, JSON.stringify(record), typename, lookupText(itemname), address, currenthomeid];
}

/** The address of a provisional item whose device is known by its number in the inventory alone: no device has such a one. */
export function numberAddress(itemid: number): string {
  return `#${itemid}`;
}

/** The record that a device gets which no item has, until the inventory takes it over. */
export function provisionalItem(options: {
  readonly names: ItemNames;
  readonly device: Device;
  /** The home that it was heard in, where that has a number. */
  readonly home: number | undefined;
  /** When it was first heard, unix milliseconds. */
  readonly heard_ms: number;
}): Item {
  const { names, device, home, heard_ms } = options;
  return {
    ...names,
    serialnum: null,
    macaddress: device.address === "" ? null : device.address,
    modelid: null,
    modelname: device.model ?? null,
    subjectspecific: 0,
    vendorid: null,
    vendorname: device.vendor ?? null,
    typeid: kinds[device.kind].typeid,
    typename: device.kind,
    subtypeid: null,
    subtypename: device.subtype ?? absent,
    currenthomeid: home ?? null,
    currenthomestart: Math.floor(heard_ms / 1000),
    active: 1,
    activename: "Active",
    ...itemStatus.received,
    batterymonths: null,
    lastbatterychange: absent,
    hasbatteries: 1,
  };
}

/** The fields that no two items share. */
export type ItemNames = Pick<Item, "itemid" | "itemname">;

/**
 * Names for the provisional item of a key and a normal address, best first: an inventory may hold one already, by chance or because
 * it was copied from a gateway. A device without an address that has a number in the inventory keeps that, if it can.
 */
export function provisionalNames(
  key: number,
  { kind, itemid: numbered }: BatchDevice,
  address: string,
): ItemNames[] {
  const { singular } = kinds[kind];
  const name = `${singular}-${address === "" ? (numbered ?? "") : address.replaceAll(":", "")}`;
  const own = address === "" && numbered !== undefined ? [{ itemid: numbered, itemname: name }] : [];
  const made = Array.from({ length: names_tried_max }, (_, tries) => {
    const itemid = provisionalItemids * (tries + 1) + key;
    return { itemid, itemname: tries === 0 ? name : `${name}-${itemid}` };
  });
  return [...own, ...made];
}

/** Names for a provisional item whose own the inventory wants for another, best first. */
export function namesAside(key: number, { itemname }: Item): ItemNames[] {
  return Array.from({ length: names_tried_max }, (_, tries) => {
    const itemid = provisionalItemids * (tries + 2) + key;
    return { itemid, itemname: `${itemname}-${itemid}` };
  });
}

/**
 * Fields that a device has told and its provisional item lacks. Often a device tells them only after it was first
 * heard.
 */
export function toldSince(record: Item, device: Device): Partial<Item> | undefined {
  const told: Partial<Item> = {};
  if (record.subtypename === absent && device.subtype !== undefined) told.subtypename = device.subtype;
  if (record.modelname === null && device.model !== undefined) told.modelname = device.model;
  if (record.vendorname === null && device.vendor !== undefined) told.vendorname = device.vendor;
  return Object.keys(told).length === 0 ? undefined : told;
}

/** The device of an item, as another store finds or makes the item by it. */
export function deviceOfItem(record: Item, provisional: boolean): BatchDevice {
  const kind = record.typename as Kind;
  const address = normalAddress(record.macaddress ?? "") ?? "";
  if (!provisional) return { kind, address, itemid: record.itemid };
  return {
    kind,
    address,
    itemid: address === "" ? record.itemid : undefined,
    subtype: record.subtypename === absent ? undefined : record.subtypename,
    model: record.modelname ?? undefined,
    vendor: record.vendorname ?? undefined,
  };
}

/** Itemids from here up are provisional ones: no inventory counts so far. */
const provisionalItemids = 1_000_000_000;
const names_tried_max = 8;
/** How the interface writes an absent subtypename or lastbatterychange. */
const absent = "null";
