import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { SystemClock } from "../../src/clock.ts";
import type { Column, ColumnType } from "../../src/download/column.ts";
import { type Format, formatNames } from "../../src/download/format.ts";
import type { Timezone } from "../../src/download/home-zones.ts";
import { tablesIn } from "../../src/download/tables.ts";
import { lineLog } from "../../src/log.ts";
import { openGatewayStore } from "../../src/store/sqlite/open.ts";
import { fill } from "../api/programme.ts";
import { Site } from "../shipped/front-door.ts";
import { event, oneOfEach, sensor } from "./filled.ts";

/** A package as `lintel export` writes it, read by the programs that researchers have, none of which is told anything of it. */
const site = new Site();
const start_ms = Date.UTC(2026, 10, 1);
let names: readonly string[];

beforeAll(async () => {
  const clock = new SystemClock();
  const log = lineLog({ write: () => {}, clock });
  const store = await openGatewayStore({ directory: site.data, clock, log, home: 12 });
  await fill(store);
  const listening = [{ listener: "radio", from_ms: start_ms - 3_600_000, to_ms: start_ms + 3_600_000 }];
  const states = [0, 4].map((hour) => ({
    device: sensor(0),
    heard_ms: start_ms + hour * 3_600_000,
    listener: "radio",
  }));
  await store.append([...oneOfEach(start_ms), event(sensor(0), start_ms, 1)], { listening, states });
  await store.close();
  for (const format of formatNames) {
    const words = ["--data", "data", "--format", format, "--output", format, "--until", "2026-11-20"];
    words.push("--identifiers");
    const { code, said } = await site.lintel("export", ...words, "--timezone", timezoneOf(format));
    expect([code, said]).toEqual([0, ""]);
  }
  names = readdirSync(join(site.directory, "csv")).flatMap((name) => /^(\w+)\.csv$/.exec(name)?.[1] ?? []);
  expect(names.length).toBeGreaterThan(22);
}, 60_000);
afterAll(() => site.remove());

function place(format: Format, ...path: string[]): string {
  return join(site.directory, format, ...path);
}

/** Parquet has the columns of the home's time too. */
function timezoneOf(format: Format): Timezone {
  return format === "parquet" ? "home" : "utc";
}

function columnsOf(name: string, format: Format = "csv"): readonly Column[] {
  return tablesIn(timezoneOf(format)).find((table) => table.name === name)?.columns ?? [];
}

/** Tables whose every column is known to have values, or at least to be no text that looks like something else. */
const measured = ["wirelesssensor_events", "scale_weights", "watch_epochs", "coverage", "missingness"];

describe("the datapackage package of npm", () => {
  test.each(formatNames)("finds no fault in the description: %s", async (format) => {
    const { Package } = await import("datapackage");
    const described = await Package.load(place(format, "datapackage.json"), { basePath: place(format) });
    expect([described.valid, described.errors.map(String)]).toEqual([true, []]);
    expect(described.resourceNames.toSorted()).toEqual([...names].toSorted());
  });

  test("reads every value of every file as the type that is told", async () => {
    const { Package } = await import("datapackage");
    const described = await Package.load(place("csv", "datapackage.json"), { basePath: place("csv") });
    for (const resource of described.resources) {
      const rows = await resource.read({ keyed: true });
      expect([resource.name, rows.length]).toEqual([resource.name, Number(resource.descriptor["rows"])]);
    }
  });
});

describe("the ro-crate package of npm", () => {
  test.each(formatNames)("finds no fault, and every file described: %s", async (format) => {
    const text = await Bun.file(place(format, "ro-crate-metadata.json")).text();
    const { Validator } = (await withoutNetwork(() => import("ro-crate"))) as unknown as {
      Validator: new () => CrateValidator;
    };
    const validator = new Validator();
    validator.parseJSON(text);
    await withoutNetwork(() => validator.validate());
    const there = readdirSync(place(format), { withFileTypes: true });
    validator.checkFiles(
      Object.fromEntries(
        there.map((file) => [file.name, { exists: true, inCrate: false, isDir: file.isDirectory() }]),
      ),
    );
    const faults = validator.results.filter(({ status }) => status === "error" || status === "warning");
    expect(faults).toEqual([]);
    expect(validator.results.length).toBeGreaterThan(6);
  });
});

/** A class that the package's own types leave out. */
interface CrateValidator {
  readonly results: readonly { readonly status: string }[];
  parseJSON(text: string): void;
  validate(): Promise<void>;
  checkFiles(files: Record<string, { exists: boolean; inCrate: boolean; isDir: boolean }>): void;
}

/** The package fetches the context that a crate names; it gets the one that it brings along. */
async function withoutNetwork<Result>(work: () => Promise<Result>): Promise<Result> {
  const { fetch } = globalThis;
  const context = Bun.file(join(import.meta.dir, "../../node_modules/ro-crate/lib/context.json"));
  globalThis.fetch = Object.assign(async () => new Response(context), { preconnect: fetch.preconnect });
  try {
    return await work();
  } finally {
    globalThis.fetch = fetch;
  }
}

