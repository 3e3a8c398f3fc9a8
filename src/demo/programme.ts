import type { RecordType, StoredRecord } from "../domain/records/record-table.ts";
import { importDocument } from "../import/file-import.ts";
import type { ImportStore } from "../import/import-ledger.ts";
import type { NameStore } from "../store/inventory/given-names.ts";
import {
  boxes,
  type DemoDevice,
  demoHome,
  dueOf,
  installed as furniture,
  inventoryFields,
  type MealName,
  personal,
  sensorNamed,
} from "./devices.ts";
import { outagesBefore } from "./outages.ts";

const subjectid = 1001;
const projectid = 7;

const study = {
  studyid: 21,
  studyname: "Walking, sleep and medicine at home",
  studyinvestigator: "Dr. A. Example",
  studyirb: 20_417,
  studycriteria: "75 or older, living alone",
  studysummary: "Whether small changes of everyday life come before larger ones of health.",
};

/**
 * Imports the records that a programme would have for the demo's home: who lives there, in which project and study, what
 * she was given, and what people of the programme did and wrote. `installed_ms` is when the home was furnished; `others` are records of more homes.
 */
export async function importProgramme(
  store: ImportStore,
  options: { installed_ms: number; now_ms: number; timezone: string; others?: DemoHomeRecords },
): Promise<void> {
  const document = programmeDocument(options);
  for (const [type, records] of Object.entries(options.others ?? {}))
    document[type as keyof DemoHomeRecords].push(...records);
  const text = JSON.stringify(document);
  await importDocument({ name: "the programme of the demo", text, store, dryRun: false });
}

/** Says at a gateway for which hour each dose is prescribed, as `lintel items name --due` does. */
export async function prescribeDoses(store: NameStore, given_ms: number): Promise<void> {
  for (const [meal, { address }] of Object.entries(boxes))
    await store.nameItem({ address, due: dueOf[meal as MealName], given_ms });
}

/** Records of homes and of what is installed there. */
export type DemoHomeRecords = Record<"homes" | "items" | "home_inventory", StoredRecord[]>;

type ProgrammeDocument = Partial<Record<RecordType, readonly StoredRecord[]>> & DemoHomeRecords;

