import { day_ms } from "../../../../src/base/time.ts";
import type { CentralStore } from "../../../../src/store/central/central-store.ts";
import { postgresServer } from "../../../../testbed/postgres/server.ts";
import type { TestServer } from "../../../../testbed/postgres/test-server.ts";
import { seeded, sensor, sensorEvent } from "../../../../testbed/sample.ts";
import { type Connection, connect } from "../../api/connection.ts";
import { quantile, type Report } from "../../api/report.ts";
import { CentralServer, type Kept, keptIn, seconds } from "./central-server.ts";
import { deviceIn, HomeData } from "./home-data.ts";

/**
 * How long a page of 1,000 readings takes at a central of 1,000 homes and 10,000,000 readings, against one of 10 homes and 100,000: homes and items
 * are as large in both, so that only what is around them differs. The newest page and one passed over 3,800 readings or more, of items without
 * a pattern, asked of both centrals in turns; no page is asked for twice, so that none comes from a cache of answers.
 */
export async function pages(report: Report): Promise<void> {
  for (const kept of ["sqlite", "postgres"] as const) await measure(kept, report);
}

async function measure(kept: Kept, report: Report): Promise<void> {
  await using small = await Programme.start({ kept, name: keptIn[kept], homes: 10 }, report);
  await using large = await Programme.start({ kept, name: keptIn[kept], homes: 1_000 }, report);
  for (const place of places) {
    const [few, many] = (await pageTimes([small, large], place, report)) as [number, number];
    report.bar(
      `${keptIn[kept]}, ${place} page at ${large.homes} homes, median, beside ${small.homes} homes`,
      {
        value: many / few,
        most: 1.2,
        of: [`${many.toFixed(2)} ms`, `${few.toFixed(2)} ms`],
      },
    );
  }
}

export const places = ["newest", "deep"] as const;

/** Medians of what pages of some programmes take, asked for in turns, milliseconds. */
export async function pageTimes(
  programmes: readonly Programme[],
  place: (typeof places)[number],
  report: Report,
): Promise<number[]> {
  const spent = programmes.map(() => [] as number[]);
  for (let sample = -warm_up; sample < samples; sample += 1) {
    for (let turn = 0; turn < programmes.length; turn += 1) {
      const which = (turn + sample + warm_up) % programmes.length;
      const programme = programmes[which] as Programme;
      const took_ms = await programme.page(place);
      if (sample >= 0) spent[which]?.push(took_ms);
      if (programme.body_bytes < page_readings * 10) throw new Error("a page without its readings");
    }
  }
  return programmes.map(({ name, homes }, which) => {
    const times = spent[which] as number[];
    const median = quantile(times, 0.5);
    report.note(
      `  ${name}, ${place.padEnd(8)}${String(homes).padStart(6)} homes: median ${median.toFixed(2)} ms, p99 ${quantile(times, 0.99).toFixed(2)} ms`,
    );
    return median;
  });
}

/** A central of so many homes, each with two sensors that have said 5,000 things. */
export class Programme implements AsyncDisposable {
  readonly name: string;
  readonly homes: number;
  readonly #central: CentralServer;
  #connection: Connection | undefined;
  readonly #random = seeded(1);
  readonly #asked = new Set<string>();

  private constructor(name: string, homes: number, central: CentralServer) {
    this.name = name;
    this.homes = homes;
    this.#central = central;
  }

  /** On an empty `database` of somebody who keeps it, or on one of its own. */
  static async start(
    of: { kept: Kept; name: string; homes: number; database?: string; server?: TestServer },
    report: Report,
  ): Promise<Programme> {
    const { kept, name, homes, database } = of;
    let filled_s = 0;
    const central = await CentralServer.start({
      kept,
      homes: [],
      database,
      fill: async (store) => {
        filled_s = await seconds(() => fill(store, homes));
      },
    });
    if ("database" in central.place) {
      // PostgreSQL does this by itself in the hours after.
      const filled = new URL(central.place.database).pathname.slice(1);
      await (of.server ?? (await postgresServer())).run("VACUUM (ANALYZE)", filled);
    }
    const rows = homes * nights * night_readings;
    report.note(
      `${name}, ${homes} homes: ${rows.toLocaleString("en")} readings, taken in night by night in ${filled_s.toFixed(0)} s`,
    );
    return new Programme(name, homes, central);
  }

  async page(place: "newest" | "deep"): Promise<number> {
    this.#connection ??= await connect(Number(new URL(this.#central.origin).port));
    let path: string;
    do path = this.#path(place);
    while (this.#asked.has(path));
    this.#asked.add(path);
    return this.#connection.ask(
      `GET /v0.9${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: bearer ${this.#central.readToken}\r\nAccept: application/json\r\n\r\n`,
    );
  }

  /** Bytes of the last page. */
  get body_bytes(): number {
    return this.#connection?.body_bytes ?? 0;
  }

  #path(place: "newest" | "deep"): string {
    const below = (bound: number) => Math.floor(this.#random() * bound);
    const { address } = deviceIn(1 + below(this.homes), sensor(below(sensors)));
    const last = (nights * night_readings) / sensors - page_readings;
    const skip = place === "newest" ? below(skips) : last - below(skips);
    return `/items/wirelesssensors/wirelesssensor-${address.replaceAll(":", "")}/events?skip=${skip}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection?.close();
    await this.#central[Symbol.asyncDispose]();
  }
}

/** Night by night, home by home, some at once: so the readings of an item lie as far apart as they do after years. */
async function fill(store: CentralStore, homes: number): Promise<void> {
  const data = new HomeData(
    Array.from({ length: night_readings }, (_, index) =>
      sensorEvent(
        sensor(index % sensors),
        first_ms + Math.floor((index * day_ms) / night_readings),
        index % 4,
      ),
    ),
  );
  let turn = 0;
  const line = async () => {
    while (turn < nights * homes) {
      const [home, night] = [1 + (turn % homes), Math.floor(turn / homes)];
      turn += 1;
      await store.receive(data.of(home, night), { home, at_ms: first_ms + night * day_ms });
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
}

const nights = 10;
const night_readings = 1_000;
const sensors = 2;
const page_readings = 1_000;
/** So many different pages of an item are asked for. */
const skips = 200;
const samples = 1_500;
const warm_up = 60;
const lines = 4;
const first_ms = Date.UTC(2026, 0, 1);
