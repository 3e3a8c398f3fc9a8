import { faultOfLine } from "../../config/walking-line.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import type { Item } from "../../domain/records/item.ts";
import { type GivenName, isDevice } from "./given-names.ts";

/** The lines that measure walking speed: those of a configuration, and those that were measured in the home. */
export function linesOf(
  configured: readonly WalkingLine[],
  names: readonly GivenName[],
  records: readonly Item[],
): WalkingLine[] {
  const measured = measuredLines(configured, names, records);
  return [...configured, ...measured.filter((line) => faultOfLine(line) === undefined)];
}

/** Curtain sensors of one room with their distances are a line, which has the name of the room. One that the configuration names is in none of them. */
export function measuredLines(
  configured: readonly WalkingLine[],
  names: readonly GivenName[],
  records: readonly Item[],
): WalkingLine[] {
  const taken = new Set(configured.flatMap(({ sensors }) => sensors.map(({ item }) => item)));
  const placed = names.flatMap((given) => {
    const { room, metres } = given;
    const item = records.find((record) => isDevice(given, record))?.itemname;
    const isPlaced = room !== undefined && metres !== undefined && item !== undefined && !taken.has(item);
    return isPlaced ? [{ room, item, metres }] : [];
  });
  return [...Map.groupBy(placed, ({ room }) => room)].map(([name, sensors]) => ({
    name,
    sensors: sensors
      .map(({ item, metres }) => ({ item, metres }))
      .sort((one, other) => one.metres - other.metres),
  }));
}
