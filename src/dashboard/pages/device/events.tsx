import type { FrameData } from "../../page.ts";
import { ExactMoment } from "../../parts/exact-moment.tsx";
import { dateText, momentText, preciseClockText, preciseText, type Times } from "../../time-text.ts";
import type { DeviceData, OpenedDay, ReadingEvent } from "./data.ts";

/** The newest readings of the span. */
export function Newest(data: DeviceData & FrameData) {
  return (
    <section aria-labelledby="newest">
      <h2 id="newest">Newest</h2>
      {data.events.length === 0 ? (
        <p>Nothing was recorded in these days.</p>
      ) : (
        <Events events={data.events} times={data} text={momentText} />
      )}
    </section>
  );
}

/** All that was recorded on one day, to the millisecond. */
export function DayOpened({ day, ...data }: DeviceData & FrameData & { day: OpenedDay }) {
  const hours = Math.round((day.to_ms - day.from_ms) / 3_600_000);
  return (
    <section aria-labelledby="day">
      <h2 id="day">{dateText(day.from_ms, data)}</h2>
      {hours === 24 ? null : <p>A day of {hours} hours: the clocks change.</p>}
      {day.events.length === 0 ? <p>Nothing was recorded on this day.</p> : null}
      <Events events={day.events} times={data} text={preciseClockText} />
      {day.cut ? <p>There are more: download the day to have all of them.</p> : null}
    </section>
  );
}

function Events({
  events,
  times,
  text,
}: {
  events: readonly ReadingEvent[];
  times: Times;
  text: (at_ms: number, times: Times) => string;
}) {
  return (
    <ol class="events">
      {events.map(({ at_ms, words }, index) => (
        <li key={`${at_ms} ${index}`}>
          <ExactMoment at_ms={at_ms} text={text(at_ms, times)} exact={preciseText(at_ms, times)} /> {words}
        </li>
      ))}
    </ol>
  );
}
