import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { lineLog } from "../../src/base/log.ts";
import { seriesNames } from "../../src/domain/series.ts";
import { formatNames } from "../../src/export/table-file.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import type { ArrivalsRequest, Store } from "../../src/store/store.ts";
import { type Api, startApi } from "../../testbed/api-server.ts";
import { Site } from "../../testbed/front-door.ts";
import { nightly } from "../../testbed/nightly.ts";
import { fill } from "../../testbed/programme.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { event, linesOf, oneOfEach, sensor } from "./filled.ts";

const site = new Site();
const clock = new SystemClock();
const start_ms = Date.UTC(2026, 0, 1);
let store: GatewayStore;
let api: Api;
let token: string;
let pages = 0;
let onPage: (page: number) => void = () => {};

beforeAll(async () => {
  const log = lineLog({ write: () => {}, clock });
  store = await openGatewayStore({ directory: site.data, clock, log, ...writerOfTests() });
  for (let index = 0; index < 2; index += 1)
    await store.append(
      Array.from({ length: 12_000 }, (_, at) => event(sensor(index), start_ms + at * 300, at % 64)),
    );
  const listening = [{ listener: "radio", from_ms: start_ms - 3_600_000, to_ms: start_ms + 3_600_000 }];
  const states = [sensor(0), sensor(1)].map((device) => ({ device, heard_ms: start_ms, listener: "radio" }));
  await store.append(oneOfEach(start_ms), { listening, states });
  const counted: Store = new Proxy(store, {
    get: (target, name) => {
      if (name !== "arrivals") {
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return (request: ArrivalsRequest) => {
        pages += 1;
        onPage(pages);
        return target.arrivals(request);
      };
    },
  });
  const listen = { hostname: "127.0.0.1", port: 0 };
  api = await startApi({ store: counted, clock, log, listen, realm: "lintel" });
  token = await site.token("--scope", "admin");
  writeFileSync(join(site.directory, "token"), `${token}\n`);
});
afterAll(async () => {
  await api.stop();
  await store.close();
  await site.remove();
});

function fetchWords(output: string, ...words: string[]): string[] {
  const from = ["--url", api.url, "--token-file", "token", "--output", output];
  return ["fetch", ...from, "--format", "ndjson", "--identifiers", ...words];
}

/** Every file of a download by name, as its digest or, where it says where it is from and when it was made, as text without that. */
async function contentsOf(directory: string): Promise<Record<string, string>> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
    (name) => !name.startsWith(".") && !statSync(join(directory, name)).isDirectory(),
  );
  const contents = names.toSorted().map(async (name) => {
    const file = Bun.file(join(directory, name));
    const own = ["README.md", "datapackage.json", "ro-crate-metadata.json"].includes(name);
    return [name, own ? withoutOrigin(await file.text()) : String(Bun.hash(await file.bytes()))] as const;
  });
  return Object.fromEntries(await Promise.all(contents));
}

/** A text without the place that a download is from, and without the time at which it was made. */
function withoutOrigin(text: string): string {
  return text
    .replace(/lintel (fetch|export)/g, "lintel")
    .replace(
      /the store with epoch [0-9a-f]{32}|a Lintel server|http:\/\/127\.0\.0\.1:[0-9]+\/v0\.9|#store/g,
      "ORIGIN",
    )
    .replace(/,\s*"(url|path)": "ORIGIN"/g, "")
    .replace(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, "TIME");
}

const read = (...path: string[]) => Bun.file(join(site.directory, ...path)).text();

