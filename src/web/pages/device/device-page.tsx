import { hour_ms, type TimeSpan } from "../../../base/time.ts";
import { low_percent } from "../../../domain/kinds.ts";
import { Notes } from "../notes/notes-part.tsx";
import { ExactMoment, Frame, placeOfZone } from "../parts/page-frame.tsx";
import { pausedText } from "../parts/paused-text.ts";
import { Legend, Patterns } from "../parts/uncovered-shapes.tsx";
import type { FrameData } from "../site.ts";
import {
  addressDate,
  clockText,
  dateText,
  dayText,
  durationText,
  momentText,
  numberText,
  preciseClockText,
  preciseText,
  type Times,
  yearDateText,
} from "../time-text.ts";
import { measuresOf, spanTitles, spiralDays_max } from "./day-plots.ts";
import type { DeviceData, OpenedDay, ReadingEvent } from "./device-data.ts";
import { DoseGrid } from "./dose-grid.tsx";
import { type AddressChanges, addressOf, CurveFigure, RasterFigure } from "./plot-figures.tsx";

export function DevicePage(data: DeviceData & FrameData) {
  const { locale, now_ms, trail, words, known, made, day, shown } = data;
  return (
    <Frame {...{ locale, now_ms, trail }} zone={data.zone}>
      <article class="device">
        <h1>
          <bdi>{data.title}</bdi>
        </h1>
        {data.paused === null ? null : <p class="answer">{pausedText(data.paused, data)}</p>}
        <Sentence {...data} />
        {shown === null ? null : (
          <>
            <Patterns />
            <SpanControl {...data} />
            {measuresOf(shown.series).map((name) => (
              <RasterFigure key={name} {...data} device={data.name} name={name} />
            ))}
            {[...data.curves, ...data.walking].map((curve) => (
              <CurveFigure key={curve.title} {...data} curve={curve} />
            ))}
            {measuresOf(shown.series).length + data.curves.length + data.walking.length === 0 ? null : (
              <Legend spans={data.uncovered} night={measuresOf(shown.series).length > 0} />
            )}
            {data.doses === null ? null : <DoseGrid {...data} title="Doses" doses={data.doses} />}
            <Notes
              {...data.noting}
              times={{ locale, zone: data.zone, now_ms }}
              path={addressOf(data, {})}
              chosen={chosenTime(data)}
              isChosen={data.span.name === null || data.span.hours !== null}
              item={{ itemid: data.itemid, title: data.title }}
            />
            {day === null ? null : <DayOpened {...data} day={day} />}
            <Newest {...data} />
            <Take {...data} shown={shown} />
          </>
        )}
        <section aria-labelledby="facts">
          <h2 id="facts">What it reports</h2>
          <dl class="facts">
            <dt>It reports</dt>
            <dd>{words.tells}</dd>
            <dt>It does not know</dt>
            <dd>{words.tellsNot}</dd>
            <dt>When it is heard</dt>
            <dd>{words.heard}</dd>
            <Lines lines={known} />
          </dl>
          {made.length === 0 ? null : (
            <details>
              <summary>How its readings are made, for a methods section</summary>
              <dl class="facts">
                <Lines lines={made} />
              </dl>
            </details>
          )}
        </section>
      </article>
    </Frame>
  );
}

/** The time that a note is likely about: what somebody chose in a plot, or opened, or else the newest day. */
function chosenTime({ span, day, now_ms }: DeviceData & FrameData): TimeSpan {
  const { edges_ms, hours } = span;
  const newest_ms = edges_ms.at(-2) ?? span.from_ms;
  if (hours !== null)
    return { from_ms: newest_ms + hours[0] * hour_ms, to_ms: newest_ms + hours[1] * hour_ms };
  if (span.name === null) return { from_ms: span.from_ms, to_ms: span.to_ms };
  const { from_ms, to_ms } = day ?? { from_ms: newest_ms, to_ms: span.to_ms };
  return { from_ms, to_ms: Math.max(from_ms, Math.min(to_ms, now_ms)) };
}

function Lines({ lines }: { lines: DeviceData["known"] }) {
  return (
    <>
      {lines.flatMap(({ title, value }) => [
        <dt key={`${title} is`}>{title}</dt>,
        <dd key={title}>
          <bdi>{value}</bdi>
        </dd>,
      ])}
    </>
  );
}

/** The answer: what the device tells of the life in its home, then whether it is heard, and what is to be done. */
export function Sentence({ answer, words, health, locale, now_ms, zone }: DeviceData & FrameData) {
  const { heard_ms, newest_ms, expected_ms, overdue, replaced, battery_percent, count } = health;
  const times = { locale, zone, now_ms };
  const textOf = (at_ms: number) => `${dayText(at_ms, times)} at ${clockText(at_ms, times)}`;
  const moment = (at_ms: number) => (
    <ExactMoment at_ms={at_ms} text={textOf(at_ms)} exact={preciseText(at_ms, times)} />
  );
  const low = replaced === null && battery_percent !== null && battery_percent <= low_percent;
  const isFirst = answer === null || overdue || replaced !== null;
  return (
    <>
      {answer === null || isFirst ? null : <p class="answer">{answer}</p>}
      <p class={isFirst ? "answer" : undefined}>
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
        {newest_ms === null ? null : heard_ms !== null && textOf(heard_ms) === textOf(newest_ms) ? (
          ` Its ${numberText(count, locale)} readings go up to then.`
        ) : (
          <>
            {" "}
            The newest of its {numberText(count, locale)} readings is of {moment(newest_ms)}.
          </>
        )}
      </p>
      {answer !== null && isFirst ? <p>{answer}</p> : null}
      {replaced === null ? null : (
        <p>
          {replaced.by} replaced it {moment(replaced.at_ms)}. Lintel no longer expects this one.
        </p>
      )}
      {overdue && expected_ms !== null ? (
        <p class="person">
          It should be heard every {durationText(expected_ms)}. Check its battery, and check that it is within
          reach of the gateway.
        </p>
      ) : null}
      {low ? (
        <p class="person">Its battery is at {battery_percent} %: replace it at the next visit.</p>
      ) : null}
    </>
  );
}

