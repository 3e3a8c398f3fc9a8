import { expect, test } from "bun:test";
import { Programme } from "./sample.ts";

const item = { itemid: 70, itemname: "scale", typename: "scales" };
const day_s = 86_400;
const march = 1_772_323_200;
const homes = [{ homeid: 12 }, { homeid: 13 }];
const subjects = [{ subjectid: 1 }, { subjectid: 2 }];

type Document = Record<string, object[]>;

/** Each document has one thing in it that cannot be so, and the fault that says which, and what to write instead. */
const attempts: readonly [what: string, document: Document, fault: string][] = [
  ...(
    [
      ["America/Los_Angelos", '(perhaps "America/Los_Angeles")'],
      ["america/los_angeles", '(perhaps "America/Los_Angeles")'],
      ["Los Angeles", '(perhaps "America/Los_Angeles")'],
      ["PST", '(perhaps "America/Los_Angeles")'],
      ["PST8PDT", '(perhaps "America/Los_Angeles")'],
      ["EST", '(perhaps "America/New_York")'],
      ["CET", '(perhaps "Europe/Berlin")'],
      ["utc", '(perhaps "UTC")'],
      ["banana", 'such as "Europe/Berlin"'],
      ["+01:00", 'such as "Europe/Berlin"'],
      ["../../etc/passwd", 'such as "Europe/Berlin"'],
      ["", 'such as "Europe/Berlin"'],
    ] as const
  ).map(
    ([timezone, meant]) =>
      [
        `the time zone ${timezone}`,
        { homes: [{ homeid: 12, timezone }] },
        `homes timezone: ${JSON.stringify(timezone)} is given, a time zone by its name in the IANA list ${meant} expected`,
      ] as [string, Document, string],
  ),
  ...[".", "..", "a/b", "a\\b", " hall", "hall ", "two\nlines", "a\tb", "71", "x".repeat(201)].map(
    (itemname) =>
      [
        `an item called ${JSON.stringify(itemname).slice(0, 20)}`,
        { items: [{ ...item, itemname }] },
        "items itemname: ",
      ] as [string, Document, string],
  ),
  ...["hello", "00:0d:6f", "00:00:00:00:00:00", "ff-ff-ff-ff-ff-ff", "00:0d:6f:00:0a:5g"].map(
    (macaddress) =>
      [
        `the address ${macaddress}`,
        { items: [{ ...item, macaddress }] },
        `items macaddress: "${macaddress}" is given, the 12 or 16 hex digits of an address, such as 00:0d:6f:00:0a:50 expected`,
      ] as [string, Document, string],
  ),
  [
    "a death before birth",
    { subjects: [{ subjectid: 1, dob: march, dod: march - day_s }] },
    `subjects dod: ${march - day_s} is given, a time that is not before dob (${march}) expected`,
  ],
  [
    "a birth in the year 1700",
    { subjects: [{ subjectid: 1, dob: -8_520_336_000 }] },
    "subjects dob: -8520336000 is given, a time from 1850 to 2099, or no value where there is none expected",
  ],
  [
    "a project that ends in the year 9999",
    { projects: [{ projectid: 1, stop: 253_402_300_799 }] },
    "projects stop: 253402300799 is given, a time from 1850 to 2099, or no value where there is none expected",
  ],
  ...(
    [
      ["projects", { projectid: 1 }, "start", "stop"],
      ["studies", { studyid: 1 }, "studystart", "studystop"],
      ["issues", { issueid: 1 }, "opened", "closed"],
      ["project_enrollments", { subjectid: 1, projectid: 1 }, "start", "stop"],
      ["study_enrollments", { subjectid: 1, studyid: 1 }, "studystatestart", "studystatestop"],
      ["home_inventory", { homeid: 12, item: 70 }, "start", "stop"],
    ] as const
  ).map(
    ([type, record, start, stop]) =>
      [
        `a stop before the start of ${type}`,
        {
          ...{ items: [item], homes, subjects },
          [type]: [{ ...record, [start]: march, [stop]: march - day_s }],
        },
        `${type} ${stop}: ${march - day_s} is given, a time that is not before ${start} (${march}) expected`,
      ] as [string, Document, string],
  ),
  [
    "an item that a subject gives back before having it",
    {
      items: [item],
      subjects,
      subject_inventory: [
        { subjectid: 1, itemid: 70, start: "2026-03-02 08:00:00", stop: "2026-03-01 08:00:00" },
      ],
    },
    'subject_inventory stop: "2026-03-01 08:00:00" is given, a time that is not before start ("2026-03-02 08:00:00") expected',
  ],
  [
    "an item in two homes at once",
    {
      items: [item],
      homes,
      home_inventory: [
        { homeid: 13, item: 70, start: march, stop: march + 9 * day_s },
        { homeid: 12, item: 70, start: march + 8 * day_s },
      ],
    },
    "home_inventory start: the item is in another home at that time (as in all.json:1): end that one first",
  ],
  [
    "an item in two homes since ever",
    { items: [item], homes, home_inventory: homes.map(({ homeid }) => ({ homeid, item: 70 })) },
    "home_inventory homeid: the item is in another home at that time (as in all.json:1): end that one first",
  ],
  [
    "an item that is in one home by its record and in another by the inventory",
    {
      items: [{ ...item, currenthomeid: 12, currenthomestart: march }],
      homes,
      home_inventory: [{ homeid: 13, item: 70, start: march - day_s }],
    },
    "items currenthomestart: the item is in another home at that time (as in all.json:1): end that one first",
  ],
  [
    "an item in the hands of two subjects at once",
    {
      items: [item],
      subjects,
      subject_inventory: [
        { subjectid: 1, itemid: 70, start: "2026-03-01 08:00:00" },
        { subjectid: 2, itemid: 70, start: "2026-03-02 08:00:00" },
      ],
    },
    "subject_inventory start: another subject has the item at that time (as in all.json:1): end that one first",
  ],
  [
    "a subject who is enrolled twice in one project at once",
    {
      subjects,
      project_enrollments: [
        { subjectid: 1, projectid: 5, start: march },
        { subjectid: 1, projectid: 5, start: march + day_s },
      ],
    },
    "project_enrollments start: the subject is enrolled in the project at that time already (as in all.json:1): end that one first",
  ],
  [
    "two items of one model with one serial number",
    {
      items: [
        { ...item, serialnum: "A1" },
        { ...item, itemid: 71, itemname: "other", serialnum: "A1" },
      ],
    },
    'items serialnum: "A1" is given, a serial number of its own (it is that of all.json:1) expected',
  ],
];

