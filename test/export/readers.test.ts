import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
import { columnsOfSeries } from "../../src/export/columns.ts";
import type { Format } from "../../src/export/table-file.ts";
import { nightly } from "../../testbed/nightly.ts";
import { type ExportedPackage, ExportedPackages, type ExportedTable, type FieldType } from "./exported.ts";

/** Packages read by the programs that researchers have, none of which is told anything of them. */
const exported = new ExportedPackages();
beforeAll(() => exported.write());
afterAll(() => exported.remove());

/** The types that a program has found, by file and field, in the words of `datapackage.json` where it has them. */
type Found = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Holds what a program has found in the Parquet files of a package to what is told of every field. */
function expectAll({ tables }: ExportedPackage, found: Found): void {
  expect(tables.length).toBeGreaterThan(22);
  for (const { name, fields } of tables) expect({ [name]: found[name] }).toEqual({ [name]: fields });
}

/** The same of text, in which a type can be seen where there is a value. */
function expectSeen(of: ExportedPackage, found: Found): void {
  expect(of.tables.length).toBeGreaterThan(22);
  for (const table of of.tables) {
    // NDJSON without a line has no names.
    if (table.rows === 0 && of.format === "ndjson") continue;
    expect(Object.keys(found[table.name] ?? {})).toEqual(Object.keys(table.fields));
    const seen = Object.entries(table.fields).filter(([field, type]) => canBeSeen(of, table, field, type));
    for (const [field, type] of seen)
      expect(`${table.name}.${field} ${found[table.name]?.[field]}`).toBe(`${table.name}.${field} ${type}`);
    if (table.rows > 0) expect(seen.length).toBeGreaterThan(1);
  }
}

/** Whether the values of a field show its type: there is one, and a text is none that looks like a number or a time. */
function canBeSeen(of: ExportedPackage, { name }: ExportedTable, field: string, type: FieldType): boolean {
  const values = (rowsOf(of, name) ?? []).flatMap((row) => row[field] ?? []);
  if (type === "string") return values.some((value) => !/^[\dTZ.:+\s-]*$/.test(String(value)));
  if (type === "number") return values.some((value) => !Number.isInteger(value));
  return values.length > 0;
}

/** The rows of a table, as the NDJSON package of the same form has them. */
function rowsOf(of: ExportedPackage, table: string): Record<string, unknown>[] | undefined {
  const at = exported.of(of.format).indexOf(of);
  const { path } = exported.of("ndjson")[at]?.tables.find(({ name }) => name === table) ?? {};
  const lines = path === undefined ? [] : readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}

async function foundIn(
  { tables }: ExportedPackage,
  typesOf: (table: ExportedTable) => Promise<Record<string, string>>,
): Promise<Found> {
  const found: Record<string, Record<string, string>> = {};
  for (const table of tables) found[table.name] = await typesOf(table);
  return found;
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

  const words: Readonly<Record<string, FieldType>> = {
    VARCHAR: "string",
    BIGINT: "integer",
    DOUBLE: "number",
    BOOLEAN: "boolean",
    "TIMESTAMP WITH TIME ZONE": "datetime",
    // JSON has no moments: text of that form is taken for one, without its zone, which is UTC.
    TIMESTAMP: "datetime",
    DATE: "date",
  };

  async function typesOf({ path }: ExportedTable): Promise<Record<string, string>> {
    const rows = await asked(`DESCRIBE SELECT * FROM '${path}'`);
    const told = (type: unknown) => words[String(type)] ?? String(type);
    return Object.fromEntries(rows.map((row) => [String(row["column_name"]), told(row["column_type"])]));
  }

  test("reads every column of every Parquet file with its type", async () => {
    for (const of of exported.of("parquet")) expectAll(of, await foundIn(of, typesOf));
  });

  test.each(["csv", "ndjson"] as const)("sees the type of every value of every file: %s", async (format) => {
    for (const of of exported.of(format)) expectSeen(of, await foundIn(of, typesOf));
  });

  test("is told meaning and unit of each column by the Parquet file itself", async () => {
    const file = exported.of("parquet")[0]?.tables.find(({ name }) => name === "scale_weights")?.path;
    const told = await asked(
      `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata('${file}')`,
    );
    const byKey = Object.fromEntries(told.map(({ key, value }) => [key, value]));
    for (const { name, meaning, unit } of columnsOfSeries("scale_weights", "home")) {
      expect(byKey[`${name}.meaning`]).toBe(meaning);
      expect(byKey[`${name}.unit`] ?? "").toBe(unit);
    }
    expect(byKey["weight.unit"]).toBe("g");
  });
});

describe("Polars", () => {
  const words: Readonly<Record<string, FieldType>> = {
    String: "string",
    Int64: "integer",
    Float64: "number",
    Bool: "boolean",
    "Datetime(ms,UTC)": "datetime",
    Date: "date",
  };

  test("reads every column of every Parquet file with its type", async () => {
    const { default: polars } = await import("nodejs-polars");
    const typesOf = async ({ path }: ExportedTable) => {
      const columns = Object.entries(polars.readParquet(path).schema);
      const told = (type: unknown) => words[String(type).replace(/^DataType\((.*)\)$/, "$1")] ?? String(type);
      return Object.fromEntries(columns.map(([name, type]) => [name, told(type)]));
    };
    for (const of of exported.of("parquet")) expectAll(of, await foundIn(of, typesOf));
  });

  test("reads the numbers of a CSV file as numbers", async () => {
    const { default: polars } = await import("nodejs-polars");
    const file = exported.of("csv")[0]?.tables.find(({ name }) => name === "scale_weights")?.path ?? "";
    const { schema } = polars.readCSV(file);
    expect([schema["itemid"], schema["weight"]].map(String)).toEqual(["DataType(Int64)", "DataType(Int64)"]);
  });
});

