import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockQuality } from "../../../src/base/clock.ts";
import { isAsSigned, signedJson } from "../../../src/base/signed-json.ts";
import type { KeptAcceptance } from "../../../src/domain/acceptance.ts";
import {
  acceptancesBytes,
  acceptancesFile,
  acceptancesInFile,
  mergedAcceptances,
} from "../../../src/domain/acceptance-file.ts";
import type { Device } from "../../../src/domain/reading.ts";
import { acceptancesIn, changeAcceptances } from "../../../src/gateway/acceptance/acceptances.ts";
import { boxKey } from "../../../src/gateway/box-key.ts";
import { reading } from "../../../testbed/sample.ts";
import { begun_ms, type HomeName, halls, home, VisitedHome } from "./visit-home.ts";

test("a home in which everything did its task is accepted, and its record says when each did", async () => {
  await using visited = await VisitedHome.make();
  await visited.walk("order", ["hall1", "hall2", "hall3"]);
  expect((await visited.acceptances.found()).orders).toEqual({ Hall: ["Hall 1", "Hall 2", "Hall 3"] });
  await visited.tryAll();
  const kept = await visited.acceptances.complete(" Ann\n");
  const { signed } = kept;
  expect(isAsSigned(kept)).toBe(true);
  expect(signed).toMatchObject({ number: 1, tester: "Ann", homeid: 12, passed: true, faults: [] });
  expect(signed.release).toBe("1.2.3");
  // From the first task to the moment of the record.
  const [started, finished] = [begun_ms, visited.clock.now().unix_ms].map((at_ms) => at_ms / 1_000);
  expect(signed).toMatchObject({ started, finished });
  expect(signed.upload).toEqual({ url: "https://central.example", sent: 3, differingdays: 0, failure: null });
  const door = signed.devices.find(({ itemname }) => itemname === "Front door");
  expect(door).toMatchObject({ task: "door", room: "Entrance", signal: 180, battery: 90 });
  expect((door?.done ?? 0) - (door?.asked ?? 0)).toBe(2);
  const [there, back] = signed.lines[0]?.walks ?? [];
  expect([there?.fired, there?.took]).toEqual([["Hall 1", "Hall 2", "Hall 3"], 2]);
  expect(back?.fired).toEqual(["Hall 3", "Hall 2", "Hall 1"]);
});

