import { afterAll, beforeAll, describe, expect, jest, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Lintel, LintelError } from "../../clients/typescript/client.ts";
import { generatedFiles } from "../../scripts/generate-clients.ts";
import { kindNames } from "../../src/domain/kinds.ts";
import { seriesNames, seriesOf } from "../../src/domain/series.ts";
import { eventually } from "../../testbed/front-door.ts";
import { now_ms, type Serving, serve } from "../../testbed/serving.ts";
import { allOf, event, oneOfEach, sensor } from "../export/filled.ts";

const root = join(import.meta.dir, "../..");
let serving: Serving;
let lintel: Lintel;
let name: string;

beforeAll(async () => {
  serving = await serve();
  const readings = Array.from({ length: 2_345 }, (_, at) =>
    event(sensor(0), now_ms - 900_000 + at * 300, at % 64),
  );
  const { created } = await serving.store.append(readings);
  name = created[0] ?? "";
  await serving.store.append(oneOfEach(now_ms - 1_000));
  lintel = new Lintel({ url: serving.api.url, token: serving.tokens.read });
});
afterAll(() => serving[Symbol.asyncDispose]());

async function collected<Element>(walk: AsyncIterable<Element>): Promise<Element[]> {
  return Array.fromAsync(walk);
}

describe("the TypeScript client", () => {
  test("has the types that the server's own tables give", async () => {
    for (const [path, text] of Object.entries(generatedFiles()))
      expect(await Bun.file(join(root, path)).text()).toBe(text);
  });

  test("needs nothing but what browsers and Node have, and no syntax that Node can't drop", () => {
    const run = Bun.spawnSync([join(root, "node_modules/.bin/tsc"), "-p", "clients/typescript"], {
      cwd: root,
    });
    expect(run.stdout.toString()).toBe("");
    expect(run.exitCode).toBe(0);
  });

  test("walks every series of every item, from page to page", async () => {
    for (const series of seriesNames) {
      const expected = await allOf(serving.store, series);
      const fields = Object.keys(seriesOf(series).fields);
      const walked: unknown[] = [];
      for await (const { itemname } of lintel.items(seriesOf(series).kind)) {
        const readings = await collected(lintel.series(series, itemname, { limit: 1000, precision: "ms" }));
        const rows = readings.map((reading) => Object.entries(reading));
        for (const row of rows) expect(row.map(([field]) => field)).toEqual(["stamp", ...fields]);
        walked.push(...rows.reverse().map((row) => [itemname, ...row.map(([, value]) => value)]));
      }
      expect(walked).toEqual(
        expected.map(({ itemname, stamp_ms, values }) => [itemname, stamp_ms, ...values]),
      );
      const together = await collected(lintel.seriesOfItems(series, undefined, { precision: "ms" }));
      expect(new Set(together.map((row) => JSON.stringify(Object.values(row))))).toEqual(
        new Set(walked.map((row) => JSON.stringify(row))),
      );
    }
  });

  test("tells the device of an item", async () => {
    const { driver, cadence, measures } = await lintel.device("wirelesssensors", name);
    expect([driver, cadence, measures]).toEqual([null, 7_200, []]);
  });

  test("takes the address of a server with and without the version", async () => {
    const { origin } = new URL(serving.api.url);
    const short = new Lintel({ url: `${origin}/`, token: serving.tokens.read });
    expect(await short.itemTypes()).toEqual(await lintel.itemTypes());
  });

  test("gives seconds unless asked, keeps to before, and can be left in the middle", async () => {
    const before = Math.floor(now_ms / 1000) - 800;
    const older = await collected(lintel.series("wirelesssensor_events", name, { before, limit: 7 }));
    const all = await allOf(serving.store, "wirelesssensor_events");
    expect(older).toEqual(
      all
        .filter(({ stamp_ms }) => stamp_ms < before * 1000)
        .reverse()
        .map(({ stamp_ms, values }) => ({ stamp: Math.floor(stamp_ms / 1000), event: Number(values[0]) })),
    );
    let asked = 0;
    const counting = new Lintel({
      url: `${serving.api.url}/`,
      token: serving.tokens.read,
      fetch: (url, init) => {
        asked += 1;
        return fetch(url, init);
      },
    });
    for await (const page of counting.seriesPages("wirelesssensor_events", name, { limit: 3 }))
      if (page.length === 3) break;
    expect(asked).toBe(1);
  });

  test("gives what has arrived, late readings too, with the cursor to come back with", async () => {
    await using own = await serve();
    const client = new Lintel({ url: own.api.url, token: own.tokens.read });
    const { created } = await own.store.append(
      [2, 1, 3].map((at) => event(sensor(8), now_ms - 9_000 + at, at)),
    );
    const walk = (options: { since?: string } = {}) =>
      collected(
        client.arrivals("wirelesssensor_events", created[0] ?? "", { limit: 2, precision: "ms", ...options }),
      );
    const first = await walk();
    expect(first.map(({ readings }) => readings)).toEqual([
      [
        { stamp: now_ms - 8_998, event: 2 },
        { stamp: now_ms - 8_999, event: 1 },
      ],
      [{ stamp: now_ms - 8_997, event: 3 }],
    ]);
    const since = first.at(-1)?.since ?? "";
    expect(await walk({ since })).toEqual([]);
    await own.store.append([event(sensor(8), now_ms - 9_500, 4)]);
    expect((await walk({ since })).flatMap(({ readings }) => readings)).toEqual([
      { stamp: now_ms - 9_500, event: 4 },
    ]);
    const unknown = Buffer.from(`${"0".repeat(32)} wirelesssensor_events 1 0 0 1 0 0 0 0 0`).toString(
      "base64url",
    );
    const gone = await walk({ since: unknown }).catch((thrown) => thrown);
    expect([gone instanceof LintelError, gone.status, gone.code]).toEqual([true, 410, 41_001]);
  });

  test("follows readings as they arrive, until it is told to leave, and goes on after an interruption", async () => {
    await using own = await serve();
    const client = new Lintel({ url: own.api.url, token: own.tokens.read });
    const { created } = await own.store.append([event(sensor(8), now_ms - 9_000, 1)]);
    const leaving = new AbortController();
    const { signal } = leaving;
    const seen: number[] = [];
    let cursor = "";
    const following = (async () => {
      for await (const { readings, since } of client.follow("wirelesssensor_events", created[0] ?? "", {
        signal,
      })) {
        seen.push(...readings.map(({ event }) => event));
        cursor = since;
        if (seen.length === 3) break;
        await own.store.append([event(sensor(8), now_ms - seen.length, seen.length + 1)]);
      }
    })();
    await eventually(() => {
      own.clock.advance(300);
      return seen.length === 3 || undefined;
    }, "three readings");
    await following;
    expect(seen).toEqual([1, 2, 3]);
    await own.store.append([event(sensor(8), now_ms - 20_000, 4)]);
    const again = client.follow("wirelesssensor_events", created[0] ?? "", { signal, since: cursor });
    expect((await again.next()).value).toMatchObject({ readings: [{ event: 4 }] });
    const waiting = again.next().catch((thrown: unknown) => thrown);
    leaving.abort(new Error("left"));
    expect(await waiting).toMatchObject({ message: "left" });
  });

  test("leaves a stream that says nothing for a minute, and goes on behind what came", async () => {
    jest.useFakeTimers();
    try {
      const asked: string[] = [];
      const fetch = async (url: string) => {
        asked.push(url);
        const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
          controller.enqueue(new TextEncoder().encode(`id: c${asked.length}\ndata: []\n\n`));
        return new Response(new ReadableStream({ start }));
      };
      const silent = new Lintel({ url: serving.api.url, token: serving.tokens.read, fetch });
      const followed = silent.follow("wirelesssensor_events", "hall-wall");
      expect((await followed.next()).value?.since).toBe("c1");
      let since: string | undefined;
      const next = followed.next().then(({ value }) => {
        since = value?.since;
      });
      for (let second = 0; second < 120 && since === undefined; second++) {
        jest.advanceTimersByTime(1_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(since).toBe("c2");
      expect(new URL(asked[1] ?? "").searchParams.get("since")).toBe("c1");
      await next;
      await followed.return();
    } finally {
      jest.useRealTimers();
    }
  });

  test("knows the inventory", async () => {
    const types = await lintel.itemTypes();
    expect(types.map(({ typename }) => typename)).toEqual(kindNames);
    const [item] = await collected(lintel.items("scales"));
    expect(await lintel.item("scales", item?.itemname ?? "")).toEqual(item as NonNullable<typeof item>);
  });

  test("rejects with the server's own error", async () => {
    const unknown = await collected(lintel.series("scale_heart", "no/body")).catch((thrown) => thrown);
    expect(unknown).toBeInstanceOf(LintelError);
    expect(unknown).toMatchObject({
      status: 404,
      code: 40403,
      message: expect.stringMatching(/^No item of type scales is named no\/body: the list of items/),
      remedy: expect.stringMatching(/^the list of items/),
    });
    const stranger = new Lintel({ url: serving.api.url, token: "x" });
    expect(await stranger.itemTypes().catch((thrown) => thrown)).toMatchObject({ status: 401, code: 40103 });
    const busy = new Lintel({
      url: serving.api.url,
      token: "x",
      fetch: async () => new Response("<html>", { status: 503, headers: { "Retry-After": "7" } }),
    });
    expect(await busy.itemTypes().catch((thrown) => thrown)).toMatchObject({
      status: 503,
      code: undefined,
      retryAfter_s: 7,
    });
  });

  test("asks again when a server that is busy said to come back", async () => {
    const answers = [new Response("{}", { status: 429, headers: { "Retry-After": "0" } }), Response.json([])];
    const patient = new Lintel({
      url: serving.api.url,
      token: "x",
      fetch: async () => answers.shift() as Response,
    });
    expect(await patient.itemTypes()).toEqual([]);
    expect(answers).toEqual([]);
  });

  test("does not follow a link to another server", async () => {
    const led = new Lintel({
      url: serving.api.url,
      token: "x",
      fetch: async () =>
        Response.json([], { headers: { Link: '<http://evil.example/v0.9/items>; rel="next"' } }),
    });
    await expect(collected(led.items("scales"))).rejects.toThrow("on another server");
  });

  test("ends when its signal says so", async () => {
    const stop = AbortSignal.abort(new Error("enough"));
    await expect(lintel.itemTypes({ signal: stop })).rejects.toThrow("enough");
  });

  const node = Bun.which("node");
  if (node === null) console.warn("node is not on PATH: the client is not tried on it");
  test.skipIf(node === null)("runs on Node", async () => {
    const directory = await mkdtemp(join(tmpdir(), "lintel-client-"));
    const built = await Bun.build({
      entrypoints: [join(root, "clients/typescript/client.ts")],
      outdir: directory,
      naming: "client.mjs",
    });
    expect(built.success).toBe(true);
    await Bun.write(
      join(directory, "walk.mjs"),
      `import { Lintel } from "./client.mjs";
       const lintel = new Lintel({ url: process.env.LINTEL_URL, token: process.env.LINTEL_TOKEN });
       let sum = 0, count = 0;
       for await (const { event } of lintel.series("wirelesssensor_events", process.env.ITEM)) count++, (sum += event);
       console.log(count, sum);`,
    );
    const run = Bun.spawn([node ?? "", join(directory, "walk.mjs")], {
      env: { LINTEL_URL: serving.api.url, LINTEL_TOKEN: serving.tokens.read, ITEM: name },
      stdout: "pipe",
    });
    const all = await allOf(serving.store, "wirelesssensor_events");
    const sum = all.reduce((total, { values }) => total + Number(values[0]), 0);
    expect((await run.stdout.text()).trim()).toBe(`${all.length} ${sum}`);
    await rm(directory, { recursive: true, force: true });
  });
});
