import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { OperatorError } from "../../src/base/errors.ts";
import { recordTable, recordTypes } from "../../src/domain/records/record-table.ts";
import { seriesNames, seriesOf } from "../../src/domain/series.ts";
import { column, columnsOfSchema, columnsOfSeries, type FileRow } from "../../src/export/columns.ts";
import { type Format, formatNames, writeTable } from "../../src/export/table-file.ts";
import type { StampForm } from "../../src/export/text-formats.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "lintel-table-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const weights = columnsOfSeries("scale_weights");
const stamp_ms = Date.UTC(2026, 10, 20, 12, 0, 0) + 250;
const rows: FileRow[] = [
  [1, "hall, scale", 12, stamp_ms, 70_123, null, 0, -1, 9_007_199_254_740_991, 77, "device"],
  [2, 'the "new" one\nupstairs', null, stamp_ms + 1, 1, 2, 3, 4, 5, null, "corrected"],
  [3, "", -1, stamp_ms + 1, 0, null, null, null, null, null, "device"],
];

async function written(format: Format, given = rows, stamp: StampForm = "iso", columns = weights) {
  const path = join(directory, `${crypto.randomUUID()}.${format}`);
  async function* batches() {
    yield [];
    for (let at = 0; at < given.length; at += 1000) yield given.slice(at, at + 1000);
  }
  expect(await writeTable({ path, format, columns, stamp, pseudonyms: undefined }, batches())).toBe(
    given.length,
  );
  return Bun.file(path);
}

describe("CSV", () => {
  test("is RFC 4180: names first, CRLF, quotes where they are needed, nothing for null", async () => {
    expect(await (await written("csv")).text()).toBe(
      [
        "itemid,itemname,homeid,stamp,weight,fatMass,waterMass,boneMass,muscleMass,batteryLevel,clock",
        '1,"hall, scale",12,2026-11-20T12:00:00.250Z,70123,,0,-1,9007199254740991,77,device',
        '2,"the ""new"" one\nupstairs",,2026-11-20T12:00:00.251Z,1,2,3,4,5,,corrected',
        '3,"",-1,2026-11-20T12:00:00.251Z,0,,,,,,device',
        "",
      ].join("\r\n"),
    );
  });

  test("has unix seconds rounded down, as the interface serves them", async () => {
    const columns = [column("stamp", "moment", "")];
    const file = await written("csv", [[0], [999], [1_999]], "unix", columns);
    expect(await file.text()).toBe(["stamp", "0", "0", "1", ""].join("\r\n"));
  });

  test("has no text that a spreadsheet computes or a terminal obeys; numbers stay numbers", async () => {
    const given = [
      "=1+1",
      "@SUM(A1)",
      "+49 30 12",
      "-70",
      "\u001b[2Ja\u009b31m\u202e",
      "a\r\n\tb",
      '=HYPERLINK("x")',
    ];
    const columns = [column("text", "text", ""), column("number", "real", "")];
    const file = await written(
      "csv",
      given.map((text) => [text, -1.5]),
      "iso",
      [...columns],
    );
    expect(await file.text()).toBe(
      [
        "text,number",
        "'=1+1,-1.5",
        "'@SUM(A1),-1.5",
        "'+49 30 12,-1.5",
        "-70,-1.5",
        "[2Ja31m,-1.5",
        '"a\r\n\tb",-1.5',
        '"\'=HYPERLINK(""x"")",-1.5',
        "",
      ].join("\r\n"),
    );
  });

  test("shows stamps as unix seconds or milliseconds when it is asked to", async () => {
    expect(await (await written("csv", rows.slice(0, 1), "unix")).text()).toContain(",1795176000,70123");
    expect(await (await written("csv", rows.slice(0, 1), "unix_ms")).text()).toContain(
      ",1795176000250,70123",
    );
  });
});

test("NDJSON is one object a line, null included", async () => {
  const lines = (await (await written("ndjson")).text()).split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    rows.map((row) => ({
      itemid: row[0],
      itemname: row[1],
      homeid: row[2],
      stamp: new Date(Number(row[3])).toISOString(),
      weight: row[4],
      fatMass: row[5],
      waterMass: row[6],
      boneMass: row[7],
      muscleMass: row[8],
      batteryLevel: row[9],
      clock: row[10],
    })),
  );
});

test("NDJSON and Parquet have every text exactly, NDJSON without a character that a terminal obeys", async () => {
  const text = "=1+1 \u001b[2J\u009b31m\u202e\u2028";
  const given: FileRow[] = [[text, 1]];
  const columns = [column("text", "text", ""), column("number", "real", "")];
  const ndjson = await (await written("ndjson", given, "iso", [...columns])).text();
  expect(ndjson.trimEnd()).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
  expect(JSON.parse(ndjson)).toEqual({ text, number: 1 });
  const parquet = await written("parquet", given, "iso", [...columns]);
  expect(await parquetReadObjects({ file: await parquet.arrayBuffer() })).toEqual([{ text, number: 1 }]);
});