/** Traps for a technician: how it comes about, and the words by which the record names it. */
const traps: Readonly<Record<string, readonly [(visited: VisitedHome) => Promise<void>, RegExp]>> = {
  "two motion sensors with each other's names": [
    async (visited) => {
      visited.answers = { kitchen: "bathroom", bathroom: "kitchen" };
      await visited.tryAll();
    },
    /^Kitchen motion and Bathroom motion are swapped: each answered in the place of the other\.$/,
  ],
  "two sensors of the line in each other's place": [
    async (visited) => {
      visited.answers = { hall2: "hall3", hall3: "hall2" };
      await visited.tryAll();
    },
    /^Hall [23] and Hall [23] are swapped: the walk along Hall from Hall (1 passed Hall 1, Hall 3, Hall 2|3 passed Hall 2, Hall 3, Hall 1)\.$/,
  ],
  "a sensor that is asleep": [
    async (visited) => {
      visited.asleep = ["bathroom"];
      await visited.tryAll();
    },
    /^Bathroom motion did not answer: it was last heard \d+ minutes before\. It may be asleep/,
  ],
  "a battery that is nearly empty": [
    async (visited) => {
      await visited.tryAll();
      visited.state = { battery_percent: 6, linkquality: 180 };
      await visited.happens("door", 1, 0);
    },
    /^The battery of Front door is nearly empty \(6 %\)\.$/,
  ],
  "a battery of which the box heard just now": [
    async (visited) => {
      await visited.tryAll();
      const { device } = home["door"] as { device: Device };
      visited.held.push({ device, heard_ms: visited.clock.now().unix_ms, battery_percent: 4 });
    },
    /^The battery of Front door is nearly empty \(4 %\)\.$/,
  ],
  "a sensor that says that its battery is low": [
    async (visited) => {
      await visited.tryAll();
      await visited.happens("kitchen", 0b1010);
    },
    /^The battery of Kitchen motion is nearly empty/,
  ],
  "a sensor of the neighbour, which nobody finds": [
    (visited) => visited.tryAll(["door"]),
    /^Front door was not tried: is it in this home\?$/,
  ],
  "a heartbeat instead of motion": [
    async (visited) => {
      visited.heartbeat = ["kitchen"];
      await visited.tryAll();
    },
    /^Kitchen motion was heard, but told of no task: only signs of life, not motion\.$/,
  ],
  "a status of a sensor without motion in it": [
    async (visited) => {
      await visited.tryAll(["kitchen"]);
      visited.acceptances.ask(home["kitchen"]?.device.address ?? "");
      await visited.happens("kitchen", 0b100000);
    },
    /^Kitchen motion was heard, but told of no task/,
  ],
  "a door that opens and never closes": [
    async (visited) => {
      await visited.tryAll(["door"]);
      visited.acceptances.ask(home["door"]?.device.address ?? "");
      await visited.happens("door", 1);
    },
    /^Front door was heard, but told of no task: only signs of life, not a door that opens and closes\.$/,
  ],
  "a clock that nobody has set": [
    async (visited) => {
      await visited.tryAll();
      visited.clock.quality = clockQuality.unsynchronised;
    },
    /^The clock of the box is not known to be right\.$/,
  ],
  "central away": [
    async (visited) => {
      await visited.tryAll();
      visited.isCentralAway = true;
    },
    /^Central did not take the upload: central is away/,
  ],
  "a weak signal": [
    async (visited) => {
      await visited.tryAll();
      visited.state = { battery_percent: 90, linkquality: 20 };
      await visited.happens("bathroom", 0b10);
    },
    /^The signal of Bathroom motion is weak \(20 of 255\)\.$/,
  ],
  "a line that is walked in one direction only": [
    async (visited) => {
      for (const name of ["kitchen", "bathroom", "door", "scale", "box"] as const) await visited.try(name);
      await visited.walk("there", halls);
    },
    /^The walk along Hall from Hall 3 was not tried\.$/,
  ],
  "a sensor of the line that sees nobody": [
    async (visited) => {
      visited.asleep = ["hall2"];
      await visited.tryAll();
    },
    /^Hall 2 saw nobody in the walk along Hall from Hall [13]\.$/,
  ],
  "a stick that hears nothing": [
    async (visited) => {
      await visited.tryAll();
      visited.troubles = [{ what: "Nothing is heard by [zigbee]: no such port.", remedy: "Plug it in." }];
    },
    /^Nothing is heard by \[zigbee\]/,
  ],
};

test.each(Object.keys(traps))("a record names %s, and does not pass", async (name) => {
  const [fall, words] = traps[name] as (typeof traps)[string];
  await using visited = await VisitedHome.make();
  await fall(visited);
  const faults = await visited.faults();
  // Nothing else is wrong with this home.
  expect(faults.filter((what) => !words.test(what))).toEqual([]);
  expect(faults).not.toBeEmpty();
  expect(acceptancesIn(visited.directory)[0]?.signed.passed).toBe(false);
});

test("a task counts only until the technician goes on to the next one", async () => {
  await using visited = await VisitedHome.make();
  visited.acceptances.ask(home["kitchen"]?.device.address ?? "");
  visited.acceptances.ask(home["bathroom"]?.device.address ?? "");
  await visited.happens("kitchen", 0b10);
  const found = await visited.acceptances.found();
  const done = (name: HomeName) => found.devices.find(({ itemname }) => itemname === home[name]?.name)?.done;
  expect([done("kitchen"), done("bathroom")]).toEqual([null, null]);
  expect(found.devices.find(({ itemname }) => itemname === "Bathroom motion")?.instead).toEqual([
    "Kitchen motion",
  ]);
});

