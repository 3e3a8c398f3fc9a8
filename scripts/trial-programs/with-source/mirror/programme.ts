import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { SystemClock } from "../../../../src/base/clock.ts";
import { day_ms } from "../../../../src/base/time.ts";
import { unixTime_max } from "../../../../src/domain/records/record-field.ts";
import { type SeriesName, seriesOf } from "../../../../src/domain/series.ts";
import type { CentralStore } from "../../../../src/store/central/central-store.ts";
import { Answering } from "../../../../src/web/api/answering.ts";
import { below, seeded } from "../../../../testbed/numbers.ts";
import { SimulatedGateway, type SimulatedReading } from "../../../../testbed/simulated-gateway.ts";

/** The series that the homes of a programme have. */
export const triedSeries = ["wirelesssensor_events", "scale_weights"] as const satisfies SeriesName[];

/** A programme of homes that send readings to a central store, and what its mirror must be equal to. */
export class MirroredProgramme {
  readonly #gateways = new Map<number, SimulatedGateway>();
  readonly #random = seeded(39);

  constructor(
    readonly store: CentralStore,
    readonly mirror: string,
    readonly of: {
      readonly homes: number;
      readonly days: number;
      readonly events_a_day: number;
      readonly start_ms: number;
    },
  ) {}

  /** Every home sends all of its time. */
  async fill(): Promise<number> {
    const { homes, days, events_a_day, start_ms } = this.of;
    let readings = 0;
    for (let home = 1; home <= homes; home += 1) {
      const gateway = new SimulatedGateway(home, `home ${home}`);
      this.#gateways.set(home, gateway);
      for (let day = 0; day < days; day += 1) {
        const from_ms = start_ms + day * day_ms;
        for (let event = 0; event < events_a_day; event += 1)
          gateway.add(this.#event(home, from_ms + Math.floor((event * day_ms) / events_a_day)));
        gateway.add(weightOf(home, from_ms + 1_000, 70_000 + day));
      }
      await this.#send(gateway, 1);
      readings += gateway.readings.length;
    }
    return readings;
  }

  /** `count` more readings of some homes, by chance from a span; absent: late ones, of all the time. */
  async late(
    count: number,
    homes: readonly number[],
    { from_ms, for_ms } = { from_ms: this.of.start_ms, for_ms: this.of.days * day_ms },
  ): Promise<void> {
    for (const [place, home] of homes.entries()) {
      const gateway = this.#gateways.get(home) as SimulatedGateway;
      const first = gateway.last_seq + 1;
      for (let number = place; number < count; number += homes.length)
        gateway.add(this.#event(home, from_ms + below(this.#random, for_ms)));
      await this.#send(gateway, first);
    }
  }

  /** The same mirror, compared with a store that was opened anew. */
  at(store: CentralStore): MirroredProgramme {
    return new MirroredProgramme(store, this.mirror, this.of);
  }

  /** Every record of every item of every home, as the interface has it and as DuckDB has it: differences, a line each. */
  async differences(): Promise<{ faults: string[]; compared: number }> {
    const instance = await DuckDBInstance.create(join(this.mirror, "lintel.duckdb"), {
      access_mode: "READ_ONLY",
    });
    const connection = await instance.connect();
    const rowsOf = async (query: string) => (await connection.runAndReadAll(query)).getRows();
    const faults: string[] = [];
    let compared = 0;
    try {
      for (const series of triedSeries) {
        const { kind, fields } = seriesOf(series);
        const names = Object.keys(fields);
        let mirrored = 0;
        for (let home = 1; home <= this.of.homes; home += 1) {
          const rows = await rowsOf(
            `SELECT itemid || ' ' || itemname, concat_ws(',', epoch_ms(stamp), ${names.map((name) => `coalesce("${name}"::VARCHAR, 'null')`).join()}) FROM ${series} WHERE home = ${home} AND homeid = home AND strftime(stamp, '%Y-%m') = month`,
          );
          mirrored += rows.length;
          const read = Map.groupBy(rows, ([item]) => String(item));
          for (const { itemid, itemname } of await this.store.items(kind, {
            skip: 0,
            limit: 1_000,
            homes: [home],
          })) {
            const served = await this.#served(series, itemname);
            const own = (read.get(`${itemid} ${itemname}`) ?? []).map(([, text]) => String(text));
            compared += served.length;
            if (served.sort().join(" ") !== own.sort().join(" "))
              faults.push(`${series} of ${itemname}: ${served.length} served, ${own.length} mirrored`);
            read.delete(`${itemid} ${itemname}`);
          }
          faults.push(...[...read.keys()].map((item) => `${series}: ${item} of home ${home} is not served`));
        }
        const [[all] = []] = await rowsOf(`SELECT count(*) FROM ${series}`);
        if (Number(all) !== mirrored) faults.push(`${series}: ${all} rows, ${mirrored} of a home and month`);
      }
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
    return { faults, compared };
  }

  /** Every record of a series of an item, as a text each. */
  async #served(series: SeriesName, itemname: string): Promise<string[]> {
    const answers = new Answering({ store: this.store, clock: new SystemClock() });
    const { kind, path, fields } = seriesOf(series);
    const names = ["stamp", ...Object.keys(fields)];
    const served: string[] = [];
    // Also what the machine's clock has not come to.
    let query: string | undefined = `?precision=ms&limit=1000&before=${unixTime_max}`;
    while (query !== undefined) {
      const page: Awaited<ReturnType<typeof answers.get<Record<string, unknown>[]>>> = await answers.get(
        `/items/${kind}/${encodeURIComponent(itemname)}/${path}`,
        query,
      );
      if (page === undefined || page === "gone") throw new Error(`${itemname} has no ${series}`);
      served.push(...page.body.map((record) => names.map((name) => String(record[name])).join()));
      query = page.next;
    }
    return served;
  }

  /** Every file of the mirror with the time of its last change. */
  files(): Map<string, number> {
    const names = readdirSync(this.mirror, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return new Map(files.map((path) => [path.slice(this.mirror.length + 1), statSync(path).mtimeMs]));
  }

  /** Whether there is a folder of a home. */
  hasFilesOf(home: number): boolean {
    return triedSeries.some((series) => existsSync(join(this.mirror, series, `home=${home}`)));
  }

  /** Files in whose name or bytes a home is: by its number in a name, and by the addresses of its devices. */
  tracesOf(home: number): string[] {
    const marks = [deviceText(home), addressOf(home, 0).slice(0, -3)].map((text) => Buffer.from(text));
    return [...this.files().keys()].filter(
      (name) =>
        name.includes(`home=${home}/`) ||
        name.includes(`home-${home}.`) ||
        marks.some((mark) => readFileSync(join(this.mirror, name)).includes(mark)),
    );
  }

  #event(home: number, stamp_ms: number): SimulatedReading {
    const device = {
      kind: "wirelesssensors",
      address: addressOf(home, below(this.#random, sensors)),
    } as const;
    return { device, series: "wirelesssensor_events", stamp_ms, fields: [below(this.#random, 64)] };
  }

  async #send(gateway: SimulatedGateway, from_seq: number): Promise<void> {
    const taken = await this.store.receive(gateway.batch(from_seq, gateway.last_seq), gateway.sender);
    if (!("held_seq" in taken) || taken.held_seq !== gateway.last_seq)
      throw new Error(`home ${gateway.home} was not taken in: ${JSON.stringify(taken)}`);
  }
}

function weightOf(home: number, stamp_ms: number, weight: number): SimulatedReading {
  const { fields } = seriesOf("scale_weights");
  const device = { kind: "scales", address: addressOf(home, sensors) } as const;
  return {
    device,
    series: "scale_weights",
    stamp_ms,
    fields: Object.keys(fields).map((_, at) => (at === 0 ? weight : null)),
  };
}

/** An address that no other home has a device with. */
function addressOf(home: number, device: number): string {
  return `00:0d:6f:${deviceText(home).match(/../g)?.join(":")}:${device.toString(16).padStart(2, "0")}`;
}

/** A text that stands in the names of the devices of a home alone. */
function deviceText(home: number): string {
  return `a5${home.toString(16).padStart(6, "0")}`;
}

const sensors = 3;
