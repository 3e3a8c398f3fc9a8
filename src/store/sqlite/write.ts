import { statSync } from "node:fs";
import { clockQuality } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Reading } from "../../domain/reading.ts";
import { seriesOf, type Value } from "../../domain/series.ts";
import type { Appended, HeldFact, MovedCursor, Notes } from "../gateway/gateway-store.ts";
import { type Homes, homesOnSqlite } from "../inventory/homes.ts";
import { normalAddress } from "../inventory/item-names.ts";
import { nameItem, replaceItem } from "../inventory/naming.ts";
import type { Imported, ImportedRecord } from "../inventory/record-store.ts";
import { beginImport, endImport, finishImport, stageRecords } from "../inventory/staged-import.ts";
import { Additions } from "../series/additions.ts";
import { forEverySeries } from "../series/series-columns.ts";
import { ReadingRefused } from "../store.ts";
import { takingAway, watchingRemovals } from "../taking-away.ts";
import { type WriteArguments, type Written, workOf, writesOf } from "../writes.ts";
import { beginPurge, busy_max_ms, type Connection, purge, requireRoom } from "./connection.ts";
import { isRefusedValue, named, storeFault } from "./faults.ts";
import {
  admit,
  forgetDevice,
  keepIdentities,
  noteGap,
  noteHeard,
  noteListening,
  noteTimes,
  setHome,
  settleConflict,
} from "./gateway-notes.ts";
import { ReadBefore } from "./read-before.ts";
import { StreamKeys, UnkeptTimes } from "./remembered-streams.ts";
import { homesByRole } from "./role-and-epoch.ts";
import { Essentials } from "./salvage-sources.ts";
import { insertSql } from "./schema.ts";
import { Runner } from "./sqlite-database.ts";

/** Data that is committed together. */
interface CommitBatch extends Notes {
  readonly readings: readonly Reading[];
}

/**
 * Everything that changes a database, on its one writing connection; every call is one transaction, and
 * throws an OperatorError. It blocks while the disk synchronises: see writer.ts.
 */
export class StoreWriting {
  protected readonly database: Connection;
  protected readonly runner: Runner;
  protected readonly additions = new Additions(homesOnSqlite, 0);
  protected readonly streams: StreamKeys;
  protected readonly unkept: UnkeptTimes;
  readonly #path: string;
  readonly #essentials: Essentials;
  readonly #readBefore = new ReadBefore();
  readonly #inserts;
  readonly #readVersion;
  protected readonly readSeq;
  protected readonly writeSeq;
  readonly #addDropped;
  readonly #moveCursor;
  #importing = false;
  #writes: WritesHere | undefined;
  /** The transaction under way has dropped readings of times of which nothing is kept. */
  #hasDropped = false;
  #purgeIsDue = false;
  #version = 0;
  #commits = 0;

