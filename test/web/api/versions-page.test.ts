import { expect, test } from "bun:test";
import { type TSchema, TypeGuard } from "@sinclair/typebox";
import { isUnixTime } from "../../../src/domain/records/record-field.ts";
import { recordTable, recordTypes } from "../../../src/domain/records/record-table.ts";
import { seriesNames, seriesOf } from "../../../src/domain/series.ts";
import { introducedBy, versions } from "../../../src/web/api/versions.ts";

const page = await Bun.file(new URL("../../../docs/versions.md", import.meta.url)).text();
const rows = [...page.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)].map(([, first = "", second = ""]) => [
  first,
  second,
]);

test("docs/versions.md has a row of every version, newest first", () => {
  const told = rows.flatMap(([first = ""]) => (/^0\.\d/.test(first) ? first.split(", ") : []));
  expect(told).toEqual(versions.toReversed() as string[]);
});

test("docs/versions.md names every field whose form changed with the times, and no other", () => {
  const fieldsOf = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, field = ""]) => field);
  const told = rows
    .slice(rows.findIndex(([first]) => first === "record") + 1)
    .flatMap(([first = "", second = ""]) => fieldsOf(second).map((field) => `${first}: ${field}`));
  const older = recordTypes.filter((type) => introducedBy(recordTable[type].since, "0.3"));
  const ofRecords = older.flatMap((type) => {
    const { title = "", properties } = recordTable[type].schema;
    const times = Object.entries<TSchema>(properties).filter(([, schema]) => isTime(schema));
    return times.map(([field]) => `${title.toLowerCase()}: ${field}`);
  });
  const ofSeries = seriesNames.flatMap((series) =>
    Object.entries(seriesOf(series).fields).flatMap(([field, { schema }]) => (isTime(schema) ? [field] : [])),
  );
  expect(told.toSorted()).toEqual(
    [...ofRecords, ...["stamp", ...ofSeries].map((field) => `every series: ${field}`)].toSorted(),
  );
});

function isTime(schema: TSchema): boolean {
  return TypeGuard.IsUnion(schema) ? schema.anyOf.some(isTime) : isUnixTime(schema);
}
