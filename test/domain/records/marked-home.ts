import { type TSchema, TypeGuard } from "@sinclair/typebox";
import { isUnixTime } from "../../../src/domain/records/record-field.ts";
import {
  definitionOf,
  type RecordType,
  recordTable,
  recordTypes,
  type StoredRecord,
} from "../../../src/domain/records/record-table.ts";
import type { ImportedRecord } from "../../../src/store/inventory/record-store.ts";
import { sensor } from "../../../testbed/sample.ts";

/** A record in which every text says whose it is, and every number that is no reference is the home's. */
export function recordOf(type: RecordType, home: number, fixed: StoredRecord = {}): ImportedRecord {
  const fields = Object.entries<TSchema>(recordTable[type].schema.properties);
  const references = new Set((definitionOf(type).references ?? []).map(({ field }) => field));
  const value = (name: string, schema: TSchema): unknown => {
    if (name in fixed) return fixed[name];
    if (references.has(name)) return null;
    if (name === "timezone") return "Europe/Berlin";
    if (name === "macaddress") return addressOf(home);
    const inner = TypeGuard.IsUnion(schema) ? (schema.anyOf[0] as TSchema) : schema;
    if (TypeGuard.IsLiteral(inner)) return inner.const;
    if (TypeGuard.IsBoolean(inner)) return true;
    if (isUnixTime(inner)) return 1_700_000_000 + home;
    if (TypeGuard.IsInteger(inner)) return inner.maximum === 1 ? 1 : home;
    return inner["pattern"] === undefined ? markOf(home) : "36000";
  };
  return { type, record: Object.fromEntries(fields.map(([name, schema]) => [name, value(name, schema)])) };
}

/** The hardware address of the sensor of a number; of a large one another, which has its digits as well. */
function addressOf(number: number): string {
  if (number <= 0xff_ff) return sensor(number).address;
  return `00:0d:6f:${(number.toString(16).padStart(6, "0").match(/../g) ?? []).join(":")}`;
}

export const markOf = (home: number) => `of home ${home}`;

export function itemOf(home: number, itemid: number, fixed: StoredRecord = {}): ImportedRecord {
  return recordOf("items", home, {
    itemid,
    itemname: `item-${itemid} ${markOf(home)}`,
    typename: "wirelesssensors",
    typeid: 2,
    subtypename: "wall",
    statusname: "Assigned",
    active: 1,
    activename: "Active",
    macaddress: addressOf(itemid),
    currenthomeid: home,
    ...fixed,
  });
}

/** One record of every type that is of a home and of nobody else; its subject and item have the number of the home. */
export const ofHome: Readonly<Record<RecordType, (home: number) => ImportedRecord>> = {
  items: (home) => itemOf(home, home),
  homes: (home) => recordOf("homes", home, { homeid: home }),
  subjects: (home) => recordOf("subjects", home, { subjectid: home }),
  project_enrollments: (home) =>
    recordOf("project_enrollments", home, { subjectid: home, projectid: home, homeid: home, stop: null }),
  study_enrollments: (home) => recordOf("study_enrollments", home, { subjectid: home, studyid: home }),
  scheduled_contacts: (home) => recordOf("scheduled_contacts", home, { subjectid: home }),
  phones: (home) => recordOf("phones", home, { subjectid: home }),
  subject_inventory: (home) =>
    recordOf("subject_inventory", home, { subjectid: home, itemid: home, stop: null }),
  contacts: (home) => recordOf("contacts", home, { subjectid: home }),
  comments: (home) => recordOf("comments", home, { subjectid: home }),
  alerts: (home) => recordOf("alerts", home, { subjectid: home }),
  home_inventory: (home) => recordOf("home_inventory", home, { homeid: home, item: home, stop: null }),
  notes: (home) => recordOf("notes", home, { homeid: home, itemid: home, subjectid: home }),
  projects: (home) => recordOf("projects", home, { projectid: home }),
  studies: (home) => recordOf("studies", home, { studyid: home }),
  issues: (home) => recordOf("issues", home, { issueid: home, homeid: home, subjectid: home, itemid: home }),
  consents: (home) =>
    recordOf("consents", home, {
      ...{ consentid: home, homeid: home, subjectid: home },
      ...{ use: "shared", answer: "allowed", stop: null },
    }),
};

export const everything = (home: number) => recordTypes.map((type) => ofHome[type](home));