  constructor(options: { path: string; database: Connection; home?: number | undefined }) {
    const { path, database, home } = options;
    this.#path = path;
    this.database = database;
    this.runner = new Runner(database);
    this.streams = new StreamKeys(this.runner, home);
    this.unkept = new UnkeptTimes(this.runner);
    this.#essentials = new Essentials(database, path);
    this.#inserts = forEverySeries((series) => ({
      fields: Object.keys(seriesOf(series).fields),
      deviceClock: seriesOf(series).deviceClock === true,
      statement: database.keep(insertSql[series]),
      newest: database.keep(`SELECT max(coalesce((SELECT max(stamp) FROM ${series} WHERE stream = ?1), 0),
        coalesce((SELECT newest_stamp FROM totals WHERE stream = ?1 AND series = '${series}' AND home = 0), 0))`),
    }));
    this.#readVersion = database.keep("PRAGMA data_version");
    this.readSeq = database.keep("SELECT value FROM meta WHERE name = 'last_seq'");
    this.writeSeq = database.keep("UPDATE meta SET value = ? WHERE name = 'last_seq'");
    this.#addDropped = database.keep(
      "INSERT INTO dropped VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET count = count + excluded.count",
    );
    this.#moveCursor = database.keep("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?, ?)");
  }

  /** Numbers and inserts readings, and keeps the notes: see `GatewayStore.append`. */
  commit(batch: CommitBatch): Appended {
    return this.transaction(() => {
      const created: string[] = [];
      const unkept: number[] = [];
      const first_seq = Number(this.readSeq.values()[0]?.[0]) + 1;
      const last_seq = first_seq + batch.readings.length - 1;
      for (const [index, reading] of batch.readings.entries()) {
        try {
          if (!this.#insert(reading, first_seq + index, created)) unkept.push(index);
        } catch (thrown) {
          throw isRefusedValue(thrown) ? refusal(reading, index, thrown) : thrown;
        }
      }
      if (batch.readings.length > 0) this.writeSeq.run(last_seq);
      this.runner.run(this.additions.settle());
      const { held = [] } = batch;
      const unkeptHeld = this.#heldInPause(held);
      const paused = new Set(unkeptHeld);
      this.runner.run(noteTimes({ ...batch, held: held.filter((_, place) => !paused.has(place)) }));
      for (const span of batch.listening ?? []) this.runner.run(noteListening(span));
      for (const state of batch.states ?? []) {
        if (this.unkept.why(state.device, state.heard_ms) !== undefined) continue;
        this.runner.run(noteHeard(this.streams.keyOf(state.device, state.heard_ms, created), state));
      }
      for (const gap of batch.gaps ?? []) {
        if (this.unkept.why(gap.device, gap.from_ms) !== undefined) continue;
        this.runner.run(noteGap(this.streams.keyOf(gap.device, gap.to_ms, created), gap));
      }
      for (const cursor of batch.cursors ?? []) this.#move(cursor);
      for (const [name, count] of batch.dropped ?? []) this.#addDropped.run(name, count);
      // What has waited on disk for its time, and is dropped, leaves its bytes there.
      if (this.#hasDropped && batch.released !== undefined) beginPurge(this.database);
      this.#purgeIsDue = this.#hasDropped && batch.released !== undefined;
      this.#hasDropped = false;
      if (batch.identities !== undefined) this.runner.run(keepIdentities(batch.identities));
      return { first_seq, last_seq, created, unkept, unkeptHeld };
    });
  }

  /** Puts records of the one import under way aside; the first call begins it. */
  stageRecords(records: readonly ImportedRecord[]): void {
    named(this.#path, () => {
      if (!this.#importing) this.runner.run(beginImport());
      this.#importing = true;
      // A transaction on temporary tables alone locks nothing that others use.
      this.database.transaction(() => this.runner.run(stageRecords(records)))();
    });
  }

  finishImport({ dryRun }: { readonly dryRun: boolean }): Imported {
    this.stageRecords([]);
    try {
      return this.transaction(() => {
        const imported = this.runner.run(finishImport(this.runner.run(homesByRole()), { dryRun }));
        this.streams.forget();
        return imported;
      });
    } finally {
      this.abandonImport();
    }
  }

  abandonImport(): void {
    if (this.#importing) this.runner.run(endImport());
    this.#importing = false;
  }

  /** Does a change by its name. It may have been of what is remembered here. */
  write<Name extends HereName>(name: Name, ...given: HereArguments<Name>): HereWritten<Name> {
    if (name === "erase") named(this.#path, () => requireRoom(this.#path));
    const away = takingAwayHere[name];
    // No copy beside the database has what is taken away at once.
    let kept = away === "at once" && this.#essentials.remove();
    let removed = false;
    const onRemoved = () => {
      removed = true;
    };
    const result = this.transaction(() => {
      // Once: uploads to central are written by these, and the role of a database stays.
      this.#writes ??= writesHere(this.runner.run(homesByRole()));
      const work = workOf(this.#writes, name, given);
      const done = this.runner.run(away === "what it removes" ? watchingRemovals(work, onRemoved) : work);
      if (removed || (done && (away === "at once" || away === "later"))) beginPurge(this.database);
      this.streams.forget();
      this.unkept.forget();
      return done;
    });
    if (removed) kept = this.#essentials.remove();
    if (removed || away === "at once") named(this.#path, () => purge(this.database, this.#path));
    if (kept) this.keepEssentials();
    return result;
  }

  /** See `GatewayStore.keepEssentials`. */
  keepEssentials(): void {
    named(this.#path, () => this.#essentials.keep());
  }

  /** Bounded upkeep, to be called now and then. */
  maintain(): void {
    this.#purgeOrLater();
    this.#essentials.renew();
    this.database.run(`PRAGMA analysis_limit = ${analysis_rows_max}`);
    this.database.run("PRAGMA optimize");
  }

  close(): void {
    this.abandonImport();
    this.database.close();
  }

  /** Takes the bytes of what was dropped from the files. What is committed stays committed: where another process keeps the file busy, `maintain` tries again. */
  #purgeOrLater(): void {
    this.#purgeIsDue = false;
    try {
      purge(this.database, this.#path, 1);
    } catch (thrown) {
      if (!(thrown instanceof OperatorError)) throw storeFault(thrown, this.#path);
    }
  }

  /** Of facts that are to wait for their time, the places of those that do not: what comes in a pause that is not over is of the pause, but a device with a clock of its own may tell what was before. */
  #heldInPause(held: readonly HeldFact[]): number[] {
    return held.flatMap(({ fact }, place) => {
      if ("listening" in fact) return [];
      const told = "reading" in fact ? fact.reading : "state" in fact ? fact.state : fact.gap;
      const paused = this.unkept.pausedNow(told.device);
      if (paused === undefined || ("deviceClock" in told && told.deviceClock !== undefined)) return [];
      if ("reading" in fact) this.#addDropped.run(paused, 1);
      return [place];
    });
  }

  /** Keeps a cursor: of what is not recorded, what tells nothing of it. */
  #move({ name, value, bare, of }: MovedCursor): void {
    const move = (...row: Value[]) => this.#moveCursor.run(name, ...row);
    if (of === undefined || bare === undefined) {
      move(value, null, null, null, null);
      return;
    }
    const { device, at_ms, waits } = of;
    const isUnkept = (waits ? this.unkept.pausedNow(device) : this.unkept.why(device, at_ms)) !== undefined;
    if (!isUnkept) move(value, bare, device.kind, normalAddress(device.address) ?? device.address, at_ms);
    else if (bare !== null) move(bare, null, null, null, null);
  }

  /** Whether it is kept. */
  #insert(reading: Reading, seq: number, created: string[]): boolean {
    const why = this.unkept.why(reading.device, reading.stamp_ms, reading.unsure_ms);
    if (why !== undefined) {
      this.#addDropped.run(why, 1);
      this.#hasDropped = true;
      return false;
    }
    const stream = this.streams.keyOf(reading.device, reading.stamp_ms, created);
    const { fields, deviceClock, statement, newest } = this.#inserts[reading.series];
    const values = fields.map((field) => reading.values[field] ?? null);
    if (this.runner.run(this.#readBefore.has(reading, stream, values))) return true;
    // Of a stamp that is only bounded, the device's newest reading is one more bound.
    const least_ms = reading.clock === clockQuality.bounded ? Number(newest.values(stream)[0]?.[0] ?? 0) : 0;
    const stamp_ms = Math.max(reading.stamp_ms, least_ms);
    const row: Value[] = [stream, stamp_ms, seq, ...values, reading.clock];
    if (deviceClock) row.push(reading.deviceClock?.stamp_ms ?? null, reading.deviceClock?.offset_ms ?? null);
    statement.run(...row);
    this.additions.add(reading.series, stream, stamp_ms, seq);
    return true;
  }

  /** Does `work` in one transaction; an error rolls all of it back, and is rethrown as an OperatorError. */
  protected transaction<Result>(work: () => Result): Result {
    try {
      this.database.run("BEGIN IMMEDIATE");
      this.#noticeOthers();
      const result = work();
      this.database.run("COMMIT");
      if (this.#purgeIsDue) this.#purgeOrLater();
      this.#boundLog();
      return result;
    } catch (thrown) {
      this.additions.forget();
      this.streams.forget();
      this.unkept.forget();
      // A full disk makes SQLite roll back by itself.
      if (this.database.inTransaction) this.database.run("ROLLBACK");
      throw storeFault(thrown, this.#path);
    }
  }

  /** A command beside the server may have changed the inventory that is remembered here. */
  #noticeOthers(): void {
    const version = Number(this.#readVersion.values()[0]?.[0]);
    if (version !== this.#version) {
      this.streams.forget();
      this.unkept.forget();
    }
    this.#version = version;
  }

  /**
   * SQLite starts the WAL again only at a moment without readers, which may never come by itself; past
   * `wal_max_bytes` the moment is made, by holding new readers off the WAL for a bounded time.
   */
  #boundLog(): void {
    this.#commits += 1;
    if (this.#commits % commits_per_look !== 0) return;
    const bytes = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes < wal_max_bytes) return;
    this.database.run(`PRAGMA busy_timeout = ${checkpoint_max_ms}`);
    try {
      this.database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Commits are safe in the WAL, whether or not a checkpoint is possible now; the next check tries again.
    } finally {
      this.database.run(`PRAGMA busy_timeout = ${busy_max_ms}`);
    }
  }
}

function refusal(reading: Reading, index: number, thrown: unknown): ReadingRefused {
  return new ReadingRefused(
    `a reading of ${reading.device.kind} ${reading.device.address} does not fit ${reading.series} (${messageOf(thrown)})`,
    "report this device and its firmware; the reading is left out",
    index,
  );
}

const commits_per_look = 16;
const wal_max_bytes = 16 * 1024 * 1024;
const checkpoint_max_ms = 250;
/** Rows of an index that `optimize` looks at. */
const analysis_rows_max = 400;

/** The changes of both databases, and those of a gateway alone. */
function writesHere(homes: Homes) {
  return { ...writesOf(homes), admit, forgetDevice, nameItem, replaceItem, setHome, settleConflict };
}

type WritesHere = ReturnType<typeof writesHere>;
export type HereName = keyof WritesHere;
export type HereArguments<Name extends HereName> = WriteArguments<Name, WritesHere>;
export type HereWritten<Name extends HereName> = Written<Name, WritesHere>;

/** As of every database; `later`: after the next upload, a day at the latest. */
const takingAwayHere: Readonly<Partial<Record<HereName, "at once" | "later" | "what it removes">>> = {
  ...takingAway,
  changeNotes: "later",
};
