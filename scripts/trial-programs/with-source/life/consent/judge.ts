import type { Happening } from "../happening.ts";
import { Broken } from "../judge.ts";
import type { ConsentModel, Side } from "./model.ts";

/** Something that happened in a home; `unsure` where the box did not know the time then, or when it read it. */
export interface HappenedFact {
  readonly happening: Happening;
  readonly home: number;
  unsure: boolean;
  /** An upload that began after it was acknowledged has ended well, and central has not gone back since. */
  sent: boolean;
}

/**
 * Requires that none of the readings that were found somewhere is one that the model forbids there.
 *
 * @param found the serial of each, and where it was found
 * @param of.shown whether it was found in what is shown, where nothing of a restricted home may be either
 * @throws Broken
 */
export function requireNone(
  found: Iterable<readonly [number, string]>,
  of: {
    readonly model: ConsentModel;
    readonly facts: ReadonlyMap<number, HappenedFact>;
    readonly now_ms: number;
    readonly side: Side;
    readonly whose: string;
    readonly shown?: boolean;
  },
): void {
  for (const [serial, file] of found) {
    const fact = of.facts.get(serial);
    if (fact === undefined) continue;
    const { happening, unsure } = fact;
    const hidden = of.shown === true ? of.model.hides(fact.home, of.side, of.now_ms) : undefined;
    const why = hidden ?? of.model.forbids(factOf(fact), of.side, of.now_ms);
    if (why !== undefined)
      throw new Broken(
        `${of.whose} has ${happening.boxed ? "pill" : "reading"} ${serial} of ${timeText(happening.at_ms)}${unsure ? ", when it did not know the time," : ""} in ${file}, without consent: ${why}`,
      );
  }
}

/** The readings that central owes: acknowledged at their box, and of a time that nobody asked not to record. */
export function owedOf(model: ConsentModel, facts: readonly HappenedFact[]): HappenedFact[] {
  return facts.filter((fact) => {
    const { acknowledged, excused } = fact.happening;
    return acknowledged && excused === undefined && model.owes(factOf(fact));
  });
}

/** Requires that all that is owed was found. @throws Broken */
export function requireAll(
  found: ReadonlyMap<number, unknown>,
  owed: readonly HappenedFact[],
  { model, whose }: { readonly model: ConsentModel; readonly whose: string },
): void {
  const lacking = owed.find(({ happening }) => !found.has(happening.serial));
  if (lacking !== undefined)
    throw new Broken(
      `${whose} lacks reading ${lacking.happening.serial} of home ${lacking.home}, of ${timeText(lacking.happening.at_ms)}, which nobody asked not to record. What was asked of it:\n${model.asksText(factOf(lacking))}`,
    );
}

function factOf({ happening: { address, at_ms }, home, unsure }: HappenedFact) {
  return { home, unsure, address, at_ms };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
