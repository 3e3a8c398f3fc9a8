import { type TObject, Type } from "@sinclair/typebox";
import type { Kind } from "../../domain/kinds.ts";
import { recordTable } from "../../domain/records/record-table.ts";
import type { HomeSetting } from "../../store/derived/home-readings.ts";
import type { Store } from "../../store/store.ts";
import { knowsHome, type VisibleStore } from "../../store/visible-store.ts";
import { HttpError } from "../server/http-errors.ts";
import { type Area, type Endpoint, type EndpointCall, endpoint } from "./endpoint.ts";

/** Types of record that stand for themselves, and those that stand in the list of a subject or home. */
type LoneType = Parameters<Store["records"]>[0];
type OwnedType = Parameters<Store["recordsOf"]>[0];

/** Name of one record in messages, and section of the contract, by type; the path is the name of the type. */
const lone: Readonly<Record<LoneType, { one: string; area: Area }>> = {
  subjects: { one: "subject", area: "Subjects" },
  homes: { one: "home", area: "Homes" },
  projects: { one: "project", area: "Programme" },
  studies: { one: "study", area: "Programme" },
  issues: { one: "issue", area: "Programme" },
  consents: { one: "consent", area: "Programme" },
};

/** Where the records of a subject are. Those of a home have endpoints of their own: home-endpoints.ts. */
const ofSubjects: Readonly<Record<Exclude<OwnedType, "home_inventory" | "notes">, string>> = {
  project_enrollments: "enrollment/projects/",
  study_enrollments: "enrollment/studies/",
  scheduled_contacts: "scheduled/contacts/",
  phones: "phone/",
  subject_inventory: "inventory/",
  contacts: "contacts/",
  comments: "comments/",
  alerts: "alerts/",
};

/** The endpoints of the programme's records, from the table of records. */
export const recordEndpoints: readonly Endpoint[] = [
  ...loneEndpoints("subjects"),
  ...(Object.keys(ofSubjects) as (keyof typeof ofSubjects)[]).map(ownedEndpoint),
  ...loneEndpoints("homes"),
  ...(["projects", "studies", "issues", "consents"] as const).flatMap(loneEndpoints),
];

/** The number of a record, in a path. */
export function idOf(type: LoneType) {
  return Type.Integer({
    description: `number of the ${lone[type].one}`,
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
  });
}

/** @throws HttpError where there is no such record */
export async function requireRecord(store: VisibleStore, type: LoneType, id: number) {
  const record = await store.record(type, id);
  if (record === undefined) throw new HttpError("record_unknown", { record: lone[type].one, id });
  return record;
}

/** Answers the setting of a home that is known: a gateway may be in one that it has no record of. */
export async function requireHome({
  store,
  path,
  settingOf,
}: EndpointCall<TObject>): Promise<HomeSetting | undefined> {
  const id = Number(path["id"]);
  const setting = await settingOf?.(id);
  const isOwn = setting?.id === id && (store.homes === undefined || store.homes.includes(id));
  if (!isOwn && !(await knowsHome(store, id))) throw new HttpError("record_unknown", { record: "home", id });
  return setting;
}

/**
 * Whether a home is another one than that of a gateway. Such a home is only known by its record there: the store of a gateway takes all items, and its
 * directory all acceptances, for those of its own.
 */
export function isElsewhere(setting: HomeSetting | undefined, home: number): boolean {
  return setting?.id !== undefined && setting.id !== home;
}

/** @throws HttpError where the kind has no such item */
export async function requireItem(store: VisibleStore, kind: Kind, itemname: string) {
  const item = await store.item(kind, itemname);
  if (item === undefined) throw new HttpError("item_unknown", { typename: kind, itemname });
  return item;
}

/** The list of a type, and one of its records. */
function loneEndpoints(type: LoneType): Endpoint[] {
  const { title, since, schema } = recordTable[type];
  const { one, area } = lone[type];
  const common = { area, since, query: Type.Object({}) };
  return [
    endpoint({
      ...common,
      name: type,
      template: `/${type}/`,
      summary: `${title}, in order of ${recordTable[type].order.join(", ")}`,
      path: Type.Object({}),
      response: Type.Array(schema),
      refusals: [],
      handle: async ({ store }) => ({ body: await store.records(type) }),
    }),
    endpoint({
      ...common,
      name: one,
      template: `/${type}/{id}`,
      summary: `One ${one}`,
      path: Type.Object({ id: idOf(type) }),
      response: schema,
      refusals: ["record_unknown"],
      handle: async ({ store, path }) => ({ body: await requireRecord(store, type, path.id) }),
    }),
  ];
}

/** The list of a subject's records of a type. */
function ownedEndpoint(type: keyof typeof ofSubjects): Endpoint {
  const { title, since, schema } = recordTable[type];
  return endpoint({
    name: type,
    template: `/subjects/{id}/${ofSubjects[type]}`,
    summary: `${title} of a subject`,
    area: "Subjects",
    since,
    path: Type.Object({ id: idOf("subjects") }),
    query: Type.Object({}),
    response: Type.Array(schema),
    refusals: ["record_unknown"],
    handle: async ({ store, path }) => {
      await requireRecord(store, "subjects", path.id);
      return { body: await store.recordsOf(type, path.id) };
    },
  });
}