describe("Parquet", () => {
  test("gives back what was written: 64-bit numbers, moments to the millisecond, text, null", async () => {
    const read = await parquetReadObjects({ file: await (await written("parquet")).arrayBuffer() });
    expect(read).toEqual(
      rows.map((row) =>
        Object.fromEntries(
          weights.map(({ name, type }, at) => {
            const cell = row[at] ?? null;
            if (type === "moment") return [name, new Date(Number(cell))];
            return [name, type === "integer" && cell !== null ? BigInt(Number(cell)) : cell];
          }),
        ),
      ),
    );
  });

  test("tells pandas the types that it cannot guess: whole numbers that may be missing, and times of UTC", async () => {
    const metadata = parquetMetadata(await (await written("parquet")).arrayBuffer());
    const told = metadata.key_value_metadata?.find(({ key }) => key === "pandas")?.value ?? "";
    const { columns } = JSON.parse(told);
    expect(columns.map(({ name }: { name: string }) => name)).toEqual(weights.map(({ name }) => name));
    const types = columns.map((one: Record<string, unknown>) => [one["field_name"], one["numpy_type"]]);
    expect(Object.fromEntries(types)).toMatchObject({ weight: "int64", fatMass: "Int64", homeid: "Int64" });
    expect(columns.find(({ name }: { name: string }) => name === "stamp")).toMatchObject({
      pandas_type: "datetimetz",
      metadata: { timezone: "UTC" },
    });
  });

  test("splits many rows into groups, and says so in what stands at its end", async () => {
    const many = Array.from(
      { length: 70_000 },
      (_, at): FileRow => [7, "door", null, stamp_ms + at, at % 64, "device"],
    );
    const columns = columnsOfSeries("wirelesssensor_events");
    const file = await (await written("parquet", many, "iso", columns)).arrayBuffer();
    const metadata = parquetMetadata(file);
    expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([65_536, 4_464]);
    const read = await parquetReadObjects({ file, rowStart: 65_530, rowEnd: 65_540, columns: ["stamp"] });
    expect(read.map(({ stamp }) => stamp.getTime() - stamp_ms)).toEqual(
      Array.from({ length: 10 }, (_, at) => 65_530 + at),
    );
  });

  test("without rows still names its columns", async () => {
    const metadata = parquetMetadata(await (await written("parquet", [])).arrayBuffer());
    expect(metadata.schema.slice(1).map(({ name }) => name)).toEqual(weights.map(({ name }) => name));
  });
});

test("every series and every record has columns, in the order in which its fields are served", async () => {
  for (const series of seriesNames)
    expect(columnsOfSeries(series).map(({ name }) => name)).toEqual([
      "itemid",
      "itemname",
      "homeid",
      "stamp",
      ...Object.keys(seriesOf(series).fields),
      "clock",
    ]);
  for (const type of recordTypes) {
    const names = columnsOfSchema(recordTable[type].schema).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const format of formatNames) {
      const file = await written(format, [], "iso", columnsOfSchema(recordTable[type].schema));
      expect(format === "ndjson" || file.size > 0).toBe(true);
    }
  }
});

test("a file takes its name only when it is whole, and until then what stood there stays", async () => {
  const path = join(directory, "whole.csv");
  await writeFile(path, "before");
  const options = { path, format: "csv", columns: weights, stamp: "iso", pseudonyms: undefined } as const;
  async function* failing() {
    yield rows;
    expect(existsSync(`${path}.part`)).toBe(true);
    throw new Error("cut off");
  }
  await expect(writeTable(options, failing())).rejects.toThrow("cut off");
  async function* nothing(): AsyncGenerator<FileRow[]> {
    yield* [];
  }
  expect(await writeTable(options, nothing())).toBeUndefined();
  expect(await Bun.file(path).text()).toBe("before");
  expect((await readdir(directory)).filter((name) => name.endsWith(".part"))).toEqual([]);
  async function* whole() {
    yield rows;
    expect(await Bun.file(path).text()).toBe("before");
  }
  expect(await writeTable(options, whole())).toBe(rows.length);
  expect(await Bun.file(path).text()).toStartWith("itemid,itemname,");
  expect(existsSync(`${path}.part`)).toBe(false);
});

test("a place that cannot be written is a fault that names it", async () => {
  const path = join(directory, "whole.csv", "x.csv");
  async function* batches() {
    yield rows;
  }
  const making = writeTable(
    { path, format: "csv", columns: weights, stamp: "iso", pseudonyms: undefined },
    batches(),
  );
  await expect(making).rejects.toBeInstanceOf(OperatorError);
});
