import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Coverage, Lintel } from "../../clients/typescript/client.ts";
import { type TrueAnswer, trueAnswers } from "../../scripts/trial-programs/with-source/measures/answers.ts";
import { withMonth } from "../../scripts/trial-programs/with-source/measures/simulated-month.ts";
import { curtains, demoHome } from "../../src/demo/devices.ts";
import { derivedNames } from "../../src/domain/derived/derived-table.ts";
import { formatNames } from "../../src/export/table-file.ts";
import { Site } from "../../testbed/front-door.ts";
import {
  derivedInPython,
  derivedInR,
  expectServed,
  type NumbersByField,
  numbersIn,
} from "./derived-frames.ts";

const clients = join(import.meta.dir, "../../clients");
const site = new Site();
/** A package of each format, for the clients to read. */
const packages = join(site.directory, "packages");
const library = join(site.directory, "r-library");
/** How many of the newest days of the demo may still change. */
const settled_days = 2;
/** The first day that is not in the packages. */
const until = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
let url = "";
let token = "";
/** Minutes by item and day, as `lintel fetch` writes them. */
let fetched: Map<string, Minutes>;

type Minutes = Readonly<Record<string, string>>;

beforeAll(async () => {
  const demo = site.spawn(["demo", "--port", "0", "--central-port", "0", "--days", "8", "--json"]);
  const ready = JSON.parse((await demo.line()) ?? "");
  ({ url, token } = ready);
  const tokenFile = join(site.directory, "token");
  writeFileSync(tokenFile, ready.admin_token, { mode: 0o600 });
  // Those of a day are the same in each, whenever it is fetched.
  for (const format of formatNames) {
    const words = ["fetch", "--url", new URL(url).origin, "--token-file", tokenFile, "--identifiers"];
    words.push("--format", format, "--output", join(packages, format), "--until", until);
    const { code, said } = await site.lintel(...words);
    expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
  }
  fetched = minutesIn(await Bun.file(join(packages, "csv", "missingness.csv")).text());
  expect(fetched.size).toBeGreaterThan(50);
});
afterAll(() => site.remove());

/** Of CSV with names in its first line and no quotes: the settled days, without columns that are 0. */
function minutesIn(csv: string): Map<string, Minutes> {
  const [names = [], ...rows] = csv
    .trim()
    .split("\n")
    .map((line) => line.trim().split(","));
  const settled = new Date(Date.now() - settled_days * 86_400_000).toISOString().slice(0, 10);
  return new Map(
    rows
      .map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])))
      .filter(({ day = "" }) => day < settled)
      .map((row): [string, Minutes] => [
        `${row["itemname"]} ${row["day"]}`,
        Object.fromEntries(Object.entries(row).filter(([name, value]) => isMinutes(name) && value !== "0")),
      ]),
  );
}

function isMinutes(column: string): boolean {
  return !["itemid", "itemname", "typename", "timezone", "day", "readings", "notes"].includes(column);
}

/** Runs a program of a client with the demo in its environment, and answers what it printed. */
async function run(
  command: readonly string[],
  env: Record<string, string> = {},
  cwd = site.directory,
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: "1",
      LINTEL_URL: url,
      LINTEL_TOKEN: token,
      LINTEL_PACKAGES: packages,
      ...env,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, said, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ code, said: code === 0 ? "" : out + said }).toEqual({ code: 0, said: "" });
  return out + said;
}

/** Describes tests that run where a program is, and says so where it is not. */
function where(present: boolean, what: string) {
  if (!present) console.warn(`${what} is not here: its package is NOT tried`);
  return describe.skipIf(!present);
}

const pythons = [Bun.which("python3"), "/usr/bin/python3"].flatMap((path) => path ?? []);
/** One that has pandas, where there is one: it reads packages too. */
const python =
  pythons.find((path) => Bun.spawnSync([path, "-c", "import pandas"]).success) ?? pythons[0] ?? "";
