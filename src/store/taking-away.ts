import type { DatabaseStep, Work } from "./database.ts";
import type { WriteName } from "./writes.ts";

/**
 * Writes after which no byte of what they take away is in the files of the database. Those of `what it removes` mostly remove nothing: only what was stamped by a clock
 * that is ahead.
 */
export const takingAway: Readonly<Partial<Record<WriteName, "at once" | "what it removes">>> = {
  erase: "at once",
  takeErasures: "at once",
  takePauses: "at once",
  withdraw: "at once",
  restrict: "what it removes",
  followEnrollments: "what it removes",
};

/** Does work, and calls `onRemoved` once it has removed a row. What it removed may still be in the files of the database. */
export function* watchingRemovals<Result>(work: Work<Result>, onRemoved: () => void): Work<Result> {
  let next = work.next();
  while (next.done !== true) {
    let answer: unknown;
    try {
      answer = yield next.value;
    } catch (thrown) {
      next = work.throw(thrown);
      continue;
    }
    if (removes(next.value, answer)) onRemoved();
    next = work.next(answer);
  }
  return next.value;
}

function removes(step: DatabaseStep, answer: unknown): boolean {
  if (!("text" in step) || !/^\s*DELETE\b/.test(step.text)) return false;
  return step.answer !== "changes" || Number(answer) > 0;
}
