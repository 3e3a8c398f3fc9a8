import type { ErasedSpan } from "../store/erasure.ts";
import { type Pause, restricts } from "../store/pause.ts";
import type { Pseudonyms } from "./pseudonyms.ts";

/** A part of packages that were given away that nobody may use any more, in the numbers that these packages have. */
export interface Removal {
  readonly why: "erased" | "restricted";
  /** When that was asked for. */
  readonly asked: string;
  /** Null where only records of a subject went. */
  readonly homeid: number | null;
  /** Null: all items of the home. */
  readonly itemid: number | null;
  /** Whose records go too; null: of the home, all that it has. */
  readonly subjectid: number | null;
  /** Readings with a stamp from the one on, and below the other, go. Null: from the beginning, or all. */
  readonly from: string | null;
  readonly to: string | null;
}

/** Everything that was erased, and what is restricted, as the holder of packages finds it in them. */
export function removalsIn(
  given: { readonly erased: readonly ErasedSpan[]; readonly paused: readonly Pause[] },
  pseudonyms: Pseudonyms,
): Removal[] {
  const homeOf = (home: number) => (home < 0 ? null : pseudonyms.numberOf("home", home));
  const erased = given.erased.map(
    ({ at_ms, home, subject, kind, address, itemid, from_ms, before_ms }): Removal => ({
      why: "erased",
      asked: timeOf(at_ms),
      homeid: homeOf(home),
      itemid:
        kind === null ? null : pseudonyms.deviceNumber({ typename: kind, macaddress: address }, itemid ?? 0),
      subjectid: subject === null ? null : pseudonyms.numberOf("subject", subject),
      from: from_ms === 0 ? null : timeOf(from_ms),
      to: timeOf(before_ms),
    }),
  );
  const restricted = given.paused.filter(restricts).map(
    ({ at_ms, home }): Removal => ({
      ...{ why: "restricted", asked: timeOf(at_ms), homeid: homeOf(home) },
      ...{ itemid: null, subjectid: null, from: null, to: null },
    }),
  );
  return [...erased, ...restricted];
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
