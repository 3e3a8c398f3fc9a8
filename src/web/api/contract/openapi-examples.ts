import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox";
import { isUnixTime } from "../../../domain/records/record-field.ts";

/** A JSON Schema, or any other part of a document, as JSON has it. */
export type JsonObject = { readonly [name: string]: unknown };

/**
 * A record as it may be answered, field by field in the order of its schema: of every version, because older ones have the same
 * fields under names that are here too, and their times as text. @throws for a field that no value here fits
 */
export function exampleOf(schema: TObject): JsonObject {
  const own = ofRecord[schema.title ?? ""] ?? {};
  const fields = Object.entries(schema.properties).map(([name, field]) => [
    name,
    fieldExample(name, field, own),
  ]);
  return Object.fromEntries(fields);
}

function fieldExample(name: string, schema: TSchema, own: JsonObject): unknown {
  if (TypeGuard.IsObject(schema)) return exampleOf(schema);
  if (TypeGuard.IsArray(schema)) {
    const one = TypeGuard.IsUnion(schema.items) ? schema.items.anyOf[0] : schema.items;
    if (TypeGuard.IsObject(one)) return [exampleOf(one)];
  }
  const value = Object.hasOwn(own, name) ? own[name] : values[name];
  if (value === undefined) throw new Error(`the contract has no example of the field ${name}`);
  return typeof value === "number" && isText(schema) ? timeText(value) : value;
}

