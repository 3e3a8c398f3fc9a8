import { type Static, Type } from "@sinclair/typebox";

/** An item of the inventory, in the names, spellings and order in which it is served. */
export const Item = Type.Object({
  itemid: Type.Integer({ description: "unique identifier" }),
  itemname: Type.String({ description: "unique name" }),
  serialnum: Type.Union([Type.String(), Type.Null()], { description: "serial number" }),
  macaddress: Type.Union([Type.String(), Type.Null()], { description: "hardware MAC address" }),
  modelid: Type.Union([Type.Integer(), Type.Null()], { description: "model identifier" }),
  modelname: Type.Union([Type.String(), Type.Null()], { description: "model name" }),
  subjectspecific: Type.Union([Type.Integer(), Type.Null()], {
    description: "0 = not specific to a home or subject, 1 = specific",
  }),
  vendorid: Type.Union([Type.Integer(), Type.Null()], { description: "vendor identifier" }),
  vendorname: Type.Union([Type.String(), Type.Null()], { description: "vendor name" }),
  typeid: Type.Integer({ description: "item type identifier" }),
  typename: Type.String({ description: "item type name" }),
  subtypeid: Type.Union([Type.Integer(), Type.Null()], { description: "item subtype identifier" }),
  subtypename: Type.String({ description: 'item subtype name; the string "null" when absent' }),
  currenthomeid: Type.Union([Type.Integer(), Type.Null()], {
    description: "identifier of the home where the item is installed",
  }),
  currenthomestart: Type.Union([Type.Integer(), Type.Null()], {
    description: "unix timestamp of installation in that home",
  }),
  active: Type.Integer({ description: "whether the item is active in a home" }),
  activename: Type.Union([Type.Literal("Active"), Type.Literal("Inactive")]),
  statusid: Type.Union([Type.Integer(), Type.Null()], { description: "identifier of the current status" }),
  statusname: Type.Union([Type.String(), Type.Null()], {
    description: "name of the current status: Assigned, Received or Decommissioned",
  }),
  batterymonths: Type.Union([Type.Integer(), Type.Null()], { description: "months the battery lasts" }),
  lastbatterychange: Type.String({
    description: 'date of last recorded battery change; the string "null" when absent',
  }),
  hasbatteries: Type.Union([Type.Integer(), Type.Null()], {
    description: "0 = no batteries, 1 = has batteries",
  }),
});

export type Item = Static<typeof Item>;