/** Chooses the days that the page is about, and which of the device's series. */
export function SpanControl(data: DeviceData & FrameData) {
  const { span, series, shown } = data;
  const to = (changes: AddressChanges) => addressOf(data, changes);
  return (
    <section class="span" aria-label="Days shown">
      {series.length < 2 ? null : (
        <nav aria-label="What is shown">
          {series.map(({ path, title }) => (
            <a
              key={path}
              href={to({ series: path })}
              aria-current={path === shown?.path ? "true" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
      <nav aria-label="Length">
        {Object.entries(spanTitles).map(([name, title]) => (
          <a key={name} href={to({ span: name })} aria-current={name === span.name ? "true" : undefined}>
            {title}
          </a>
        ))}
        <Reset span={span} to={to} />
      </nav>
      {shown === null || measuresOf(shown.series).length === 0 ? null : (
        <nav aria-label="How days are drawn">
          {(["rows", "spiral"] as const).map((form) => (
            <a key={form} href={to({ form })} aria-current={form === data.form ? "true" : undefined}>
              {form === "rows" ? "Rows" : "Spiral"}
            </a>
          ))}
        </nav>
      )}
      <nav aria-label="Before and after">
        <a href={to(span.earlier)}>Earlier</a>
        {span.later === null ? null : <a href={to(span.later)}>Later</a>}
      </nav>
      <OtherDays {...data} />
      <SpanWords {...data} />
    </section>
  );
}

/** The way back from what was chosen in a plot. */
function Reset({ span, to }: Pick<DeviceData, "span"> & { to: (changes: AddressChanges) => string }) {
  const { hours, name, usual } = span;
  if (hours === null && name !== null) return null;
  const [changes, words] =
    hours === null ? [{ span: usual }, spanTitles[usual].toLowerCase()] : [{ hours: null }, "whole days"];
  return (
    <a class="reset" href={to(changes)}>
      Back to {words}
    </a>
  );
}

function OtherDays({ form, shown, span, zone }: DeviceData) {
  return (
    <details>
      <summary>Other days</summary>
      <form method="get">
        {form === "rows" ? null : <input type="hidden" name="as" value={form} />}
        {shown === null ? null : <input type="hidden" name="series" value={shown.path} />}
        <label>
          From <input type="date" name="from" value={span.from.slice(0, 10)} required />
        </label>
        <label>
          until the morning of{" "}
          <input
            type="date"
            name="until"
            value={addressDate(span.edges_ms.at(-1) ?? span.to_ms, zone)}
            required
          />
        </label>
        <button type="submit">Show</button>
      </form>
    </details>
  );
}

function SpanWords(data: DeviceData & FrameData) {
  const { span, zone } = data;
  const { from_ms, to_ms, hours } = span;
  const text = (at_ms: number) =>
    `${yearDateText(at_ms, data)}${isWholeDays(span) ? "" : `, ${clockText(at_ms, data)}`}`;
  // Whole days end with the moment before the next one.
  const [first, last] = [text(from_ms), text(isWholeDays(span) ? to_ms - 1 : to_ms)];
  return (
    <p>
      {first}
      {last === first ? null : ` to ${last}`},{" "}
      {zone === "UTC" ? "in UTC" : `in the time of ${placeOfZone(zone)}`}.
      {hours === null ? null : ` Of each day hours ${hours[0]} to ${hours[1]}.`}
      {data.form === "spiral" && span.edges_ms.length - 1 > spiralDays_max
        ? ` Of these the spiral shows ${spiralDays_max} days at a time.`
        : null}
    </p>
  );
}

function isWholeDays({ from, until }: DeviceData["span"]): boolean {
  return !from.includes("T") && !until.includes("T");
}

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
      {day.cut ? <p>There are more. Download the day to get all of them.</p> : null}
    </section>
  );
}

function Events(of: {
  events: readonly ReadingEvent[];
  times: Times;
  text: (at_ms: number, times: Times) => string;
}) {
  const { events, times, text } = of;
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

/** The readings shown, to take along: as files, and by the request that gives the same. */
export function Take(of: DeviceData & { shown: NonNullable<DeviceData["shown"]> }) {
  const { kind, name, span, shown, request } = of;
  const file = `/downloads/${kind}/${encodeURIComponent(name)}/${shown.path}`;
  const days = `from=${span.from}&until=${span.until}`;
  return (
    <section aria-labelledby="take">
      <h2 id="take">Download</h2>
      <p>
        The {isWholeDays(span) ? "days" : "time"} shown, as recorded:{" "}
        <a href={`${file}.csv?${days}`}>as CSV</a>, or <a href={`${file}.json?${days}`}>as JSON</a>
      </p>
      <p>
        A program gets the same by this request, with a token of yours; each answer links to the next one.
      </p>
      <pre class="request">
        <code>{`curl -H "Authorization: Bearer $TOKEN" -H "Accept: application/json" '${request}'`}</code>
      </pre>
    </section>
  );
}
