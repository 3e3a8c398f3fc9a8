import type { Item } from "../records/items.ts";
import type { ImportedRecord } from "../store/record-store.ts";
import { belongingItem, belongings } from "./belongings.ts";
import { demoHome, flat, itemOf, sensorNamed } from "./flat.ts";
import { mishapsBefore } from "./mishaps.ts";

/**
 * The records that a programme would have imported for the demo's home: who lives there, in which project and study,
 * what she was given, and what people of the programme did and wrote. `installed_ms` is when the home was furnished.
 */
export function programmeRecords(options: {
  installed_ms: number;
  now_ms: number;
  timezone: string;
}): ImportedRecord[] {
  const { installed_ms, now_ms, timezone } = options;
  const started = Math.floor(installed_ms / 1000);
  const ago = (days: number) => Math.floor(now_ms / 1000) - days * 86_400;
  const date = (unix_s: number) => new Date(unix_s * 1000).toISOString().slice(0, 10);
  const { powerCut, deadBattery } = mishapsBefore(now_ms);
  const happened = ({ to_ms }: { to_ms: number }) => to_ms > installed_ms;
  const changed = happened(deadBattery) ? { lastbatterychange: date(deadBattery.to_ms / 1000) } : {};
  const items: Item[] = [
    ...flat.map((sensor) => ({
      ...itemOf(sensor, installed_ms),
      ...(sensor.name === deadBattery.sensor ? changed : {}),
    })),
    ...belongings.map((one) => belongingItem(one, installed_ms)),
  ];
  const dead = items.find(({ macaddress }) => macaddress === sensorNamed(deadBattery.sensor).address);
  const of = (type: ImportedRecord["type"], ...records: ImportedRecord["record"][]) =>
    records.map((record) => ({ type, record }));
  return [
    ...of("homes", homeRecord(timezone)),
    ...of("projects", {
      projectid: project,
      projectname: "Living well at home",
      start: ago(540),
      stop: null,
      active: 1,
    }),
    ...of("studies", studyRecord(ago(400))),
    ...of("items", ...items),
    ...of("subjects", subjectRecord),
    ...of("project_enrollments", {
      subjectid: subject,
      projectid: project,
      homeid: demoHome,
      projectname: "Living well at home",
      statename: "Enrolled",
      stateid: 2,
      start: started,
      stop: null,
    }),
    ...of("study_enrollments", enrollmentRecord(started, ago(400))),
    ...of("scheduled_contacts", {
      subjectid: subject,
      schedcontactid: 1,
      schedcontactname: "Monthly call",
      schedcontacttypename: "Telephone",
      increment: 1,
      unitname: "month",
      unitid: 3,
      offset: 1,
      notplanned: 0,
      notscheduled: 0,
      notcompleted: 1,
      dateplanned: date(started),
      datescheduled: date(started + 30 * 86_400),
      datecompleted: null,
    }),
    ...of("phones", { subjectid: subject, phoneid: 1, phone: "555-0142" }),
    ...of("subject_inventory", ...belongings.map((one) => givenRecord(belongingItem(one, installed_ms)))),
    ...of(
      "home_inventory",
      ...items.map(({ itemid }) => ({ homeid: demoHome, item: itemid, start: started, stop: null })),
    ),
    ...of(
      "contacts",
      contactRecord(1, started, "Installed the sensors and tried every one of them.", "Installation"),
    ),
    ...of(
      "comments",
      commentRecord(1, started + 3_600, "Box is filled by her daughter on Saturdays."),
      ...(happened(powerCut)
        ? [commentRecord(2, Math.floor(powerCut.to_ms / 1000) + 54_000, "Power was out in the whole street.")]
        : []),
    ),
    ...(happened(deadBattery) && dead !== undefined
      ? [
          ...of("issues", {
            issueid: 1,
            homeid: demoHome,
            subjectid: null,
            itemid: dead.itemid,
            typename: "Battery",
            statusname: "Closed",
            opened: Math.floor(deadBattery.from_ms / 1000) + 2 * 86_400,
            closed: Math.floor(deadBattery.to_ms / 1000),
            summary: `${dead.itemname} was silent: new battery`,
          }),
          ...of(
            "contacts",
            contactRecord(
              2,
              Math.floor(deadBattery.to_ms / 1000),
              `New battery for ${dead.itemname}.`,
              "Repair",
            ),
          ),
        ]
      : []),
    ...(happened(powerCut)
      ? of("alerts", {
          subjectid: subject,
          alerttypeid: 1,
          alerttypename: "Data stream",
          alertmessage: `Nothing was heard from home ${demoHome} for some hours on ${date(powerCut.from_ms / 1000)}`,
        })
      : []),
  ];
}

