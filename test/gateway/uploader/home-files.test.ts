import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { Identities } from "../../../src/gateway/ingest/device-identities.ts";
import { eraseBeside } from "../../../src/gateway/uploader/home-at-central.ts";
import { gatherHomeFiles, putDeviceFiles, putHomeFiles } from "../../../src/gateway/uploader/home-files.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import {
  keptLog,
  reading,
  sensor,
  sensorEvent,
  start_ms,
  temporaryDirectory,
} from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

test("a spare box listens to the devices that the lost one had admitted", async () => {
  using lost = temporaryDirectory();
  using spare = temporaryDirectory();
  const admitted = [
    { address: "54:48:e6:8f:80:a5", admitted_ms: start_ms, reason: "hand" },
    { address: "c0:ff:ee:00:18:1d", admitted_ms: start_ms + 1, reason: "joining" },
  ] as const;
  await opened(lost.path, (store) => store.admit(admitted));
  await opened(spare.path, async () => {});
  putHomeFiles(spare.path, gatherHomeFiles(lost.path));
  expect(await opened(spare.path, (store) => store.admissions())).toEqual({ inventory: [], admitted });
});

test("the first device that a spare box hears under a known address is not taken for the known one", async () => {
  using lost = temporaryDirectory();
  using spare = temporaryDirectory();
  const claim = (made: string, counter: number) => ({
    device: sensor(1),
    key: { fingerprint: made, made, configured: true },
    counter,
  });
  await known(lost.path, (identities) => identities.identify(claim("its key", 500), "bthome"));
  await known(spare.path, () => {});
  putHomeFiles(spare.path, gatherHomeFiles(lost.path));
  const verdicts = await known(spare.path, (identities) =>
    [claim("another key", 501), claim("its key", 3), claim("its key", 501)].map((one) =>
      identities.identify(one, "bthome"),
    ),
  );
  expect(verdicts).toEqual(["conflict", "conflict", "same"]);
});

test("what is erased of a home, of a person or of a device leaves the document of central's records as far", () => {
  const note = (noteid: number, start: number) => ({ noteid, subjectid: null, start, stop: start + 1 });
  const document = {
    homes: [{ homeid: 1 }],
    notes: [note(1, 99), note(2, 100), { ...note(3, 300), subjectid: 4 }],
  };
  const left = (erased: Partial<Parameters<typeof eraseBeside>[1][number]>) => {
    using place = temporaryDirectory();
    const path = join(place.path, "home-records.json");
    writeFileSync(path, JSON.stringify(document));
    const span = { home: 1, subject: null, kind: null, address: null, from_ms: 100_000, before_ms: 200_000 };
    eraseBeside(place.path, [{ ...span, ...erased }] as never);
    const now = JSON.parse(readFileSync(path, "utf8")) as Partial<typeof document>;
    return [now.homes?.length, now.notes?.map(({ noteid }) => noteid)];
  };
  expect(left({})).toEqual([undefined, undefined]);
  expect(left({ subject: 4 })).toEqual([1, [1]]);
  expect(left({ kind: "watches", address: "x" } as never)).toEqual([1, [1, 2, 3]]);
});

test("a box on an older backup takes over whom a person has accepted since; one that is newer than central keeps its own", async () => {
  using box = temporaryDirectory();
  using backup = temporaryDirectory();
  const [first, second] = [
    { device: sensor(1), key: { fingerprint: "1", made: "first", configured: true } },
    { device: sensor(1), key: { fingerprint: "2", made: "second", configured: true } },
  ];
  await known(box.path, (identities) => {
    identities.identify(first, "ble");
    identities.identify(second, "ble");
  });
  cpSync(box.path, backup.path, { recursive: true });
  const older = gatherHomeFiles(box.path);
  await known(box.path, (identities) => identities.settle(sensor(1).address, "accepted", "ann"));
  await opened(box.path, (store) => store.append([sensorEvent(sensor(1), start_ms, 1)]));
  const newer = gatherHomeFiles(box.path);
  const verdicts = (directory: string) =>
    known(directory, (identities) => [
      identities.conflicts().length,
      ...[first, second].map((one) => identities.identify(one, "ble", { note: false })),
    ]);
  putDeviceFiles(box.path, older);
  expect(await verdicts(box.path)).toEqual([0, "conflict", "same"]);
  putDeviceFiles(backup.path, newer);
  expect(await verdicts(backup.path)).toEqual([0, "conflict", "same"]);
});