where(python !== "", "python3")("the Python package", () => {
  const env = { PYTHONPATH: join(clients, "python") };

  test("passes its own tests against the demo", async () => {
    const said = await run([python, "-m", "unittest", "discover", "-s", join(clients, "python/tests")], env);
    expect(said).toMatch(/^Ran \d+ tests/m);
  });

  test("counts the minutes that fetch counts", async () => {
    const program = `
from lintel import *
lintel = Lintel()
reasons = list(coverage_reasons)
print(",".join(["itemname", "day", "minutes", "listened", *reasons, "unknown"]))
first = {"pillboxes": pillbox_events, "wirelesssensors": wirelesssensor_events, "scales": scale_weights, "watches": watch_epochs}
for kind, series in first.items():
    for item in lintel.items(kind):
        for of in lintel.series(series, item["itemname"]).days():
            print(item["itemname"], of.day, of.minutes, of.listened, *[of.missing.get(one, 0) for one in reasons], of.unknown, sep=",")
`;
    expect(minutesIn(await run([python, "-c", program], env))).toEqual(fetched);
  });

  const hasPandas = Bun.spawnSync([python, "-c", "import pandas"]).success;
  test.skipIf(!hasPandas)("has the derived measures of the interface to the last digit", async () => {
    const program = derivedInPython(demoHome, until);
    expectServed(JSON.parse(await run([python, "-c", program], env)), await derivedNumbers());
  });

  const mypy = Bun.which("mypy");
  if (mypy === null) console.warn("mypy is not here: the types of the Python package are NOT checked");
  test.skipIf(mypy === null)("has sound types", async () => {
    const settings = ["--config-file", join(clients, "python/pyproject.toml"), "--cache-dir", site.directory];
    await run([mypy ?? "", ...settings, join(clients, "python/lintel")]);
  });
});

const rscript = Bun.which("Rscript") ?? "";
const hasPackages =
  rscript !== "" && Bun.spawnSync([rscript, "-e", "library(curl); library(jsonlite)"]).exitCode === 0;
where(hasPackages, "Rscript with the packages curl and jsonlite")("the R package", () => {
  const env = { R_LIBS: library };
  beforeAll(async () => {
    mkdirSync(library);
    await run(["R", "CMD", "INSTALL", "-l", library, join(clients, "r")]);
  });

  const tests = join(clients, "r/tests");
  test.each(readdirSync(tests))("passes its own tests against the demo: %s", async (file) => {
    await run([rscript, join(tests, file)], env);
  });

  test("counts the minutes that fetch counts", async () => {
    const program = `
library(lintel)
server <- lintel()
first <- c(pillboxes = "pillbox_events", wirelesssensors = "wirelesssensor_events", scales = "scale_weights", watches = "watch_epochs")
columns <- c("minutes", "listened", ${[...reasonsIn(fetched)].map((one) => `"${one}"`).join(", ")}, "unknown")
cat(paste(c("itemname", "day", columns), collapse = ","), "\\n")
for (kind in names(first)) for (name in lintel_items(server, kind)$itemname) {
  days <- missingness(lintel_series(server, first[[kind]], name))
  for (column in setdiff(columns, names(days))) days[[column]] <- 0
  cat(paste(name, days$day, do.call(paste, c(days[columns], sep = ",")), sep = ",", collapse = "\\n"), "\\n")
}
`;
    expect(minutesIn(await run([rscript, "-e", program], env))).toEqual(fetched);
  });

  test("leaves a stream that says nothing for too long, and one that ends", async () => {
    const answers = [
      // A message of two parts, and one that is not whole.
      (send: (text: string) => void) => [send(":\n\nid: c1\ndata: []"), send("\n\nid: c2\nda")],
      (send: (text: string) => void, end: () => void) => [send("id: c3\ndata: []\n\n"), end()],
    ];
    using silent = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => {
        const answer = answers.shift();
        const start = (stream: ReadableStreamDefaultController<Uint8Array>) =>
          void answer?.(
            (text) => stream.enqueue(new TextEncoder().encode(text)),
            () => stream.close(),
          );
        return new Response(new ReadableStream({ start }));
      },
    });
    const program = `
server <- lintel::lintel()
for (silent_s in c(0.2, 60)) {
  goes_on <- lintel:::take_messages(server, server$base, function(id, data) cat(id, data, ""), silent_s)
  cat(goes_on, "")
}
`;
    const of = { ...env, LINTEL_URL: silent.url.href };
    expect(await run([rscript, "-e", program], of)).toBe("c1 [] TRUE c3 [] TRUE ");
  });

  test("has the derived measures of the interface to the last digit", async () => {
    const program = derivedInR(demoHome, until);
    expectServed(JSON.parse(await run([rscript, "-e", program], env)), await derivedNumbers());
  });

  test("is documented", () => {
    const exported = [
      ...Bun.spawnSync(["cat", join(clients, "r/NAMESPACE")])
        .stdout.toString()
        .matchAll(/^export\((\w+)\)/gm),
    ];
    const pages = readdirSync(join(clients, "r/man")).map((file) =>
      Bun.spawnSync(["cat", join(clients, "r/man", file)]).stdout.toString(),
    );
    for (const [, name] of exported) expect(pages.join("\n")).toContain(`\\alias{${name}}`);
  });
});

