import type { Happening } from "../happening.ts";
import { Broken } from "../judge.ts";
import type { ConsentModel, Side } from "./model.ts";
import { keptIn, serialsIn } from "./remains.ts";

/** Something that happened in a home; `unsure` where the box did not know the time then, or when it read it. */
export interface HappenedFact {
  readonly happening: Happening;
  readonly home: number;
  unsure: boolean;
}

/** Requires that no byte of a directory is of a reading that the model forbids there. @throws Broken */
export function requireNone(
  directory: string,
  of: {
    readonly model: ConsentModel;
    readonly facts: ReadonlyMap<number, HappenedFact>;
    readonly now_ms: number;
    readonly side: Side;
    readonly whose: string;
  },
): void {
  for (const [serial, file] of serialsIn(directory)) {
    const fact = of.facts.get(serial);
    if (fact === undefined) continue;
    const { happening, unsure } = fact;
    const why = of.model.forbids(factOf(fact), of.side, of.now_ms);
    if (why !== undefined)
      throw new Broken(
        `${of.whose} has ${happening.boxed ? "pill" : "reading"} ${serial} of ${timeText(happening.at_ms)}${unsure ? ", when it did not know the time," : ""} in ${file}, without consent: ${why}`,
      );
  }
}

/** Requires that the store in central's directory has all that is owed; answers how many readings those are. @throws Broken */
export function requireAll(directory: string, model: ConsentModel, facts: readonly HappenedFact[]): number {
  const kept = keptIn(directory);
  const owed = facts.filter((fact) => {
    const { acknowledged, excused } = fact.happening;
    return acknowledged && excused === undefined && model.owes(factOf(fact));
  });
  const lacking = owed.find(({ happening }) => !kept.has(happening.serial));
  if (lacking !== undefined)
    throw new Broken(
      `central lacks reading ${lacking.happening.serial} of home ${lacking.home}, of ${timeText(lacking.happening.at_ms)}, which nobody asked not to record. What was asked of it:\n${model.asksText(factOf(lacking))}`,
    );
  return owed.length;
}

function factOf({ happening: { address, at_ms }, home, unsure }: HappenedFact) {
  return { home, unsure, address, at_ms };
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
