import { expect, test } from "bun:test";
import type { LoneType, OwnedType } from "../../src/store/inventory/record-store.ts";
import { Programme } from "./sample.ts";

const document = {
  home_inventory: [
    { homeid: 7, item: "2", start: 30 },
    { homeid: 7, item: "hall", start: 10 },
    { homeid: 7, item: { itemid: 1, itemname: "whatever" }, start: 20 },
    { homeid: 7, item: 1, start: 40, stop: 50 },
  ],
  items: [
    { itemid: 1, itemname: "hall", typename: "pillboxes", subtypename: "polled", currenthomeid: 7 },
    { itemid: 2, itemname: "scale", typename: "scales", statusname: "recieved", lastbatterychange: null },
  ],
  homes: [{ homeid: 7, zip: 97_201, hometype: 1, address: 'Main "St", 5\nback' }],
  phones: [{ subjectid: 3, phoneid: 1, phone: "0123" }],
  subjects: [{ subjectid: 3, genderid: true, dob: -86_400, lname: "Ö'Neil" }],
  contacts: [{ subjectid: 3, contactid: 9, contactstarttime: "36000" }],
};

/** Item 1 as it is served, once all that was left out is filled in. */
const served = {
  itemid: 1,
  itemname: "hall",
  serialnum: null,
  macaddress: null,
  modelid: null,
  modelname: null,
  subjectspecific: null,
  vendorid: null,
  vendorname: null,
  typeid: 1,
  typename: "pillboxes",
  subtypeid: null,
  subtypename: "polled",
  currenthomeid: 7,
  currenthomestart: null,
  active: 1,
  activename: "Active",
  statusid: null,
  statusname: null,
  batterymonths: null,
  lastbatterychange: "null",
  hasbatteries: null,
};

const csv = {
  "home_inventory.csv": "homeid,item,start,stop\n7,2,30,\n7,hall,10,\n7,hall,20,\n7,hall,40,50\n",
  "items.csv":
    "subtypename,itemid,itemname,typename,currenthomeid,statusname\npolled,1,hall,pillboxes,7,\n,2,scale,scales,,recieved\n",
  "homes.csv": 'homeid,zip,hometype,address\r\n7,97201,1,"Main ""St"", 5\nback"\r\n',
  "phones.csv": "subjectid,phoneid,phone\n3,1,0123",
  "subjects.csv": "\ufeffsubjectid,genderid,dob,lname\n3,1,-86400,Ö'Neil\n",
  "contacts.csv": "subjectid,contactid,contactstarttime\n3,9,36000\n",
};

const ndjson = Object.entries(document)
  .flatMap(([record, all]) => all.map((one) => JSON.stringify({ ...one, record })))
  .join("\r\n");

for (const [format, files] of [
  ["a JSON document", { "all.json": JSON.stringify(document, null, 2) }],
  ["NDJSON", { "all.ndjson": ndjson }],
  ["CSV", csv],
] as const) {
  test(`${format} holds the same records in any order, with what it leaves out filled in`, async () => {
    await using programme = await Programme.open();
    const { store } = programme;
    const { changes } = await programme.take(files);
    expect(Object.keys(changes)).toEqual([
      "items",
      "homes",
      "subjects",
      "phones",
      "contacts",
      "home_inventory",
    ]);
    const hall = await store.item("pillboxes", "hall");
    expect(JSON.stringify(hall?.record)).toBe(JSON.stringify(served));
    expect((await store.item("scales", "scale"))?.record).toMatchObject({
      active: 0,
      activename: "Inactive",
      typeid: 3,
      statusid: 2,
      statusname: "recieved",
      subtypename: "null",
    });
    expect(await store.record("homes", 7)).toMatchObject({
      zip: 97_201,
      apartment: null,
      address: 'Main "St", 5\nback',
    });
    expect(await store.records("subjects")).toMatchObject([
      { genderid: true, dob: -86_400, lname: "Ö'Neil", email: null },
    ]);
    expect(await store.recordsOf("phones", 3)).toEqual([{ subjectid: 3, phoneid: 1, phone: "0123" }]);
    expect(await store.recordsOf("contacts", 3)).toMatchObject([{ contactstarttime: "36000" }]);
    // A text is the item that is so called, and one that is a number the item of that number.
    const inventory = await store.recordsOf("home_inventory", 7);
    expect(inventory.map(({ item: { itemid }, start, stop }) => [itemid, start, stop])).toEqual([
      [1, 10, null],
      [1, 20, null],
      [2, 30, null],
      [1, 40, 50],
    ]);
  });
}

