import { NoteBands } from "../notes/notes-part.tsx";
import { kindWords, type ShownNote } from "../parts/note-words.ts";
import { nothingWords } from "../parts/uncovered-look.ts";
import { Nothing } from "../parts/uncovered-shapes.tsx";
import { clockText, durationText, monthText, shortDateText, type Times } from "../time-text.ts";
import type { Uncovered } from "../uncovered.ts";
import type { Tick, TimeWindow } from "./strip-window.ts";

/** The time that strips show, above them: the hours, or the days. */
export function Axis({ window, times }: { window: TimeWindow; times: Times }) {
  const share = sharesOf(window);
  return (
    <svg class={`axis of-${window.span}`} aria-hidden="true" focusable="false">
      {window.ticks.filter(isLabelled(window)).map(({ at_ms, label }) => (
        <text
          key={at_ms}
          x={share(at_ms)}
          y="1em"
          text-anchor={label === "month" ? "start" : anchorOf(at_ms, window)}
        >
          {tickTexts[label](at_ms, times)}
        </text>
      ))}
    </svg>
  );
}

/** A device in a window: a mark for each column in which something happened, and where nothing can be known of it. */
export function Strip(props: StripProps) {
  const { window, marks, often, uncovered, notes, times, latest_ms, cursor_ms, label } = props;
  const share = sharesOf(window);
  const { columns, span } = window;
  const { now_ms } = times;
  return (
    <svg
      class="strip"
      role="img"
      aria-label={`${label}: ${wordsOf({ window, marks, uncovered })}${notedIn(notes)}`}
    >
      {window.nights.map(({ from_ms, to_ms }) => (
        <rect
          key={from_ms}
          class="bedtime"
          x={share(from_ms)}
          width={`${((100 * (to_ms - from_ms)) / (window.to_ms - window.from_ms)).toFixed(3)}%`}
          height="100%"
        />
      ))}
      {window.ticks.map(({ at_ms }) => (
        <line key={at_ms} class="tick" x1={share(at_ms)} x2={share(at_ms)} y1="0" y2="100%" />
      ))}
      <Nothing spans={uncovered} from_ms={window.from_ms} to_ms={window.to_ms} />
      <NoteBands notes={notes} span={window} now_ms={now_ms} />
      <svg
        aria-hidden="true"
        width="100%"
        height="100%"
        viewBox={`0 0 ${columns} 1`}
        preserveAspectRatio="none"
      >
        {depthsOf(marks, often).map((columnsOf, depth) => (
          <path
            key={depth}
            class={`marks of-${span} depth-${depth}`}
            d={columnsOf.map((column) => `M${column + 0.5} .1v.8`).join("")}
          />
        ))}
      </svg>
      {now_ms > window.to_ms ? null : (
        <line class="present" x1={share(now_ms)} x2={share(now_ms)} y1="0" y2="100%" />
      )}
      {cursor_ms === undefined ? null : (
        <line class="pointed" x1={share(cursor_ms)} x2={share(cursor_ms)} y1="0" y2="100%" />
      )}
      {latest_ms !== null && now_ms - latest_ms < arrived_ms && now_ms >= latest_ms ? (
        <line key={latest_ms} class="arrived" x1={share(latest_ms)} x2={share(latest_ms)} y1="0" y2="100%" />
      ) : null}
    </svg>
  );
}

interface StripProps {
  readonly window: TimeWindow;
  readonly marks: readonly number[];
  /** How often something happened in each of them; empty where that is not drawn. */
  readonly often: readonly number[];
  readonly uncovered: readonly Uncovered[];
  /** Of the time that is shown. */
  readonly notes: readonly ShownNote[];
  readonly times: Times;
  /** When the latest happened, unix milliseconds. */
  readonly latest_ms: number | null;
  /** A moment that is pointed at. */
  readonly cursor_ms?: number | undefined;
  /** The device of the strip, for screen readers. */
  readonly label: string;
}

const tickTexts: Readonly<Record<Tick["label"], (at_ms: number, times: Times) => string>> = {
  hour: clockText,
  day: shortDateText,
  month: monthText,
};

/** Columns by how deep they are drawn, the faintest first: where it is told how often something happened, by the share of what is much for this device. */
function depthsOf(marks: readonly number[], often: readonly number[]): number[][] {
  if (often.length === 0) return [[...marks]];
  const much = often.toSorted((one, other) => one - other)[Math.floor(0.9 * often.length)] ?? 1;
  const depths: number[][] = Array.from({ length: depths_most }, () => []);
  for (const [at, column] of marks.entries()) {
    const depth = Math.ceil((depths_most * (often[at] ?? 0)) / much) - 1;
    depths[Math.min(depths_most - 1, Math.max(0, depth))]?.push(column);
  }
  return depths;
}
const depths_most = 4;

function sharesOf({ from_ms, to_ms }: TimeWindow): (at_ms: number) => string {
  return (at_ms) => `${((100 * (at_ms - from_ms)) / (to_ms - from_ms)).toFixed(3)}%`;
}

/** Months, and days of a week, stand so close that a label before its line would lie on the one before: the last one is left out where there is no room behind it. */
function isLabelled({ span, from_ms, to_ms }: TimeWindow): (tick: Tick) => boolean {
  const least = span === "year" ? 1 / 24 : span === "week" ? 1 / 8 : 0;
  return ({ at_ms }) => (to_ms - at_ms) / (to_ms - from_ms) > least;
}

/** A label stands behind its line, as far as there is room for it. */
function anchorOf(at_ms: number, { from_ms, to_ms }: TimeWindow): "start" | "middle" | "end" {
  const left = (to_ms - at_ms) / (to_ms - from_ms);
  return left > 1 / 8 ? "start" : left > 1 / 16 ? "middle" : "end";
}

/** The strip in words: how many columns have something, and for how long nothing could be known. */
function wordsOf({ window, marks, uncovered }: Pick<StripProps, "window" | "marks" | "uncovered">): string {
  const { columns } = window;
  const column = durationText((window.to_ms - window.from_ms) / columns);
  const happened = `something happened in ${marks.length} of ${columns} stretches of ${column}`;
  const missing = [...Map.groupBy(uncovered, ({ why }) => why)].map(([why, spans]) => {
    const length_ms = spans.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0);
    return `${nothingWords[why]} for ${durationText(length_ms)}`;
  });
  return [happened, ...missing].join(", ");
}

function notedIn(notes: readonly ShownNote[]): string {
  const kinds = [...new Set(notes.map(({ kind }) => kindWords[kind].toLowerCase()))];
  return kinds.length === 0 ? "" : `, noted: ${kinds.join(", ")}`;
}

/** An event glows when it is no older than this. */
const arrived_ms = 3_000;