for (const [what, document, fault] of attempts)
  test(`${what} is refused, and nothing is taken in`, async () => {
    await using programme = await Programme.open();
    const faults = await programme.faults({ "all.json": document });
    expect(faults).toEqual([expect.stringContaining(`all.json:1: ${fault}`)]);
    for (const type of ["homes", "subjects", "projects", "studies", "issues"] as const)
      expect(await programme.store.records(type)).toEqual([]);
    expect(await programme.store.items("scales", { skip: 0, limit: 9 })).toEqual([]);
  });

test("what the files say is held against what the store says of the same item, subject and project", async () => {
  await using programme = await Programme.open();
  await programme.take({
    "all.json": {
      ...{ items: [item], homes, subjects },
      home_inventory: [{ homeid: 13, item: 70, start: march }],
      subject_inventory: [{ subjectid: 1, itemid: 70, start: "2026-03-01" }],
      project_enrollments: [{ subjectid: 1, projectid: 5, start: march }],
    },
  });
  const later = march + day_s;
  const moved = {
    home_inventory: [{ homeid: 12, item: 70, start: later }],
    subject_inventory: [{ subjectid: 2, itemid: 70, start: "2026-03-02" }],
    project_enrollments: [{ subjectid: 1, projectid: 5, start: later }],
  };
  expect(await programme.faults({ "all.json": moved })).toEqual([
    "all.json:1: home_inventory start: the item is in another home at that time (as in the store: home_inventory of 13): end that one first",
    "all.json:1: subject_inventory start: another subject has the item at that time (as in the store: subject_inventory of 1): end that one first",
    "all.json:1: project_enrollments start: the subject is enrolled in the project at that time already (as in the store: project_enrollments): end that one first",
  ]);
  // The same with an end of the one before, in one import.
  const ended = {
    home_inventory: [...moved.home_inventory, { homeid: 13, item: 70, start: march, stop: later }],
    subject_inventory: [
      ...moved.subject_inventory,
      { subjectid: 1, itemid: 70, start: "2026-03-01", stop: "2026-03-02" },
    ],
    project_enrollments: [
      ...moved.project_enrollments,
      { subjectid: 1, projectid: 5, start: march, stop: later },
    ],
  };
  expect(await programme.faults({ "all.json": ended })).toEqual([]);
});

test("a file of CSV is refused by the line of each fault", async () => {
  await using programme = await Programme.open();
  const text = "homeid,timezone\n1,Europe/Berlin\n2,PST\n3,US/Pacific\n4,banana\n5,\n";
  expect(await programme.faults({ "homes.csv": text })).toEqual([
    'homes.csv:3: homes timezone: "PST" is given, a time zone by its name in the IANA list (perhaps "America/Los_Angeles") expected',
    'homes.csv:5: homes timezone: "banana" is given, a time zone by its name in the IANA list such as "Europe/Berlin" expected',
  ]);
});

test("what is unusual and can be so is taken", async () => {
  await using programme = await Programme.open();
  const zones = [
    "UTC",
    "US/Pacific",
    "Asia/Calcutta",
    "America/Argentina/Buenos_Aires",
    "Antarctica/DumontDUrville",
  ];
  expect(
    await programme.faults({
      "all.json": {
        items: [
          { ...item, macaddress: "0x000D6F00.0A50DE07", serialnum: "A1", modelname: "one" },
          { ...item, itemid: 71, itemname: "71", serialnum: "A1", modelname: "two" },
          { ...item, itemid: 72, itemname: "Tür ü %?", macaddress: "00-0d-6f-00-0a-50" },
        ],
        homes: zones.map((timezone, at) => ({ homeid: at + 1, timezone })),
        subjects: [{ subjectid: 1, dob: -2_524_521_600, dod: march }],
        projects: [{ projectid: 5, start: march, stop: march }],
        study_enrollments: [{ subjectid: 1, studyid: 2, studystatestart: march, studystatestop: 0 }],
        // Left and come back; and one that stays where it was.
        project_enrollments: [
          { subjectid: 1, projectid: 5, start: march, stop: march + day_s },
          { subjectid: 1, projectid: 5, start: march + day_s },
        ],
        home_inventory: [
          { homeid: 1, item: 70, stop: march },
          { homeid: 2, item: 70, start: march },
          { homeid: 2, item: 70, start: march + day_s },
        ],
      },
    }),
  ).toEqual([]);
});
