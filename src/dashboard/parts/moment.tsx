import { agoText, dayText, exactText, momentText, type Times } from "../time-text.ts";

/** A past moment in words, and exactly for who points at it. */
export function Moment({ at_ms, times, as = "moment" }: MomentOf) {
  return (
    <time dateTime={new Date(at_ms).toISOString()} title={exactText(at_ms, times)}>
      {texts[as](at_ms, times)}
    </time>
  );
}

interface MomentOf {
  readonly at_ms: number;
  readonly times: Times;
  /** In which words. */
  readonly as?: keyof typeof texts;
}

const texts = { moment: momentText, day: dayText, ago: agoText };