/** The numbers of each derived measure as the interface answers them. */
async function derivedNumbers(): Promise<NumbersByField> {
  const lintel = new Lintel({ url, token });
  const before = Date.parse(until) / 1000;
  const all: Record<string, Record<string, unknown>[]> = {};
  for (const name of derivedNames)
    all[name] = (await Array.fromAsync(lintel.derived(demoHome, name, { before }))).reverse();
  return numbersIn(all);
}

/** Reasons for which minutes are missing anywhere. */
function reasonsIn(minutes: ReadonlyMap<string, Minutes>): Set<string> {
  const names = [...minutes.values()].flatMap((of) => Object.keys(of));
  return new Set(names.filter((name) => !["minutes", "listened", "unknown"].includes(name)));
}

test("the TypeScript client tells when an item was listened to, of a window too", async () => {
  const lintel = new Lintel({ url, token });
  const stretches = async (options: { limit?: number; after?: number; before?: number }) =>
    Array.fromAsync(lintel.coverage("wirelesssensors", "balcony-door", options));
  const all: Coverage[] = await stretches({ limit: 1 });
  expect(all.map(({ state, reason }) => [state, reason])).toContainEqual(["covered", null]);
  expect(all.map(({ reason }) => reason)).toContain("device_silent");
  const [newest] = all as [Coverage];
  const older = await stretches({ before: newest.start });
  expect(older).toEqual(all.slice(1));
  expect((await stretches({ after: newest.start })).map(({ start }) => start)).toEqual([newest.start]);
});

test("the TypeScript client tells where the items of a home are", async () => {
  const lintel = new Lintel({ url, token });
  const [home] = await Array.fromAsync(lintel.records("homes"));
  const line = (await lintel.places(Number(home?.homeid))).filter(({ line }) => line === "hall");
  expect(line.map(({ metres }) => metres).toSorted()).toEqual([0, 0.75, 1.5, 2.25]);
});

test("the TypeScript client gives a derived measure as the records of the interface, page by page", async () => {
  const lintel = new Lintel({ url, token });
  const [home] = await Array.fromAsync(lintel.records("homes"));
  const doses = await Array.fromAsync(lintel.derived(Number(home?.homeid), "doses", { limit: 3 }));
  expect(doses.length).toBeGreaterThan(5);
  expect(doses.map(({ status }) => status)).toContain("taken");
  const days = doses.map(({ day }) => day);
  expect(days).toEqual(days.toSorted().toReversed());
});