describe("lintel fetch", () => {
  test("killed in the middle, goes on where it was, and nothing is doubled or missing", async () => {
    let killed = 0;
    const words = fetchWords("killed", "--json", "--series", "wirelesssensor_events");
    for (let round = 0; round < 3; round += 1) {
      const child = site.spawn(words);
      const last = pages + 5;
      onPage = (page) => {
        if (page === last) child.kill("SIGKILL");
      };
      if ((await child.exited) !== 0) killed += 1;
    }
    onPage = () => {};
    const { code, out } = await site.lintel(...words);
    expect([code, killed]).toEqual([0, 3]);
    // Two walks at once: each time at least three pages of a thousand were on disk when it was killed.
    const { received } = JSON.parse(out);
    expect(received).toBeGreaterThanOrEqual(24_000 - 21_000);
    expect(received).toBeLessThanOrEqual(24_000 - 9_000);
    const lines = (await read("killed", "wirelesssensor_events.ndjson")).split("\n").slice(0, -1);
    expect(lines).toEqual(await linesOf(store, "wirelesssensor_events"));
  });

  test("interrupted, says so, leaves no half file, and exits 130", async () => {
    const child = site.spawn(fetchWords("interrupted"));
    const last = pages + 5;
    onPage = (page) => {
      if (page === last) child.kill("SIGINT");
    };
    expect(await child.exited).toBe(130);
    onPage = () => {};
    expect(await child.said()).toContain("Interrupted: what was received is kept");
    expect(readdirSync(join(site.directory, "interrupted")).filter((name) => !name.startsWith("."))).toEqual(
      [],
    );
  });

  test("prints what is in which file", async () => {
    const { code, out } = await site.lintel(...fetchWords("printed"));
    expect(code).toBe(0);
    expect(out).toMatch(/wirelesssensor_events +24000 +written/);
    expect(out).toMatch(/24007 readings received in .*, everything is in .*printed\n/);
    expect(out).toMatch(
      /\nTo cite it: Readings of a home, .*; up to [0-9a-f]{32}:24007; SHA-256 [0-9a-f]{64}; Lintel /,
    );
  });

  const mistakes: [words: string[], said: RegExp][] = [
    [
      ["--token", "a.b"],
      /^lintel: the server at 127.0.0.1:\d+ refuses the token: The access token is invalid \(code 40103\): ask/,
    ],
    [["--token-file", "none"], /^lintel: the token file none cannot be read/],
    [["--token", "x", "--token-file", "token"], /^lintel: a token is needed, once: give/],
    [
      ["--token-file", "token", "--series", "heart"],
      /^lintel: .*There is no series heart: they are pillbox_status/,
    ],
    [["--token-file", "token", "--since", "yesterday"], /^lintel: .*It must be a day or moment/],
    [["--token-file", "token", "--items", "nobody"], /^lintel: the inventory has no item nobody: it has /],
  ];
  for (const [words, said] of mistakes)
    test(`refuses in one line and exits 2: ${words.join(" ")}`, async () => {
      const result = await site.lintel("fetch", "--url", api.url, "--output", "refused", ...words);
      expect([result.code, result.out]).toEqual([2, ""]);
      expect(result.said).toMatch(said);
      expect(result.said.trimEnd()).not.toContain("\n");
    });

  test("where no interface is, says what to check", async () => {
    const { origin } = new URL(api.url);
    const result = await site.lintel("fetch", "--url", `${origin}/elsewhere`, "--token-file", "token");
    expect(result.code).toBe(2);
    expect(result.said).toContain(`there is no Lintel interface at ${origin}/elsewhere/v0.9: give --url`);
  });
});

