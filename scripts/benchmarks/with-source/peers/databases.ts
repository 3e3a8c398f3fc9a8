import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Batch, valuesAt } from "../../../../src/store/batch.ts";
import { valueColumns } from "../../../../src/store/series/series-columns.ts";
import { postgresServer } from "../../../../testbed/postgres/server.ts";
import { SimulatedGateway } from "../../../../testbed/simulated-gateway.ts";
import { quantile, type Report } from "../../api/report.ts";
import { InfluxDb, type TimeSeries, VictoriaMetrics } from "../../peers/time-series.ts";
import { BareCopy } from "../central/bare-copy.ts";
import { CentralServer, encoded, type Kept, keptIn, seconds } from "../central/central-server.ts";
import { deviceIn, epochOf, sensorReadings, simulated } from "../central/home-data.ts";

/**
 * Events of twenty sensors in each of four homes, sent by all homes at once in requests of 8,192: to `lintel central` on SQLite and on PostgreSQL, to databases for time
 * series, and by a bare COPY into the tables of central, which nothing on PostgreSQL can pass. Then the newest 1,000 events of an item over HTTP, and
 * the bytes on disk. All but VictoriaMetrics have them on disk before they acknowledge.
 */
export async function databases(report: Report, { quick }: { quick: boolean }): Promise<void> {
  const size = quick ? { rounds: 2, nights: 2, pages: 20 } : { rounds: 5, nights: 8, pages: 400 };
  await using opened = new AsyncDisposableStack();
  const ours: Side[] = [];
  for (const kept of ["sqlite", "postgres"] as const)
    ours.push(centralSide(kept, opened.use(await CentralServer.start({ kept, homes }))));
  const copy = copySide(opened.use(await BareCopy.open()));
  const others: Side[] = [];
  const series: TimeSeries[] = [];
  for (const Kind of [InfluxDb, VictoriaMetrics]) {
    if (!existsSync(Kind.program)) {
      report.absent(Kind === InfluxDb ? "InfluxDB" : "VictoriaMetrics", Kind.install);
      continue;
    }
    const started = opened.use(await new Kind().start());
    series.push(started);
    others.push(linesSide(started));
  }
  const nights = size.rounds * size.nights;
  const uploads = new Map(homes.map((home) => [home, nightsOf(home, nights)]));
  const rates = await ingested([...ours, copy, ...others], uploads, size.nights);
  const beside = (what: string, figures: ReadonlyMap<Side, number>, to: readonly Side[]) => {
    for (const one of ours)
      for (const other of to)
        report.beside(`${what}, ${one.name}`, figures.get(one) ?? Number.NaN, {
          name: other.name,
          figure: figures.get(other) ?? Number.NaN,
        });
  };
  beside("events taken in a second", rates, [copy, ...others]);
  for (const started of series) await started.flush();
  const times = await pageTimes([...ours, ...others], uploads, size.pages);
  const at = (q: number) => new Map([...times].map(([side, spent]) => [side, quantile(spent, q)]));
  beside("newest 1,000 of an item, median, ms", at(0.5), others);
  beside("newest 1,000 of an item, 99 of 100, ms", at(0.99), others);
  const bytes = new Map<Side, number>();
  const events = nights * homes.length * night_events;
  for (const [index, kept] of (["sqlite", "postgres"] as const).entries())
    bytes.set(ours[index] as Side, (await storedBytes(kept, uploads)) / events);
  for (const [index, started] of series.entries()) {
    await started.settle();
    bytes.set(others[index] as Side, (await started.bytes()) / events);
  }
  beside("bytes on disk of an event", bytes, others);
}

interface Side {
  readonly name: string;
  /** Makes a batch of a home ready: sending it is all that is left. */
  ready(batch: Batch, home: number): Promise<() => Promise<unknown>>;
  page?(of: Newest): Promise<Uint8Array>;
}

/** The newest 1,000 events of an item after some, and the times that they lie between. */
interface Newest {
  readonly home: number;
  readonly address: string;
  readonly skip: number;
  readonly from_ms: number;
  readonly before_ms: number;
}

function centralSide(kept: Kept, server: CentralServer): Side {
  return {
    name: `central on ${keptIn[kept]}`,
    ready: async (batch, home) => {
      const ready = encoded(batch);
      return () => server.send(home, ready);
    },
    page: async ({ address, skip }) => {
      const path = `/items/wirelesssensors/wirelesssensor-${address.replaceAll(":", "")}/events?skip=${skip}`;
      const headers = { authorization: `bearer ${server.readToken}`, accept: "application/json" };
      const response = await fetch(`${server.origin}/v0.9${path}`, { headers });
      if (!response.ok) throw new Error(`${path}: ${response.status}`);
      return await response.bytes();
    },
  };
}

function copySide(bare: BareCopy): Side {
  return {
    name: "bare COPY into PostgreSQL",
    ready: async (batch) => {
      const ready = await bare.ready(batch);
      return () => bare.copy([ready]);
    },
  };
}

function linesSide(series: TimeSeries): Side {
  return {
    name: series.name,
    ready: async (batch, home) => {
      const lines = eventsOf(batch)
        .map(
          ({ address, stamp_ms, event }) => `event,home=${home},item=${address} value=${event}i ${stamp_ms}`,
        )
        .join("\n");
      return () => series.send(lines);
    },
    page: ({ address, ...of }) => series.page({ ...of, item: address }),
  };
}

