import type { TObject } from "@sinclair/typebox";
import { Item, itemDefaults, itemRules } from "./item.ts";
import {
  Alert,
  Comment,
  Consent,
  Contact,
  Home,
  HomeInventory,
  Issue,
  Note,
  Phone,
  Project,
  ProjectEnrollment,
  ScheduledContact,
  Study,
  StudyEnrollment,
  Subject,
  SubjectInventory,
} from "./programme-records.ts";
import {
  addressRule,
  always,
  type Default,
  orderRule,
  type RecordRule,
  spanRules,
  timeRules,
  timezoneRule,
} from "./record-field.ts";

/**
 * The records of a programme: the one table that checks, import, storage, routes, OpenAPI and CSV columns
 * derive from. The key is the record's name in an import and in the store. An eighteenth is one more
 * schema and one more entry here.
 */
export const recordTable = {
  items: {
    title: "Items",
    since: "0.1",
    schema: Item,
    identity: ["itemid"],
    required: ["itemname", "typename"],
    order: ["itemid"],
    unique: [
      { fields: ["itemname"], meaning: "name" },
      { fields: ["typename", "macaddress"], meaning: "MAC address", address: "macaddress" },
    ],
    uniqueInFiles: [
      { fields: ["typename", "vendorname", "modelname", "serialnum"], meaning: "serial number" },
    ],
    stays: {
      what: "place",
      of: ["itemid"],
      at: "currenthomeid",
      start: "currenthomestart",
      // Without a start it is there since nobody knows when, and still.
      unknownStart: "now",
    },
    references: [{ field: "currenthomeid", to: "homes", when: "kept" }],
    rules: itemRules,
    defaults: itemDefaults,
  },
  homes: {
    title: "Homes",
    since: "0.4",
    schema: Home,
    identity: ["homeid"],
    order: ["homeid"],
    rules: [timezoneRule],
  },
  subjects: {
    title: "Subjects",
    since: "0.3",
    schema: Subject,
    identity: ["subjectid"],
    order: ["subjectid"],
    rules: spanRules("dob", "dod"),
  },
  project_enrollments: ofSubject({
    title: "Project enrollments",
    schema: ProjectEnrollment,
    // A subject who left a project may come back to it.
    identity: ["subjectid", "projectid", "start"],
    order: ["start", "projectid"],
    references: [
      { field: "projectid", to: "projects", when: "kept" },
      { field: "homeid", to: "homes", when: "kept" },
    ],
    stays: { what: "enrollment", of: ["subjectid", "projectid"], start: "start", stop: "stop" },
    rules: spanRules("start", "stop"),
  }),
  study_enrollments: ofSubject({
    title: "Study enrollments",
    schema: StudyEnrollment,
    // One record for each status that the subject has had with the study.
    identity: ["subjectid", "studyid", "studystatestart"],
    order: ["studystatestart", "studyid"],
    references: [{ field: "studyid", to: "studies", when: "kept" }],
    rules: [...spanRules("studystart", "studystop", 0), ...spanRules("studystatestart", "studystatestop", 0)],
  }),
  scheduled_contacts: ofSubject({
    title: "Scheduled contacts",
    schema: ScheduledContact,
    identity: ["subjectid", "schedcontactid"],
    order: ["schedcontactid"],
  }),
  phones: ofSubject({
    title: "Phones",
    schema: Phone,
    identity: ["subjectid", "phoneid"],
    order: ["phoneid"],
  }),
  subject_inventory: ofSubject({
    title: "Subject inventory",
    schema: SubjectInventory,
    identity: ["subjectid", "itemid", "start"],
    order: ["start", "itemid"],
    references: [{ field: "itemid", to: "items", when: "always" }],
    stays: { what: "holder", of: ["itemid"], at: "subjectid", start: "start", stop: "stop" },
    rules: [addressRule, orderRule("start", "stop")],
    defaults: { lastbatterychange: always("null"), subtypename: always("null") },
  }),
  contacts: ofSubject({
    title: "Contacts",
    schema: Contact,
    identity: ["subjectid", "contactid"],
    order: ["contactdate", "contactid"],
    rules: timeRules(["contactdate"]),
  }),
  comments: ofSubject({
    title: "Comments",
    schema: Comment,
    identity: ["subjectid", "commentid"],
    order: ["stamp", "commentid"],
    rules: timeRules(["stamp"]),
  }),
  alerts: ofSubject({
    title: "Alerts",
    schema: Alert,
    // An alert has no number of its own: what it says is what it is.
    identity: ["subjectid", "alerttypeid", "alertmessage"],
    order: ["alerttypeid", "alertmessage"],
  }),
  home_inventory: {
    title: "Home inventory",
    since: "0.9",
    schema: HomeInventory,
    identity: ["homeid", "item", "start"],
    owner: "homes",
    order: ["start", "item"],
    embeds: "item",
    stays: { what: "place", of: ["item"], at: "homeid", start: "start", stop: "stop" },
    rules: spanRules("start", "stop"),
    references: [
      { field: "homeid", to: "homes", when: "always" },
      { field: "item", to: "items", when: "always" },
    ],
  },
  notes: {
    title: "Notes on time",
    since: "0.9",
    schema: Note,
    identity: ["homeid", "noteid"],
    required: ["kind", "start"],
    owner: "homes",
    order: ["start", "noteid"],
    rules: spanRules("start", "stop"),
    references: [
      { field: "homeid", to: "homes", when: "kept" },
      { field: "itemid", to: "items", when: "kept" },
      { field: "subjectid", to: "subjects", when: "kept" },
    ],
    defaults: { source: always("import") },
  },
  projects: {
    title: "Projects",
    since: "0.7",
    schema: Project,
    identity: ["projectid"],
    order: ["projectid"],
    rules: spanRules("start", "stop"),
  },
  studies: {
    title: "Studies",
    since: "0.7",
    schema: Study,
    identity: ["studyid"],
    order: ["studyid"],
    rules: spanRules("studystart", "studystop", 0),
  },
  issues: {
    title: "Issues",
    since: "0.7",
    schema: Issue,
    identity: ["issueid"],
    order: ["issueid"],
    rules: spanRules("opened", "closed"),
    references: [
      { field: "homeid", to: "homes", when: "kept" },
      { field: "subjectid", to: "subjects", when: "kept" },
      { field: "itemid", to: "items", when: "kept" },
    ],
  },
  consents: {
    title: "Consents to uses",
    since: "0.9",
    schema: Consent,
    identity: ["consentid"],
    required: ["use", "answer", "start"],
    order: ["consentid"],
    rules: [
      ...spanRules("start", "stop"),
      {
        field: "use",
        expected: (_, { homeid = null, subjectid = null }) =>
          homeid === null && subjectid === null ? "a homeid or a subjectid beside it" : undefined,
      },
    ],
    references: [
      { field: "homeid", to: "homes", when: "kept" },
      { field: "subjectid", to: "subjects", when: "kept" },
    ],
  },
} as const satisfies Record<string, RecordDefinition>;