describe("lintel export", () => {
  test("writes one series into the file that is named, of some items and a span", async () => {
    const [item] = await store.items("wirelesssensors", { skip: 0, limit: 1 });
    const words = [
      "--items",
      item?.itemname ?? "",
      "--since",
      "2026-01-01T00:10",
      "--until",
      "2026-01-01T00:20Z",
    ];
    const one = [
      ...["--series", "wirelesssensor_events", "--format", "ndjson", "--output", "one.ndjson"],
      "--identifiers",
    ];
    expect((await site.lintel("export", "--data", "data", ...one, ...words)).code).toBe(0);
    const lines = (await read("one.ndjson")).split("\n").slice(0, -1);
    const from = new Date(start_ms + 600_000).toISOString();
    const to = new Date(start_ms + 1_200_000).toISOString();
    expect(lines).toEqual(
      (await linesOf(store, "wirelesssensor_events")).filter((line) => {
        const { itemname, stamp } = JSON.parse(line);
        return itemname === item?.itemname && stamp >= from && stamp < to;
      }),
    );
    expect(lines.length).toBe(2_000);
  });

  const mistakes: [words: string[], said: string][] = [
    [
      ["--series", "all", "--output", "x.csv"],
      `x.csv is one file, and ${seriesNames.length} series are asked for: give`,
    ],
    [["--series", "all", "--items", "nobody"], "the inventory has no item nobody: it has "],
    [["--series", "all", "--format", "xlsx"], "argument 'xlsx' is invalid"],
    [["--identifiers", "some"], "argument 'some' is invalid. Allowed choices are none, coded, full:"],
    [["--identifiers", "--recipient", "oslo"], "leave out one of the two"],
    [["--recipient", " "], "--recipient has no name"],
  ];
  for (const [words, said] of mistakes)
    test(`refuses in one line and exits 2: ${words.join(" ")}`, async () => {
      const result = await site.lintel("export", "--data", "data", ...words);
      expect([result.code, result.out]).toEqual([2, ""]);
      expect(result.said).toContain(said);
      expect(result.said.trimEnd()).not.toContain("\n");
    });

  test("writes the package that fetch does, beside the running server", async () => {
    await fill(store);
    const formats = nightly ? formatNames : (["csv"] as const);
    for (const [format, who] of [
      ...formats.map((format) => [format, "--identifiers"] as const),
      ["ndjson", "--no-identifiers"] as const,
    ]) {
      const words = ["--format", format, "--until", "2026-11-20", who];
      const places = [`fetched-${format}${who}`, `exported-${format}${who}`] as const;
      const [fetched, exported] = places;
      const from = ["--url", api.url, "--token-file", "token", "--output", fetched];
      expect((await site.lintel("fetch", ...from, ...words)).code).toBe(0);
      const told = await site.lintel("export", "--data", "data", "--output", exported, ...words, "--json");
      expect(told).toMatchObject({ code: 0, said: "" });
      const [one, other] = await Promise.all(places.map((place) => contentsOf(join(site.directory, place))));
      expect(Object.keys(one ?? {}).length).toBeGreaterThan(20);
      if (format === "ndjson") expect((await read(exported, "coverage.ndjson")).length).toBeGreaterThan(100);
      expect(other).toEqual(one ?? {});
      const tables = Object.keys(one ?? {}).filter((name) => name.endsWith(`.${format}`));
      const files: { file: string }[] = JSON.parse(told.out).files;
      const exportedTo = join(site.directory, exported);
      expect(files.map(({ file }) => relative(exportedTo, file)).toSorted()).toEqual(tables);
    }
    // One series as a file by itself is that of the package, also without identifiers, where items stand in the order of their numbers.
    const alone = ["--series", "wirelesssensor_events", "--format", "ndjson", "--output", "alone.ndjson"];
    const { code } = await site.lintel("export", "--data", "data", ...alone, "--until", "2026-11-20");
    expect(code).toBe(0);
    const packaged = await read("exported-ndjson--no-identifiers", "wirelesssensor_events.ndjson");
    expect(await read("alone.ndjson")).toBe(packaged);
    for (const who of [
      ["--recipient", "Oslo "],
      ["--identifiers", "coded"],
    ]) {
      const words = [...alone.slice(0, -1), `${who[1]}.ndjson`, "--until", "2026-11-20"];
      expect(await site.lintel("export", "--data", "data", ...words, ...who)).toMatchObject({ code: 0 });
    }
    const [oslo, coded] = await Promise.all(["Oslo .ndjson", "coded.ndjson"].map((name) => read(name)));
    expect(oslo?.split("\n").length).toBe(packaged.split("\n").length);
    expect(oslo).not.toBe(packaged);
    expect(coded).toContain(`"itemname":"wirelesssensors-1000000`);
  });
});