function eventsOf({ devices, series }: Batch): { address: string; stamp_ms: number; event: number }[] {
  const columns = series[motion];
  if (columns === undefined) throw new Error("a batch without events");
  const at = valueColumns(motion).findIndex(({ name }) => name === "event");
  return Array.from(columns.stamp_ms, (stamp_ms, row) => ({
    address: devices[columns.device[row] as number]?.address ?? "",
    stamp_ms,
    event: Number(valuesAt(columns, row)[at]),
  }));
}

/** Nights of a home, no two alike. */
function nightsOf(home: number, nights: number): Batch[] {
  const gateway = new SimulatedGateway(home, `home ${home}`);
  for (const reading of sensorReadings(nights * night_events, home))
    gateway.add({ ...simulated(reading), device: deviceIn(home, reading.device) });
  return Array.from({ length: nights }, (_, night) => {
    const batch = gateway.batch(night * night_events + 1, (night + 1) * night_events);
    return { ...batch, epoch: epochOf(home) };
  });
}

type Uploads = ReadonlyMap<number, readonly Batch[]>;

/** Events a second of each side: the median of some rounds of so many nights, the sides in turns, all homes at once. */
async function ingested(
  sides: readonly Side[],
  uploads: Uploads,
  nights: number,
): Promise<Map<Side, number>> {
  const rates = new Map<Side, number[]>(sides.map((side) => [side, []]));
  const rounds = (uploads.get(homes[0] ?? 0)?.length ?? 0) / nights;
  for (let round = 0; round < rounds; round += 1) {
    for (const side of sides) {
      const ready = await Promise.all(
        Array.from(uploads, ([home, batches]) =>
          Promise.all(
            batches.slice(round * nights, (round + 1) * nights).map((batch) => side.ready(batch, home)),
          ),
        ),
      );
      const took_s = await seconds(() =>
        Promise.all(
          ready.map(async (sends) => {
            for (const send of sends) await send();
          }),
        ),
      );
      // The first round makes items, series and plans.
      if (round > 0) rates.get(side)?.push((homes.length * nights * night_events) / took_s);
    }
  }
  return new Map([...rates].map(([side, all]) => [side, quantile(all, 0.5)]));
}

/** Milliseconds of each page; no page is asked for twice, so that none comes from a cache of answers. */
async function pageTimes(
  sides: readonly Side[],
  uploads: Uploads,
  pages: number,
): Promise<Map<Side, number[]>> {
  const times = new Map<Side, number[]>(sides.map((side) => [side, []]));
  const stamps = new Map<string, { home: number; stamps_ms: number[] }>();
  for (const [home, batches] of uploads)
    for (const batch of batches)
      for (const { address, stamp_ms } of eventsOf(batch)) {
        const known = stamps.get(address) ?? { home, stamps_ms: [] };
        known.stamps_ms.push(stamp_ms);
        stamps.set(address, known);
      }
  const items = [...stamps].map(([address, { home, stamps_ms }]) => {
    return { address, home, stamps_ms: stamps_ms.sort((one, other) => other - one) };
  });
  const warm_up = items.length;
  for (let asked = 0; asked < warm_up + pages; asked += 1) {
    const { address, home, stamps_ms } = items[asked % items.length] as (typeof items)[number];
    const skip = Math.floor(asked / items.length);
    const before_ms = (stamps_ms[skip] ?? 0) + 1;
    const from_ms = stamps_ms[skip + page_events - 1] ?? 0;
    for (const side of asked % 2 === 0 ? sides : sides.toReversed()) {
      const began_ms = performance.now();
      const page = await side.page?.({ home, address, skip, from_ms, before_ms });
      if (asked >= warm_up) times.get(side)?.push(performance.now() - began_ms);
      if ((page?.length ?? 0) < page_bytes_min) throw new Error(`${side.name} answers less than a page`);
    }
  }
  return times;
}

const homes = [1, 2, 3, 4];
const motion = "wirelesssensor_events";
const night_events = 8_192;
const page_events = 1_000;
/** VictoriaMetrics says stamps and values only. */
const page_bytes_min = 15_000;

/**
 * Bytes of a central's database whose homes have uploaded night by night, as gateways do. PostgreSQL is vacuumed after each night, as autovacuum would by
 * the next.
 */
export async function storedBytes(
  kept: Kept,
  uploads: ReadonlyMap<number, readonly Batch[]>,
): Promise<number> {
  await using central = await CentralServer.start({ kept, homes: [...uploads.keys()] });
  const { place } = central;
  const bytes = async () => {
    if ("directory" in place) return statSync(join(place.directory, "lintel.db")).size;
    const name = new URL(place.database).pathname.slice(1);
    await (await postgresServer()).run("VACUUM (ANALYZE)", name);
    const [row] = await (await postgresServer()).run(`SELECT pg_database_size('${name}') AS bytes`);
    return Number(row?.["bytes"]);
  };
  const empty_bytes = await bytes();
  for (const night of (uploads.values().next().value ?? []).keys()) {
    for (const [home, batches] of uploads) {
      await central.send(home, encoded(batches[night] as Batch));
    }
    if (kept === "postgres") await bytes();
  }
  // The log of a SQLite database is put into it at the end.
  await central.stop();
  return (await bytes()) - (kept === "postgres" ? empty_bytes : 0);
}
