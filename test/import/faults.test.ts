import { expect, test } from "bun:test";
import { truncateSync } from "node:fs";
import { importFiles } from "../../src/import/file-import.ts";
import { Programme } from "./sample.ts";

const item = { itemid: 1, itemname: "hall", typename: "wirelesssensors" };
const lines = (...texts: string[]) => `${texts.join("\n")}\n`;

/** Files that are wrong, and every line that says so. */
const wrong: readonly [
  what: string,
  files: Record<string, string | Uint8Array | object>,
  faults: string[],
][] = [
  [
    "values of a CSV file, each with its line, also below cells of several lines",
    {
      "items.csv":
        '\ufeffitemid,itemname,typename,active,modelname\r\n1,a,scales,2,"two\r\nlines"\r\n1.5,b,scale,1,\r\n,c,scales,1,"x\ny"\r\n',
    },
    [
      'items.csv:2: items active: "2" is given, 0 or 1 expected',
      'items.csv:4: items itemid: "1.5" is given, a whole number expected',
      'items.csv:4: items typename: "scale" is given, "pillboxes" or "wirelesssensors" or "scales" or "watches" or "gateways" expected',
      "items.csv:5: items itemid: a whole number expected, none is given",
    ],
  ],
  [
    "a value that stands below others of its own record",
    {
      "alerts.csv": 'alertmessage,alerttypeid,subjectid\n"one\ntwo\nthree",x,1\n',
      "subjects.csv": "subjectid\n1\n",
    },
    ['alerts.csv:4: alerts alerttypeid: "x" is given, a whole number expected'],
  ],
  [
    "values of a JSON document, each on its own line",
    {
      "all.json": lines(
        "{",
        '  "subjects": [',
        '    { "subjectid": 1,',
        '      "genderid": 1,',
        '      "oadc": "7",',
        '      "dob": 1763640000000',
        "    }",
        "  ]",
        "}",
      ),
    },
    [
      "all.json:4: subjects genderid: 1 is given, true or false expected",
      'all.json:5: subjects oadc: "7" is given, a whole number expected',
      "all.json:6: subjects dob: 1763640000000 is given, a unix timestamp in whole seconds, or text of ISO 8601 such as 2026-01-31T08:00:00Z expected",
    ],
  ],
  [
    "lines of NDJSON, the others being read all the same",
    {
      "all.ndjson": lines(
        '{"record":"homes","homeid":1}',
        "",
        '{"record":"home","homeid":2}',
        '{"homeid":3}',
        '{"record":"homes","homeid":4',
        "[1]",
        '{"record":"homes","homeid":5,"homeid":6}',
        '{"record":"homes","homeid":7,"hometype":"house"}',
      ),
    },
    [
      'all.ndjson:3: "home" is given, the record homes expected',
      'all.ndjson:4: there is no field "record" that says what the line is; of a download, import the CSV',
      "all.ndjson:5: this is no JSON: close brace expected at the end",
      'all.ndjson:6: an object {"record": "items", …} expected in each line',
      "all.ndjson:7: homeid: stands twice in one record, first in line 7",
      'all.ndjson:8: homes hometype: "house" is given, 0 or 1 expected',
    ],
  ],
  [
    "names of fields and of records, with the nearest known one",
    {
      "all.json": lines('{ "itms": [1],', '  "homes": [{ "homeid": 1, "tmezone": "x", "colour": 1 }] }'),
      "items.csv": lines("itemid,itemname,typename,serialnumber,itemid", "1,a,scales,s,2"),
    },
    [
      'all.json:1: "itms" is given, the record items expected',
      "all.json:2: homes tmezone: there is no such field: timezone may be meant",
      "all.json:2: homes colour: there is no such field",
      "items.csv:1: items serialnumber: there is no such field: serialnum may be meant",
      "items.csv:1: items itemid: the column stands here twice",
    ],
  ],
  [
    "shapes that a document may not have",
    {
      "all.json": lines('{ "items": {"itemid": 1},', ' "homes": [7, [8]],', ' "homes": [] }'),
      "more.json": "[]",
    },
    [
      "all.json:1: items: an object is given, an array expected",
      "all.json:2: homes: 7 is given, an object expected",
      "all.json:2: homes: an array is given, an object expected",
      "all.json:3: homes: the key stands here for the second time",
      'more.json:1: an object {"items": […], "subjects": […], …} expected',
    ],
  ],
  [
    "text that is no JSON, no CSV or no UTF-8, by the line where it ends to be",
    {
      "all.json": lines("{", '"homes": [', '{"homeid": 1},', "]", "}"),
      "homes.csv": lines("homeid,address", "2,x", '3,"y'),
      "comments.csv": lines("subjectid,commentid", "1,1"),
      "phones.csv": new Uint8Array([...Buffer.from("subjectid,phoneid,phone\n1,2,3\n1,3,"), 0xe9, 0x0a]),
      "subjects.csv": "subjectid;lname\n1;x\n",
      "issues.csv": "",
      "studies.csv": "studyname\nx\n",
      "projects.csv": "projectid,projectname\n1\n",
    },
    [
      'all.json:4: this is no JSON: value expected at "]" (the rest of the file was not read)',
      "homes.csv:3: a quote is opened here and never closed (the rest of the file was not read)",
      "phones.csv:3: text in UTF-8 expected, and these bytes are none (the rest of the file was not read)",
      'subjects.csv:1: subjects: "subjectid;lname" is given, cells separated by commas expected',
      "issues.csv:1: issues: the file is empty: a first row with the names of the fields expected",
      "studies.csv:1: studies studyid: the column is missing, and no record is without it",
      "projects.csv:2: projects: a row of 1 is given, 2 cells, as in the first row, expected",
    ],
  ],
  [
    "rules between the fields of an item",
    {
      "all.json": {
        items: [
          { ...item, typename: "pillboxes", subtypename: "wall" },
          { ...item, itemid: 2, itemname: "b", active: 0, activename: "Active" },
          { ...item, itemid: 3, itemname: "c", statusname: "Lost" },
          { ...item, itemid: 4, itemname: "d", statusname: "recieved", subtypename: "anything" },
          { ...item, itemid: 5, itemname: "" },
        ],
      },
    },
    [
      'all.json:1: items subtypename: "wall" is given, "polled" or "broadcasting" or "null" expected',
      'all.json:1: items activename: "Active" is given, "Inactive" expected',
      'all.json:1: items statusname: "Lost" is given, "Assigned" or "Received" or "Decommissioned" or "recieved" expected',
      'all.json:1: items itemname: "" is given, text that is not empty and has no control characters expected',
    ],
  ],
  [
    "records, names and addresses that are there twice, with both lines",
    {
      "items.csv": lines(
        "itemid,itemname,typename,macaddress",
        "1,a,scales,00:01:02:03:04:05",
        "1,b,scales,",
        "2,a,scales,",
        "3,c,scales,00-01-02-03-04-05",
        "4,d,watches,000102030405",
      ),
      "more.ndjson": '{"record":"items","itemid":4,"itemname":"e","typename":"watches"}',
    },
    [
      "items.csv:3: items itemid: 1 is given, one record each of itemid (first in items.csv:2) expected",
      'items.csv:4: items itemname: "a" is given, a name of its own (it is that of items.csv:2) expected',
      'items.csv:5: items macaddress: "00-01-02-03-04-05" is given, a MAC address of its own (it is that of items.csv:2) expected',
      "more.ndjson:1: items itemid: 4 is given, one record each of itemid (first in items.csv:6) expected",
    ],
  ],
  [
    "references to what is neither in the files nor in the store",
    {
      "all.json": {
        items: [item],
        subjects: [{ subjectid: 1 }],
        projects: [{ projectid: 5 }],
        project_enrollments: [
          { subjectid: 2, projectid: 5 },
          { subjectid: 1, projectid: 6, homeid: 3 },
        ],
        study_enrollments: [{ subjectid: 1, studyid: 9 }],
        subject_inventory: [{ subjectid: 1, itemid: 8 }],
        home_inventory: [
          { homeid: 4, item: 1 },
          { homeid: 4, item: "cellar" },
        ],
      },
    },
    [
      'all.json:1: home_inventory item: "cellar" is given, name of an item in these files or in the store expected',
      "all.json:1: project_enrollments subjectid: 2 is given, number of one of the subjects in these files or in the store expected",
      "all.json:1: project_enrollments projectid: 6 is given, number of one of the projects in these files or in the store expected",
      "all.json:1: subject_inventory itemid: 8 is given, number of one of the items in these files or in the store expected",
      "all.json:1: home_inventory homeid: 4 is given, number of one of the homes in these files or in the store expected",
    ],
  ],
  [
    "values that not every store can keep",
    { "all.json": { homes: [{ homeid: 2 ** 53, address: "a\0b", cityname: "\ud800" }] } },
    [
      "all.json:1: homes homeid: 9007199254740992 is given, a whole number expected",
      'all.json:1: homes address: "a\\u0000b" is given, text of at most 100000 characters and without control characters expected',
      'all.json:1: homes cityname: "\\ud800" is given, text of at most 100000 characters and without control characters expected',
    ],
  ],
];
for (const [what, files, faults] of wrong) {
  test(`every fault is listed: ${what}`, async () => {
    await using programme = await Programme.open();
    expect((await programme.faults(files)).toSorted()).toEqual(faults.toSorted());
    expect(await programme.store.items("scales", { skip: 0, limit: 10 })).toEqual([]);
    expect(await programme.store.records("homes")).toEqual([]);
    expect(await programme.store.records("subjects")).toEqual([]);
  });
}