test("what the interface serves can be imported as it is, and changes nothing", async () => {
  await using programme = await Programme.open();
  const { store } = programme;
  await programme.take({ "all.json": document });
  const lone: LoneType[] = ["homes", "subjects"];
  const owned: [OwnedType, number][] = [
    ["home_inventory", 7],
    ["phones", 3],
    ["contacts", 3],
  ];
  const served: Record<string, unknown> = {
    items: [
      ...(await store.items("pillboxes", { skip: 0, limit: 9 })),
      ...(await store.items("scales", { skip: 0, limit: 9 })),
    ],
  };
  for (const type of lone) served[type] = await store.records(type);
  for (const [type, owner] of owned) served[type] = await store.recordsOf(type, owner);
  const { changes } = await programme.take({ "served.json": served });
  for (const change of Object.values(changes)) expect(change).toMatchObject({ added: 0, updated: 0 });
  expect(changes.home_inventory?.unchanged).toBe(4);
});

test("a record that is imported again replaces the whole of the one before", async () => {
  await using programme = await Programme.open();
  await programme.take({ "homes.csv": "homeid,zip,cityname\n1,5,x\n" });
  expect((await programme.take({ "homes.csv": "homeid,zip\n1,6\n" }, true)).changes.homes?.updated).toBe(1);
  expect(await programme.store.record("homes", 1)).toMatchObject({ zip: 5, cityname: "x" });
  await programme.take({ "homes.csv": "homeid,zip\n1,6\n" });
  expect(await programme.store.record("homes", 1)).toMatchObject({ zip: 6, cityname: null });
});

test("references may lead into the store, by number or by name", async () => {
  await using programme = await Programme.open();
  await programme.take({ "all.json": document });
  expect(
    await programme.faults({
      "phones.csv": "subjectid,phoneid\n3,2\n",
      "home_inventory.csv": "homeid,item,start\n7,hall,60\n",
    }),
  ).toEqual([]);
});

test("an item within a record may stand as downloads write it in CSV: a column for each of its fields, its name says which", async () => {
  await using programme = await Programme.open();
  await programme.take({ "all.json": document });
  const names = "homeid,item_itemid,item_itemname,item_serialnum,start,stop";
  const { changes } = await programme.take({
    "home_inventory.csv": `${names}\n7,1,hall,,1970-01-01T00:01:00Z,\n`,
  });
  expect(changes.home_inventory).toMatchObject({ added: 1, updated: 0 });
  const inventory = await programme.store.recordsOf("home_inventory", 7);
  expect(inventory.at(-1)).toMatchObject({ item: { itemname: "hall" }, start: 60 });
  const unknown = await programme.faults({
    "home_inventory.csv": "homeid,item,item_colour,start\n7,hall,red,60\n",
  });
  expect(unknown).toEqual([expect.stringContaining("item_colour: there is no such field")]);
});

test("a time may stand as downloads write it, in every format", async () => {
  const born = "1957-03-02T01:00:00.000+01:00";
  const written: readonly Record<string, string | object>[] = [
    { "subjects.csv": `subjectid,dob\r\n3,${born}\r\n` },
    { "all.ndjson": `{"record":"subjects","subjectid":3,"dob":"${born}"}` },
    { "all.json": { subjects: [{ subjectid: 3, dob: born }] } },
  ];
  for (const files of written) {
    await using programme = await Programme.open();
    await programme.take(files);
    expect((await programme.store.records("subjects"))[0]?.dob).toBe(Date.UTC(1957, 2, 2) / 1000);
    for (const none of [
      "1957-02-30T00:00:00Z",
      "1957-03-02",
      "1957-03-02T00:00:00",
      "1957-03-02T00:00:00.500Z",
    ]) {
      const faults = await programme.faults({ "subjects.csv": `subjectid,dob\n3,${none}\n` });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(
        `dob: "${none}" is given, a unix timestamp in whole seconds, or text of ISO 8601`,
      );
    }
  }
});
