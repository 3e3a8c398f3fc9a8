import { Database, type Statement } from "bun:sqlite";
import { readIfThere } from "../../../../src/base/disk/safe-files.ts";
import type { SeriesName } from "../../../../src/domain/series.ts";
import { decodeBlock } from "../../../../src/store/series/block-codec.ts";
import { valueColumns } from "../../../../src/store/series/series-columns.ts";
import { databasePath } from "../../../../src/store/sqlite/connection.ts";
import type { SimulatedCentral } from "./central.ts";
import type { Happening } from "./happening.ts";
import { type SimulatedHome, serials_of_home } from "./home.ts";

/** Something that must never be. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** Holds homes and central to what is promised, by the rows that they have on disk. It asks nothing of the program but where its rows are. */
export class Judge {
  readonly #homes: readonly SimulatedHome[];
  readonly #central: SimulatedCentral;
  /** Every identity ever seen, as `epoch seq`, and the serial of its reading. */
  readonly #identities = new Map<string, number>();
  readonly #readers = new Map<string, Reader>();
  /** Central as it was last looked at. */
  readonly #atCentral = new Map<number, string>();
  /** Of each home, the moment before which all that it has sent was erased. */
  readonly #erased_ms = new Map<number, number>();
  readonly #toldErased_ms = new Map<number, number>();
  /** Since when a gateway knows the time and has readings that wait for it. */
  readonly #waiting = new Map<number, { readonly by: object; readonly ms: number }>();
  /** By the clock of its gateway, when a reading was. */
  readonly #stamps = new Map<number, number>();

  constructor(homes: readonly SimulatedHome[], central: SimulatedCentral) {
    this.#homes = homes;
    this.#central = central;
  }

  /** Central has said that all which a home had sent before a time is erased. */
  erased(home: number, before_ms: number): void {
    this.#toldErased_ms.set(home, before_ms);
    this.#noteErased(home, before_ms);
  }

  /** Holds a home that runs to what is promised. */
  home(of: SimulatedHome): void {
    if (!of.running) return;
    const reader = this.#readerOf(of.disk.directory);
    const rows = reader.rows();
    const waiting = reader.waiting();
    const spans = reader.epochs();
    const found = new Map<number, Row>();
    let last: Row | undefined;
    for (const row of rows) {
      const happening = this.#happening(of, row);
      const span = spans.findLast(({ first_seq }) => first_seq <= row.seq);
      if (found.has(row.event)) throw new Broken(`home ${of.home} has reading ${row.event} twice`);
      found.set(row.event, row);
      // What came from central has other numbers here.
      if (span?.restored === 1) continue;
      this.#stamps.set(row.event, row.stamp);
      this.#sameAs(`${span?.epoch} ${row.seq}`, row.event);
      if (happening.boxed) continue;
      if (last !== undefined && last.event > row.event && last.epoch === span?.epoch)
        throw new Broken(`home ${of.home} has numbered reading ${row.event} after ${last.event}`);
      last = { ...row, epoch: span?.epoch };
    }
    for (const event of waiting) {
      const { boxed } = this.#happening(of, { event });
      // Of a buffer that is read again it is known once the time is.
      if (found.has(event) && !(of.restored && boxed))
        throw new Broken(`home ${of.home} has reading ${event} numbered, and it waits too`);
    }
    const held = new Set([...found.keys(), ...waiting]);
    const lacking = this.#due(of).filter(({ serial }) => !held.has(serial));
    // While central does not run, nobody can say what it has: it is asked for again later.
    if (lacking.length > 0 && this.#central.store !== undefined) {
      this.central();
      for (const { serial } of lacking)
        if (!this.#atCentral.has(serial) && !this.#mayBeErased(of.home, serial))
          throw new Broken(`home ${of.home} has lost reading ${serial}, which it acknowledged`);
    }
    if (of.hasZigbee && readIfThere(of.zigbeeNetwork(of.disk.directory)) !== of.zigbee)
      throw new Broken(`home ${of.home} has lost its Zigbee network`);
    this.#requireReleased(of, waiting);
    reader.requireTotals(`home ${of.home}`);
    this.#requireMarks(of, reader, rows);
  }

  /** Readings that wait for the time are numbered soon after the gateway says that it knows it. */
  #requireReleased(of: SimulatedHome, waiting: readonly number[]): void {
    const { why, problem } = of.ingest?.status() ?? {};
    const now_ms = of.machine.world.now_ms;
    if (waiting.length === 0 || why !== undefined || problem !== undefined || of.ingest === undefined) {
      this.#waiting.delete(of.home);
      return;
    }
    const since = this.#waiting.get(of.home);
    if (since === undefined || since.by !== of.ingest)
      this.#waiting.set(of.home, { by: of.ingest, ms: now_ms });
    else if (now_ms - since.ms > release_ms_max)
      throw new Broken(`home ${of.home} knows the time, and ${waiting.length} readings wait for it still`);
  }

