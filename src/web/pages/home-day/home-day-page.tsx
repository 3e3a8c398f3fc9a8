import { useState } from "preact/hooks";
import { noDeviceText } from "../home/home-answer.tsx";
import { Axis, Strip } from "../home/strip.tsx";
import { Notes } from "../notes/notes-part.tsx";
import { erasedText } from "../parts/erased-text.ts";
import { notesAbout } from "../parts/note-words.ts";
import { DeviceLink, ExactMoment, Frame } from "../parts/page-frame.tsx";
import { pausedText } from "../parts/paused-text.ts";
import { Legend, Patterns } from "../parts/uncovered-shapes.tsx";
import type { FrameData } from "../site.ts";
import { clockText, dateText, preciseText, type Times, yearDateText } from "../time-text.ts";
import type { HomeDayData } from "./home-day-data.ts";
import type { LogEntry } from "./logbook.ts";

/** A day or a week of a home: what every device saw, below each other, and what happened in words. */
export function HomeDayPage(data: HomeDayData & FrameData) {
  const { window, devices, log, noting, paused, undated, locale, zone, now_ms } = data;
  const times = { locale, zone, now_ms };
  const [cursor_ms, point] = useState<number>();
  return (
    <Frame {...data}>
      <Patterns />
      <div class="home-day">
        <h1>
          {data.span === "week" ? `${dateText(window.from_ms, times)} to ` : null}
          {yearDateText(window.to_ms - 1, times)}
        </h1>
        <p class="answer">
          {paused === null ? "" : `${pausedText(paused, times)} `}
          {undated === null ? "" : `${undated} `}
          <Answer {...data} />
        </p>
        <Choices {...data} />
        <div class="home-day-parts">
          <section aria-label="Devices">
            {devices.length === 0 ? null : <Strips {...data} cursor_ms={cursor_ms} point={point} />}
            <Notes
              {...noting}
              times={times}
              path={addressOf(data, {})}
              chosen={{ from_ms: window.from_ms, to_ms: Math.min(window.to_ms, now_ms) }}
            />
          </section>
          <section aria-label="What happened">
            <ol class="logbook">
              {log.map(({ at_ms, name, words }, place) => (
                <li
                  key={`${at_ms} ${place}`}
                  class={
                    cursor_ms !== undefined && isBeside(at_ms, cursor_ms, window) ? "is-pointed" : undefined
                  }
                  onPointerEnter={() => point(at_ms)}
                  onPointerLeave={() => point(undefined)}
                  onFocusIn={() => point(at_ms)}
                >
                  <ExactMoment
                    at_ms={at_ms}
                    text={momentWords(data, at_ms, times)}
                    exact={preciseText(at_ms, times)}
                  />
                  <span>
                    <Told name={name} words={words} />
                  </span>
                </li>
              ))}
            </ol>
          </section>
        </div>
      </div>
    </Frame>
  );
}

/** Every device on one axis. */
function Strips(data: HomeDayData & FrameData & Pointing) {
  const { window, devices, noting, cursor_ms, point } = data;
  const times = { locale: data.locale, zone: data.zone, now_ms: data.now_ms };
  const seen = cursor_ms === undefined ? [] : seenAt(data, cursor_ms);
  return (
    <>
      <p class="pointed-words" role="status">
        {cursor_ms === undefined
          ? "Point at a moment to see who saw something then."
          : `${momentWords(data, cursor_ms, times)}: ${seen.length === 0 ? "nothing" : seen.join(", ")}`}
      </p>
      <ul
        class="day-strips"
        onPointerMove={(event) => point(momentUnder(event, window))}
        onPointerLeave={() => point(undefined)}
      >
        <li>
          <span />
          <Axis window={window} times={times} />
        </li>
        {devices.map(({ kind, name, title, marks, often, uncovered }) => (
          <li key={`${kind} ${name}`}>
            <DeviceLink kind={kind} name={name} title={title} />
            <Strip
              {...{ window, marks, often, uncovered, times, cursor_ms }}
              notes={notesAbout(noting.notes, name)}
              latest_ms={null}
              label={title}
            />
          </li>
        ))}
      </ul>
      <Legend spans={devices.flatMap(({ uncovered }) => uncovered)} night />
    </>
  );
}

