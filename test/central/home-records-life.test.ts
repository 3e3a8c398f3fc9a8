import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lintelHere } from "../../testbed/command-here.ts";
import { sensor, start_ms } from "../../testbed/sample.ts";
import { LostBox, numbers } from "../cli/lost-box.ts";

let box: LostBox;
beforeEach(async () => {
  box = new LostBox({ commands: lintelHere });
  await box.start();
});
afterEach(() => box[Symbol.asyncDispose]());

interface ListedItem {
  readonly itemid: number;
  readonly itemname: string;
  readonly provisional: boolean;
  readonly currenthomeid: number | null;
  readonly series: readonly { readonly count: number }[];
}

async function itemsOf(of: LostBox): Promise<ListedItem[]> {
  return JSON.parse((await of.run("items", "--json", "--data", of.site.data)).out);
}

/** The item of a sensor of the box, in the words of an import. */
function item(number: number, itemid: number, itemname: string, fixed: object = {}) {
  return {
    itemid,
    itemname,
    typename: "wirelesssensors",
    macaddress: sensor(number).address,
    currenthomeid: 12,
    ...fixed,
  };
}

const eventsOf = async (name: string) =>
  (await box.central.get<{ event: number }[]>(`/items/wirelesssensors/${name}/events`)).map(
    ({ event }) => event,
  );

test("a device that nobody knows goes up, is adopted at central, and comes down by its address, history and all", async () => {
  await box.live(1, 30);
  await box.upload();
  const heard = await box.central.get<ListedItem[]>("/inventory/wirelesssensors");
  expect(heard).toHaveLength(3);
  expect(heard.map(({ currenthomeid }) => currenthomeid)).toEqual([12, 12, 12]);
  await box.central.import({
    homes: [{ homeid: 12, cityname: "Leeds" }],
    subjects: [{ subjectid: 5, fname: "Ada" }],
    project_enrollments: [{ subjectid: 5, projectid: 1, homeid: 12, start: 10 }],
    projects: [{ projectid: 1 }],
    items: [item(1, 7, "kitchen-wall", { subtypename: "wall", statusname: "Assigned" })],
  });
  expect(await eventsOf("kitchen-wall")).toHaveLength(10);
  await box.upload();
  const [kitchen] = await itemsOf(box);
  expect(kitchen).toMatchObject({
    itemid: 7,
    itemname: "kitchen-wall",
    provisional: false,
    statusname: "Assigned",
  } as object);
  expect(kitchen?.series).toMatchObject([{ count: 10 }]);
  // An adopted item is the same item on both sides from here on.
  await box.live(31, 60);
  expect(await box.upload()).toMatchObject({ sent: 30, differing_days: 0 });
  expect(await eventsOf("kitchen-wall")).toHaveLength(20);
  expect((await itemsOf(box))[0]?.series).toMatchObject([{ count: 20 }]);
  expect(await box.central.events()).toEqual(numbers(1, 60));
  expect(await box.central.get<ListedItem[]>("/inventory/wirelesssensors")).toHaveLength(3);
  // A correction at central comes down as well.
  await box.central.import({ items: [item(1, 7, "kitchen")] });
  await box.upload();
  expect((await itemsOf(box))[0]).toMatchObject({ itemid: 7, itemname: "kitchen" });
});

