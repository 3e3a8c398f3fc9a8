import { type Kind, kinds } from "../kinds.ts";
import type { Device } from "../reading.ts";
import type { Item } from "../records/items.ts";
import { itemStatus } from "../records/items.ts";
import { normalAddress } from "./address.ts";
import type { BatchDevice } from "./batch.ts";

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