interface Pointing {
  /** The moment that is pointed at. */
  readonly cursor_ms: number | undefined;
  readonly point: (at_ms: number | undefined) => void;
}

/** The day or week in sentences; of one that is not over also the last that is known. */
function Answer({ answer, log, later, ...data }: HomeDayData & FrameData) {
  const last = answer === null || later === null ? log.at(-1) : undefined;
  if (data.erased?.isWhole && answer === null && last === undefined)
    return <>{erasedText(data.erased, data)}</>;
  if (data.devices.length === 0 && last === undefined) return <>{noDeviceText(data.isWhole)}</>;
  if (answer === null && last === undefined) return <>Nothing is known that could be told in words.</>;
  return (
    <>
      {answer}
      {answer === null || last === undefined ? "" : " "}
      {last === undefined ? null : (
        <>
          Last known at {momentWords(data, last.at_ms, data)}: <Told {...last} />.
        </>
      )}
    </>
  );
}

/** An entry of the logbook. The name of a device may run from right to left; the words about it do not. */
function Told({ name, words }: Pick<LogEntry, "name" | "words">) {
  return (
    <>
      {name === undefined ? null : <bdi>{name}</bdi>}
      <span dir="ltr">{words}</span>
    </>
  );
}

/** The address of the page with something else shown; what is not named stays. */
function addressOf(
  { path, date, span, only }: HomeDayData,
  changes: Readonly<Record<string, string | null>>,
): string {
  const all = { date, span: span === "day" ? null : span, only, ...changes };
  const query = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${path}?${new URLSearchParams(query)}`;
}

/** Other days, the week of this one, and the room or kind that is shown. */
function Choices(data: HomeDayData) {
  const { span, earlier, later, groups, only } = data;
  const link = (text: string, changes: Readonly<Record<string, string | null>>, isShown = false) => (
    <a key={text} href={addressOf(data, changes)} aria-current={isShown ? "true" : undefined}>
      {text}
    </a>
  );
  return (
    <div class="span">
      <nav aria-label="Days">
        {link("Day before", { date: earlier })}
        {later === null ? null : link("Day after", { date: later })}
      </nav>
      <nav aria-label="Length">
        {link("Day", { span: null }, span === "day")}
        {link("Week", { span: "week" }, span === "week")}
      </nav>
      {groups.length === 0 ? null : (
        <nav aria-label="Rooms and kinds">
          {link("All", { only: null }, only === null)}
          {groups.map((title) => link(title, { only: title }, title === only))}
        </nav>
      )}
    </div>
  );
}

/** The moment below a pointer: strips are all as wide as the one that it is over, or as the first. */
function momentUnder(event: PointerEvent & { currentTarget: Element }, window: HomeDayData["window"]) {
  const strip = event.currentTarget.querySelector(".strip")?.getBoundingClientRect();
  if (strip === undefined || event.clientX < strip.left || event.clientX > strip.right) return undefined;
  const share = (event.clientX - strip.left) / strip.width;
  return window.from_ms + share * (window.to_ms - window.from_ms);
}

/** Devices that saw something at a moment, or beside it by less than somebody can point. */
function seenAt({ devices, window }: HomeDayData, at_ms: number): string[] {
  const column_ms = (window.to_ms - window.from_ms) / window.columns;
  const column = Math.floor((at_ms - window.from_ms) / column_ms);
  return devices
    .filter(({ marks }) => marks.some((mark) => Math.abs(mark - column) <= beside_columns))
    .map(({ title }) => title);
}

function isBeside(
  at_ms: number,
  cursor_ms: number,
  { from_ms, to_ms, columns }: HomeDayData["window"],
): boolean {
  return Math.abs(at_ms - cursor_ms) <= ((to_ms - from_ms) / columns) * (beside_columns + 1);
}

function momentWords({ span }: Pick<HomeDayData, "span">, at_ms: number, times: Times): string {
  const clock = clockText(at_ms, times);
  return span === "day" ? clock : `${dateText(at_ms, times).split(" ")[0]} ${clock}`;
}

const beside_columns = 2;