function programmeDocument(options: {
  installed_ms: number;
  now_ms: number;
  timezone: string;
}): ProgrammeDocument {
  const { installed_ms, now_ms, timezone } = options;
  const installed = seconds(installed_ms);
  const ago = (days: number) => seconds(now_ms) - days * day_s;
  const { powerCut, deadBattery } = outagesBefore(now_ms);
  const happened = ({ to_ms }: { to_ms: number }) => to_ms > installed_ms;
  const repaired = happened(deadBattery) ? seconds(deadBattery.to_ms) : undefined;
  const dead = sensorNamed(deadBattery.sensor);
  const fields = (device: DemoDevice) =>
    inventoryFields(device, device === dead && repaired !== undefined ? deadBattery.to_ms : installed_ms);
  const studystart = ago(400);
  return {
    homes: [
      {
        ...homeFields({ home: demoHome, timezone, address: "14 Lark Lane" }),
        apartment: "3",
        homephones: "555-0142",
        homephoneids: 1,
      },
    ],
    projects: [{ projectid, projectname: "Living well at home", start: ago(540), active: 1 }],
    studies: [{ ...study, studystart, active: 1 }],
    items: furniture.map((device) => ({
      ...fields(device),
      ...assignedFields(device, { home: demoHome, installed_ms }),
    })),
    subjects: [
      {
        subjectid,
        subjectname: "Demo Subject 1001",
        titleid: 1,
        titlename: "Mrs",
        lname: "Larkin",
        fname: "Edith",
        email: "edith.larkin@example.org",
        genderid: false,
        gendername: "Female",
        dob: seconds(Date.UTC(1944, 4, 17)),
      },
    ],
    project_enrollments: [
      {
        subjectid,
        projectid,
        homeid: demoHome,
        projectname: "Living well at home",
        statename: "Enrolled",
        stateid: 2,
        start: installed,
      },
    ],
    study_enrollments: [
      {
        subjectid,
        ...study,
        studystart,
        studystatusid: 2,
        studystatusname: "Consented",
        studystateid: 1,
        studystatename: "Taking part",
        studychangebyname: "B. Coordinator",
        studystatestart: installed,
        studystatestop: 0,
        active: 1,
      },
    ],
    scheduled_contacts: [
      {
        subjectid,
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
        dateplanned: date(installed),
        datescheduled: date(installed + 30 * day_s),
      },
    ],
    phones: [{ subjectid, phoneid: 1, phone: "555-0142" }],
    subject_inventory: personal.map((device) => ({
      subjectid,
      ...fields(device),
      serialnumber: device.serialnum,
      start: new Date(installed * 1000).toISOString().slice(0, 19).replace("T", " "),
    })),
    home_inventory: furniture.map(({ itemid }) => ({
      homeid: demoHome,
      item: itemid,
      start: installed,
    })),
    contacts: [
      contact(1, installed, "Installed the sensors and tried every one of them.", "Installation"),
      ...(repaired === undefined ? [] : [contact(2, repaired, `New battery for ${dead.name}.`, "Repair")]),
    ],
    comments: [
      comment(1, installed + 3_600, "Box is filled by her daughter on Saturdays."),
      ...(happened(powerCut)
        ? [comment(2, seconds(powerCut.to_ms) + 54_000, "Power was out in the whole street.")]
        : []),
    ],
    issues:
      repaired === undefined
        ? []
        : [
            {
              issueid: 1,
              homeid: demoHome,
              itemid: dead.itemid,
              typename: "Battery",
              statusname: "Closed",
              opened: seconds(deadBattery.from_ms) + 2 * day_s,
              closed: repaired,
              summary: `${dead.name} was silent: new battery`,
            },
          ],
    alerts: happened(powerCut)
      ? [
          {
            subjectid,
            alerttypeid: 1,
            alerttypename: "Data stream",
            alertmessage: `Nothing was heard from home ${demoHome} for some hours on ${date(seconds(powerCut.from_ms))}`,
          },
        ]
      : [],
  };
}

/** Fields that every record has of a home in the town of the demo. */
export function homeFields(of: { home: number; timezone: string; address: string }) {
  return {
    homeid: of.home,
    address: of.address,
    cityname: "Fairview",
    cityid: 1,
    timezone: of.timezone,
    locationid: 1,
    locationname: "Fairview",
    hometype: 1,
  };
}

/** Fields that every record has of a device that lives in a home since `installed_ms`. */
export function assignedFields(
  { serialnum, batterymonths }: DemoDevice,
  { home, installed_ms }: { home: number; installed_ms: number },
) {
  return {
    serialnum,
    currenthomeid: home,
    currenthomestart: seconds(installed_ms),
    statusname: "Assigned",
    batterymonths,
  };
}

function contact(contactid: number, contactdate: number, text: string, reasonname: string): StoredRecord {
  return {
    subjectid,
    contacttypename: "Home visit",
    contactid,
    contacttypeid: 2,
    contactdate,
    contactText: text,
    contactstarttime: "36000",
    contactstoptime: "39600",
    durationid: 4,
    durationname: "One hour",
    reasonid: contactid,
    reasonname,
    userid: 5,
    username: "technician",
  };
}

function comment(commentid: number, stamp: number, text: string): StoredRecord {
  return { subjectid, commentid, stamp, username: "coordinator", comment: text };
}

function seconds(unix_ms: number): number {
  return Math.floor(unix_ms / 1000);
}

function date(unix_s: number): string {
  return new Date(unix_s * 1000).toISOString().slice(0, 10);
}

const day_s = 86_400;
