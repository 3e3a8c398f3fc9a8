import type { Uncovered, UncoveredWhy } from "../uncovered.ts";
import { Swatch } from "./swatch.tsx";
import { night_h, nothingLook, nothingWords } from "./uncovered-look.ts";

/**
 * The kinds of nothing, drawn alike in every plot: where nothing happened the ground is plain, where nobody listened it is hatched, where a device was silent it is
 * dotted, where recording was paused there are bars in pairs, where the time of readings is in doubt it is veiled with blurred edges, what has not been received yet is dashed, and where no device was there is no plot. Each is told from the others by its form, so also without colour and on paper.
 */

/** The definitions that `Nothing` fills with: once in a page, before the first plot. */
export function Patterns() {
  const { tile, hatch, dots, bars, dash, veil } = nothingLook;
  return (
    <svg class="patterns" width="0" height="0" aria-hidden="true" focusable="false">
      <defs>
        <pattern
          id="nothing-not-listening"
          width={tile}
          height={tile}
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${hatch.degrees})`}
        >
          <rect width={hatch.width} height={tile} class="nothing-line" />
        </pattern>
        <pattern id="nothing-silent" width={tile} height={tile} patternUnits="userSpaceOnUse">
          {dots.centres.map(([x, y]) => (
            <circle key={x} cx={x} cy={y} r={dots.radius} class="nothing-dot" />
          ))}
        </pattern>
        <pattern id="nothing-paused" width={tile} height={tile} patternUnits="userSpaceOnUse">
          {bars.lefts.map((x) => (
            <rect key={x} x={x} width={bars.width} height={tile} class="nothing-line" />
          ))}
        </pattern>
        <pattern id="nothing-away" width={tile} height={tile} patternUnits="userSpaceOnUse">
          <line
            x1="0"
            x2={dash.length}
            y1={tile / 2}
            y2={tile / 2}
            stroke-width={dash.width}
            class="nothing-line"
          />
        </pattern>
        <linearGradient id="nothing-doubt">
          <stop offset="0" class="nothing-edge" />
          <stop offset={veil.fading} class="nothing-veil" />
          <stop offset={1 - veil.fading} class="nothing-veil" />
          <stop offset="1" class="nothing-edge" />
        </linearGradient>
      </defs>
    </svg>
  );
}

/** The fill of a shape of SVG, for plots that draw their own. */
export function fillOf(why: Exclude<UncoveredWhy, "absent">): string {
  return `url(#nothing-${why === "not_listening" ? "not-listening" : why})`;
}

/** Stretches of a plot in which nothing could be seen, over its whole height. For an `svg` without a view box, so that patterns keep their size. */
export function Nothing({ spans, from_ms, to_ms }: NothingOf) {
  const share = (at_ms: number) => (100 * (at_ms - from_ms)) / (to_ms - from_ms);
  return (
    <>
      {spans.map((span) => {
        const [left, right] = [share(Math.max(span.from_ms, from_ms)), share(Math.min(span.to_ms, to_ms))];
        if (!(left < right)) return null;
        const [x, width] = [`${left.toFixed(3)}%`, `${(right - left).toFixed(3)}%`];
        if (span.why === "absent") {
          const inside = [left, right].filter((edge) => edge > 0 && edge < 100);
          const edges = inside.map((edge) => `${edge.toFixed(3)}%`);
          return <Absent key={`absent ${span.from_ms}`} {...{ x, width, edges }} />;
        }
        return (
          <rect
            key={`${span.why} ${span.from_ms}`}
            class="nothing"
            data-why={span.why}
            x={x}
            width={width}
            y="0"
            height="100%"
            fill={fillOf(span.why)}
          />
        );
      })}
    </>
  );
}

interface NothingOf {
  readonly spans: readonly Uncovered[];
  /** The span of the plot, unix milliseconds. */
  readonly from_ms: number;
  readonly to_ms: number;
}

/** One line that says how each kind of nothing is drawn, of those that not every plot has only what this one has; `night`: also how the hours of night are. */
export function Legend({ spans, night = false }: { spans: readonly Uncovered[]; night?: boolean }) {
  const some = new Set(spans.map(({ why }) => why));
  const whys = (["not_listening", "silent", "paused", "doubt", "away", "absent"] as const).filter(
    (why) => !["paused", "away", "absent"].includes(why) || some.has(why),
  );
  return (
    <ul class="legend" aria-label="How nothing is drawn">
      <li>
        <WhySwatch /> nothing happened
      </li>
      {night ? (
        <li>
          <WhySwatch why="night" /> night, {night_h.from}:00 to {night_h.to}:00
        </li>
      ) : null}
      {whys.map((why) => (
        <li key={why}>
          <WhySwatch why={why} /> {nothingWords[why]}
        </li>
      ))}
    </ul>
  );
}

function WhySwatch({ why }: { why?: UncoveredWhy | "night" }) {
  return (
    <Swatch>
      {why === undefined ? null : why === "absent" ? (
        <Absent x="0" width="50%" edges={["50%"]} />
      ) : why === "night" ? (
        <rect class="bedtime" width="100%" height="100%" />
      ) : (
        <rect width="100%" height="100%" fill={fillOf(why)} />
      )}
    </Swatch>
  );
}

/** Time without a device is no part of the plot: bare ground, and a line where that ends. */
function Absent({ x, width, edges }: { x: string; width: string; edges: readonly string[] }) {
  return (
    <>
      <rect class="nothing absent" data-why="absent" x={x} width={width} y="0" height="100%" />
      {edges.map((edge) => (
        <line key={edge} class="nothing-line" x1={edge} x2={edge} y1="0" y2="100%" />
      ))}
    </>
  );
}