export type RecordType = keyof typeof recordTable;

export const recordTypes = Object.keys(recordTable) as RecordType[];

/**
 * Where each list of records is served, below the version: below a subject or home where the path has `{id}`.
 * Items have a list for each kind.
 */
export const recordPaths: Readonly<Record<Exclude<RecordType, "items">, string>> = {
  homes: "/homes/",
  subjects: "/subjects/",
  project_enrollments: "/subjects/{id}/enrollment/projects/",
  study_enrollments: "/subjects/{id}/enrollment/studies/",
  scheduled_contacts: "/subjects/{id}/scheduled/contacts/",
  phones: "/subjects/{id}/phone/",
  subject_inventory: "/subjects/{id}/inventory/",
  contacts: "/subjects/{id}/contacts/",
  comments: "/subjects/{id}/comments/",
  alerts: "/subjects/{id}/alerts/",
  home_inventory: "/homes/{id}/inventory/",
  notes: "/homes/{id}/notes/",
  projects: "/projects/",
  studies: "/studies/",
  issues: "/issues/",
  consents: "/consents/",
};

export interface RecordDefinition {
  readonly title: string;
  /** The API version that introduced the record. */
  readonly since: string;
  /** The record as it is served; its fields in the order in which they are served. */
  readonly schema: TObject;
  /** The fields that say which record it is: an import of the same identity replaces the record. */
  readonly identity: readonly string[];
  /** Fields that an import must give, besides those of the identity that are never null. */
  readonly required?: readonly string[];
  /** Whose list the record stands in: the record of this type that `ownerField` names. */
  readonly owner?: OwnerType;
  /** Fields by which lists are ordered, ascending, null first. */
  readonly order: readonly string[];
  readonly references?: readonly Reference[];
  /** Fields that no two records of the type may share; null is no value here. */
  readonly unique?: readonly Unique[];
  /** The same within one import alone; of these fields only the last must have a value. */
  readonly uniqueInFiles?: readonly Unique[];
  /** The span of time in which something is somewhere, where it can be at one place at a time. */
  readonly stays?: PlacementRule;
  /**
   * A field that is served as a whole item and kept as its itemid. An import may give the itemid, the name of
   * the item or the item as it is served.
   */
  readonly embeds?: string;
  readonly rules?: readonly RecordRule[];
  /** Defaults of fields that an import leaves out; a field without one is then null. */
  readonly defaults?: Readonly<Record<string, Default>>;
}

