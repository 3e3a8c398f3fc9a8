import UPlot from "uplot";
import type { CurveOptions, Drawing } from "../parts/plots.ts";
import { clockText, monthDateText, numberText, preciseText, yearDateText } from "../time-text.ts";
import { fillNothing, inkOf } from "./ink.ts";

/** Draws curves into a box: values as points, their lines only where nothing was missed, what is not known behind them. */
export function drawCurve(box: HTMLElement, options: CurveOptions): Drawing {
  let plot = made(box, options);
  const again = () => {
    plot?.destroy();
    plot = made(box, options);
  };
  let width = box.clientWidth;
  const resized = new ResizeObserver(() => {
    if (box.clientWidth !== width) again();
    width = box.clientWidth;
  });
  resized.observe(box);
  const ended = new AbortController();
  const { signal } = ended;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again, { signal });
  box.addEventListener("keydown", (event) => plot !== undefined && step(plot, event), { signal });
  return {
    refresh: again,
    stop: () => {
      ended.abort();
      resized.disconnect();
      plot?.destroy();
    },
  };
}

function made(box: HTMLElement, options: CurveOptions): UPlot | undefined {
  const { curve, uncovered, from_ms, to_ms, times, said } = options;
  const probe = document.createElement("canvas").getContext("2d");
  if (probe === null || box.clientWidth === 0) return undefined;
  box.append(probe.canvas);
  const ink = inkOf(probe, devicePixelRatio);
  probe.canvas.remove();
  const { trend, lines } = curve;
  const data: UPlot.AlignedData = [
    curve.at_ms.map((at_ms) => at_ms / 1_000),
    ...lines.map(({ values }) => [...values]),
    ...(trend === undefined ? [] : [[...trend.upper], [...trend.lower], [...trend.median]]),
  ];
  const line = (at: number): UPlot.Series => ({
    stroke: ink.accent,
    width: trend === undefined ? 1.5 : 0,
    dash: dashes[at] ?? [],
    points: { show: lines.length === 1 && curve.at_ms.length < points_max, size: 5, fill: ink.accent },
  });
  const axis: UPlot.Axis = {
    stroke: ink.quiet,
    grid: { stroke: ink.line, width: 1 },
    ticks: { stroke: ink.line },
  };
  const hidden: UPlot.Series = { width: 0, points: { show: false } };
  const tickText = (at_ms: number) =>
    to_ms - from_ms > hours_shown_ms ? monthDateText(at_ms, times) : clockText(at_ms, times);
  const plot = new UPlot(
    {
      width: box.clientWidth,
      height: height_px,
      tzDate: (unix_s) => UPlot.tzDate(new Date(unix_s * 1_000), times.zone),
      legend: { show: false },
      scales: { x: { time: true, min: from_ms / 1_000, max: to_ms / 1_000 } },
      axes: [
        { ...axis, values: (_, ticks) => ticks.map((tick) => tickText(tick * 1_000)) },
        { ...axis, values: (_, ticks) => ticks.map((tick) => numberText(tick, times.locale, curve.digits)) },
      ],
      series: [
        {},
        ...lines.map((_, at) => line(at)),
        ...(trend === undefined
          ? []
          : [hidden, hidden, { stroke: ink.text, width: 1.5, points: { show: false } }]),
      ],
      ...(trend === undefined
        ? {}
        : { bands: [{ series: [lines.length + 1, lines.length + 2], fill: `${ink.accent}33` }] }),
      hooks: {
        drawClear: [
          (u) => {
            u.ctx.save();
            u.ctx.scale(devicePixelRatio, devicePixelRatio);
            const [top, height] = [u.bbox.top, u.bbox.height].map((px) => px / devicePixelRatio);
            const x = (at_ms: number) => u.valToPos(at_ms / 1_000, "x", true) / devicePixelRatio;
            const edge = (at_ms: number) => x(Math.min(to_ms, Math.max(from_ms, at_ms)));
            for (const span of uncovered) {
              const [left, right] = [edge(span.from_ms), edge(span.to_ms)];
              fillNothing(u.ctx, ink, span.why, [left, top ?? 0, right - left, height ?? 0]);
            }
            u.ctx.restore();
          },
        ],
        draw: [
          (u) => {
            const values: readonly (number | null | undefined)[] = [...(u.data[1] ?? [])];
            box.dataset["points"] = String(values.filter((value) => value !== null).length);
            box.dataset["breaks"] = String(values.filter((value) => value === null).length);
            box.dataset["last"] = String(values.findLast((value) => value !== null));
          },
        ],
        setCursor: [(u) => said(u.cursor.idx == null ? "" : wordsAt(u.cursor.idx, options))],
      },
    },
    data,
    box,
  );
  return plot;
}

function wordsAt(index: number, { curve, times }: CurveOptions): string {
  const parts = curve.lines.flatMap(({ title, values }) => {
    const value = values[index] ?? null;
    return value === null ? [] : [`${title} ${numberText(value, times.locale, curve.digits)} ${curve.unit}`];
  });
  const week_ms = curve.weeks_ms?.[index];
  const when =
    week_ms === undefined
      ? preciseText(curve.at_ms[index] ?? 0, times)
      : `Week of ${yearDateText(week_ms, times)}`;
  return parts.length === 0 ? `${when}: not known` : `${when}: ${parts.join(", ")}`;
}

/** Goes from value to value. */
function step(plot: UPlot, event: KeyboardEvent): void {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const last = plot.data[0].length - 1;
  const to = Math.min(last, Math.max(0, (plot.cursor.idx ?? (by > 0 ? -1 : last + 1)) + by));
  const value = plot.data.slice(1).find((values) => values[to] != null)?.[to] ?? 0;
  plot.setCursor({ left: plot.valToPos(plot.data[0][to] ?? 0, "x"), top: plot.valToPos(value ?? 0, "y") });
}

const height_px = 260;
/** More points than these hide their line. */
const points_max = 500;
/** A span that is no longer has its axis in hours. */
const hours_shown_ms = 2 * 86_400_000;
/** Lines of one plot are told apart without colour. */
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
