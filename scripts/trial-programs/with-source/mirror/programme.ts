import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { Type } from "@sinclair/typebox";
import type { Clock } from "../../../../src/base/clock.ts";
import { day_ms } from "../../../../src/base/time.ts";
import { derivedPath, derivedRecords } from "../../../../src/domain/derived/derived-record.ts";
import type { DerivedName } from "../../../../src/domain/derived/derived-table.ts";
import { unixTime_max } from "../../../../src/domain/records/record-field.ts";
import { fieldsOf } from "../../../../src/domain/records/record-table.ts";
import { type SeriesName, seriesOf } from "../../../../src/domain/series.ts";
import { type ListRecord, pagesOf } from "../../../../src/export/answers.ts";
import { rowOf } from "../../../../src/export/columns.ts";
import { derivedTables } from "../../../../src/export/derived-tables.ts";
import type { CentralStore } from "../../../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../../../src/store/inventory/record-store.ts";
import { Answering } from "../../../../src/web/api/answering.ts";
import { below, seeded } from "../../../../testbed/numbers.ts";
import { item } from "../../../../testbed/sample.ts";
import { SimulatedGateway, type SimulatedReading } from "../../../../testbed/simulated-gateway.ts";

/** The series that the homes of a programme have. */
export const triedSeries = ["wirelesssensor_events", "scale_weights"] as const satisfies SeriesName[];

/** A programme of homes that send readings to a central store, and what its mirror must be equal to. */
export class MirroredProgramme {
  /** Two homes of two days, which have sent all. */
  static async small(store: CentralStore, mirror: string, clock: Clock): Promise<MirroredProgramme> {
    const start_ms = Date.UTC(2026, 8, 20);
    const programme = new MirroredProgramme(store, mirror, {
      ...{ homes: 2, days: 2, events_a_day: 5, start_ms, clock },
    });
    await programme.fill();
    return programme;
  }

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
      readonly clock: Clock;
    },
  ) {}

  /** Every home sends all of its time. Its sensors are in rooms, so that it has measures. */
  async fill(): Promise<number> {
    const { homes, days, events_a_day, start_ms } = this.of;
    const numbers = Array.from({ length: homes }, (_, place) => place + 1);
    const { clashes } = await this.store.importRecords([numbers.flatMap(recordsOf)]);
    if (clashes.length > 0) throw new Error(`the records clash: ${JSON.stringify(clashes)}`);
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
      await this.#listened(gateway);
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
  async differences(): Promise<{ faults: string[]; compared: number; measures: number }> {
    const instance = await DuckDBInstance.create(join(this.mirror, "lintel.duckdb"), {
      access_mode: "READ_ONLY",
    });
    const connection = await instance.connect();
    const rowsOf = async (query: string) => (await connection.runAndReadAll(query)).getRows();
    const faults: string[] = [];
    let compared = 0;
    let measures = 0;
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
      for (let home = 1; home <= this.of.homes; home += 1) {
        const served = await this.#servedMeasures(home);
        for (const { name, measure } of derivedTables) {
          const reader = await connection.runAndReadAll(
            `SELECT * EXCLUDE home REPLACE (day::VARCHAR AS day) FROM ${name} WHERE home = ${home} AND day < '${this.#lastDay}'`,
          );
          const mirrored = reader.getRowsJS().map(rowText);
          const own = served.get(measure) ?? [];
          measures += own.length;
          if (own.sort().join(" ") !== mirrored.sort().join(" "))
            faults.push(`${name} of home ${home}: ${own.length} served, ${mirrored.length} mirrored`);
        }
      }
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
    return { faults, compared, measures };
  }

  /** Every record of a series of an item, as a text each. */
  async #served(series: SeriesName, itemname: string): Promise<string[]> {
    const answers = new Answering({ store: this.store, clock: this.of.clock });
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

  /** The measures of a home on days that are surely over, a text for each record. */
  async #servedMeasures(home: number): Promise<Map<DerivedName, string[]>> {
    const answers = new Answering({ store: this.store, clock: this.of.clock });
    const told = new Map<DerivedName, string[]>();
    for await (const page of pagesOf(answers, derivedPath("all", home), Type.Object({})))
      for (const { name, records } of page as unknown as { name: DerivedName; records: ListRecord[] }[]) {
        const over = records.filter(({ day }) => String(day) < this.#lastDay);
        const texts = over.map((record) => rowText([home, ...rowOf(derivedRecords[name], record)]));
        told.set(name, [...(told.get(name) ?? []), ...texts]);
      }
    return told;
  }

  /** A day behind those that are compared: answers about it, and about later ones, change with the time. */
  get #lastDay(): string {
    return new Date(this.of.start_ms + (this.of.days - 1) * day_ms).toISOString().slice(0, 10);
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

  /** A home says that its devices were heard all the time. */
  async #listened(gateway: SimulatedGateway): Promise<void> {
    const { home } = gateway;
    const [first_ms, last_ms] = [this.of.start_ms, this.of.start_ms + this.of.days * day_ms];
    const devices = [
      ...rooms.map((_, device) => ({ kind: "wirelesssensors" as const, address: addressOf(home, device) })),
      { kind: "scales" as const, address: addressOf(home, sensors) },
    ];
    const states = devices.map((_, device) => ({ device, first_ms, heard_ms: last_ms, listener: "zigbee" }));
    const listeners = [{ name: "zigbee", first_ms, last_ms }];
    await this.store.noteReport(gateway.report({ devices, listeners, states }), { home, at_ms: last_ms });
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

/** The records of a home and its sensors, of which one is at the front door. */
function recordsOf(homeid: number): ImportedRecord[] {
  const nothing = Object.fromEntries(fieldsOf("homes").map((name) => [name, null]));
  const items = rooms.map((room, device) => {
    const place = { macaddress: addressOf(homeid, device), currenthomeid: homeid, currenthomestart: 1 };
    return { ...item(homeid * 10 + device, place), itemname: `${room}-${homeid}` };
  });
  return [
    { type: "homes", record: { ...nothing, homeid, timezone: "Europe/Berlin" } },
    ...items.map((record) => ({ type: "items" as const, record })),
  ];
}

/** A row as a text: moments in unix milliseconds. */
function rowText(row: readonly unknown[]): string {
  return row.map((cell) => (cell instanceof Date ? cell.getTime() : String(cell))).join();
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

const rooms = ["kitchen", "bathroom", "front-door"] as const;
const sensors = rooms.length;