/** A record that says from when to when something is somewhere. Two that overlap contradict each other, unless they name one place. */
export interface PlacementRule {
  /** Records of one word are about the same thing, also those of different types. */
  readonly what: "place" | "holder" | "enrollment";
  /** The fields that say what is somewhere. */
  readonly of: readonly string[];
  /** The field that says where; absent: two records must not overlap at all. */
  readonly at?: string;
  readonly start: string;
  /** Absent: it lasts. */
  readonly stop?: string;
  /** A null start is otherwise since ever. */
  readonly unknownStart?: "now";
}

export interface Reference {
  readonly field: string;
  /** The type whose number the field holds. */
  readonly to: "items" | "homes" | "subjects" | "projects" | "studies";
  /**
   * `always`: a number that names no record is a fault. `kept`: only once the programme keeps such records at
   * all, because a gateway works without knowing homes, projects or studies but by number.
   */
  readonly when: "always" | "kept";
}

export interface Unique {
  readonly fields: readonly string[];
  readonly meaning: string;
  /** Which of the fields is a hardware address, compared in its normal form. */
  readonly address?: string;
}

export type OwnerType = "subjects" | "homes";

/** The field by which a record names its owner. */
export const ownerField: Readonly<Record<OwnerType, string>> = { subjects: "subjectid", homes: "homeid" };

/** A record of a list that each subject has, all since the same version. */
function ofSubject<const Definition extends Omit<RecordDefinition, "since" | "owner">>(
  definition: Definition,
) {
  const references: readonly Reference[] = [
    { field: "subjectid", to: "subjects", when: "always" },
    ...(definition.references ?? []),
  ];
  return { since: "0.3", owner: "subjects", ...definition, references } as const;
}

/** The definition of a record type, in the one type that generic code reads the table by. */
export function definitionOf(type: RecordType): RecordDefinition {
  return recordTable[type];
}

export function isRecordType(name: string): name is RecordType {
  return Object.hasOwn(recordTable, name);
}

/** The names of a record's fields, in the order in which they are served. */
export function fieldsOf(type: RecordType): string[] {
  return Object.keys(recordTable[type].schema.properties);
}

/** A record as it is kept and compared: fields by name. */
export type StoredRecord = Readonly<Record<string, unknown>>;

/** Which record of its type it is, as one text: equal for two records that are the same one. */
export function identityOf(type: RecordType, record: StoredRecord): string {
  const values = definitionOf(type).identity.map((field) => record[field] ?? null);
  return values.length === 1 ? String(values[0]) : JSON.stringify(values);
}

/** The number that a record is found by: its owner's, or its own. */
export function numberOf(type: RecordType, record: StoredRecord): number {
  const { owner, identity } = definitionOf(type);
  return Number(record[owner === undefined ? (identity[0] ?? "") : ownerField[owner]]);
}

/** Records of a type in the order in which they are listed: null first, numbers by size, texts by code unit. */
export function inOrder(type: RecordType, records: readonly StoredRecord[]): StoredRecord[] {
  const { order, identity } = definitionOf(type);
  // Two records that tie in the order of the list must still come in the same order each time.
  const fields = [...order, ...identity];
  return records.toSorted((one, other) => {
    for (const field of fields) {
      const difference = compared(one[field], other[field]);
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

function compared(one: unknown, other: unknown): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : 1;
}