test("an item clashes with one of the store that the files leave as it is", async () => {
  await using programme = await Programme.open();
  await programme.take({ "all.json": { items: [{ ...item, macaddress: "AA:BB:CC:00:00:01" }] } });
  const others = lines(
    "itemid,itemname,typename,macaddress",
    "2,hall,scales,",
    "3,x,wirelesssensors,aabbcc000001",
  );
  expect(await programme.faults({ "items.csv": others })).toEqual([
    'items.csv:2: items itemname: "hall" is given, a name other than that of hall in the store expected',
    'items.csv:3: items macaddress: "aabbcc000001" is given, a MAC address other than that of hall in the store expected',
  ]);
});

test("a home that is known by its number alone is no fault until homes are kept", async () => {
  await using programme = await Programme.open();
  const items = lines("itemid,itemname,typename,currenthomeid", "1,a,scales,12");
  expect(await programme.faults({ "items.csv": items })).toEqual([]);
  expect(await programme.faults({ "items.csv": items, "homes.csv": "homeid\n13\n" })).toEqual([
    "items.csv:2: items currenthomeid: 12 is given, number of one of the homes in these files or in the store expected",
  ]);
});

test("a thousand faults are kept, and all are counted", async () => {
  await using programme = await Programme.open();
  const rows = Array.from({ length: 5_000 }, (_, index) => `x${index}`);
  const thrown = await programme
    .take({ "homes.csv": lines("homeid", ...rows) })
    .catch((fault: unknown) => fault);
  expect(thrown).toMatchObject({ count: 5_000 });
  expect((thrown as { faults: unknown[] }).faults).toHaveLength(1_000);
});

