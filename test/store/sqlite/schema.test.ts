import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { seriesNames, seriesOf } from "../../../src/domain/series.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";

test("the migrations make the tables that the series table describes", async () => {
  using directory = temporaryDirectory();
  await (await openGateway(directory.path)).close();
  using database = new Database(databaseOf(directory.path), { readonly: true });
  for (const series of seriesNames) {
    const found = database
      .query(`SELECT name, type, "notnull", pk FROM pragma_table_info('${series}')`)
      .values();
    const fields = Object.entries(seriesOf(series).fields).map(([name, { sql, schema }]) => [
      name,
      sql,
      Value.Check(schema, null) ? 0 : 1,
      0,
    ]);
    expect({ series, columns: found }).toEqual({
      series,
      columns: [
        ["stream", "INTEGER", 1, 1],
        ["stamp", "INTEGER", 1, 2],
        ["seq", "INTEGER", 1, 3],
        ...fields,
        ["clock", "INTEGER", 1, 0],
        ...(seriesOf(series).deviceClock === true
          ? [
              ["device_ms", "INTEGER", 0, 0],
              ["offset_ms", "INTEGER", 0, 0],
            ]
          : []),
      ],
    });
  }
});

test("every table holds its columns to their types", async () => {
  using directory = temporaryDirectory();
  await (await openGateway(directory.path)).close();
  using database = new Database(databaseOf(directory.path), { readonly: true });
  const loose = database
    .query(
      "SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'",
    )
    .values();
  expect(loose).toEqual([]);
});