test("a device that keeps what happens until it is asked has done its task also after the next one", async () => {
  await using visited = await VisitedHome.make();
  const device = { kind: "pillboxes", address: "a4:c1:38:00:00:07", subtype: "polled" } as const;
  const states = [{ device, heard_ms: visited.clock.now().unix_ms, listener: "pillbox" }];
  await visited.store.append([], { states });
  visited.acceptances.ask(device.address);
  visited.clock.advance(1_000);
  visited.acceptances.ask(home["kitchen"]?.device.address ?? "");
  const opened_ms = visited.clock.now().unix_ms;
  await visited.store.append(
    [1, 0].map((event, at) => reading(device, "pillbox_events", opened_ms + at * 1_000, { event })),
  );
  visited.clock.advance(60_000);
  const { devices } = await visited.acceptances.found();
  expect(devices.find(({ macaddress }) => macaddress === device.address)).toMatchObject({
    ...{ later: true, instead: [], done: (opened_ms + 1_000) / 1_000 },
  });
});

test("nothing that happens later changes a record: not readings, names, a later visit, or a box that sends another", async () => {
  await using visited = await VisitedHome.make();
  await visited.tryAll(["door"]);
  await visited.faults();
  const first = acceptancesIn(visited.directory)[0];
  const sent = new Uint8Array(readFileSync(join(visited.directory, acceptancesFile)));
  await visited.try("door");
  await visited.store.nameItem({
    ...{
      address: home["door"]?.device.address ?? "",
      name: "Back door",
      given_ms: visited.clock.now().unix_ms,
    },
  });
  expect(await visited.faults()).toEqual([]);
  const [second, ...before] = acceptancesIn(visited.directory);
  expect([second?.signed.number, second?.signed.passed]).toEqual([2, true]);
  expect(before).toEqual([first as never]);

  const forged = { ...first, signed: { ...first?.signed, passed: true } } as NonNullable<typeof first>;
  writeFileSync(join(visited.directory, acceptancesFile), acceptancesBytes([forged]));
  expect(acceptancesIn(visited.directory)).toEqual([]);
  for (const arrived of [acceptancesBytes([]), acceptancesBytes([forged]), new Uint8Array(3)])
    expect(acceptancesInFile(mergedAcceptances(sent, arrived))).toEqual([first as never]);
  expect(acceptancesInFile(mergedAcceptances(sent, acceptancesBytes([second as never])))).toHaveLength(2);
});

test("a finish waits for another one to end, and says so where it does not", async () => {
  await using visited = await VisitedHome.make();
  const other = visited.hold();
  expect(await visited.acceptances.complete("Ann").catch((thrown: unknown) => thrown)).toMatchObject({
    remedy: "wait until it has ended, and finish again",
  });
  other.release();
  expect((await visited.acceptances.complete("Ann")).signed.number).toBe(1);
});

test("faults in many words are cut short, so that their record can be read again", async () => {
  await using visited = await VisitedHome.make();
  visited.troubles = [{ what: "w".repeat(600), remedy: "r".repeat(600) }];
  const [what = ""] = await visited.faults();
  expect(what).toBe(`${"w".repeat(499)}…`);
  expect(acceptancesIn(visited.directory)[0]?.signed.faults[0]).toEqual({
    what,
    remedy: `${"r".repeat(499)}…`,
  });
});

test("a record that the file cannot hold with those before it is refused, and those before it stay, here and at central", async () => {
  await using visited = await VisitedHome.make();
  const { signed } = await visited.acceptances.complete("Ann");
  const key = boxKey(visited.directory);
  const devices = Array.from(
    { length: 500 },
    () => signed.devices[0] as NonNullable<(typeof signed.devices)[0]>,
  );
  const large = (number: number): KeptAcceptance => ({
    ...signedJson({ ...signed, number, devices }, key),
    nights: [],
  });
  const full = [1, 2, 3, 4, 5, 6].map(large);
  changeAcceptances(visited, () => full);
  const file = join(visited.directory, acceptancesFile);
  const before = readFileSync(file);
  expect(() => changeAcceptances(visited, (kept) => [large(7), ...kept])).toThrow(
    "the record does not fit beside the 6 that this box has",
  );
  expect(readFileSync(file)).toEqual(before);
  const merged = mergedAcceptances(new Uint8Array(before), acceptancesBytes([large(7)]));
  expect(acceptancesInFile(merged)).toEqual(full);
});