test("a JSON document of more than 256 MiB is refused before it is read", async () => {
  await using programme = await Programme.open();
  truncateSync(programme.write({ "all.json": "" })[0] ?? "", 256 * 1024 * 1024 + 1);
  const path = `${programme.directory}/all.json`;
  const thrown = await importFiles({ files: [path], store: programme.store, dryRun: false }).catch(
    (fault: unknown) => fault,
  );
  expect(thrown).toMatchObject({
    faults: [{ line: 1, expected: expect.stringContaining("at most 268435456 bytes, or NDJSON, expected") }],
  });
});

test("a file whose name tells no format, or no record, is refused before anything is read", async () => {
  await using programme = await Programme.open();
  const said = async (name: string) =>
    String(await programme.take({ [name]: "" }).catch((fault: unknown) => fault));
  expect(await said("items.txt")).toContain("can't tell what");
  expect(await said("item.csv")).toContain("it may be meant as items.csv");
  expect(await said("programme.csv")).toContain("name it after one of items, homes,");
});

test("what acts on a terminal or turns letters around is a fault that names file, line and field, in every format", async () => {
  await using programme = await Programme.open();
  const wanted = "text of at most 100000 characters and without control characters expected";
  expect(
    await programme.faults({
      "subjects.csv": lines("subjectid,lname", "1,Smith", "2,\u001b[2J\u001b[31mSmith"),
      "more.ndjson": JSON.stringify({ record: "homes", homeid: 3, address: "right\u202eto left" }),
      "all.json": { comments: [{ subjectid: 1, commentid: 4, comment: "c1 \u009b31m" }] },
    }),
  ).toEqual([
    `subjects.csv:3: subjects lname: "\\u001b[2J\\u001b[31mSmith" is given, ${wanted}`,
    `more.ndjson:1: homes address: "right\\u202eto left" is given, ${wanted}`,
    `all.json:1: comments comment: "c1 \\u009b31m" is given, ${wanted}`,
  ]);
  expect(await programme.faults({ "subjects.csv": "subjectid,l\u001b[2Jname\n1,x\n" })).toEqual([
    "subjects.csv:1: subjects l[2Jname: there is no such field",
  ]);
});

test("names of every script, and comments of several lines, are taken as they are", async () => {
  await using programme = await Programme.open();
  const names = ["שרה כהן\u200f", "محمد", "می\u200cخواهم", "Ångström", "山田"];
  await programme.take({
    "all.json": {
      subjects: names.map((lname, at) => ({ subjectid: at + 1, lname })),
      comments: [{ subjectid: 1, commentid: 1, comment: "first line\r\n\tsecond line" }],
    },
  });
  expect((await programme.store.records("subjects")).map(({ lname }) => lname)).toEqual(names);
  expect(await programme.store.recordsOf("comments", 1)).toMatchObject([
    { comment: "first line\r\n\tsecond line" },
  ]);
});

test("a cell that has an apostrophe for the sake of spreadsheets is taken without it", async () => {
  await using programme = await Programme.open();
  const cells = ["'=1+1", "'+49 30 1234", "-70", "'s-Hertogenbosch"];
  await programme.take({
    "homes.csv": lines("homeid,cityname", ...cells.map((cell, at) => `${at + 1},${cell}`)),
  });
  expect((await programme.store.records("homes")).map(({ cityname }) => cityname)).toEqual([
    "=1+1",
    "+49 30 1234",
    "-70",
    "'s-Hertogenbosch",
  ]);
});
