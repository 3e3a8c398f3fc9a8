import { low_percent } from "../../../battery.ts";
import type { FrameData } from "../../page.ts";
import { ExactMoment } from "../../parts/exact-moment.tsx";
import { clockText, dayText, durationText, numberText, preciseText } from "../../time-text.ts";
import type { DeviceData } from "./data.ts";

/** The answer: whether the device is heard, when it last told something, and what is to be done. */
export function Sentence({ words, health, locale, now_ms, zone }: DeviceData & FrameData) {
  const { heard_ms, newest_ms, expected_ms, overdue, replaced, battery_percent, count } = health;
  const times = { locale, zone, now_ms };
  const moment = (at_ms: number) => (
    <ExactMoment
      at_ms={at_ms}
      text={`${dayText(at_ms, times)} ${clockText(at_ms, times)}`}
      exact={preciseText(at_ms, times)}
    />
  );
  const low = replaced === null && battery_percent !== null && battery_percent <= low_percent;
  return (
    <>
      <p class="answer">
        This {words.noun}{" "}
        {heard_ms === null ? (
          "has not been heard yet."
        ) : (
          <>
            {overdue
              ? `has not been heard for ${durationText(now_ms - heard_ms)}, since `
              : "was last heard "}
            {moment(heard_ms)}.
          </>
        )}
        {newest_ms === null ? null : (
          <>
            {" "}
            The newest of its {numberText(count, locale)} readings is of {moment(newest_ms)}.
          </>
        )}
      </p>
      {replaced === null ? null : (
        <p>
          Another one, {replaced.by}, took its place {moment(replaced.at_ms)}: nobody waits for this one any
          more.
        </p>
      )}
      {overdue && expected_ms !== null ? (
        <p class="person">
          It should be heard every {durationText(expected_ms)}: see whether its battery is empty, and whether
          it has been moved out of reach.
        </p>
      ) : null}
      {low ? (
        <p class="person">Its battery is at {battery_percent} %: replace it at the next visit.</p>
      ) : null}
    </>
  );
}
