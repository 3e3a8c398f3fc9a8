/** The counter of encrypted broadcasts rises; a repeat has the last one, and after a new battery it begins again. */
export function freshnessOf(
  counter: number | undefined,
  last: number | undefined,
): "new" | "repeated" | "replayed" {
  if (counter === undefined || last === undefined || counter > last) return "new";
  if (counter === last) return "repeated";
  return counter < restarted_counter_below ? "new" : "replayed";
}

const restarted_counter_below = 100;
