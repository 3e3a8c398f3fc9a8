import { type Static, Type } from "@sinclair/typebox";
import type { WalkingLine } from "../domain/derived/walking-passes.ts";

/**
 * The `[walking]` section: each key names a line of curtain sensors, with the position of each along it.
 *
 * ```toml
 * [walking]
 * hall = [{ item = "hall-curtain-1", metres = 0.0 }, { item = "hall-curtain-2", metres = 0.75 }, …]
 * ```
 */
export const walkingSection = Type.Object(
  {},
  {
    additionalProperties: Type.Array(
      Type.Object(
        { item: Type.String({ minLength: 1 }), metres: Type.Number() },
        { additionalProperties: false },
      ),
      { description: 'a list of sensors such as { item = "hall-curtain-1", metres = 0.75 }' },
    ),
  },
);

/** The lines of a section that its schema has passed. */
export function walkingLinesOf(section: Static<typeof walkingSection> | undefined): WalkingLine[] {
  return Object.entries((section ?? {}) as Record<string, WalkingLine["sensors"]>).map(([name, sensors]) => ({
    name,
    sensors: sensors.toSorted((one, other) => one.metres - other.metres),
  }));
}

/** The fault of a walking line that cannot measure, and its remedy; undefined where it can. */
export function faultOfLine({ sensors }: WalkingLine): { what: string; remedy: string } | undefined {
  if (sensors.length < sensors_min) {
    return {
      what: `has ${sensors.length} sensors`,
      remedy: `name at least ${sensors_min}: with fewer, speeds cannot be told from errors`,
    };
  }
  for (const [index, { item, metres }] of sensors.entries()) {
    if (sensors.some((other, at) => at < index && other.item === item))
      return { what: `has ${item} twice`, remedy: "name each sensor once" };
    if (!Number.isFinite(metres))
      return { what: `has ${item} at ${metres} m`, remedy: "give the metres as a number" };
    const previous = sensors[index - 1];
    if (previous !== undefined && metres - previous.metres < spacing_m_min)
      return {
        what: `has ${previous.item} and ${item} at the same place`,
        remedy: `give each its own distance in metres, ${spacing_m_min} apart or more`,
      };
  }
  return undefined;
}

const sensors_min = 3;
const spacing_m_min = 0.1;
