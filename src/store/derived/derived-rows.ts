import type { RecentlyUsed } from "../../base/recently-used.ts";
import { day_ms, isIn, localDate, startOfDate_ms, type TimeSpan } from "../../base/time.ts";
import { type DerivedName, derivedNames, derivedOf } from "../../domain/derived/derived-table.ts";
import type { DerivedRow, HomeData } from "../../domain/derived/home-data.ts";
import type { VisibleStore } from "../visible-store.ts";
import {
  type AskedMeasure,
  type FoundHome,
  foundHome,
  homeDataOf,
  type MeasuredHome,
  ofHome,
} from "./home-readings.ts";

/** Rows that are remembered, by what they were made of. A row weighs one. */
export type DerivedMemory = RecentlyUsed<readonly DerivedRow[]>;

/** The month of the calendar that a moment lies in. */
export function monthAt(zone: string, at_ms: number): TimeSpan {
  const first = Temporal.PlainDate.from(localDate(zone, at_ms)).with({ day: 1 });
  const start = (date: Temporal.PlainDate) => startOfDate_ms(zone, date.toString()) ?? 0;
  return { from_ms: start(first), to_ms: start(first.add({ months: 1 })) };
}

/**
 * Rows of a measure whose time began in a span, oldest first. They are made month by month, as the interface makes them, so that pages, reports and the interface
 * have the same numbers.
 */
export async function derivedRows(
  asked: MeasuredHome,
  of: AskedMeasure & { readonly memory?: DerivedMemory },
  span: TimeSpan,
): Promise<DerivedRow[]> {
  const rows: DerivedRow[] = [];
  const until_ms = Math.min(span.to_ms, asked.now_ms + 1);
  for (let at_ms = span.from_ms; at_ms < until_ms; ) {
    const month = monthAt(asked.zone, at_ms);
    rows.push(...(await rowsOfMonth(asked, of, month)).toReversed());
    at_ms = month.to_ms;
  }
  return rows.filter(({ at_ms }) => isIn(span, at_ms));
}

/** All that a measure of a span is made of, for what else it tells. */
export async function homeDataIn(asked: MeasuredHome, of: AskedMeasure, span: TimeSpan): Promise<HomeData> {
  return homeDataOf(asked, await foundHome(asked, of, span), span);
}

/** Rows of a whole month, newest first. */
export async function rowsOfMonth(
  asked: MeasuredHome,
  { memory, ...of }: AskedMeasure & { readonly memory?: DerivedMemory },
  month: TimeSpan,
): Promise<readonly DerivedRow[]> {
  const found = await foundHome(asked, of, month);
  const mark = memory && (await markOf(asked, of, found, month));
  const known = mark === undefined ? undefined : memory?.get(mark);
  if (known !== undefined) return known;
  const rows = newestFirst(of.name, await homeDataOf(asked, found, month));
  if (mark !== undefined) memory?.set(mark, rows, rows.length + 1);
  return rows;
}

/** Rows of all measures of a month, each newest first. Those that are made of the same readings of the same days share what was read. */
export async function* rowsOfAllMeasures(
  asked: MeasuredHome,
  month: TimeSpan,
): AsyncGenerator<readonly [DerivedName, readonly DerivedRow[]]> {
  const gathered = new Map<string, HomeData>();
  for (const name of derivedNames) {
    const { madeOf, reach_days } = derivedOf(name);
    const readings = `${madeOf.join()} ${reach_days}`;
    const home = gathered.get(readings) ?? (await homeDataIn(asked, { name }, month));
    gathered.set(readings, home);
    yield [name, newestFirst(name, home)];
  }
}

function newestFirst(name: DerivedName, home: HomeData): DerivedRow[] {
  return derivedOf(name)
    .derive(home)
    .sort((one, other) => other.at_ms - one.at_ms);
}

/** A store that reads the same once: most measures of a home are made of the same readings. For one request, because it forgets nothing. */
export function readOnce(store: VisibleStore): VisibleStore {
  const answers = new Map<string, unknown>();
  const once = Object.create(store);
  for (const name of readAgain)
    once[name] = (...asked: unknown[]) => {
      const key = `${name} ${JSON.stringify(asked)}`;
      if (!answers.has(key)) answers.set(key, (store[name] as (...asked: unknown[]) => unknown)(...asked));
      return answers.get(key);
    };
  return once;
}
const readAgain = ["items", "item", "givenNames", "coverage", "page", "oldestFirst"] as const;

/** All that the rows of a month depend on, as a text: of a month that can still change, also the minute. */
async function markOf(
  asked: MeasuredHome,
  { name, only = [] }: AskedMeasure,
  { items, lines, away, read }: FoundHome,
  month: TimeSpan,
): Promise<string> {
  const { store, home, zone, now_ms } = asked;
  const page = { before_ms: read.to_ms, skip: 0, limit: 1, precision: "ms", ...ofHome(home) } as const;
  const marks: string[] = [];
  for (const { key, series } of items)
    for (const one of series) marks.push(await store.pageMark({ ...page, series: one, item: key }));
  const isOver = now_ms > month.to_ms + derivedOf(name).reach_days * day_ms;
  const minute = isOver ? "" : Math.floor(now_ms / 60_000);
  // Coverage of now grows with each minute.
  const told = isOver ? items : items.map(({ covered, last_ms, ...item }) => item);
  const all = JSON.stringify([name, only, home, zone, month, lines, away, minute, told, marks]);
  return new Bun.CryptoHasher("sha256").update(all).digest("base64url");
}