/** Whether the schema is that of a time before 0.4. */
function isText(schema: TSchema): boolean {
  const choices = [schema, ...((schema["anyOf"] as TSchema[] | undefined) ?? [])];
  return choices.some(TypeGuard.IsString) && !choices.some(isUnixTime);
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

/** 20 November 2026, 08:00 GMT. */
const stamp = 1_795_161_600;
const installed = 1_792_800_000;

/** Values by the name of the field, where it means the same in all records. */
const values: JsonObject = {
  ...{
    subjectid: 7,
    homeid: 12,
    itemid: 104,
    projectid: 3,
    studyid: 5,
    issueid: 21,
    consentid: 5,
    count: 13,
    stamp,
  },
  ...{
    itemname: "kitchen-wall",
    serialnum: "NY240121",
    serialnumber: "NY240121",
    active: 1,
    activename: "Active",
  },
  ...{
    macaddress: "00:0d:6f:00:0a:50:de:04",
    modelid: 1,
    modelname: "3041",
    vendorid: 1,
    vendorname: "NYCE",
  },
  ...{ typeid: 2, typename: "wirelesssensors", subtypeid: 1, subtypename: "wall", subjectspecific: 0 },
  ...{ currenthomeid: 12, currenthomestart: installed, statusid: 1, statusname: "Assigned", hasbatteries: 1 },
  ...{ batterymonths: 24, lastbatterychange: "2026-10-24", start: installed, stop: null, event: 50 },
  ...{
    devicestamp: stamp - 32,
    voltage: 5008,
    powersource: "external_power",
    eventcount: 542,
    batteryseconds: "0",
  },
  ...{
    firmwarerevsion: "1.4.2",
    firmware: "1.4.2",
    nextpanicstart: stamp + 3600,
    nextpanicstop: stamp + 4200,
  },
  ...{ quantity: "temperature", value: 21.4, unit: "°C", weight: 71_450, fatMass: 22_100, waterMass: 36_900 },
  ...{ boneMass: 2_450, muscleMass: 46_800, batteryLevel: 84, heartRate: 68, duration: 600, distance: 182.5 },
  ...{
    steps: 264,
    walkState: 2,
    runState: 1,
    sleepState: 1,
    state: "silent",
    reason: "device_silent",
    lost: null,
  },
  ...{ subjectname: "Rose Ward", titleid: 1, titlename: "Mrs", lname: "Ward", fname: "Rose", oadc: 1007 },
  ...{ email: "rose@example.org", genderid: false, gendername: "female", dob: -1_020_384_000, dod: null },
  ...{ address: "14 Lark Lane", cityname: "Fairview", cityid: 1, citystatename: "Oregon", citystateid: 38 },
  ...{ citystateabbr: "OR", countryname: "United States", countryabbr: "US", countryid: 1, zip: 97_201 },
  ...{ timezone: "America/Los_Angeles", apartment: "3", homephones: "555-0142", homephoneids: 1 },
  ...{ locationid: 1, locationname: "Fairview", hometype: 1, phoneid: 1, phone: "555-0142" },
  ...{ projectname: "Ageing in place", statename: "Enrolled", stateid: 1, studyname: "Walking speed" },
  ...{ studyinvestigator: "L. Vogel", studyirb: 4711, studycriteria: "70 years and older, living alone" },
  ...{
    studysummary: "Gait at home over two years",
    studystart: installed,
    studystop: null,
    studystatusid: 1,
  },
  ...{ studystatusname: "Active", studystateid: 2, studystatename: "Monitored", studychangebyname: "maria" },
  ...{ studystatecomment: null, studystatestart: installed, studystatestop: 0, schedcontactid: 9 },
  ...{
    schedcontactname: "Yearly visit",
    schedcontacttypename: "Visit",
    increment: 1,
    unitname: "year",
    unitid: 4,
  },
  ...{ offset: 0, notplanned: 0, notscheduled: 0, notcompleted: 1, dateplanned: "2026-12-01" },
  ...{
    datescheduled: "2026-12-03",
    datecompleted: null,
    contacttypename: "Phone",
    contactid: 31,
    contacttypeid: 2,
  },
  ...{ contactdate: stamp, contactText: "Moved the sensor of the kitchen", contactstarttime: "36000" },
  ...{
    contactstoptime: "36900",
    durationid: 1,
    durationname: "15 minutes",
    reasonid: 4,
    reasonname: "Equipment",
  },
  ...{ userid: 2, username: "maria", commentid: 8, comment: "Away until Sunday", alerttypeid: 1 },
  ...{ alerttypename: "Battery", alertmessage: "The battery of front-door is nearly empty", opened: stamp },
  ...{ closed: null, summary: "front-door has not been heard for a day", code: 40403 },
  ...{ message: "No item of type scales is named scale-1", model: "3041", vendor: "NYCE" },
  ...{ description: "motion sensor for walls", driver: "zigbee", events: "received" },
  ...{ eventsfrom: "zone status of IAS", nevertells: [], blind: null, cadence: 7200, battery: 84 },
  ...{ batteryvoltage: 3005, batteryunit: "mV", firmware: "1.2.4", datecode: "20190123" },
  ...{ epoch: "6f1c9a04d2e85b7730c4415eab92fd18", number: 41_207, clock: "synchronised" },
  ...{ scope: "read", bound: false, leftout: [], use: "shared", answer: "refused" },
  ...{
    day: "2026-11-20",
    observed: 1,
    notes: "visitor",
    definition: "room_visits/1",
    room: "kitchen",
    dwell_min: 12.4,
  },
  ...{
    signs: 9,
    visits: 5,
    minutes: 74.2,
    fromroom: "kitchen",
    toroom: "hall",
    transitions: 4,
    line: "hall",
  },
  ...{ speed: 0.86, direction: "rising", sensors: 4, status: "taken", at: stamp, asleep_min: 412.5 },
  ...{ walks: 6, prescribed: "08:00", off_min: -12.4 },
  ...{ light_min: 290.5, deep_min: 122, rem_min: null, awake_min: 18, unknown_min: 0, awakenings: 2 },
  ...{ source: "watch", in_bed_min: null, breaks: 1, away_min: 84.3, outings: 2, hour: 9, active_min: 31 },
  ...{ format: "lintel acceptance 1", tester: "Ann Lee", timezone: "America/Los_Angeles" },
  ...{ started: stamp - 1_800, finished: stamp, release: "1.0.0", clockknown: true, clockdoubt: null },
  ...{ paused: false, passed: true, task: "motion", asked: stamp - 600, done: stamp - 594, later: false },
  ...{ instead: [], heard: stamp - 594, overdue: false, signal: 180, batterylow: false, poor: false },
  ...{
    replaces: null,
    through: "the stick",
    metres: null,
    elsewhere: false,
    order: ["hall-1", "hall-2", "hall-3"],
  },
  ...{ fault: null, fired: ["hall-1", "hall-2", "hall-3"], took: 1.8, sent: 42, differingdays: 0 },
  ...{
    url: "https://central.example",
    failure: null,
    what: "The battery of front-door is nearly empty (6 %).",
  },
  ...{ remedy: "Put a fresh one in.", key: `qF0m${"A".repeat(39)}=`, signature: `${"A".repeat(86)}==` },
  ...{ acceptance: `${"A".repeat(86)}==`, until: stamp + 54_000, covered: 1, lateframes: 0 },
  ...{ clockoffset: 3, commit: 25, good: true },
  ...{ weight_kg: 67.82, weighings: 1, strangers: 0, distance_m: 3104.5, worn_min: 1360 },
};

/** Values that mean something else in the record with this title. */
const ofRecord: Readonly<Record<string, JsonObject>> = {
  Epoch: { first: 1, last: 41_207 },
  "Erased time": { typename: null, itemid: null, since: installed, until: installed + 86_400, erased: stamp },
  Coverage: { start: stamp - 86_400, stop: stamp },
  "Pill-box status": { macaddress: "5c:f2:86:41:0a:17" },
  "Pill-box event": { event: 32 },
  Marks: {
    path: "/items/wirelesssensors/kitchen-wall",
    marks: { events: "2p8xk1qv0d3mz", coverage: "1c9w7t5r2hs4n", device: "3f6b8g0j4k2ly" },
    readings: { events: 48_211 },
  },
  "Subject inventory": { start: "2026-10-24", stop: null },
  Issue: { statusname: "Open" },
  Note: {
    noteid: 4,
    itemid: null,
    kind: "visitor",
    start: stamp - 86_400,
    stop: stamp,
    words: "Her daughter stays the night",
    source: "home",
    said: stamp - 86_000,
  },
  Place: { role: null, line: null, order: null, metres: null },
  Acceptance: { number: 1 },
  "Accepted walk": { direction: "there" },
  "First night": { format: "lintel first night 1", number: 1, since: stamp },
  "Derived measure": {
    name: "room_visits",
    title: "Stays in rooms",
    madeof: "wirelesssensor_events",
    needs: "sensors of movement whose rooms are known",
    meaning: "a stay in a room",
    rule: "of one person who lives alone",
    paper: "",
  },
  "Derived records": { name: "room_visits" },
  "Stays in rooms": { stop: stamp + 744 },
  "Episodes of sleep": { stop: stamp + 24_750, definition: "sleep/2" },
  "Walks by day": { definition: "walk_days/1" },
  Absences: { stop: stamp + 5_058, definition: "outings/1" },
  Nights: { start: stamp, stop: stamp + 24_750, definition: "nights/2" },
  Doses: { reason: null, definition: "doses/2" },
};
