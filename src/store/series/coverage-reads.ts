import type { Kind } from "../../domain/kinds.ts";
import type { GapReason } from "../../domain/reading.ts";
import type { Item } from "../../domain/records/item.ts";
import type { HomeDeviceCoverage } from "../central/central-store.ts";
import { objects, reach, rowsOf, rowsOfAll, type Work, withoutNulls } from "../database.ts";
import { everyDevice, isOfDevice, type Named } from "../erasure.ts";
import { pausesIn } from "../inventory/pausing.ts";
import { always } from "../inventory/placements.ts";
import type { Pause } from "../pause.ts";
import type { CoverageInterval, CoverageRequest } from "../store.ts";
import {
  type CoverageFacts,
  coverageOf,
  isOverdue,
  type PausedTime,
  type StartStop,
} from "./coverage-intervals.ts";
import { placedStreams } from "./streams.ts";

/** When an item was covered: see `Store.coverage`. To be read in one snapshot. */
export function* coverage(request: CoverageRequest): Work<CoverageInterval[]> {
  const stays = yield* rowsOf(
    objects<StayRow>(`${heardStays} WHERE stays.item = $1 ORDER BY from_ms`, request.item),
  );
  const seen = stays.filter(({ home }) => request.homes?.includes(home) ?? true);
  if (seen[0] === undefined) return [];
  const facts: CoverageFacts["stays"][number][] = [];
  for (const stay of seen) facts.push({ ...stayOf(stay), ...(yield* interruptionsOf(stay)) });
  return coverageOf({ ...deviceOf(seen[0]), stays: facts }, request);
}

/** See `CentralStore.coverageIn`. To be read in one snapshot. */
export function* coverageIn(homes: readonly number[], during: StartStop): Work<HomeDeviceCoverage[]> {
  const stays = yield* rowsOf(
    objects<StayRow>(
      `${heardStays} WHERE streams.home = ANY ($1::bigint[]) AND stays.from_ms < $2 AND stays.before_ms > $3
       ORDER BY streams.home, stays.item, stays.from_ms`,
      homes,
      during.stop_ms,
      during.start_ms,
    ),
  );
  yield* reach(homes);
  const streams = stays.map(({ stream }) => stream);
  const [silences, outages, gaps] = yield* rowsOfAll(
    objects<StartStop & OfStream>(
      `SELECT stream, start_ms, stop_ms FROM silences WHERE stream = ANY ($1::bigint[]) AND home = ANY ($2::bigint[])
       AND stop_ms > $3 AND start_ms < $4 ORDER BY stream, start_ms LIMIT ${interruptions_max}`,
      ...[streams, homes, during.start_ms, during.stop_ms],
    ),
    objects<Outage>(
      `SELECT home, listener, start_ms, stop_ms FROM outages WHERE home = ANY ($1::bigint[])
       AND stop_ms > $2 AND start_ms < $3 ORDER BY home, listener, start_ms LIMIT ${interruptions_max}`,
      ...[homes, during.start_ms, during.stop_ms],
    ),
    objects<GapRow & OfStream>(
      `SELECT stream, from_ms AS start_ms, to_ms AS stop_ms, reason, lost FROM gaps
       WHERE stream = ANY ($1::bigint[]) AND home = ANY ($2::bigint[]) AND to_ms > $3 AND from_ms < $4
       ORDER BY stream, from_ms, to_ms, reason LIMIT ${interruptions_max}`,
      ...[streams, homes, during.start_ms, during.stop_ms],
    ),
  );
  const pausesOf = pausesByHome(yield* pausesIn(homes));
  const outagesOf = outagesByListener(outages);
  const silencesOf = Map.groupBy(silences, ({ stream }) => stream);
  const gapsOf = Map.groupBy(gaps, ({ stream }) => stream);
  return stays.flatMap((stay) => {
    const device = deviceOf(stay);
    const facts = {
      ...stayOf(stay),
      silences: silencesOf.get(stay.stream) ?? [],
      driverOutages: outagesOf(stay.home, stay.listener),
      gatewayOutages: outagesOf(stay.home, "gateway"),
      gaps: (gapsOf.get(stay.stream) ?? []).map(withoutNulls),
      pauses: pausesOf(stay.home, device),
    };
    const all = { before_ms: during.stop_ms, skip: 0, limit: Number.MAX_SAFE_INTEGER };
    const known = coverageOf({ ...device, stays: [facts] }, all).filter(
      ({ stop_ms }) => stop_ms > during.start_ms,
    );
    const [newest, oldest] = [known[0], known.at(-1)];
    if (newest === undefined || oldest === undefined) return [];
    return {
      home: stay.home,
      start_ms: Math.max(oldest.start_ms, during.start_ms),
      stop_ms: Math.min(newest.stop_ms, during.stop_ms),
      uncovered: known.filter(({ state }) => state !== "covered"),
    };
  });
}

interface OfStream {
  readonly stream: number;
}

/** Of some homes together: what goes beyond is left out, so that no home's devices can keep the store from answering. */
const interruptions_max = 200_000;

