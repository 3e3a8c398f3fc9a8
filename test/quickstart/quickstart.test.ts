import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { tlsFilesOf } from "../../src/web/server/self-signed.ts";
import { keptLog } from "../../testbed/sample.ts";
import { now_ms, type Serving, serve } from "../../testbed/serving.ts";
import { allOf, event, sensor } from "../export/filled.ts";

const root = join(import.meta.dir, "../..");
const directory = mkdtempSync(join(tmpdir(), "lintel-quickstart-"));
let serving: Serving;
let item: string;
/** Variables by which the first page has the languages trust the gateway's own certificate. */
const variables = ["LINTEL_CERTIFICATE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"];
let trusting: Record<string, string>;
let all: { stamp_ms: number; values: unknown[] }[];

beforeAll(async () => {
  const { log } = keptLog();
  const keeping = { directory, directorySetting: "data", listen: "127.0.0.1", clock: new SystemClock(), log };
  const tls = await tlsFilesOf({ names: [] }, keeping);
  trusting = Object.fromEntries(variables.map((name) => [name, tls.certificate]));
  serving = await serve({ tls });
  // Three days, more than two pages, several in a second and in a millisecond.
  const readings = Array.from({ length: 2_345 }, (_, at) =>
    event(sensor(0), now_ms - 200_000_000 + Math.floor(at / 3) * 250_000 + (at % 2), at % 64),
  );
  const { created } = await serving.store.append(readings);
  item = created[0] ?? "";
  all = await allOf(serving.store, "wirelesssensor_events");
  symlinkSync(join(root, "clients"), join(directory, "clients"));
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** The program of a page: the only code on it, but for how it is run. */
async function program(page: string, language: string): Promise<string> {
  const text = await Bun.file(join(root, "docs/quickstart", `${page}.md`)).text();
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)];
  const programs = blocks.filter(([, of], at) => at > 0 || of === language);
  expect(programs.map(([, of]) => of)).toEqual([language]);
  return programs[0]?.[2] ?? "";
}

/** Runs a page as a reader would, with the three things exported. */
async function printed(
  page: string,
  language: string,
  command: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const file = join(directory, `${page}.${language}`);
  await Bun.write(file, await program(page, language));
  const run = Bun.spawn([...command, file], {
    cwd: directory,
    env: {
      ...process.env,
      ...trusting,
      ...env,
      LINTEL_URL: serving.api.url,
      LINTEL_TOKEN: serving.tokens.read,
      LINTEL_ITEM: item,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, said, code] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
  return out;
}

/** The line of a page for one of the days since, in which nobody listened: not that there was nothing. */
const nobodyKnows = /^\S+ \? listened 0 min$/;

/** Output of the pages that count by day, with what stands behind each count. */
function countsByDay(behind = ""): string[] {
  const days = Map.groupBy(all, ({ stamp_ms }) => new Date(stamp_ms).toISOString().slice(0, 10));
  const most = Math.max(...[...days.values()].map(({ length }) => length));
  return [
    `${all.length} events`,
    ...[...days].map(
      ([day, { length }]) => `${day} ${length} ${"#".repeat(Math.ceil((30 * length) / most))}${behind}`,
    ),
  ];
}

/** Nobody listened to what a test has put into the store: the counts stand all the same. */
function expectDaysAndSilence(out: readonly string[]): void {
  const counted = out.filter((line) => !nobodyKnows.test(line));
  expect(counted).toEqual(countsByDay(" listened 0 min"));
  expect(out.length).toBeGreaterThan(counted.length);
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());

test("the page for curl writes every event to a CSV file", async () => {
  const out = await printed("curl", "sh", ["sh"]);
  const expected = all.map(({ stamp_ms, values }) => `${stamp_ms},${values[0]}`).reverse();
  expect(lines(await Bun.file(join(directory, "events.csv")).text())).toEqual([
    "stamp_ms,event",
    ...expected,
  ]);
  expect(lines(out)).toEqual([`${all.length} events, the newest:`, ...expected.slice(0, 3)]);
});

test("the page for TypeScript counts every event", async () => {
  expect(countsByDay().length).toBe(4);
  expect(lines(await printed("typescript", "ts", [process.execPath]))).toEqual(countsByDay());
});

/** Runs where the interpreter is, and says so where it is not. */
function where(present: boolean, what: string) {
  if (!present) console.warn(`${what} is not here: its quick start is NOT tried`);
  return test.skipIf(!present);
}

const python = Bun.which("python3");
where(python !== null, "python3")("the page for Python counts every event", async () => {
  const env = { PYTHONPATH: join(root, "clients/python"), PYTHONDONTWRITEBYTECODE: "1" };
  const out = lines(await printed("python", "python", [python ?? ""], env));
  expectDaysAndSilence(out);
});

where(python !== null, "python3")(
  "the page for Python trusts no certificate that it was not given",
  async () => {
    const env = {
      PYTHONPATH: join(root, "clients/python"),
      PYTHONDONTWRITEBYTECODE: "1",
      LINTEL_CERTIFICATE: "",
    };
    const asked = printed("python", "python", [python ?? ""], env);
    await expect(asked).rejects.toThrow(
      /NotReached: https:\/\/127\.0\.0\.1:\d+ is not trusted: .*LINTEL_CERTIFICATE/,
    );
  },
);

const rscript = Bun.which("Rscript");
const packages =
  rscript !== null && Bun.spawnSync([rscript, "-e", "library(curl); library(jsonlite)"]).exitCode === 0;
where(packages, "Rscript with the packages curl and jsonlite")(
  "the page for R counts every event",
  async () => {
    const library = join(directory, "r-library");
    mkdirSync(library);
    const install = Bun.spawnSync([
      "R",
      "CMD",
      "INSTALL",
      "--no-docs",
      "-l",
      library,
      join(root, "clients/r"),
    ]);
    expect(install.exitCode === 0 ? "" : install.stderr.toString()).toBe("");
    expectDaysAndSilence(lines(await printed("r", "r", [rscript ?? ""], { R_LIBS: library })));
    expect(await Bun.file(join(directory, "Rplots.pdf")).exists()).toBe(true);
  },
);

test("the first page names the variables by which the others were trusted", async () => {
  const page = await Bun.file(join(root, "docs/quickstart/README.md")).text();
  expect([...page.matchAll(/^export (\w+)=\$PWD\/gateway\.pem/gm)].map(([, name]) => name)).toEqual(
    variables,
  );
});
