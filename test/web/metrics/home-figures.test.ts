import { expect, test } from "bun:test";
import type { FleetHome } from "../../../src/domain/fleet-home.ts";
import { homeFigures } from "../../../src/web/metrics/home-figures.ts";

/** By the end of a field's name: the unit of figures made of it, and how much of it one of the field is. */
const units = {
  ms: ["seconds", 0.001],
  bytes: ["bytes", 1],
  percent: ["ratio", 0.01],
  c: ["celsius", 1],
} as const;
const unitOf = (field: string) => units[field.slice(field.lastIndexOf("_") + 1) as keyof typeof units];
const now_ms = 1e7;

/** A figure of a home whose every measured field is as much as `fields` says, and else five million, with the fields that it is made of. */
function figure(of: (typeof homeFigures)[number]["of"], fields: Readonly<Record<string, number>> = {}) {
  const read: string[] = [];
  const home = new Proxy({} as FleetHome, {
    get: (_, field: string) => {
      if (unitOf(field) === undefined) return null;
      read.push(field);
      return fields[field] ?? 5e6;
    },
  });
  return { read, value: () => Number(of(home, now_ms)) };
}

const measured = homeFigures.filter(({ unit }) => unit !== undefined);

test.each(measured.map((one) => [one.name, one] as const))(
  "%s is in the unit of its name",
  (_, { of, unit }) => {
    const { read, value } = figure(of);
    const before = value();
    expect(new Set<string | undefined>(read.map((field) => unitOf(field)?.[0]))).toEqual(new Set([unit]));
    for (const field of read) {
      const each = unitOf(field)?.[1] ?? 0;
      const changes = [-1_000, 1_000].map((more) =>
        Math.abs(figure(of, { [field]: 5e6 + more }).value() - before),
      );
      expect(Math.max(...changes)).toBeCloseTo(1_000 * each, 6);
    }
  },
);

test("a figure that is made of a length, a size or a share says its unit", () => {
  const bare = homeFigures.filter(({ unit }) => unit === undefined);
  const made = bare.filter(({ of }) => {
    const { read, value } = figure(of);
    try {
      value();
    } catch {
      // It counts the entries of a list.
    }
    return read.length > 0;
  });
  expect(made.map(({ name }) => name)).toEqual([]);
});
