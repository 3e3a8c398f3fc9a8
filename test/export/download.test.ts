import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { SystemClock } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { lineLog } from "../../src/base/log.ts";
import { seriesNames } from "../../src/domain/series.ts";
import { mintToken } from "../../src/domain/token.ts";
import { columnsOfSeries } from "../../src/export/columns.ts";
import { type DownloadOptions, download } from "../../src/export/download.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import type { ArrivalsRequest, Store } from "../../src/store/store.ts";
import { startApi } from "../../testbed/api-server.ts";
import { now_ms, type Serving, serve } from "../../testbed/serving.ts";
import { mountSmall, mountsAllowed } from "../store/sqlite/mount.ts";
import { allOf, event, linesOf, oneOfEach, sensor, timeFields } from "./filled.ts";
import { downloadOptions } from "./options.ts";

/** Counts the pages that the interface reads, and lets a test act on one. */
class Watched {
  pages = 0;
  onPage: (page: number) => Promise<void> | void = () => {};

  readonly through = (store: GatewayStore): Store => {
    const arrivals = async (request: ArrivalsRequest) => {
      this.pages += 1;
      await this.onPage(this.pages);
      return store.arrivals(request);
    };
    return new Proxy(store, {
      get: (target, name) => {
        if (name === "arrivals") return arrivals;
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
}

let watched: Watched;
let serving: Serving;
const directories: string[] = [];

beforeAll(async () => {
  watched = new Watched();
  serving = await serve({ through: watched.through });
  for (let index = 0; index < 3; index += 1) {
    // 2,500 events, up to seven of them in one second, and some in one millisecond.
    const readings = Array.from({ length: 2_500 }, (_, at) =>
      event(sensor(index), now_ms - 90_000_000 + Math.floor(at / 3) * 400, at % 64),
    );
    await serving.store.append(readings);
  }
  await serving.store.append(oneOfEach(now_ms - 5_000));
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  for (const directory of directories) await rm(directory, { recursive: true, force: true });
});

async function place(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "lintel-fetch-"));
  directories.push(directory);
  return directory;
}

function options(directory: string, rest: Partial<DownloadOptions> = {}): DownloadOptions {
  return downloadOptions({ url: serving.api.url, token: serving.tokens.read, directory, ...rest });
}

async function lines(directory: string, name: string): Promise<string[]> {
  return (await Bun.file(join(directory, `${name}.ndjson`)).text()).split("\n").slice(0, -1);
}

describe("a download", () => {
  test("holds each reading of every series once, item by item and from old to new", async () => {
    const directory = await place();
    const done = await download(options(directory));
    for (const series of seriesNames) {
      const expected = await linesOf(serving.store, series);
      expect(expected.length).toBeGreaterThan(0);
      expect(await lines(directory, series)).toEqual(expected);
      expect(done.files[series]).toEqual({ rows: expected.length, written: true });
    }
    expect(done.received).toBe(7_507);
    expect((await lines(directory, "items")).length).toBe(6);
    expect((await lines(directory, "item_types")).map((line) => JSON.parse(line).count)).toEqual([
      1, 3, 1, 1, 0,
    ]);
    expect((await readdir(directory)).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("says of each device how its readings were made, as the interface does", async () => {
    const directory = await place();
    const done = await download(options(directory));
    const devices = (await lines(directory, "devices")).map((line) => JSON.parse(line));
    const recording = (await lines(directory, "items")).map((line) => JSON.parse(line));
    expect(devices.map(({ itemname }) => itemname)).toEqual(recording.map(({ itemname }) => itemname));
    expect(done.files["devices"]).toEqual({ rows: devices.length, written: true });
    for (const { itemname, typename, ...device } of devices) {
      const { history, ...told } = await (await serving.ask(`/items/${typename}/${itemname}/device`)).json();
      expect(device).toEqual({ ...told, measures: "", nevertells: "" });
      const past = (await lines(directory, "device_history")).map((line) => JSON.parse(line));
      expect(past.filter((one) => one.itemname === itemname).map(({ firmware }) => firmware)).toEqual(
        history.map(({ firmware }: { firmware: string }) => firmware),
      );
    }
  });

  test("is the same in CSV and in Parquet", async () => {
    const directory = await place();
    await download(options(directory, { format: "csv", stamp: "unix_ms" }));
    // Readings that were received for one format serve the other.
    expect((await download(options(directory, { format: "parquet" }))).received).toBe(0);
    const all = await allOf(serving.store, "wirelesssensor_events");
    const text = await Bun.file(join(directory, "wirelesssensor_events.csv")).text();
    expect(text.split("\r\n").slice(1, -1)).toEqual(
      all.map(({ itemid, itemname, stamp_ms, values, clock }) =>
        [itemid, itemname, "", stamp_ms, ...values, clock].join(","),
      ),
    );
    for (const series of seriesNames) {
      const names = columnsOfSeries(series).map(({ name }) => name);
      const read = await parquetReadObjects({
        file: await Bun.file(join(directory, `${series}.parquet`)).arrayBuffer(),
      });
      const cells = read.map((row) => names.map((name) => plain(row[name])));
      expect(cells).toEqual(
        (await allOf(serving.store, series)).map(({ itemid, itemname, homeid, stamp_ms, values, clock }) => [
          itemid,
          itemname,
          homeid,
          stamp_ms,
          ...values.map((value, at) => (timeFields.has(names[at + 4] ?? "") ? Number(value) * 1000 : value)),
          clock,
        ]),
      );
    }
  });

  test("keeps to the series, items and span that it was asked for", async () => {
    const directory = await place();
    const [first, second] = await serving.store.items("wirelesssensors", { skip: 0, limit: 2 });
    const from_s = Math.floor((now_ms - 90_000_000) / 1000) + 60;
    await download(
      options(directory, {
        series: ["wirelesssensor_events"],
        items: [first?.itemname ?? "", second?.itemname ?? ""],
        span: { since_s: from_s, until_s: from_s + 30 },
      }),
    );
    const expected = (await linesOf(serving.store, "wirelesssensor_events")).filter((line) => {
      const { itemname, stamp } = JSON.parse(line);
      const at_s = Date.parse(stamp) / 1000;
      return [first?.itemname, second?.itemname].includes(itemname) && at_s >= from_s && at_s < from_s + 30;
    });
    expect(expected.length).toBeGreaterThan(300);
    expect(await lines(directory, "wirelesssensor_events")).toEqual(expected);
    expect(await readdir(directory)).not.toContain("scale_weights.ndjson");
  });
});

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  return typeof value === "bigint" ? Number(value) : value;
}

describe("a later download", () => {
  test("fetches only what is new, and leaves files alone that would be the same", async () => {
    const directory = await place();
    await download(options(directory));
    const nothing = await download(options(directory));
    expect(nothing.received).toBe(0);
    expect(nothing.files["wirelesssensor_events"]).toEqual({ rows: 7_500, written: false });
    await serving.store.append([event(sensor(0), now_ms - 10_000, 1), event(sensor(0), now_ms - 9_000, 2)]);
    const some = await download(options(directory));
    expect(some.received).toBe(2);
    expect(await lines(directory, "wirelesssensor_events")).toEqual(
      await linesOf(serving.store, "wirelesssensor_events"),
    );
  });

  test("finds what arrived late, wherever it belongs, and fetches nothing else", async () => {
    const directory = await place();
    await download(options(directory));
    // A tenth below the newest events of its item.
    const late = event(sensor(1), now_ms - 90_000_000 + 300_000 + 7, 99);
    await serving.store.append([late]);
    const again = await download(options(directory));
    expect(again.received).toBe(1);
    const oldest = event(sensor(2), now_ms - 200_000_000, 98);
    await serving.store.append([oldest, event(sensor(1), late.stamp_ms, 97)]);
    expect((await download(options(directory))).received).toBe(2);
    expect(await lines(directory, "wirelesssensor_events")).toEqual(
      await linesOf(serving.store, "wirelesssensor_events"),
    );
  });

  test("is exact after any order of arrivals and interruptions", async () => {
    const directory = await place();
    const device = sensor(20);
    await serving.store.append([event(device, now_ms - 1_500_000, 1)]);
    const only = [
      (await serving.store.items("wirelesssensors", { skip: 0, limit: 100 })).at(-1)?.itemname ?? "",
    ];
    const expectedLines = async () =>
      (await linesOf(serving.store, "wirelesssensor_events")).filter((line) => line.includes(`"${only[0]}"`));
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return (seed >>> 8) % below;
    };
    let appended = 1;
    let interrupted = 0;
    for (let round = 0; round < 24; round += 1) {
      const count = 1 + random(1_200);
      const from_ms = now_ms - 1_000_000 + round * 10_000;
      const readings = Array.from({ length: count }, () =>
        event(device, random(3) === 0 ? from_ms - random(25_000) : from_ms + random(20_000), random(4)),
      );
      await serving.store.append(readings);
      appended += count;
      if (random(2) === 0) {
        const stop = new AbortController();
        let left = 1 + random(12);
        const onProgress = () => {
          left -= 1;
          if (left === 0) stop.abort(new Error("stopped by the test"));
        };
        const stopped = await download(
          options(directory, { items: only, stop: stop.signal, onProgress }),
        ).catch(String);
        if (typeof stopped === "string") {
          expect(stopped).toContain("stopped by the test");
          interrupted += 1;
        }
      } else {
        await download(options(directory, { items: only }));
        expect(await lines(directory, "wirelesssensor_events")).toEqual(await expectedLines());
      }
    }
    await download(options(directory, { items: only }));
    const expected = await expectedLines();
    expect(expected.length).toBe(appended);
    expect(interrupted).toBeGreaterThan(5);
    expect(await lines(directory, "wirelesssensor_events")).toEqual(expected);
  });
});

describe("a download that is disturbed", () => {
  test("holds all that was there when it began, while readings arrive, late ones too", async () => {
    const directory = await place();
    const expected = new Set(await linesOf(serving.store, "wirelesssensor_events"));
    let added = 0;
    watched.onPage = async () => {
      added += 2;
      await serving.store.append([
        event(sensor(0), now_ms - 5_000 + added, 1),
        event(sensor(0), now_ms - 90_000_000 + 100_000 + added, 3),
      ]);
    };
    await download(options(directory));
    watched.onPage = () => {};
    const held = await lines(directory, "wirelesssensor_events");
    const arrived = new Set(await linesOf(serving.store, "wirelesssensor_events"));
    expect([...expected.difference(new Set(held))]).toEqual([]);
    expect([...new Set(held).difference(arrived)]).toEqual([]);
    await download(options(directory));
    expect(await lines(directory, "wirelesssensor_events")).toEqual(
      await linesOf(serving.store, "wirelesssensor_events"),
    );
  });

  test("goes on by itself when the gateway restarts under it", async () => {
    const directory = await place();
    const clock = new SystemClock();
    const start = (port: number) =>
      startApi({
        store: watched.through(serving.store),
        clock: serving.clock,
        log: lineLog({ write: () => {}, clock }),
        listen: { hostname: "127.0.0.1", port },
        realm: "lintel",
        stop_ms: 0,
      });
    let api = await start(0);
    const { url, port } = api;
    const { promise: restarted, resolve } = Promise.withResolvers<void>();
    let retries = 0;
    const last = watched.pages + 4;
    watched.onPage = (page) => {
      if (page !== last) return;
      // This page's answer is lost with the connection.
      serving.clock.advance(0);
      void api.stop().then(() => resolve());
      serving.clock.advance(1);
    };
    const onRetry = () => {
      retries += 1;
      if (retries === 1) void restarted.then(async () => Object.assign(holder, { api: await start(port) }));
    };
    const holder: { api?: typeof api } = {};
    await download(options(directory, { url, onRetry }));
    watched.onPage = () => {};
    api = holder.api ?? api;
    await api.stop();
    expect(retries).toBeGreaterThan(0);
    expect(await lines(directory, "wirelesssensor_events")).toEqual(
      await linesOf(serving.store, "wirelesssensor_events"),
    );
  });

  test("is refused where another one works in the same directory, or one of another gateway has", async () => {
    const directory = await place();
    let second: Promise<unknown> | undefined;
    const onProgress = () => {
      second ??= download(options(directory)).catch((thrown) => thrown);
    };
    await download(options(directory, { onProgress }));
    expect(String(await second)).toContain("another lintel fetch works in");
    const other = download(options(directory, { url: "http://127.0.0.1:9/v0.9" }));
    await expect(other).rejects.toThrow(/holds a download with url .*give the same as before/);
    await expect(download(options(directory, { span: { since_s: 86_400 } }))).rejects.toThrow(
      /holds a download with since absent, not 1970-01-02/,
    );
  });

  test("whose token is revoked ends with that, and goes on with another", async () => {
    const directory = await place();
    const { token, text } = mintToken({ name: "leaver", scope: "read", clock: serving.clock });
    await serving.store.addToken(token);
    let revoked: Promise<unknown> | undefined;
    const onProgress = ({ received }: { received: number }) => {
      if (received > 2_000) revoked ??= serving.store.revokeToken(token.id);
    };
    await expect(download(options(directory, { token: text, onProgress }))).rejects.toThrow(
      /refuses the token: The access token is invalid \(code 40103\): ask/,
    );
    expect(await revoked).toBe(true);
    const { received } = await download(options(directory));
    const whole = await download(options(await place()));
    expect(received).toBeLessThanOrEqual(whole.received - 2_000);
    expect(await lines(directory, "wirelesssensor_events")).toEqual(
      await linesOf(serving.store, "wirelesssensor_events"),
    );
  });

  test.skipIf(!mountsAllowed)("on a full disk says so, and goes on once there is space", async () => {
    using disk = mountSmall({ bytes: 8_000_000 });
    const ballast = join(disk.path, "ballast");
    await writeFile(ballast, new Uint8Array(7_900_000));
    const directory = join(disk.path, "data");
    const full = await download(options(directory)).catch((thrown) => thrown);
    expect(full).toBeInstanceOf(OperatorError);
    expect(String(full)).toMatch(/full|no space/i);
    await rm(ballast);
    await download(options(directory));
    expect(await lines(directory, "wirelesssensor_events")).toEqual(
      await linesOf(serving.store, "wirelesssensor_events"),
    );
  });
});
