/** Uses of data that a participant may refuse: see docs/consent.md. */
export const uses = ["identified", "coded", "shared"] as const;
export type Use = (typeof uses)[number];

/** The answers of a participant to a use. */
export const useAnswers = ["refused", "allowed"] as const;

/** The header by which a request names the uses that its answer is for, with commas between. */
export const usesHeader = "Lintel-Uses";

/** An answer of one giver of consent to one use, unix seconds; without an end it lasts. */
export interface UseConsent {
  readonly answer: (typeof useAnswers)[number];
  readonly start: number;
  readonly stop: number | null;
}

/**
 * Whether what a giver said to a use covers it at a moment. A refusal holds in its time, whatever else was said. Whoever allowed a use
 * for some times has not allowed it at others.
 */
export function isCovered(said: readonly UseConsent[], at_s: number): boolean {
  const now = said.filter(({ start, stop }) => start <= at_s && (stop === null || at_s < stop));
  if (now.some(({ answer }) => answer === "refused")) return false;
  return said.every(({ answer }) => answer === "refused") || now.length > 0;
}
