import { expect, test } from "bun:test";
import { type TSchema, TypeGuard } from "@sinclair/typebox";
import {
  definitionOf,
  type RecordType,
  recordTable,
  recordTypes,
} from "../../../src/domain/records/record-table.ts";

/**
 * The fields of every record as the interface documents them: names, types and order. `|null` marks what is
 * null where it isn't known; the others are always there. Written out by hand: the schemas must match it.
 */
const documented: Readonly<Record<RecordType, string>> = {
  items: `itemid number, itemname string, serialnum string|null, macaddress string|null, modelid number|null,
    modelname string|null, subjectspecific number|null, vendorid number|null, vendorname string|null,
    typeid number, typename string, subtypeid number|null, subtypename string, currenthomeid number|null,
    currenthomestart number|null, active number, activename string, statusid number|null,
    statusname string|null, batterymonths number|null, lastbatterychange string, hasbatteries number|null`,
  homes: `homeid number, address string|null, cityname string|null, cityid number|null,
    citystatename string|null, citystateid number|null, citystateabbr string|null, countryname string|null,
    countryabbr string|null, countryid number|null, zip number|null, timezone string|null,
    apartment string|null, homephones string|null, homephoneids number|null, locationid number|null,
    locationname string|null, hometype number|null`,
  subjects: `subjectid number, subjectname string|null, titleid number|null, titlename string|null,
    lname string|null, fname string|null, oadc number|null, email string|null, genderid boolean|null,
    gendername string|null, dob number|null, dod number|null`,
  project_enrollments: `subjectid number, projectid number, homeid number|null, projectname string|null,
    statename string|null, stateid number|null, start number|null, stop number|null`,
  study_enrollments: `subjectid number, studyid number, studyname string|null, studyinvestigator string|null,
    studyirb number|null, studycriteria string|null, studysummary string|null, studystart number|null,
    studystop number|null, studystatusid number|null, studystatusname string|null, studystateid number|null,
    studystatename string|null, studychangebyname string|null, studystatecomment string|null,
    studystatestart number|null, studystatestop number|null, active number|null`,
  scheduled_contacts: `subjectid number, schedcontactid number, schedcontactname string|null,
    schedcontacttypename string|null, increment number|null, unitname string|null, unitid number|null,
    offset number|null, notplanned number|null, notscheduled number|null, notcompleted number|null,
    dateplanned string|null, datescheduled string|null, datecompleted string|null`,
  phones: "subjectid number, phoneid number, phone string|null",
  subject_inventory: `subjectid number, itemid number, itemname string|null, serialnumber string|null,
    macaddress string|null, modelid number|null, modelname string|null, hasbatteries number|null,
    lastbatterychange string, subjectspecific number|null, vendorid number|null, vendorname string|null,
    typeid number|null, typename string|null, subtypeid number|null, subtypename string, start string|null,
    stop string|null`,
  contacts: `subjectid number, contacttypename string|null, contactid number, contacttypeid number|null,
    contactdate number|null, contactText string|null, contactstarttime string|null,
    contactstoptime string|null, durationid number|null, durationname string|null, reasonid number|null,
    reasonname string|null, userid number|null, username string|null`,
  comments:
    "subjectid number, commentid number, stamp number|null, username string|null, comment string|null",
  alerts: "subjectid number, alerttypeid number, alerttypename string|null, alertmessage string|null",
  home_inventory: "homeid number, item object, start number|null, stop number|null",
  notes: `homeid number, noteid number, itemid number|null, subjectid number|null, kind string,
    start number, stop number|null, words string|null, source string, said number|null`,
  projects: `projectid number, projectname string|null, start number|null, stop number|null,
    active number|null`,
  studies: `studyid number, studyname string|null, studyinvestigator string|null, studyirb number|null,
    studycriteria string|null, studysummary string|null, studystart number|null, studystop number|null,
    active number|null`,
  issues: `issueid number, homeid number|null, subjectid number|null, itemid number|null,
    typename string|null, statusname string|null, opened number|null, closed number|null,
    summary string|null`,
  consents: `consentid number, homeid number|null, subjectid number|null, use string, answer string,
    start number, stop number|null`,
};

for (const type of recordTypes) {
  test(`${type} have the documented fields, types and order`, () => {
    const fields = Object.entries(recordTable[type].schema.properties);
    expect(fields.map(([name, schema]) => `${name} ${typeText(schema)}`)).toEqual(
      documented[type].split(/,\s+/),
    );
  });

  test(`${type} are served with every field, each with its meaning`, () => {
    const { schema } = recordTable[type];
    expect(schema.required as string[]).toEqual(Object.keys(schema.properties));
    for (const [name, field] of Object.entries(schema.properties)) {
      if (name !== "item") expect([name, typeof field.description]).toEqual([name, "string"]);
    }
  });
}

test("the table names only fields that its records have", () => {
  for (const type of recordTypes) {
    const { schema, ...entry } = definitionOf(type);
    const named = [
      ...entry.identity,
      ...entry.order,
      ...(entry.required ?? []),
      ...(entry.references ?? []).map(({ field }) => field),
      ...(entry.unique ?? []).flatMap(({ fields }) => fields),
      ...(entry.rules ?? []).map(({ field }) => field),
      ...Object.keys(entry.defaults ?? {}),
    ];
    expect(named.filter((field) => !(field in schema.properties))).toEqual([]);
  }
});

/** A schema in the words of the documentation: whole numbers are numbers there. */
function typeText(schema: TSchema): string {
  if (TypeGuard.IsUnion(schema)) return [...new Set(schema.anyOf.map(typeText))].join("|");
  if (TypeGuard.IsLiteral(schema)) return typeof schema.const;
  return schema["type"] === "integer" ? "number" : String(schema["type"]);
}
