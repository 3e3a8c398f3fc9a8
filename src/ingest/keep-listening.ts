import type { Clock } from "../clock.ts";

/**
 * Tells every 15 s who is listening, so that coverage can say when nobody was. `listeners` are the names of the drivers
 * that hear their devices now; the gateway itself always does. Answers the end of it, which tells once more, so that a
 * clean end is known to the second.
 */
export function keepListening(options: {
  clock: Clock;
  listeners: () => readonly string[];
  note: (listener: string) => void;
}): () => void {
  const tell = () => {
    for (const listener of ["gateway", ...options.listeners()]) options.note(listener);
  };
  let cancel = () => {};
  const keep = () => {
    tell();
    cancel = options.clock.after(interval_ms, keep);
  };
  keep();
  return () => {
    cancel();
    tell();
  };
}

const interval_ms = 15_000;