function* interruptionsOf(stay: StayRow): Work<Interruptions> {
  const { stream, home, listener } = stay;
  const [silences, outages, gaps] = yield* rowsOfAll(
    objects<StartStop>(
      "SELECT start_ms, stop_ms FROM silences WHERE stream = $1 AND home = $2 ORDER BY start_ms",
      stream,
      home,
    ),
    objects<Outage>(
      `SELECT home, listener, start_ms, stop_ms FROM outages
       WHERE home = $1 AND listener = ANY ($2::text[]) ORDER BY listener, start_ms`,
      home,
      [listener, "gateway"],
    ),
    objects<GapRow>(
      `SELECT from_ms AS start_ms, to_ms AS stop_ms, reason, lost FROM gaps WHERE stream = $1 AND home = $2
       ORDER BY from_ms, to_ms, reason`,
      stream,
      home,
    ),
  );
  const of = outagesByListener(outages);
  return {
    silences,
    driverOutages: of(home, listener),
    gatewayOutages: of(home, "gateway"),
    gaps: gaps.map(withoutNulls),
    pauses: pausesByHome(yield* pausesIn([home]))(home, deviceOf(stay)),
  };
}

type Interruptions = Pick<
  CoverageFacts["stays"][number],
  "silences" | "driverOutages" | "gatewayOutages" | "gaps" | "pauses"
>;

/** An item where it lives now, and what its home has heard of it there. */
export interface LatestPlacement extends Omit<StayRow, "stream" | "record">, Pick<CoverageFacts, "subtype"> {
  readonly item: number;
  readonly kind: Kind;
  readonly itemid: number;
}

/** Keys of the items that have been silent for too long by now, in the home where they live. To be read in one snapshot. */
export function* overdueItems(stays: readonly LatestPlacement[]): Work<Set<number>> {
  const silent = stays.filter((stay) => isSilent(stay, [], []));
  const byHome = [...Map.groupBy(silent, ({ home }) => home)];
  const outages = yield* rowsOfAll<Outage[]>(...byHome.map(([home, of]) => outagesSince(home, of)));
  const of = outagesByListener(outages.flat());
  const paused = pausesByHome(silent.length === 0 ? [] : yield* pausesIn(byHome.map(([home]) => home)));
  return new Set(
    silent
      .filter((stay) => isSilent(stay, of(stay.home, stay.listener), paused(stay.home, stay)))
      .map(({ item }) => item),
  );
}

/** Outages of the drivers of some stays in a home: those that ended before an item was heard do not count for the time that it has been silent. */
function outagesSince(home: number, stays: readonly LatestPlacement[]) {
  return objects<Outage>(
    `SELECT home, listener, start_ms, stop_ms FROM outages
     WHERE home = $1 AND listener = ANY ($2::text[]) AND stop_ms > $3 ORDER BY listener, start_ms`,
    home,
    [...new Set(stays.map(({ listener }) => listener))],
    stays.reduce((least_ms, { heard_ms }) => Math.min(least_ms, heard_ms), always.before_ms),
  );
}

function isSilent(
  stay: LatestPlacement,
  driverOutages: readonly StartStop[],
  pauses: readonly PausedTime[],
): boolean {
  const facts = { ...stayOf(stay), driverOutages, pauses, silences: [], gatewayOutages: [], gaps: [] };
  return isOverdue({ kind: stay.kind, subtype: stay.subtype, stays: [facts] });
}

/** Stays of items in homes that have heard them. */
const heardStays = `
  SELECT stays.item, streams.key AS stream, streams.home, streams.address, items.record, from_ms, before_ms, states.first_ms, heard_ms, listener, last_ms
  FROM ${placedStreams} JOIN items ON items.key = stays.item JOIN stream_states AS states ON states.stream = streams.key
    LEFT JOIN listeners ON listeners.home = states.home AND name = listener`;

interface StayRow {
  readonly stream: number;
  readonly home: number;
  readonly address: string;
  readonly record: string;
  readonly from_ms: number;
  readonly before_ms: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly last_ms: number | null;
}

interface Outage extends StartStop {
  readonly home: number;
  readonly listener: string;
}

interface GapRow extends StartStop {
  readonly reason: GapReason;
  readonly lost: number | null;
}

function stayOf({ from_ms, before_ms, first_ms, heard_ms, last_ms }: Omit<StayRow, "stream" | "record">) {
  return { from_ms, before_ms, first_ms, heard_ms, listened_ms: last_ms ?? undefined };
}

function deviceOf({ record, address }: StayRow) {
  const { typename, subtypename, itemid } = JSON.parse(record) as Item;
  return { kind: typename as Kind, subtype: subtypename, itemid, address };
}

function pausesByHome(pauses: readonly Pause[]) {
  const by = Map.groupBy(pauses, ({ home }) => home);
  return (home: number, device: Named): readonly PausedTime[] =>
    (by.get(home) ?? [])
      .filter((pause) => isOfDevice({ ...everyDevice, ...pause }, device))
      .map(({ from_ms, before_ms, why }) => ({ start_ms: from_ms, stop_ms: before_ms, why }));
}

function outagesByListener(
  outages: readonly Outage[],
): (home: number, listener: string | null) => readonly StartStop[] {
  const by = Map.groupBy(outages, ({ home, listener }) => `${home} ${listener}`);
  return (home, listener) => by.get(`${home} ${listener}`) ?? [];
}
