import { expect } from "bun:test";
import { derivedNames } from "../../src/domain/derived/derived-table.ts";

/** Numbers of derived measures, oldest first, by measure and field. */
export type NumbersByField = Readonly<Record<string, Readonly<Record<string, readonly (number | null)[]>>>>;

/** A program with the Python client that prints the numbers of all derived measures of a home as JSON. */
export function derivedInPython(home: number, until?: string): string {
  const window = until === undefined ? "" : `, until="${until}"`;
  return `
import json
from lintel import *
lintel = Lintel()
frames = {name: lintel.derived(${home}, name${window}) for name in ${JSON.stringify(derivedNames)}}
print(json.dumps({name: {column: [None if value != value else value for value in frame[column].astype(float)] for column in frame.select_dtypes("number").columns} for name, frame in frames.items()}))
`;
}

/** The same with the R client. */
export function derivedInR(home: number, until?: string): string {
  const window = until === undefined ? "" : `, until = "${until}"`;
  return `
library(lintel)
server <- lintel()
numbers <- function(name) {
  frame <- lintel_derived(server, ${home}, name${window})
  as.list(frame[sapply(frame, is.numeric)])
}
names <- strsplit("${derivedNames.join(" ")}", " ")[[1]]
cat(jsonlite::toJSON(sapply(names, numbers, simplify = FALSE), digits = NA, na = "null"))
`;
}

/** The numbers in the records of measures, as the interface answers them; the oldest first. */
export function numbersIn(
  served: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>,
): NumbersByField {
  return Object.fromEntries(
    Object.entries(served).map(([name, records]) => {
      const isNumber = (field: string) => records.some((record) => typeof record[field] === "number");
      const fields = Object.keys(records[0] ?? {}).filter(isNumber);
      const numbersOf = (field: string) => records.map((record) => record[field] as number | null);
      return [name, Object.fromEntries(fields.map((field) => [field, numbersOf(field)]))];
    }),
  );
}

/** Compares the numbers that a client has with those that were served; times it has as times. */
export function expectServed(has: NumbersByField, was: NumbersByField): void {
  for (const [name, fields] of Object.entries(was)) {
    const own = Object.keys(fields).filter((field) => !["stamp", "stop", "at", "start"].includes(field));
    expect(own.length).toBeGreaterThan(0);
    for (const field of own) expect([name, field, has[name]?.[field]]).toEqual([name, field, fields[field]]);
  }
}