test("a home record that clashes with what the gateway holds is named in one line, all others are taken in, and readings go up all the same", async () => {
  await box.live(1, 30);
  const local = join(box.site.directory, "items.json");
  writeFileSync(local, JSON.stringify({ items: [item(1, 99, "hall")] }));
  await box.run("import", local, "--data", box.site.data);
  await box.central.import({ homes: [{ homeid: 12 }], items: [item(1, 7, "kitchen"), item(2, 8, "bath")] });
  const { code, said } = await box.site.lintel("upload", "--config", box.site.config);
  expect(code).toBe(2);
  const lines = said.split("\n").filter((line) => line.includes("do not fit what this gateway holds"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("items 7 macaddress");
  expect(lines[0]).toContain("a MAC address other than that of hall in the store expected");
  const names = (await itemsOf(box)).map(({ itemname }) => itemname);
  expect(names).toContain("bath");
  expect(names).not.toContain("kitchen");
  expect(await box.central.events()).toEqual(numbers(1, 30));
});

test("a device that moves keeps its history: each home shows its part, and both gateways are told", async () => {
  await using other = new LostBox({ commands: lintelHere, home: 15, central: box.central });
  await other.start();
  await box.live(1, 30);
  await box.upload();
  await other.live(100_001, 100_030);
  const moved_s = start_ms / 1000 + 500;
  const stay = (homeid: number, start: number, stop: number | null) => ({ homeid, item: 7, start, stop });
  await box.central.import({
    homes: [
      { homeid: 12, address: "Mill Lane 1" },
      { homeid: 15, address: "High Street 2" },
    ],
    items: [item(1, 7, "hall", { currenthomeid: 15, currenthomestart: moved_s })],
    home_inventory: [stay(12, start_ms / 1000 - 100, moved_s), stay(15, moved_s, null)],
  });
  await other.upload();
  await box.upload();
  const partOf = async (home: number) => {
    const homes = await box.central.get<{ itemname: string; events: { event: number }[] }[]>(
      `/homes/${home}/wirelesssensors/events`,
    );
    return homes
      .find(({ itemname }) => itemname === "hall")
      ?.events.map(({ event }) => event)
      .sort((a, b) => a - b);
  };
  const ofSensor = (first: number, last: number) => numbers(first, last).filter((event) => event % 3 === 1);
  expect(await partOf(12)).toEqual(ofSensor(1, 30));
  expect(await partOf(15)).toEqual(ofSensor(100_001, 100_030));
  for (const of of [box, other])
    expect((await itemsOf(of)).find(({ itemid }) => itemid === 7)).toMatchObject({
      itemname: "hall",
      currenthomeid: 15,
    });
  const gateway = await box.site.run();
  const token = await box.site.token();
  const homes = await (await gateway.get("/homes", token)).json();
  expect(homes).toMatchObject([
    { homeid: 12, address: "Mill Lane 1" },
    { homeid: 15, address: null },
  ]);
  const stays = (await (await gateway.get("/homes/12/inventory", token)).json()) as {
    item: { itemid: number };
    stop: number;
  }[];
  expect(stays.filter(({ item: { itemid } }) => itemid === 7).map(({ stop }) => stop)).toEqual([moved_s]);
  expect(await gateway.stop()).toBe(0);
});

test("what central withdraws goes from the gateway: who is put right to live elsewhere, and an item that is not there any more", async () => {
  const withSubjectIn = (homeid: number) => ({
    homes: [{ homeid: 12 }, { homeid: 15 }],
    subjects: [
      { subjectid: 5, fname: "Ada" },
      { subjectid: 6, fname: "Bea" },
    ],
    phones: [{ subjectid: 5, phoneid: 1, phone: "113" }],
    projects: [{ projectid: 1 }],
    project_enrollments: [
      { subjectid: 5, projectid: 1, homeid, start: 10 },
      { subjectid: 6, projectid: 1, homeid: 12, start: 10 },
    ],
    items: [item(40, 40, "spare", { currenthomeid: homeid })],
  });
  await box.live(1, 3);
  await box.central.import(withSubjectIn(12));
  await box.upload();
  const local = join(box.site.directory, "local.json");
  writeFileSync(local, JSON.stringify({ studies: [{ studyid: 77 }] }));
  await box.run("import", local, "--data", box.site.data);
  await box.central.import(withSubjectIn(15));
  await box.upload();
  const gateway = await box.site.run();
  const token = await box.site.token();
  const answer = async (path: string) => (await gateway.get(path, token)).json();
  expect(await answer("/subjects")).toMatchObject([{ subjectid: 6 }]);
  expect(await answer("/subjects/5/phone")).toMatchObject({ code: expect.any(Number) });
  expect(await answer("/inventory/wirelesssensors/spare")).toMatchObject({
    currenthomeid: null,
    activename: "Inactive",
  });
  // A record that was imported here alone stays: central can't withdraw it.
  expect(await answer("/studies")).toMatchObject([{ studyid: 77 }]);
  expect(await gateway.stop()).toBe(0);
});
