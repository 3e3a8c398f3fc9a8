import { type Kind, kinds } from "../kinds.ts";
import type { Device } from "../reading.ts";
import type { Item } from "../records/items.ts";
import { itemStatus } from "../records/items.ts";
import { demoHome } from "./flat.ts";
import type { MealName } from "./household.ts";

/** A device of the demo's person that isn't a sensor of the flat. */
export interface Belonging {
  readonly itemid: number;
  readonly name: string;
  readonly kind: Kind;
  readonly subtype?: "polled" | "broadcasting";
  readonly address: string;
  readonly model: string;
  readonly vendor: string;
  readonly serialnum: string;
  readonly batterymonths: number;
}

/** The box of each meal: one is polled through a radio bridge, the other broadcasts. */
export const boxes: Readonly<Record<MealName, Belonging>> = {
  breakfast: {
    itemid: 121,
    name: "pillbox-morning",
    kind: "pillboxes",
    subtype: "polled",
    address: "5c:f2:86:41:0a:17",
    model: "weekly box, radio",
    vendor: "workshop",
    serialnum: "PB-0117",
    batterymonths: 6,
  },
  supper: {
    itemid: 122,
    name: "pillbox-evening",
    kind: "pillboxes",
    subtype: "broadcasting",
    address: "5c:f2:86:42:0b:2e",
    model: "weekly box, BTHome",
    vendor: "workshop",
    serialnum: "PB-0246",
    batterymonths: 12,
  },
};

export const scale: Belonging = {
  itemid: 131,
  name: "scale-bathroom",
  kind: "scales",
  address: "d4:36:39:aa:17:5c",
  model: "BF720",
  vendor: "Beurer",
  serialnum: "720-48811",
  batterymonths: 12,
};

export const watch: Belonging = {
  itemid: 141,
  name: "watch-1",
  kind: "watches",
  address: "e1:5c:07:2d:9a:31",
  model: "Bangle.js 2",
  vendor: "Espruino",
  serialnum: "9a31",
  batterymonths: 1,
};

export const belongings: readonly Belonging[] = [boxes.breakfast, boxes.supper, scale, watch];

/** The device as its driver would report it. */
export function deviceOf({ kind, address, subtype, model, vendor }: Belonging): Device {
  return { kind, address, model, vendor, ...(subtype === undefined ? {} : { subtype }) };
}

/** Its record in the inventory, assigned at `installed_ms`. */
export function belongingItem(one: Belonging, installed_ms: number): Item {
  return {
    itemid: one.itemid,
    itemname: one.name,
    serialnum: one.serialnum,
    macaddress: one.address,
    modelid: one.itemid,
    modelname: one.model,
    subjectspecific: 1,
    vendorid: 10 + belongings.indexOf(one),
    vendorname: one.vendor,
    typeid: kinds[one.kind].typeid,
    typename: one.kind,
    subtypeid: one.subtype === undefined ? null : one.subtype === "polled" ? 1 : 2,
    subtypename: one.subtype ?? "null",
    currenthomeid: demoHome,
    currenthomestart: Math.floor(installed_ms / 1000),
    active: 1,
    activename: "Active",
    ...itemStatus.assigned,
    batterymonths: one.batterymonths,
    lastbatterychange: new Date(installed_ms).toISOString().slice(0, 10),
    hasbatteries: 1,
  };
}