  /** The marks of uploads are never ahead of what they stand for. */
  #requireMarks(of: SimulatedHome, reader: Reader, rows: readonly Row[]): void {
    const { confirmed_seq = 0, verified_seq = 0 } = reader.uploadState();
    const last_seq = reader.lastSeq();
    const most = rows.reduce((high, { seq }) => Math.max(high, seq), 0);
    if (most > last_seq) throw new Broken(`home ${of.home} has number ${most} and counts up to ${last_seq}`);
    if (confirmed_seq > last_seq || verified_seq > confirmed_seq)
      throw new Broken(
        `home ${of.home} has ${last_seq} numbers, ${confirmed_seq} confirmed, ${verified_seq} compared`,
      );
  }

  /** Holds central to what is promised. */
  central(): void {
    if (this.#central.store === undefined) return;
    const reader = this.#readerOf(this.#central.disk.directory);
    const rows = reader.centralRows();
    this.#atCentral.clear();
    const erasures = reader.erasures();
    for (const { home, before_ms } of erasures) this.#noteErased(home, before_ms);
    for (const [home, told_ms] of this.#toldErased_ms)
      if (!erasures.some((one) => one.home === home && one.before_ms >= told_ms))
        throw new Broken(`central has forgotten that it erased home ${home}`);
    for (const row of rows) {
      const { home, epoch, seq, event, stamp } = row;
      if (Math.floor(event / serials_of_home) !== home)
        throw new Broken(`central has reading ${event} as one of home ${home}`);
      const of = this.#homes.find((one) => one.home === home) as SimulatedHome;
      this.#happening(of, row);
      if (this.#atCentral.has(event)) throw new Broken(`central has reading ${event} twice`);
      this.#atCentral.set(event, `${epoch} ${seq}`);
      this.#sameAs(`${epoch} ${seq}`, event);
      const erased_ms = this.#erased_ms.get(home) ?? 0;
      if (stamp < erased_ms)
        throw new Broken(`central has reading ${event} of an erased time of home ${home}`);
    }
    for (const { home, epoch, held_seq } of reader.held()) {
      const said = this.#central.said.get(epoch) ?? 0;
      if (held_seq < said)
        throw new Broken(`central has said that it holds home ${home} up to ${said}, and holds ${held_seq}`);
      for (const [identity, serial] of this.#identities) {
        const [of, seq] = identity.split(" ");
        if (of !== epoch || Number(seq) > held_seq || this.#atCentral.has(serial)) continue;
        if (this.#mayBeErased(home, serial) || this.#excused(serial)) continue;
        throw new Broken(
          `central says that it holds home ${home} up to ${held_seq}, and lacks ${seq}, which is reading ${serial}`,
        );
      }
    }
    reader.requireTotals("central");
  }

  /** After an upload that found everything well: central has what was acknowledged, once, and nothing else. */
  atTheEnd(): void {
    for (const home of this.#homes) this.home(home);
    this.central();
    for (const home of this.#homes) {
      const reader = this.#readerOf(home.disk.directory);
      const { queued, problem } = home.ingest?.status() ?? {};
      if (queued !== 0 || problem !== undefined)
        throw new Broken(`home ${home.home} has ${queued} readings that it does not write: ${problem}`);
      const waiting = reader.waiting();
      if (waiting.length > 0) throw new Broken(`at home ${home.home} ${waiting.length} readings still wait`);
      for (const { serial } of this.#due(home))
        if (!this.#atCentral.has(serial))
          throw new Broken(`central lacks reading ${serial}, which home ${home.home} acknowledged`);
      for (const { event, stamp } of reader.rows()) {
        if (!this.#atCentral.has(event) && !this.#mayBeErased(home.home, event) && !this.#excused(event))
          throw new Broken(`central lacks reading ${event}, which home ${home.home} has`);
        if (stamp < (this.#erased_ms.get(home.home) ?? 0))
          throw new Broken(`home ${home.home} still has reading ${event} of an erased time`);
      }
    }
  }

  /**
   * Central has gone back to a backup. What it got since is sent again where the home that numbered it has it still; what was pruned there, or
   * came back to a spare card from central, is gone.
   */
  centralWentBack(): void {
    const atCentral = new Set(
      this.#readerOf(this.#central.disk.directory)
        .centralRows()
        .map(({ event }) => event),
    );
    for (const home of this.#homes) {
      const reader = this.#readerOf(home.disk.directory);
      const spans = reader.epochs();
      const { own = [], restored = [] } = Object.groupBy(reader.rows(), ({ seq }) =>
        spans.findLast(({ first_seq }) => first_seq <= seq)?.restored === 1 ? "restored" : "own",
      );
      const there = new Set([...own.map(({ event }) => event), ...reader.waiting()]);
      const cameBack = new Set(restored.map(({ event }) => event));
      for (const happening of home.happened) {
        const { serial, acknowledged } = happening;
        // One may be on disk that a kill left without its acknowledgement.
        if ((acknowledged || cameBack.has(serial)) && !there.has(serial) && !atCentral.has(serial))
          happening.excused ??= "pruned or come back from central, and gone with it";
      }
    }
  }

  #noteErased(home: number, before_ms: number): void {
    this.#erased_ms.set(home, Math.max(before_ms, this.#erased_ms.get(home) ?? 0));
  }

  #excused(serial: number): boolean {
    const of = this.#homes.find(({ home }) => home === Math.floor(serial / serials_of_home));
    return of?.happened[serial % serials_of_home]?.excused !== undefined;
  }

  /** The card of a home is lost. What its box still has is read again, and gets the times of another clock. */
  cardLost(of: SimulatedHome): void {
    for (const { serial } of of.happened) if (!this.#atCentral.has(serial)) this.#stamps.delete(serial);
  }

  /** Readings that a home has at central, by a state of it that was looked at last. */
  atCentral(serial: number): boolean {
    return this.#atCentral.has(serial);
  }

  /** Ends looking at a directory. */
  leave(directory: string): void {
    this.#readers.get(directory)?.close();
    this.#readers.delete(directory);
  }

  leaveAll(): void {
    for (const directory of [...this.#readers.keys()]) this.leave(directory);
  }

  /** Readings that must be found somewhere. */
  #due(of: SimulatedHome): Happening[] {
    return of.happened.filter(
      ({ acknowledged, excused, serial }) =>
        acknowledged && excused === undefined && !this.#mayBeErased(of.home, serial),
    );
  }

  /** Around the end of an erased time the clock of the home decides. */
  #mayBeErased(home: number, serial: number): boolean {
    const erased_ms = this.#erased_ms.get(home);
    if (erased_ms === undefined) return false;
    const stamp_ms = this.#stamps.get(serial);
    if (stamp_ms !== undefined) return stamp_ms < erased_ms;
    const of = this.#homes.find((one) => one.home === home)?.happened[serial % serials_of_home];
    return of !== undefined && of.at_ms < erased_ms + unsure_ms;
  }

  /** The happening of a reading, by its event. `address`: of the device that a store says it is of; absent: it does not say. */
  #happening(of: SimulatedHome, { event, address }: Pick<Row, "event" | "address">): Happening {
    const happening = of.happened[event - of.home * serials_of_home];
    if (happening === undefined) throw new Broken(`home ${of.home} has reading ${event}, which never was`);
    if (address !== undefined && address !== happening.address)
      throw new Broken(`reading ${event} is of ${happening.address}, and a store has it of ${address}`);
    return happening;
  }

  #sameAs(identity: string, serial: number): void {
    const known = this.#identities.get(identity);
    if (known !== undefined && known !== serial)
      throw new Broken(`${identity} was reading ${known}, and is ${serial}`);
    this.#identities.set(identity, serial);
  }

  #readerOf(directory: string): Reader {
    const known = this.#readers.get(directory);
    if (known !== undefined) return known;
    const reader = new Reader(directory);
    this.#readers.set(directory, reader);
    return reader;
  }
}

const series = ["wirelesssensor_events", "pillbox_events"] as const satisfies SeriesName[];

interface Row {
  readonly stamp: number;
  readonly seq: number;
  readonly event: number;
  /** Of its device; null where the store does not know it. */
  readonly address?: string | null;
  readonly epoch?: string | undefined;
}

interface CentralRow extends Row {
  readonly home: number;
}

/** The streams of the rows of a table, and their devices' addresses; null where there are none. */
const withDevice = (table: string) =>
  `LEFT JOIN streams ON streams.key = ${table}.stream LEFT JOIN items ON items.key = streams.item`;

/** Rows of a database, read past the program. */
class Reader {
  readonly #database: Database;
  readonly #kept = new Map<string, Statement>();

  constructor(directory: string) {
    this.#database = new Database(databasePath(directory), { readonly: true });
    this.#database.run("PRAGMA mmap_size = 0");
  }

  /** In the order of their numbers. */
  rows(): Row[] {
    const rows = this.#all<Row>(
      series
        .map((name) => `SELECT stamp, seq, event, items.address FROM ${name} ${withDevice(name)}`)
        .join(" UNION ALL "),
    );
    for (const name of series)
      for (const { home: _, own: seq, ...row } of this.#inBlocks(name)) rows.push({ ...row, seq });
    return rows.sort((one, other) => one.seq - other.seq);
  }

  waiting(): number[] {
    const facts = this.#all<{ fact: string }>("SELECT fact FROM waiting").map(({ fact }) => JSON.parse(fact));
    return facts.flatMap((fact) => ("reading" in fact ? [Number(fact.reading.values.event)] : []));
  }

  epochs(): { epoch: string; first_seq: number; restored: number }[] {
    return this.#all("SELECT epoch, first_seq, restored FROM epochs ORDER BY first_seq");
  }

  /** Of whole homes. */
  erasures(): { home: number; before_ms: number }[] {
    return this.#all("SELECT home, before_ms FROM erasures WHERE subject IS NULL AND kind IS NULL");
  }

  uploadState(): Record<string, number | undefined> {
    const rows = this.#all<{ name: string; value: number }>("SELECT name, value FROM upload_state");
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  }

  lastSeq(): number {
    return Number(this.#all<{ value: number }>("SELECT value FROM meta WHERE name = 'last_seq'")[0]?.value);
  }

  held(): { home: number; epoch: string; held_seq: number }[] {
    return this.#all("SELECT home, epoch, held_seq FROM sources");
  }

  /** Every reading of central, with the identity that its home gave it. */
  centralRows(): CentralRow[] {
    const runs = this.#all<Run>(
      "SELECT home, epoch, from_seq, to_seq, first_own FROM batches ORDER BY home, first_own",
    );
    const rows = series.flatMap((name) => [
      ...this.#all<OwnRow>(
        `SELECT streams.home, stamp, seq AS own, event, items.address FROM ${name} ${withDevice(name)}`,
      ),
      ...this.#inBlocks(name),
    ]);
    return rows.map(({ home, own, ...row }) => {
      const run = runs.findLast((one) => one.home === home && one.first_own <= own);
      if (run === undefined)
        throw new Broken(`central has number ${own} of home ${home} and knows not whose it is`);
      return { ...row, home, epoch: run.epoch, seq: run.from_seq + own - run.first_own };
    });
  }

  #inBlocks(name: (typeof series)[number]): OwnRow[] {
    const place = valueColumns(name).findIndex((column) => column.name === "event");
    return this.#all<{ home: number; address: string; readings: Uint8Array }>(
      `SELECT streams.home, items.address, readings FROM blocks ${withDevice("blocks")} WHERE series = '${name}'`,
    ).flatMap(({ home, address, readings }) => {
      const { stamp_ms, seq, values } = decodeBlock(name, readings);
      return [...seq].map((own, index) => ({
        home,
        own,
        address,
        stamp: stamp_ms[index] as number,
        event: Number(values[place]?.[index]),
      }));
    });
  }

  /** Totals are those of the rows and blocks. */
  requireTotals(whose: string): void {
    for (const name of series) {
      const wrong = this.#all<{
        stream: number;
        total: number;
        in_blocks: number;
        rows: number;
        blocks: number;
      }>(
        `SELECT stream, total, in_blocks,
           (SELECT count(*) FROM ${name} AS rows WHERE rows.stream = totals.stream) AS rows,
           (SELECT coalesce(sum(count), 0) FROM blocks
              WHERE blocks.stream = totals.stream AND blocks.series = totals.series) AS blocks
         FROM totals WHERE series = '${name}'`,
      ).find(({ total, in_blocks, rows, blocks }) => total !== rows + blocks || in_blocks !== blocks);
      if (wrong !== undefined)
        throw new Broken(`${whose} counts of ${name} what it has not: ${JSON.stringify(wrong)}`);
    }
  }

  close(): void {
    for (const statement of this.#kept.values()) statement.finalize();
    this.#database.close(true);
  }

  #all<Kind>(text: string): Kind[] {
    const kept = this.#kept.get(text) ?? this.#database.prepare(text);
    this.#kept.set(text, kept);
    return kept.all() as Kind[];
  }
}

interface Run {
  readonly home: number;
  readonly epoch: string;
  readonly from_seq: number;
  readonly first_own: number;
}

interface OwnRow {
  readonly home: number;
  readonly address: string | null;
  readonly stamp: number;
  readonly own: number;
  readonly event: number;
}

/** A home's clock may have been wrong by this much around an erasure. */
const unsure_ms = 12 * 3_600_000;
/** Several times as long as ingest waits between two looks, and as a slow disk takes. */
const release_ms_max = 600_000;
