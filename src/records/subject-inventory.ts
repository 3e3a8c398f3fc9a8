import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull, textOrNullWord } from "./field.ts";

/** An item in the hands of a subject over a span of time. */
export const SubjectInventory = Type.Object(
  {
    subjectid: integer("subject"),
    itemid: integer("item identifier"),
    itemname: textOrNull("item name"),
    serialnumber: textOrNull("serial number"),
    macaddress: textOrNull("MAC address"),
    modelid: integerOrNull("model identifier"),
    modelname: textOrNull("model name"),
    hasbatteries: flagOrNull("0 = no batteries, 1 = has batteries"),
    lastbatterychange: textOrNullWord("date of last battery change"),
    subjectspecific: flagOrNull("0 = not specific to a home or subject, 1 = specific"),
    vendorid: integerOrNull("vendor identifier"),
    vendorname: textOrNull("vendor"),
    typeid: integerOrNull("type identifier"),
    typename: textOrNull("type name"),
    subtypeid: integerOrNull("subtype identifier"),
    subtypename: textOrNullWord("subtype name"),
    start: textOrNull("date and time the item was assigned to the subject"),
    stop: textOrNull("date and time it was unassigned"),
  },
  { title: "Subject inventory" },
);

export type SubjectInventory = Static<typeof SubjectInventory>;
