import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NetworkFiles } from "../../../drivers/zigbee/files.ts";
import { Generations, generations_max } from "../../../drivers/zigbee/generations.ts";
import { newNetwork } from "../../../drivers/zigbee/network.ts";
import { RecordingHost, seededRandom, temporaryDirectory } from "../../../testbed/recording-host.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let host: RecordingHost;

beforeEach(() => {
  directory = temporaryDirectory();
  host = new RecordingHost({ directory: directory.path });
});
afterEach(() => directory.remove());

const network = newNetwork(seededRandom(4));
const database = (count: number) =>
  Array.from({ length: count }, (_, id) =>
    JSON.stringify({ id, type: "EndDevice", ieeeAddr: `0x${id}` }),
  ).join("\n");
const path = (name: string) => join(directory.path, name);

test("networks differ, and never use the identifiers that everybody has", () => {
  const random = seededRandom(7);
  const networks = Array.from({ length: 200 }, () => newNetwork(random));
  expect(new Set(networks.map(({ network_key }) => network_key.join())).size).toBe(200);
  for (const { pan_id, channel } of networks) {
    expect(pan_id).toBeGreaterThan(0);
    expect(pan_id).toBeLessThan(0xffff);
    expect([11, 15, 20, 25]).toContain(channel);
  }
});

test("ten generations are kept, a new one for each change of the devices", () => {
  const generations = new Generations(path("backups"));
  for (let count = 1; count <= generations_max + 5; count += 1) {
    expect(generations.keep({ network, coordinator: null, database: database(count) }, "2026-01-01")).toBe(
      count,
    );
    expect(generations.keep({ network, coordinator: null, database: database(count) }, "2026-01-02")).toBe(
      count,
    );
  }
  const names = readdirSync(path("backups"));
  expect(names).toHaveLength(generations_max);
  for (const name of names) expect(statSync(join(path("backups"), name)).mode & 0o777).toBe(0o600);
  expect(generations.newest()?.number).toBe(generations_max + 5);
});

const known = {
  network,
  coordinator: JSON.stringify({ coordinator_ieee: "00124b0001", network_key: { frame_counter: 5 } }),
  database: [1, 2]
    .map((id) => JSON.stringify({ id, ieeeAddr: `0x${id}`, interviewState: "SUCCESSFUL", lastSeen: id }))
    .join("\n"),
};
test.each<[what: string, change: Partial<typeof known>, isNew: boolean]>([
  ["another channel", { network: { ...network, channel: network.channel === 11 ? 15 : 11 } }, true],
  ["another key", { network: { ...network, network_key: network.network_key.toReversed() } }, true],
  ["another stick", { coordinator: known.coordinator.replace("00124b0001", "00124b0002") }, true],
  ["a device that left", { database: known.database.split("\n").slice(1).join("\n") }, true],
  ["a device that was asked all", { database: known.database.replace("SUCCESSFUL", "PENDING") }, true],
  ["counters that moved on", { coordinator: known.coordinator.replace(":5", ":6") }, false],
  ["times that moved on", { database: known.database.replaceAll(/"lastSeen":\d/g, '"lastSeen":9') }, false],
  ["devices in another order", { database: known.database.split("\n").reverse().join("\n") }, false],
])("%s is a generation of its own, or takes the place of the newest: %#", (_what, change, isNew) => {
  const generations = new Generations(path("backups"));
  generations.keep(known, "");
  expect(generations.keep({ ...known, ...change }, "")).toBe(isNew ? 2 : 1);
  expect(generations.newest()?.generation).toEqual({ ...known, ...change });
});

test("a damaged generation is passed over for the one before it", () => {
  const generations = new Generations(path("backups"));
  for (const count of [1, 2, 3])
    generations.keep({ network, coordinator: null, database: database(count) }, "");
  truncateSync(join(path("backups"), "network-000003.json"), 100);
  writeFileSync(join(path("backups"), "network-000002.json"), "");
  expect(generations.newest()).toEqual({
    number: 1,
    generation: { network, coordinator: null, database: database(1) },
  });
  expect(generations.keep({ network, coordinator: null, database: database(4) }, "")).toBe(4);
});

test("files that are missing or damaged come back from the newest whole generation, and that is said", () => {
  const files = new NetworkFiles({ directory: directory.path, log: host.log });
  expect(files.prepare(seededRandom(4))).toEqual(network);
  expect(host.lines).toEqual([]);
  writeFileSync(files.database, database(2));
  files.keep(network, "");
  writeFileSync(path("network.json"), "");
  writeFileSync(files.database, `${database(1)}\n{"id":2,"ty`);
  expect(files.prepare(seededRandom(99))).toEqual(network);
  expect(readFileSync(files.database, "utf8")).toBe(database(2));
  rmSync(files.database);
  files.prepare(seededRandom(99));
  expect(readFileSync(files.database, "utf8")).toBe(database(2));
  expect(host.lines).toHaveLength(3);
  for (const line of host.lines) expect(line).toMatch(/brought back from copy 1$/);
});