/** Runs a program on the files of a package: it prints the types that it finds, as JSON. */
function foundBy(command: readonly string[], { tables }: ExportedPackage): Found {
  const ran = Bun.spawnSync([...command, ...tables.map(({ path }) => path)]);
  expect([ran.exitCode, ran.exitCode === 0 ? "" : ran.stderr.toString()]).toEqual([0, ""]);
  const found: Found[string][] = JSON.parse(ran.stdout.toString());
  return Object.fromEntries(tables.map(({ name }, at) => [name, found[at] ?? {}]));
}

/** A Python that has these packages: the machine's own has them where Debian's are installed. */
function pythonWith(...packages: readonly string[]): string | undefined {
  const paths = [Bun.which("python3"), "/usr/bin/python3"].flatMap((path) => path ?? []);
  const program = packages.map((name) => `import ${name}`).join("\n");
  return paths.find((path) => Bun.spawnSync([path, "-c", program]).exitCode === 0);
}

/** The types of a frame of pandas, which has none for days: they are objects, or midnights. */
const pandasTypes = `
import datetime, json, sys, pandas
from pandas.api import types
def kind(of):
    if types.is_bool_dtype(of.dtype): return "boolean"
    if types.is_integer_dtype(of.dtype): return "integer"
    if types.is_float_dtype(of.dtype): return "number"
    if getattr(of.dtype, "tz", None) is not None: return "datetime"
    if types.is_datetime64_dtype(of.dtype): return "date" if (of.dropna() == of.dropna().dt.normalize()).all() else "naive"
    if all(isinstance(one, datetime.date) for one in of.dropna()) and len(of.dropna()) > 0: return "date"
    return "string"
def kinds(read):
    print(json.dumps([{name: kind(of) for name, of in read(path).items()} for path in sys.argv[1:]]))
`;

describe("pandas", () => {
  for (const engine of ["pyarrow", "fastparquet"]) {
    const python = pythonWith("pandas", engine);
    test.skipIf(!python)(`reads every column of every Parquet file with its type (pip: ${engine})`, () => {
      const script = `${pandasTypes}kinds(lambda path: pandas.read_parquet(path, engine="${engine}"))`;
      for (const of of exported.of("parquet")) expectAll(of, foundBy([python ?? "", "-c", script], of));
    });
  }

  const python = pythonWith("pandas");
  const readers: readonly [Format, string][] = [
    ["csv", "pandas.read_csv"],
    ["ndjson", "lambda path: pandas.read_json(path, lines=True)"],
  ];
  test.skipIf(!python).each(readers)(
    "takes times in text for text, and reads the numbers of every file as numbers: %s (Debian: python3-pandas)",
    (format, read) => {
      for (const of of exported.of(format)) {
        const found = foundBy([python ?? "", "-c", `${pandasTypes}kinds(${read})`], of);
        for (const table of of.tables)
          for (const [field, type] of Object.entries(table.fields))
            if ((type === "integer" || type === "number") && canBeSeen(of, table, field, type))
              expect(`${field} ${found[table.name]?.[field]}`).toMatch(/ (integer|number)$/);
      }
    },
  );
});

describe("R", () => {
  const rscript = Bun.which("Rscript") ?? "";
  const has = (name: string) => rscript !== "" && Bun.spawnSync([rscript, "-e", `library(${name})`]).success;
  const words = `c(character = "string", numeric = "number", integer = "integer", logical = "boolean", POSIXct = "datetime", Date = "date")`;
  /** R has one type for numbers; those that are whole are whole numbers. */
  const script = (read: string) => `
words <- ${words}
kind <- function(of) {
  found <- words[[class(of)[1]]]
  if (found == "number" && all(of == floor(of), na.rm = TRUE)) "integer" else found
}
frames <- lapply(commandArgs(TRUE), function(path) ${read})
kinds <- lapply(frames, function(frame) paste0("\\"", names(frame), "\\":\\"", sapply(frame, kind), "\\"", collapse = ","))
cat("[", paste0("{", kinds, "}", collapse = ","), "]")`;

  test.skipIf(!has("readr") || !nightly)(
    "sees the type of every value of every CSV file by readr (Debian: r-cran-readr)",
    () => {
      const command = [rscript, "-e", script("suppressMessages(readr::read_csv(path))")];
      for (const of of exported.of("csv")) expectSeen(of, foundBy(command, of));
    },
  );

  test.skipIf(rscript === "")("reads the numbers of every CSV file by itself (Debian: r-base-core)", () => {
    for (const of of exported.of("csv")) {
      const found = foundBy([rscript, "-e", script("read.csv(path)")], of);
      for (const table of of.tables)
        for (const [field, type] of Object.entries(table.fields))
          if ((type === "integer" || type === "number") && canBeSeen(of, table, field, type))
            expect(`${field} ${found[table.name]?.[field]}`).toBe(`${field} ${type}`);
    }
  });
});
