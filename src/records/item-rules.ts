import { isKind, kindNames, kinds } from "../kinds.ts";
import { itemStatus } from "./item-status.ts";
import { always, type Default, type PartialRecord, type RecordRule } from "./record-rule.ts";

/** The values that an item's names may have. */
export const itemRules: readonly RecordRule[] = [
  { field: "typename", allowed: () => kindNames },
  {
    field: "subtypename",
    // Which of the two pill boxes it is decides whether there is a status series: a third word can't be right.
    allowed: ({ typename }) => (typename === "pillboxes" ? ["polled", "broadcasting", "null"] : undefined),
  },
  { field: "activename", allowed: ({ active }) => (active === undefined ? undefined : [activename(active)]) },
  { field: "statusname", allowed: () => Object.keys(statusids) },
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
