import { expect, test } from "bun:test";
import { isCovered, type UseConsent } from "../../src/domain/uses.ts";

const refused = (start: number, stop: number | null = null): UseConsent => ({
  answer: "refused",
  start,
  stop,
});
const allowed = (start: number, stop: number | null = null): UseConsent => ({
  answer: "allowed",
  start,
  stop,
});

test.each([
  ["nothing was said", [], true],
  ["it is refused", [refused(10)], false],
  ["it was refused until now", [refused(10, 50)], true],
  ["it will be refused", [refused(51)], true],
  ["it is allowed", [allowed(10)], true],
  ["it was allowed until now", [allowed(10, 50)], false],
  ["it will be allowed", [allowed(51)], false],
  ["it was allowed, and is again", [allowed(10, 20), allowed(40)], true],
  ["it was refused, and allowed then", [refused(10, 20), allowed(20)], true],
  ["it is allowed and refused", [allowed(10), refused(40, 60)], false],
])("where %s", (_, said, covered) => {
  expect(isCovered(said, 50)).toBe(covered);
});
