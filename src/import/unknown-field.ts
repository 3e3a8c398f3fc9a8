import { nearest } from "../nearest.ts";
import { shortName } from "./fault.ts";

/** The fault of a field that a record doesn't have, with the one that was probably meant. */
export function unknownField(name: string, known: readonly string[]): { field: string; expected: string } {
  const meant =
    nearest(name, known) ?? known.find((field) => field.startsWith(name) || name.startsWith(field));
  return {
    field: shortName(name),
    expected:
      meant === undefined ? "there is no such field" : `there is no such field: ${meant} may be meant`,
  };
}