function homeRecord(timezone: string): ImportedRecord["record"] {
  return {
    homeid: demoHome,
    address: "14 Lark Lane",
    cityname: "Fairview",
    cityid: 1,
    citystatename: null,
    citystateid: null,
    citystateabbr: null,
    countryname: null,
    countryabbr: null,
    countryid: null,
    zip: null,
    timezone,
    apartment: "3",
    homephones: "555-0142",
    homephoneids: 1,
    locationid: 1,
    locationname: "Fairview",
    hometype: 1,
  };
}

const subject = 1001;
const project = 7;
const study = 21;

const subjectRecord: ImportedRecord["record"] = {
  subjectid: subject,
  subjectname: "Demo Subject 1001",
  titleid: 1,
  titlename: "Mrs",
  lname: "Larkin",
  fname: "Edith",
  oadc: null,
  email: "edith.larkin@example.org",
  genderid: false,
  gendername: "Female",
  dob: Date.UTC(1944, 4, 17) / 1000,
  dod: null,
};

const studyNames = {
  studyid: study,
  studyname: "Walking, sleep and medicine at home",
  studyinvestigator: "Dr. A. Example",
  studyirb: 20_417,
  studycriteria: "75 or older, living alone",
  studysummary: "Whether small changes of everyday life come before larger ones of health.",
};

function studyRecord(start: number): ImportedRecord["record"] {
  return { ...studyNames, studystart: start, studystop: null, active: 1 };
}

function enrollmentRecord(since: number, studystart: number): ImportedRecord["record"] {
  return {
    subjectid: subject,
    ...studyNames,
    studystart,
    studystop: null,
    studystatusid: 2,
    studystatusname: "Consented",
    studystateid: 1,
    studystatename: "Taking part",
    studychangebyname: "B. Coordinator",
    studystatecomment: null,
    studystatestart: since,
    studystatestop: 0,
    active: 1,
  };
}

function givenRecord(item: Item): ImportedRecord["record"] {
  const { itemid, itemname, serialnum, macaddress, modelid, modelname, hasbatteries } = item;
  const { lastbatterychange, vendorid, vendorname, typeid, typename, subtypeid, subtypename } = item;
  return {
    subjectid: subject,
    itemid,
    itemname,
    serialnumber: serialnum,
    macaddress,
    modelid,
    modelname,
    hasbatteries,
    lastbatterychange,
    subjectspecific: 1,
    vendorid,
    vendorname,
    typeid,
    typename,
    subtypeid,
    subtypename,
    start: new Date((item.currenthomestart ?? 0) * 1000).toISOString().slice(0, 19).replace("T", " "),
    stop: null,
  };
}

function contactRecord(
  contactid: number,
  at: number,
  text: string,
  reason: string,
): ImportedRecord["record"] {
  return {
    subjectid: subject,
    contacttypename: "Home visit",
    contactid,
    contacttypeid: 2,
    contactdate: at,
    contactText: text,
    contactstarttime: "36000",
    contactstoptime: "39600",
    durationid: 4,
    durationname: "One hour",
    reasonid: contactid,
    reasonname: reason,
    userid: 5,
    username: "technician",
  };
}

function commentRecord(commentid: number, stamp: number, comment: string): ImportedRecord["record"] {
  return { subjectid: subject, commentid, stamp, username: "coordinator", comment };
}
