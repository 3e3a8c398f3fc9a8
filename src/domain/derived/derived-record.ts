import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { kindsMeaning } from "../notes-in-time.ts";
import { identifying, isUnixTime, record, unixTime } from "../records/record-field.ts";
import { type DerivedName, definitionText, derivedNames, derivedOf } from "./derived-table.ts";

/** Path of a measure of a home in the interface, or of all its measures. */
export function derivedPath(name: DerivedName | "all", home: number | string = "{id}"): string {
  return `/homes/${home}/derived/${name}`;
}

/** The record of each measure: `stamp` and `day`, then its fields, then what part of its time was observed, and by which definition. */
export const derivedRecords = Object.fromEntries(
  derivedNames.map((name) => [name, recordOf(name)]),
) as Readonly<Record<DerivedName, TObject>>;

function recordOf(name: DerivedName): TObject {
  const { title, fields, meaning } = derivedOf(name);
  const own = Object.entries(fields).map(([field, { schema, unit, meaning: of }]): [string, TSchema] => [
    field,
    { ...schema, description: unit === "" || isUnixTime(schema) ? of : `${of} (${unit})` },
  ]);
  return record(title, {
    stamp: unixTime({
      description: `when it began, which of a whole day or night is the start of its day; ${meaning}`,
      minimum: 0,
    }),
    day: identifying(
      "nobody",
      Type.String({ description: "the day of the calendar at the home: 2026-11-20", title: "a date" }),
    ),
    ...Object.fromEntries(own),
    observed: Type.Number({
      description:
        "the part of its time in which the items it is made of were listened to and alive, 0 to 1; of several rooms that of the least",
      minimum: 0,
      maximum: 1,
    }),
    notes: identifying("nobody", Type.String({ description: kindsMeaning })),
    definition: identifying(
      "nobody",
      Type.String({ description: `name and version of its definition: ${definitionText(name)}` }),
    ),
  });
}