describe("DuckDB", () => {
  async function asked(sql: string): Promise<Record<string, unknown>[]> {
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    try {
      return (await connection.runAndReadAll(sql)).getRowObjectsJson() as Record<string, unknown>[];
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  }

  async function typesOf(format: Format, name: string): Promise<Record<string, string>> {
    const rows = await asked(`DESCRIBE SELECT * FROM '${place(format, `${name}.${format}`)}'`);
    return Object.fromEntries(rows.map((row) => [String(row["column_name"]), String(row["column_type"])]));
  }

  const types: Readonly<Record<ColumnType, string>> = {
    text: "VARCHAR",
    integer: "BIGINT",
    real: "DOUBLE",
    boolean: "BOOLEAN",
    moment: "TIMESTAMP WITH TIME ZONE",
    date: "DATE",
  };

  test("reads every Parquet file with its types", async () => {
    for (const name of names) {
      const expected = Object.fromEntries(
        columnsOf(name, "parquet").map((column) => [column.name, types[column.type]]),
      );
      expect([name, await typesOf("parquet", name)]).toEqual([name, expected]);
    }
  });

  test.each(["csv", "ndjson"] as const)("finds the types of what was measured: %s", async (format) => {
    for (const name of measured) {
      const found = await typesOf(format, name);
      const [row = {}] = await asked(
        `SELECT ${columnsOf(name)
          .map((column) => `count("${column.name}") AS "${column.name}"`)
          .join()} FROM '${place(format, `${name}.${format}`)}'`,
      );
      for (const column of columnsOf(name))
        if (Number(row[column.name]) > 0)
          expect(`${name}.${column.name} ${found[column.name]}`).toBe(
            `${name}.${column.name} ${inText(column.type, format)}`,
          );
    }
  });

  /** JSON has no moments: DuckDB takes text of that form for one, without zone. */
  function inText(type: ColumnType, format: Format): string {
    return type === "moment" && format === "ndjson" ? "TIMESTAMP" : types[type];
  }

  test("is told meaning and unit of each column by the Parquet file itself", async () => {
    const file = place("parquet", "scale_weights.parquet");
    const told = await asked(
      `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata('${file}')`,
    );
    const byKey = Object.fromEntries(told.map(({ key, value }) => [key, value]));
    for (const { name, meaning, unit } of columnsOf("scale_weights", "parquet")) {
      expect(byKey[`${name}.meaning`]).toBe(meaning);
      expect(byKey[`${name}.unit`] ?? "").toBe(unit);
    }
    expect(byKey["weight.unit"]).toBe("g");
  });
});

describe("Polars", () => {
  test("reads every Parquet file with its types", async () => {
    const { default: polars } = await import("nodejs-polars");
    const types: Readonly<Record<ColumnType, string>> = {
      text: "String",
      integer: "Int64",
      real: "Float64",
      boolean: "Bool",
      moment: "Datetime(ms,UTC)",
      date: "Date",
    };
    for (const name of names) {
      const { schema } = polars.readParquet(place("parquet", `${name}.parquet`));
      const found = Object.entries(schema).map(([column, type]) => [column, String(type)]);
      expect([name, found]).toEqual([
        name,
        columnsOf(name, "parquet").map((column) => [column.name, `DataType(${types[column.type]})`]),
      ]);
    }
  });

  test("reads the numbers of a CSV file as numbers", async () => {
    const { default: polars } = await import("nodejs-polars");
    const { schema } = polars.readCSV(place("csv", "scale_weights.csv"));
    expect([schema["itemid"], schema["weight"]].map(String)).toEqual(["DataType(Int64)", "DataType(Int64)"]);
  });
});

/** A Python that has pandas: the machine's own has it where its package is installed. */
const python = [Bun.which("python3"), "/usr/bin/python3"].find(
  (path) => path && Bun.spawnSync([path, "-c", "import pandas"]).exitCode === 0,
);
/** Readers of text alone take a date for text until they are told. */
const readAs = { integer: "integer", real: "number", boolean: "boolean" } as const;

test.skipIf(!python)(
  "pandas reads the numbers of every file of what was measured (Debian: python3-pandas)",
  () => {
    const script = `
import json, pandas, sys
def kinds(frame):
    return {name: "integer" if pandas.api.types.is_integer_dtype(kind) else "number" if pandas.api.types.is_float_dtype(kind) else str(kind) for name, kind in frame.dtypes.items()}
print(json.dumps([[kinds(pandas.read_csv(f"csv/{name}.csv")), kinds(pandas.read_json(f"ndjson/{name}.ndjson", lines=True))] for name in sys.argv[1:]]))`;
    const ran = Bun.spawnSync([python ?? "", "-c", script, ...measured], { cwd: site.directory });
    expect(ran.stderr.toString()).toBe("");
    checkNumbers(JSON.parse(ran.stdout.toString()));
  },
);

const rscript = Bun.which("Rscript");
test.skipIf(!rscript)(
  "R reads the numbers of every CSV file of what was measured (Debian: r-base-core)",
  () => {
    const script = `
for (name in commandArgs(TRUE)) {
  frame <- read.csv(file.path("csv", paste0(name, ".csv")))
  cat(paste(names(frame), sapply(frame, function(column) class(column)[1]), sep = "=", collapse = " "), "\\n")
}`;
    const ran = Bun.spawnSync([rscript ?? "", "-e", script, ...measured], { cwd: site.directory });
    expect(ran.stderr.toString()).toBe("");
    const lines = ran.stdout.toString().trim().split("\n");
    checkNumbers(
      lines.map((line) => [
        Object.fromEntries(
          line
            .trim()
            .split(" ")
            .map((word) => word.split("=")),
        ),
      ]),
    );
  },
);

/** Holds what a program has read of each measured table to the columns that always have a value. */
function checkNumbers(found: readonly (readonly Readonly<Record<string, string>>[])[]): void {
  expect(found.length).toBe(measured.length);
  for (const [at, name] of measured.entries())
    for (const kinds of found[at] ?? []) {
      expect(Object.keys(kinds)).toEqual(columnsOf(name).map((column) => column.name));
      for (const { name: column, type, nullable } of columnsOf(name))
        if (type === "integer" && !nullable)
          expect(`${name}.${column} ${kinds[column]}`).toBe(`${name}.${column} ${readAs[type]}`);
    }
}
