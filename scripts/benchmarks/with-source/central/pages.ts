import { day_ms } from "../../../../src/durations.ts";
import type { CentralStore } from "../../../../src/store/central-store.ts";
import { postgresServer } from "../../../../test/store/postgres/server.ts";
import { seeded, sensor, sensorEvent } from "../../../../test/store/sample.ts";
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
  await using small = await Programme.start(kept, 10, report);
  await using large = await Programme.start(kept, 1_000, report);
  const programmes = { small, large };
  const spent = {
    newest: { small: [] as number[], large: [] as number[] },
    deep: { small: [] as number[], large: [] as number[] },
  };
  for (let sample = -warm_up; sample < samples; sample += 1) {
    for (const place of ["newest", "deep"] as const) {
      for (const size of sample % 2 === 0 ? (["small", "large"] as const) : (["large", "small"] as const)) {
        const took_ms = await programmes[size].page(place);
        if (sample >= 0) spent[place][size].push(took_ms);
        if (programmes[size].body_bytes < page_readings * 10) throw new Error("a page without its readings");
      }
    }
  }
  for (const [place, times] of Object.entries(spent)) {
    for (const size of ["small", "large"] as const)
      report.note(
        `  ${place.padEnd(8)}${String(programmes[size].homes).padStart(6)} homes: median ${quantile(times[size], 0.5).toFixed(2)} ms, p99 ${quantile(times[size], 0.99).toFixed(2)} ms`,
      );
    report.bar(`${keptIn[kept]}, ${place} page: times as long at ${large.homes} homes, in the median`, {
      value: quantile(times.large, 0.5) / quantile(times.small, 0.5),
      most: 1.2,
    });
  }
}

/** A central of so many homes, each with two sensors that have said 5,000 things. */
class Programme implements AsyncDisposable {
  readonly homes: number;
  readonly #central: CentralServer;
  #connection: Connection | undefined;
  readonly #random = seeded(1);
  readonly #asked = new Set<string>();

  private constructor(homes: number, central: CentralServer) {
    this.homes = homes;
    this.#central = central;
  }

  static async start(kept: Kept, homes: number, report: Report): Promise<Programme> {
    let filled_s = 0;
    const central = await CentralServer.start({
      kept,
      homes: [],
      fill: async (store) => {
        filled_s = await seconds(() => fill(store, homes));
      },
    });
    if ("database" in central.place) {
      // PostgreSQL does this by itself in the hours after.
      const database = new URL(central.place.database).pathname.slice(1);
      await (await postgresServer()).run("VACUUM (ANALYZE)", database);
    }
    const rows = homes * nights * night_readings;
    report.note(
      `${keptIn[kept]}, ${homes} homes: ${rows.toLocaleString("en")} readings, taken in night by night in ${filled_s.toFixed(0)} s`,
    );
    return new Programme(homes, central);
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
