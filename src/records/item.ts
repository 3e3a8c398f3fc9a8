import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull, textOrNullWord, unixTimeOrNull } from "./field.ts";

/** An item of the inventory, in the names, spellings and order in which it is served. */
export const Item = Type.Object(
  {
    itemid: integer("unique identifier"),
    itemname: Type.String({ minLength: 1, description: "unique name" }),
    serialnum: textOrNull("serial number"),
    macaddress: textOrNull("hardware MAC address"),
    modelid: integerOrNull("model identifier"),
    modelname: textOrNull("model name"),
    subjectspecific: flagOrNull("0 = not specific to a home or subject, 1 = specific"),
    vendorid: integerOrNull("vendor identifier"),
    vendorname: textOrNull("vendor name"),
    typeid: integer("item type identifier"),
    typename: Type.String({ description: "item type name" }),
    subtypeid: integerOrNull("item subtype identifier"),
    subtypename: textOrNullWord("item subtype name"),
    currenthomeid: integerOrNull("identifier of the home where the item is installed"),
    currenthomestart: unixTimeOrNull("when it was installed in that home"),
    active: Type.Integer({ minimum: 0, maximum: 1, description: "whether the item is active in a home" }),
    activename: Type.Union([Type.Literal("Active"), Type.Literal("Inactive")], {
      description: "name of the value of active",
    }),
    statusid: integerOrNull("identifier of the current status"),
    statusname: textOrNull("name of the current status: Assigned, Received or Decommissioned"),
    batterymonths: integerOrNull("months the battery lasts"),
    lastbatterychange: textOrNullWord("date of last recorded battery change"),
    hasbatteries: flagOrNull("0 = no batteries, 1 = has batteries"),
  },
  { title: "Item" },
);

export type Item = Static<typeof Item>;
