import type { AcceptanceFault, VisitFindings } from "../../../domain/acceptance.ts";
import { type Trial, trialsOf } from "../../../domain/acceptance-trials.ts";
import type { AcceptanceVisit, Asked } from "../site.ts";

/** The trials of a home, as its page shows them. */
export interface ShownTrial {
  readonly rows: readonly Trial[];
  /** Faults that would keep the home from being accepted now. */
  readonly faults: readonly AcceptanceFault[];
  /** Null before somebody finishes. */
  readonly finish: NonNullable<AcceptanceVisit["finish"]> | null;
  /** The name that the record gets where the technician writes no other. */
  readonly tester: string;
}

/** @param of.devices devices as the page shows them, by whose titles it names them */
export function shownTrial(
  found: VisitFindings,
  {
    asked,
    devices,
  }: {
    readonly asked: Asked;
    readonly devices: readonly { readonly address: string; readonly name: string }[];
  },
): ShownTrial {
  return {
    rows: trialsOf(found, new Map(devices.map(({ address, name }) => [address, name]))),
    faults: found.faults,
    finish: asked.site.acceptance?.finish ?? null,
    tester: asked.token.name.slice(0, 60),
  };
}
