import { numberText } from "../time-text.ts";

/** A number of a report as people read it; the element has it as `--json` does, and the path by which it stands there. */
export function Value({ of, value, per = 1, digits = 0 }: ValueOf) {
  return (
    <data value={String(value)} data-of={of} data-per={per === 1 ? undefined : per}>
      {numberText(value / per, "en", digits)}
    </data>
  );
}

interface ValueOf {
  /** Where it stands in the JSON: `walking.0.weeks.2.speeds.median`. */
  readonly of: string;
  readonly value: number;
  /** It is shown divided by this. */
  readonly per?: number;
  readonly digits?: number;
}
