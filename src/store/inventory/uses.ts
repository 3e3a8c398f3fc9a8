import { numbersIn } from "../../domain/records/visible-records.ts";
import { isCovered } from "../../domain/uses.ts";
import type { Work } from "../database.ts";
import type { AskedUses } from "../restriction.ts";
import type { Homes } from "./homes.ts";
import { recordsOfType, recordsWith } from "./records.ts";

/** Homes whose data may not be used, at a gateway 0, and subjects who said so of themselves wherever they live. */
interface Refusing {
  readonly homes: ReadonlySet<number>;
  readonly subjects: ReadonlySet<number>;
}

export const nobodyRefuses: Refusing = { homes: new Set(), subjects: new Set() };

/**
 * Who does not consent to any one of some uses. A subject's word is of every home where he is or was enrolled: nobody can tell whose
 * movements a sensor has counted. The consents of a gateway are those of its home.
 */
export function* refusingUses(homes: Homes, { uses, at_ms }: AskedUses): Work<Refusing> {
  const said = (yield* recordsOfType(homes, "consents")).filter(({ use }) => uses.includes(use));
  const givers = Map.groupBy(said, ({ use, homeid, subjectid }) => `${use} ${homeid} ${subjectid}`);
  const refusing = [...givers.values()]
    .filter((of) => !isCovered(of, at_ms / 1000))
    .map(([one]) => ({ ...one }));
  const subjects = numbersIn(
    refusing.filter(({ homeid }) => homeid === null),
    "subjectid",
  );
  if (homes.one) return { homes: new Set(refusing.length > 0 ? [0] : []), subjects };
  const enrolled =
    subjects.size === 0 ? [] : yield* recordsWith("project_enrollments", "subjectid", [...subjects]);
  return { homes: numbersIn([...refusing, ...enrolled], "homeid"), subjects };
}
