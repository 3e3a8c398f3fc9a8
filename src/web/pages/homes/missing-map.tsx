import { Swatch } from "../parts/swatch.tsx";
import { HeadCell, Table } from "../parts/table.tsx";
import { nothingWords } from "../parts/uncovered-look.ts";
import { fillOf, Patterns } from "../parts/uncovered-shapes.tsx";
import { calendarText } from "../time-text.ts";
import type { MissingRow } from "./daily-arrivals.ts";
import { HomeCell } from "./homes-tables.tsx";

/** Days of homes, and how much of the time of their devices is missing in each, by reason. */
export function MissingMap(of: { map: readonly MissingRow[]; days: readonly string[]; locale: string }) {
  const { map, days, locale } = of;
  const width = days.length * cell;
  return (
    <>
      <Patterns />
      <ul class="legend" aria-label="How missing data is drawn">
        {legend.map(([height, words, fill]) => (
          <li key={words}>
            <PartSwatch height={height} fill={fill} /> {words}
          </li>
        ))}
      </ul>
      <p class="quiet">A higher mark means that more time of the home's devices is missing on that day.</p>
      <Table
        name="Missing data"
        newest="right"
        head={[
          "Home",
          <HeadCell key="days">
            <svg
              class="dates"
              width={width}
              height="16"
              role="img"
              aria-label={`${days[0]} to ${days.at(-1)}`}
            >
              {days.map((day, place) =>
                new Date(day).getUTCDay() === 1 && place + dates_apart < days.length ? (
                  <text key={day} x={place * cell} y="12">
                    {calendarText(day, locale)}
                  </text>
                ) : null,
              )}
            </svg>
          </HeadCell>,
          "Missing",
        ]}
      >
        {map.map((row) => (
          <tr key={row.homeid}>
            <HomeCell homeid={row.homeid} />
            <td class="nights">
              <DayCells row={row} days={days} locale={locale} />
            </td>
            <td class="number">{row.told === 0 ? "" : `${row.percent} %`}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

const legend: readonly (readonly [height: number, words: string, fill?: string])[] = [
  [0, "nothing is missing"],
  [10, nothingWords.not_listening, fillOf("not_listening")],
  [10, nothingWords.silent, fillOf("silent")],
  [10, "events were lost"],
  [10, nothingWords.away, fillOf("away")],
];

function DayCells({ row, days, locale }: { row: MissingRow; days: readonly string[]; locale: string }) {
  const width = days.length * cell;
  return (
    <svg class="map" role="img" aria-label={rowText(row, days, locale)} width={width} height={cell_height}>
      <line
        class="ground"
        x1={row.first * cell}
        x2={row.end * cell}
        y1={cell_height - 0.5}
        y2={cell_height - 0.5}
      />
      {row.away.map((place) => (
        <rect
          key={place}
          class="some"
          fill={fillOf("away")}
          x={place * cell + 0.5}
          y="0.5"
          width={cell - 1}
          height={cell_height - 1}
        />
      ))}
      {row.days.map(([place, not_listening, silent, lost]) => {
        const heights = [not_listening, silent, lost].map((percent) => heightOf(percent));
        const [deaf = 0, mute = 0, gone = 0] = heights;
        const bar = (height: number, above: number, fill?: string) =>
          height === 0 ? null : (
            <rect
              class={fill === undefined ? "lost" : "some"}
              fill={fill}
              x={place * cell + 0.5}
              width={cell - 1}
              y={Math.max(0.5, cell_height - 0.5 - above - height)}
              height={height}
            />
          );
        return (
          <g key={place}>
            <title>{`${calendarText(days[place] as string, locale)}: ${dayWords(not_listening, silent, lost)}`}</title>
            {bar(deaf, 0, fillOf("not_listening"))}
            {bar(mute, deaf, fillOf("silent"))}
            {bar(gone, deaf + mute)}
          </g>
        );
      })}
    </svg>
  );
}

/** Pixels of a share; any at all is to be seen. */
function heightOf(percent: number): number {
  return percent === 0 ? 0 : Math.max(least_height, Math.round((percent * (cell_height - 1)) / 100));
}

function rowText(
  { days, away, told, percent }: MissingRow,
  dates: readonly string[],
  locale: string,
): string {
  const worst = days
    .toSorted((one, other) => lossOf(other) - lossOf(one))
    .slice(0, told_max)
    .map(([place, ...why]) => `${calendarText(dates[place] as string, locale)} ${dayWords(...why)}`);
  return [
    told === 0 ? "nothing is known" : `${percent} % missing of ${told} days`,
    ...worst,
    ...(away.length === 0 ? [] : [`${away.length} days ${nothingWords.away}`]),
  ].join("; ");
}

function lossOf([, ...percents]: readonly number[]): number {
  return percents.reduce((sum, percent) => sum + percent, 0);
}

function dayWords(not_listening: number, silent: number, lost: number): string {
  return [
    ...(not_listening === 0 ? [] : [`${not_listening} % ${nothingWords.not_listening}`]),
    ...(silent === 0 ? [] : [`${silent} % ${nothingWords.silent}`]),
    ...(lost === 0 ? [] : [`${lost} % events were lost`]),
  ].join(", ");
}

function PartSwatch({ height, fill }: { height: number; fill?: string | undefined }) {
  return (
    <Swatch width={14}>
      <rect class={fill === undefined ? "lost" : "some"} fill={fill} x="2" y="2" width="10" height={height} />
    </Swatch>
  );
}

const cell = 10;
const cell_height = 22;
/** Less is not told from nothing. */
const least_height = 4;
/** Days that a date needs to be written. */
const dates_apart = 4;
/** The worst days of a home that are said. */
const told_max = 3;
