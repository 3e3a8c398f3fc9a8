import type { Uncovered, UncoveredWhy } from "../uncovered.ts";
import { nothingLook } from "./nothing-look.ts";

/**
 * The kinds of nothing, drawn alike in every plot: where nothing happened the ground is plain, where nobody listened it is hatched, where a device was silent it is
 * dotted, where the time of readings is in doubt it is veiled with blurred edges, and what central has not been sent yet is dashed. Each is told from the others by its form, so also without colour and on paper.
 */

/** The definitions that `Nothing` fills with: once in a page, before the first plot. */
export function Patterns() {
  const { tile, hatch, dots, dash, veil } = nothingLook;
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
export function fillOf(why: UncoveredWhy): string {
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
        return (
          <rect
            key={`${span.why} ${span.from_ms}`}
            class="nothing"
            data-why={span.why}
            x={`${left.toFixed(3)}%`}
            width={`${(right - left).toFixed(3)}%`}
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

/** One line that says how each kind of nothing is drawn; `away`: also what is not here yet, which a gateway does not have. */
export function Legend({ away = false }: { away?: boolean }) {
  const whys = Object.entries(meanings).filter(([why]) => away || why !== "away");
  return (
    <ul class="legend" aria-label="How nothing is drawn">
      <li>
        <Swatch /> nothing happened
      </li>
      {whys.map(([why, meaning]) => (
        <li key={why}>
          <Swatch why={why as UncoveredWhy} /> {meaning}
        </li>
      ))}
    </ul>
  );
}

function Swatch({ why }: { why?: UncoveredWhy }) {
  return (
    <svg class="swatch" width="32" height="14" aria-hidden="true" focusable="false">
      {why === undefined ? null : <rect width="100%" height="100%" fill={fillOf(why)} />}
    </svg>
  );
}

/** The words of the legend. */
export const meanings: Readonly<Record<UncoveredWhy, string>> = {
  not_listening: "nobody was listening",
  silent: "the device was silent",
  doubt: "the time is in doubt",
  away: "not here yet",
};
