import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lintelHere } from "../../testbed/command-here.ts";
import { LostBox, numbers } from "./lost-box.ts";

let box: LostBox;
let copy: string;
beforeEach(async () => {
  box = new LostBox({ commands: lintelHere });
  copy = join(box.site.directory, "copy");
});
afterEach(() => box[Symbol.asyncDispose]());

const of = () => ["--config", box.site.config, "--json"];
const backup = async (...words: string[]) =>
  JSON.parse((await box.run("backup", copy, "--data", box.site.data, "--json", ...words)).out);
const goBack = async () =>
  JSON.parse((await box.run("restore", copy, "--replace", "--take-over", ...of())).out);

function change(data: string, sql: string): void {
  const database = new Database(join(data, "lintel.db"));
  database.run(sql);
  database.close();
}

describe("going back to a backup and what was added to it", () => {
  beforeEach(async () => {
    box.configure();
    await box.live(1, 60);
    expect(await backup()).toMatchObject({ last_seq: 60 });
    await box.live(61, 80);
    expect(await backup("--add")).toMatchObject({ added: 20 });
    await box.live(81, 90);
    expect(await backup("--add")).toMatchObject({ added: 30 });
    await box.live(91, 100);
  });

  test("has them as they were, and what came after as the database has it, however often it is asked for", async () => {
    change(box.site.data, "DROP TABLE cursors");
    change(box.site.data, "UPDATE wirelesssensor_events SET event = event + 1000 WHERE seq IN (7, 65, 88)");
    change(box.site.data, "DELETE FROM wirelesssensor_events WHERE seq = 95");
    const first = await goBack();
    expect(first).toMatchObject({ last_seq: 90, taken_over: 39, lost: 1 });
    expect(first.set_aside).toContain("set-aside-1");
    expect(box.eventsHere()).toEqual([...numbers(1, 94), ...numbers(96, 100)]);
    expect(box.counterHere()).toBe(100);
    // The place in the buffer of a device, where it cannot be read any more.
    expect(box.cursorHere()).toBe("60");
    // As after a power cut before anybody had read that.
    expect(await goBack()).toEqual(first);
    expect(box.eventsHere()).toHaveLength(99);
  });

  test("has them in another directory too, and numbers go on after them", async () => {
    box.lose();
    const { out } = await box.run("restore", copy, ...of());
    expect(JSON.parse(out)).toMatchObject({ last_seq: 90 });
    expect(box.eventsHere()).toEqual(numbers(1, 90));
    await box.live(91, 95);
    expect(box.eventsHere()).toEqual(numbers(1, 95));
  });

  test("leaves out numbers and times that no reading can have: the next upload would never end, or be refused", async () => {
    change(box.site.data, "CREATE TABLE later (x)");
    change(box.site.data, "UPDATE wirelesssensor_events SET seq = 100000000000000 WHERE seq = 95");
    change(box.site.data, "UPDATE wirelesssensor_events SET stamp = 8000000000000000 WHERE seq = 96");
    expect(await goBack()).toMatchObject({ taken_over: 38, lost: 2 });
    await box.start();
    await box.live(101, 110);
    expect(await box.upload()).toMatchObject({ sent: 108, confirmed_seq: 110 });
    expect(await box.central.events()).toEqual([...numbers(1, 94), ...numbers(97, 110)]);
  });
});

test("takes away what an interrupted one has left, also where the database stays", async () => {
  box.configure();
  await box.live(1, 60);
  await backup();
  const left = join(box.site.data, "restoring");
  mkdirSync(left, { mode: 0o700 });
  writeFileSync(join(left, "lintel.db"), "half of it");
  expect(await goBack()).toMatchObject({ kept: true });
  expect(existsSync(left)).toBe(false);
  expect(box.eventsHere()).toEqual(numbers(1, 60));
});

test("the upload after going back compares every day, also where the database stays", async () => {
  await box.start();
  await box.live(1, 60);
  await backup();
  await box.upload();
  await box.central.stop();
  // What a bad release may have sent in place of an old reading.
  change(box.central.data, "UPDATE wirelesssensor_events SET event = 1007 WHERE event = 7");
  await box.central.start();
  box.configure();
  expect(await box.upload()).toMatchObject({ differing_days: 0 });
  expect(await goBack()).toMatchObject({ kept: true });
  expect(await box.upload()).toMatchObject({ differing_days: 1 });
  expect(await box.central.events()).toEqual(numbers(1, 60));
});

test("a pause that the box hears of later reaches a backup and what was added to it, and going back brings nothing of it back", async () => {
  box.configure();
  await box.live(1, 60);
  await backup();
  await box.live(61, 80);
  await backup("--add");
  await box.run("withdraw", ...of());
  change(box.site.data, "UPDATE pauses SET from_ms = 0, own = 0");
  const list = join(box.site.directory, "unkept.json");
  writeFileSync(list, (await box.run("erase", "--list", "--pauses", "--json", ...of())).out);
  expect(await backup("--erase-again", list)).toMatchObject({ erasures: 0, pauses: 1 });
  expect(await backup("--erase-again", list)).toMatchObject({ erasures: 0, pauses: 0 });
  box.lose();
  await box.run("restore", copy, ...of());
  expect(box.eventsHere()).toEqual([]);
});

test("an erasure reaches a backup and what was added to it, and going back brings nothing of it back", async () => {
  box.configure();
  await box.live(1, 60);
  await backup();
  await box.live(61, 80);
  await backup("--add");
  const data = ["--data", box.site.data];
  await box.run("erase", "--home", "12", "--yes", ...data);
  const list = join(box.site.directory, "erased.json");
  writeFileSync(list, (await box.run("erase", "--list", "--json", ...data)).out);
  expect(await backup("--erase-again", list)).toMatchObject({ erasures: 1 });
  expect(await backup("--erase-again", list)).toMatchObject({ erasures: 0 });
  const [made = ""] = readdirSync(copy).filter((name) => name.startsWith("backup-"));
  expect(readdirSync(join(copy, made))).not.toContain("added");
  expect(await goBack()).toMatchObject({ kept: true });
  change(box.site.data, "CREATE TABLE later (x)");
  expect(await goBack()).toMatchObject({ last_seq: 80, taken_over: 0, lost: 0 });
  expect(box.eventsHere()).toEqual([]);
  box.lose();
  await box.run("restore", copy, ...of());
  expect(box.eventsHere()).toEqual([]);
});
