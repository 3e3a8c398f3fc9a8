import { type Static, Type } from "@sinclair/typebox";
import { isKind, kindNames, kinds } from "../kinds.ts";
import {
  addressRule,
  always,
  type Default,
  flagOrNull,
  identifying,
  integer,
  integerOrNull,
  nameRule,
  oneOf,
  type PartialRecord,
  type RecordRule,
  record,
  textOrNull,
  textOrNullWord,
  timeRules,
  unixTimeOrNull,
} from "./record-field.ts";

/** Subtypes that drivers and the inventory have words for. */
const subtypes = ["wall", "door", "curtain", "polled", "broadcasting", "null"];

/** A subtype: that of a device, or a word of the inventory's own. */
export function subtypeNamed(description: string) {
  return identifying({ isKnown: (text) => subtypes.includes(text) }, textOrNullWord(description));
}

/** An item of the inventory, in the names, spellings and order in which it is served. */
export const Item = record("Item", {
  itemid: identifying("item", integer("unique identifier")),
  itemname: identifying("itemname", Type.String({ minLength: 1, description: "unique name" })),
  serialnum: textOrNull("serial number"),
  macaddress: textOrNull("hardware MAC address"),
  modelid: integerOrNull("model identifier"),
  modelname: textOrNull("model name"),
  subjectspecific: flagOrNull("0 = not specific to a home or subject, 1 = specific"),
  vendorid: integerOrNull("vendor identifier"),
  vendorname: textOrNull("vendor name"),
  typeid: integer("item type identifier"),
  typename: identifying("nobody", Type.String({ description: "item type name" })),
  subtypeid: integerOrNull("item subtype identifier"),
  subtypename: subtypeNamed("item subtype name"),
  currenthomeid: identifying("home", integerOrNull("identifier of the home where the item is installed")),
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
});

export type Item = Static<typeof Item>;

/** One element of `/items`: a type of item and how many of it the inventory holds. */
export const ItemType = record("Item type", {
  typeid: Type.Integer({ description: "item type identifier" }),
  typename: identifying("nobody", Type.String({ description: "item type name, as paths use it" })),
  count: Type.Integer({ description: "items of this type in the inventory", minimum: 0 }),
});

export type ItemType = Static<typeof ItemType>;

/** The statuses of an item, statusid to statusname. The ids are stored and served: add, never renumber. */
export const itemStatus = {
  assigned: { statusid: 1, statusname: "Assigned" },
  received: { statusid: 2, statusname: "Received" },
  decommissioned: { statusid: 3, statusname: "Decommissioned" },
} as const;

/** The values that an item's fields may have. */
export const itemRules: readonly RecordRule[] = [
  nameRule,
  addressRule,
  ...timeRules(["currenthomestart"]),
  oneOf("typename", () => kindNames),
  // Which of the two pill boxes it is decides whether there is a status series: a third word can't be right.
  oneOf("subtypename", ({ typename }) =>
    typename === "pillboxes" ? ["polled", "broadcasting", "null"] : undefined,
  ),
  oneOf("activename", ({ active }) => (active === undefined ? undefined : [activename(active)])),
  oneOf("statusname", () => Object.keys(statusids)),
];

/** Defaults of an item's fields that an import may leave out; a field without one is then null. */
export const itemDefaults: Readonly<Record<string, Default>> = {
  typeid: ({ typename }) =>
    typeof typename === "string" && isKind(typename) ? kinds[typename].typeid : undefined,
  subtypename: always("null"),
  active: ({ activename, currenthomeid }: PartialRecord) =>
    typeof activename === "string"
      ? Number(activename === "Active")
      : Number(typeof currenthomeid === "number"),
  activename: ({ active }) => activename(active),
  statusid: ({ statusname }) => (typeof statusname === "string" ? statusids[statusname] : null),
  lastbatterychange: always("null"),
};

function activename(active: unknown): "Active" | "Inactive" {
  return active === 1 ? "Active" : "Inactive";
}

/** Names of the statuses as they are written, with the one that exists in a second spelling. */
const statusids: Readonly<Record<string, number>> = {
  ...Object.fromEntries(Object.values(itemStatus).map(({ statusid, statusname }) => [statusname, statusid])),
  recieved: itemStatus.received.statusid,
};