describe("the cookbook answers from a package as the household lived", () => {
  interface Lines {
    /** The heading that they stand below; empty before the first. */
    readonly heading: string;
    readonly text: string;
  }
  /** The lines of a language in docs/cookbook.md, in their order. */
  function linesOf(language: string): Lines[] {
    const cookbook = readFileSync(join(clients, "../docs/cookbook.md"), "utf8");
    let heading = "";
    return [...cookbook.matchAll(/^## ([^\n]*)\n|^```(\w+)\n(.*?)^```/gms)].flatMap(
      ([, title, of, text = ""]) => {
        heading = title ?? heading;
        return of === language ? [{ heading, text }] : [];
      },
    );
  }
  interface Printed {
    readonly heading: string;
    readonly said: string;
  }
  /** Answers what a program of all lines prints after each. */
  async function printedBy(
    language: string,
    command: readonly string[],
    { mark, ...of }: { mark: (at: number) => string; env: Record<string, string>; folder: string },
  ): Promise<Printed[]> {
    const lines = linesOf(language);
    const program = lines.map(({ text }, at) => `${mark(at)}\n${text}`).join("\n");
    const said = (await run([...command, program], of.env, of.folder)).split(/^== \d+\n/m).slice(1);
    return lines.map(({ heading }, at) => ({ heading, said: said[at] ?? "" }));
  }

  /** By the plan of the household. */
  let lived: readonly TrueAnswer[];
  /** Visits to the bathroom on known days without guests, and how many days. */
  let alone: string;
  /** Doses that were forgotten, and when last, of each box. */
  let forgotten: readonly string[];
  /** Folders that have a package: nobody noted a visit, and each was noted. */
  const unnoted = site.directory;
  const noted = join(site.directory, "noted");

  beforeAll(async () => {
    // A month with a power cut, an empty battery, visitors, and strangers on the scale.
    const july = { year: 2025, month: 6, seed: 1942, zone: "UTC" };
    await withMonth(july, async (month) => {
      const line = curtains.map(({ item, metres }) => `{ item = "${item}", metres = ${metres} }`);
      const sections = `[home]\nid = ${demoHome}\ntimezone = "UTC"\n[walking]\nhall = [${line}]`;
      site.configure({ data: month.directory, sections });
      const lintel = async (...words: string[]) => {
        const [command = "", ...more] = words;
        const { code, said } = await site.lintel(command, "--config", site.config, ...more);
        expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
      };
      const span = ["--timezone", "home", "--since", "2025-07-02", "--until", "2025-07-31"];
      await lintel("export", ...span, "--output", join(unnoted, "lintel-data"));
      lived = await trueAnswers(month);
      const days = [...month.lived].filter(([date]) => month.days.some((day) => day.date === date));
      const visits = days.flatMap(([, { visit }]) => visit ?? []);
      const notes = visits.map(({ from_ms, to_ms }, at) => {
        const [start, stop] = [from_ms, to_ms].map((ms) => Math.floor(ms / 1_000));
        return { homeid: demoHome, noteid: at + 1, kind: "visitor", start, stop };
      });
      const file = join(site.directory, "notes.json");
      writeFileSync(file, JSON.stringify({ notes }));
      await lintel("import", file);
      mkdirSync(noted);
      await lintel("export", ...span, "--output", join(noted, "lintel-data"));
      const inBathroom = (await month.rows("room_days")).flatMap(({ day, values: { room, visits } }) =>
        room === "bathroom" && visits !== null && month.lived.get(day)?.visit === undefined
          ? [Number(visits)]
          : [],
      );
      const sum = inBathroom.reduce((all, one) => all + one, 0);
      alone = `${(sum / inBathroom.length).toFixed(2)} ${inBathroom.length}`;
      forgotten = (["breakfast", "supper"] as const).flatMap((meal) => {
        const own = days.flatMap(([date, { doses }]) => (doses[meal] === undefined ? [date] : []));
        return own.length === 0 ? [] : [`${own.length} ${own.at(-1)}`];
      });
    });
  });

  function expectAnswers(printed: readonly Printed[]): void {
    const saidBelow = (title: string | RegExp) =>
      printed.flatMap(({ heading, said }) => (heading.match(title) ? [said.trim()] : []));
    const answers = lived.map((_, at) => saidBelow(new RegExp(`^${at + 1}\\.`))[0] ?? "");
    expect(answers.filter((answer) => !/^-?\d+(\.\d+)? \d+$/.test(answer))).toEqual([]);
    const numbers = answers.map((answer) => answer.split(" ").map(Number));
    const off = lived.filter(
      ({ truth, within, known }, at) =>
        Math.abs((numbers[at]?.[0] ?? Number.NaN) - truth) > within || numbers[at]?.[1] !== known,
    );
    expect({ off, answers: off.length > 0 ? answers : [] }).toEqual({ off: [], answers: [] });
    told ??= answers;
    expect(answers).toEqual(told);
    // Each box is counted by itself.
    const missed = [...(saidBelow(/^3\./)[1] ?? "").matchAll(/\bmissed\s+(\d+)\s+([-\d]+)/g)];
    expect(missed.map(([, count, last]) => `${count} ${last}`).sort()).toEqual([...forgotten].sort());
    // A nurse on Wednesdays and the family on Saturdays are people in two rooms at once.
    const weekdays = [...(saidBelow("Without guests")[1] ?? "").matchAll(/\b([1-7])\s+(\d+(?:\.\d+)?)$/gm)];
    const medians = new Map(weekdays.map(([, weekday, median]) => [Number(weekday), Number(median)]));
    expect([
      medians.size,
      [...medians].filter(([, median]) => median > 3).map(([weekday]) => weekday),
    ]).toEqual([7, [3, 6]]);
    const [mean = ""] = /\d+\.\d+/.exec(saidBelow("Home by home").join()) ?? [];
    expect(`${Number(mean).toFixed(2)} ${lived[0]?.known}`).toBe(answers[0] ?? "");
  }
  /** Answers of the first language: the others give the same. */
  let told: string[] | undefined;

  /** Runs all lines on both packages. */
  async function expectBoth(print: (folder: string) => Promise<readonly Printed[]>): Promise<void> {
    const [without, withNotes] = [await print(unnoted), await print(noted)];
    const guests = (of: readonly Printed[]) =>
      of.find(({ heading }) => heading === "Without guests")?.said.trim();
    expectAnswers(without);
    expect(guests(without)).toBe(without.find(({ heading }) => heading.startsWith("1."))?.said.trim());
    expect(guests(withNotes)).toBe(alone);
    expect(alone).not.toBe(told?.[0] ?? "");
  }

  test("in DuckDB", () =>
    expectBoth(async (folder) => {
      const instance = await DuckDBInstance.create(":memory:");
      const connection = await instance.connect();
      await connection.run(`SET file_search_path = '${folder}'`);
      const printed: Printed[] = [];
      for (const { heading, text } of linesOf("sql")) {
        const rows = (await connection.runAndReadAll(text)).getRows();
        printed.push({ heading, said: rows.map((row) => row.map(String).join(" ")).join("\n") });
      }
      connection.closeSync();
      instance.closeSync();
      return printed;
    }));
  const hasPandas = python !== "" && Bun.spawnSync([python, "-c", "import pandas"]).success;
  test.skipIf(!hasPandas)("in Python", () =>
    expectBoth((folder) => {
      const env = { PYTHONPATH: join(clients, "python") };
      return printedBy("python", [python, "-c"], { mark: (at) => `print("== ${at}")`, env, folder });
    }),
  );
  test.skipIf(!hasPackages)("in R", () =>
    expectBoth((folder) =>
      printedBy("r", [rscript, "-e"], {
        mark: (at) => `cat("== ${at}\\n")`,
        env: { R_LIBS: library },
        folder,
      }),
    ),
  );
});