test("identities that strangers made up push out none that is known longer, and the file stays small", async () => {
  using box = temporaryDirectory();
  const identities = Array.from({ length: 4_000 }, (_, number) => ({
    ...sensor(number, { model: "m".repeat(200), subtype: "s".repeat(200) }),
    ...{ driver: "mqtt", since_ms: start_ms + number },
  })).reverse();
  await opened(box.path, (store) => store.append([], { identities: { identities, conflicts: [] } }));
  const file = gatherHomeFiles(box.path).get("identities.json");
  expect(file?.length).toBeLessThan(1.1 * 1024 * 1024);
  const kept = JSON.parse(new TextDecoder().decode(file)).identities as typeof identities;
  expect(kept.length).toBeGreaterThan(1_000);
  expect(kept.map(({ since_ms }) => since_ms)).toEqual(kept.map((_, number) => start_ms + number));
});

test("of what a new box has not, or another has lost, no file takes the place of the one that central keeps", async () => {
  using box = temporaryDirectory();
  await opened(box.path, async () => {});
  const always = ["admitted.json", "cursors.json", "given-names.json"];
  const names = () => [...gatherHomeFiles(box.path).keys()].sort();
  expect(names()).toEqual(always);
  const made = {
    "identities.json": () =>
      known(box.path, (identities) => identities.identify({ device: sensor(1) }, "zigbee")),
    ...Object.fromEntries(
      ["acceptances.json", "burn-in.json", "mesh.json"].map((name) => [
        name,
        async () => writeFileSync(join(box.path, name), "{}"),
      ]),
    ),
    "zigbee-network.json": async () => {
      const generations = join(box.path, "drivers/zigbee/backups");
      mkdirSync(generations, { recursive: true });
      writeFileSync(join(generations, "network-000001.json"), "{}");
    },
  };
  const expected = [...always];
  for (const [name, make] of Object.entries(made)) {
    await make();
    expected.push(name);
    expect(names()).toEqual(expected.toSorted());
  }
});

test("a cursor is not told while a reading before it waits for the time: central would not get it, and its device would not be asked again", async () => {
  using place = temporaryDirectory();
  const box = { kind: "pillboxes", address: "00:0d:6f:00:07:01", subtype: "polled" } as const;
  const taken = reading(box, "pillbox_events", start_ms, { event: 1 });
  const boot = { boot: "in the dark", seen_ms: 7_000, timeline: undefined };
  const cursors = [{ name: "box", value: "1" }];
  const store = await openGatewayStore({
    directory: place.path,
    clock: new SystemClock(),
    log: keptLog().log,
    ...writerOfTests(),
  });
  await store.append([], {
    boots: [boot],
    held: [{ boot: boot.boot, monotonic_ms: 6_000, fact: { reading: taken } }],
    cursors,
  });
  expect([...gatherHomeFiles(place.path).keys()]).not.toContain("cursors.json");
  const [{ id } = { id: 0 }] = await store.waiting(1);
  await store.append([taken], { released: [id] });
  await store.close();
  const told = new TextDecoder().decode(gatherHomeFiles(place.path).get("cursors.json"));
  expect(JSON.parse(told)).toMatchObject({ last_seq: 1, cursors: { box: "1" } });
});

/** Who the devices of a directory's gateway are, kept as it ends. */
function known<Result>(
  directory: string,
  use: (identities: Identities) => Result | Promise<Result>,
): Promise<Result> {
  return opened(directory, async (store) => {
    const identities = new Identities({
      store,
      clock: new SystemClock(),
      log: keptLog().log,
      openedAt_ms: () => undefined,
      dropped: () => {},
      onConflict: () => {},
    });
    await identities.start();
    const result = await use(identities);
    const notes = identities.take();
    if (notes !== undefined) await store.append([], { identities: notes });
    return result;
  });
}

/** Opens the store of a directory, made where it is missing, for as long as `use` takes. */
async function opened<Result>(
  directory: string,
  use: (store: GatewayStore) => Promise<Result>,
): Promise<Result> {
  const store = await openGatewayStore({
    directory,
    clock: new SystemClock(),
    log: keptLog().log,
    ...writerOfTests(),
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
