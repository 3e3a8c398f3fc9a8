import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { lineLog } from "../../src/base/log.ts";
import type { Reading } from "../../src/domain/reading.ts";
import { type DownloadOptions, download } from "../../src/export/download.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openGatewayStore, openUploadStore } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { now_ms, type Serving, serve } from "../../testbed/serving.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { testAtNight } from "../at-night.ts";
import { event, linesOf, sensor } from "./filled.ts";
import { downloadOptions } from "./options.ts";

/** Lets another store stand behind the same address, as a restored box does, and counts its pages. */
class Exchanged {
  store: GatewayStore | undefined;
  pages = 0;

  readonly through = (first: GatewayStore): Store =>
    new Proxy(first, {
      get: (_, name) => {
        const target = this.store ?? first;
        if (name === "arrivals") this.pages += 1;
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
}

const clock = new SystemClock();
const log = lineLog({ write: () => {}, clock });
let exchanged: Exchanged;
let serving: Serving;
let place: string;
let directory: string;

beforeEach(async () => {
  exchanged = new Exchanged();
  // Without a memory of pages: a restored box starts with none.
  serving = await serve({ through: exchanged.through, cache_bytes_max: 0 });
  place = await mkdtemp(join(tmpdir(), "lintel-fetch-"));
  directory = join(place, "data");
});
afterEach(async () => {
  await serving[Symbol.asyncDispose]();
  await rm(place, { recursive: true, force: true });
});

function fetched(rest: Partial<DownloadOptions> = {}) {
  const { url } = serving.api;
  return download(downloadOptions({ url, token: serving.tokens.read, directory, clock, ...rest }));
}

async function lines(): Promise<string[]> {
  return (await Bun.file(join(directory, "wirelesssensor_events.ndjson")).text()).split("\n").slice(0, -1);
}

/** Events of one sensor, three in each second, some of one millisecond and value. */
function events(count: number, from_ms: number, index = 0): Reading[] {
  return Array.from({ length: count }, (_, at) =>
    event(sensor(index), from_ms + Math.floor(at / 2) * 660, Math.floor(at / 4) % 64),
  );
}

const begin_ms = now_ms - 90_000_000;
const kept_ms = begin_ms + 1_000_000;

/** Clears away beside the running gateway, as an upload does. */
async function prune(before_ms = kept_ms): Promise<number> {
  const store = await openUploadStore({ directory: serving.directory, clock, log });
  try {
    const request = { before_ms, through_seq: Number.MAX_SAFE_INTEGER, readings_max: 100_000 };
    return (await store.prune(request)).pruned;
  } finally {
    await store.close();
  }
}

test("what a gateway has cleared away since stays in the files", async () => {
  await serving.store.append(events(6_000, begin_ms));
  expect(await fetched()).toMatchObject({ received: 6_000 });
  const before = await linesOf(serving.store, "wirelesssensor_events");
  const pruned = await prune();
  expect(pruned).toBeGreaterThan(2_000);
  expect(await fetched()).toMatchObject({
    received: 0,
    files: { wirelesssensor_events: { rows: 6_000, written: false } },
  });
  expect(await lines()).toEqual(before);
});

test("beside what was cleared away, only what is new is fetched, and what arrived late is found", async () => {
  await serving.store.append(events(6_000, begin_ms));
  await fetched();
  const all = await linesOf(serving.store, "wirelesssensor_events");
  const pruned = await prune();
  const arrived = [
    event(sensor(0), begin_ms + 1_900_000 + 7, 9),
    event(sensor(0), now_ms - 5_000, 8),
    event(sensor(0), now_ms - 4_000, 7),
  ];
  await serving.store.append(arrived);
  expect((await fetched()).received).toBe(3);
  const held = await linesOf(serving.store, "wirelesssensor_events");
  expect(await lines()).toEqual([...all.slice(0, pruned), ...held]);
  // Nothing is asked of a series in which nothing is new.
  exchanged.pages = 0;
  expect(await fetched()).toMatchObject({ received: 0 });
  expect(exchanged.pages).toBe(0);
});

testAtNight(
  "a gateway that holds less and less leaves every reading once in the files, whatever arrives late or is cut short",
  async () => {
    const all: string[] = [];
    let seed = 11;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return (seed >>> 8) % below;
    };
    const only = async () => (await serving.store.items("wirelesssensors", { skip: 0, limit: 1 }))[0];
    let interrupted = 0;
    for (let round = 0; round < 16; round += 1) {
      const from_ms = begin_ms + round * 400_000;
      const readings = Array.from({ length: 900 }, () =>
        event(sensor(0), from_ms + random(400_000) - (random(9) === 0 ? random(3_000_000) : 0), random(4)),
      );
      await serving.store.append(readings);
      const { itemid, itemname } = (await only()) ?? {};
      all.push(
        ...readings.map(({ stamp_ms, values }) =>
          JSON.stringify({
            itemid,
            itemname,
            homeid: null,
            stamp: new Date(stamp_ms).toISOString(),
            ...values,
            clock: "synchronised",
          }),
        ),
      );
      for (let left = 1 + random(9); left < 6; left = 1 + random(9)) {
        const stop = new AbortController();
        const onProgress = () => {
          left -= 1;
          if (left === 0) stop.abort(new Error("stopped by the test"));
        };
        if (String(await fetched({ stop: stop.signal, onProgress }).catch(String)).startsWith("Error"))
          interrupted += 1;
      }
      await fetched();
      const written = await lines();
      expect(written.toSorted()).toEqual(all.toSorted());
      const stamps = written.map((line) => JSON.parse(line).stamp);
      expect(stamps).toEqual(stamps.toSorted());
      await prune(from_ms - 1_000_000 - random(1_000_000));
    }
    expect(interrupted).toBeGreaterThan(4);
    expect((await linesOf(serving.store, "wirelesssensor_events")).length).toBeLessThan(8_000);
  },
);

test("a gateway that was restored with its last days, without its last hour, leaves every reading once in the files", async () => {
  await serving.store.append(events(6_000, begin_ms));
  await fetched();
  const all = await linesOf(serving.store, "wirelesssensor_events");
  const restored = await openGatewayStore({
    directory: join(place, "restored"),
    clock,
    log,
    ...writerOfTests(),
  });
  try {
    await restored.append(events(6_000, begin_ms).slice(2_501, 5_700));
    for (const token of await serving.store.tokens()) await restored.addToken(token);
    exchanged.store = restored;
    expect(await fetched()).toMatchObject({ received: 3_199 });
    expect(await lines()).toEqual(all);
    expect(await fetched()).toMatchObject({ received: 0 });
    // Brought back from a backup that has it all: nothing is doubled.
    exchanged.store = undefined;
    expect(await fetched()).toMatchObject({ received: 6_000 });
    expect(await lines()).toEqual(all);
  } finally {
    await restored.close();
  }
});

test("a gateway that has cleared away everything of a sensor leaves it in the files", async () => {
  await serving.store.append(events(600, begin_ms));
  await fetched();
  const all = await linesOf(serving.store, "wirelesssensor_events");
  const emptied = await openGatewayStore({
    directory: join(place, "emptied"),
    clock,
    log,
    ...writerOfTests(),
  });
  try {
    await emptied.append(events(1, now_ms - 1_000));
    for (const token of await serving.store.tokens()) await emptied.addToken(token);
    exchanged.store = emptied;
    expect(await fetched()).toMatchObject({ received: 1 });
    expect(await lines()).toEqual([...all, ...(await linesOf(emptied, "wirelesssensor_events"))]);
  } finally {
    await emptied.close();
  }
});
