import { clockQuality } from "../../base/clock.ts";
import { acceptedIdentity, type Conflict, type Identity } from "../../domain/identity.ts";
import type { Device, Gap } from "../../domain/reading.ts";
import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { arrays, firstOf, objects, rowsOf, rowsOfAll, type Work } from "../database.ts";
import type {
  BootTime,
  HeardState,
  HeldFact,
  IdentityNotes,
  ListeningSpan,
  Settling,
  UncertainTime,
  WaitingFact,
} from "../gateway/gateway-store.ts";
import { knownStream } from "../inventory/device-items.ts";
import { cadenceOf, silence_max_ms } from "../series/coverage-intervals.ts";
import type { Connection } from "./connection.ts";

/**
 * Keeps who listened and which devices were alive, as two times that are moved on and the interruptions between: a
 * sensor that works for years is one row. A gateway keeps its own under home 0; central keeps each home's under its number
 * (core/reports.ts). Works inside the caller's transaction; listening is told before states.
 */
export class CoverageKeeper {
  readonly #readListener;
  readonly #writeListener;
  readonly #addOutage;
  readonly #outagesBetween;
  readonly #readStream;
  readonly #addSilence;
  readonly #addGap;
  readonly #noteState;

  constructor(database: Connection) {
    this.#readListener = database.keep("SELECT last_ms FROM listeners WHERE home = 0 AND name = ?");
    this.#writeListener = database.keep(
      `INSERT INTO listeners (home, name, first_ms, last_ms) VALUES (0, ?, ?, ?)
       ON CONFLICT (home, name) DO UPDATE SET last_ms = max(last_ms, excluded.last_ms)`,
    );
    this.#addOutage = database.keep(
      "INSERT OR IGNORE INTO outages (home, listener, start_ms, stop_ms) VALUES (0, ?, ?, ?)",
    );
    this.#outagesBetween = database.keep(
      `SELECT coalesce(sum(min(stop_ms, $to) - max(start_ms, $from)), 0) FROM outages
       WHERE home = 0 AND listener = $listener AND stop_ms > $from AND start_ms < $to`,
    );
    this.#readStream = database.keep(
      "SELECT heard_ms, listener FROM stream_states WHERE stream = ? AND home = 0",
    );
    this.#addSilence = database.keep(
      "INSERT OR IGNORE INTO silences (stream, home, start_ms, stop_ms) VALUES (?, 0, ?, ?)",
    );
    this.#addGap = database.keep(
      "INSERT OR REPLACE INTO gaps (stream, home, from_ms, to_ms, reason, lost) VALUES (?, 0, ?, ?, ?, ?)",
    );
    this.#noteState = database.keep(
      `INSERT INTO stream_states (stream, home, heard_ms, first_ms, battery_percent, battery_mv, linkquality, listener, facts)
       VALUES (?1, 0, ?2, ?2, ?3, ?4, ?5, ?6, ?7)
       ON CONFLICT (stream, home) DO UPDATE SET
         heard_ms = max(heard_ms, excluded.heard_ms),
         listener = coalesce(excluded.listener, listener),
         battery_percent = coalesce(excluded.battery_percent, battery_percent),
         battery_mv = coalesce(excluded.battery_mv, battery_mv),
         linkquality = coalesce(excluded.linkquality, linkquality),
         facts = coalesce(excluded.facts, facts)`,
    );
  }

  listened({ listener, from_ms, to_ms }: ListeningSpan): void {
    const last_ms = this.#readListener.values(listener)[0]?.[0] as number | undefined;
    if (last_ms !== undefined && from_ms - last_ms > break_max_ms)
      this.#addOutage.run(listener, last_ms, from_ms);
    this.#writeListener.run(listener, from_ms, to_ms);
  }

  /** Keeps the state of a device, and that it was silent before; values that the state does not have stay. */
  heard(stream: number, state: HeardState): void {
    this.#silentUntil(stream, state);
    const { heard_ms, battery_percent, battery_mv, linkquality, listener, facts } = state;
    this.#noteState.run(
      stream,
      heard_ms,
      battery_percent ?? null,
      battery_mv ?? null,
      linkquality ?? null,
      listener ?? null,
      facts === undefined ? null : JSON.stringify(facts),
    );
  }

  gap(stream: number, { from_ms, to_ms, reason, lost }: Gap): void {
    this.#addGap.run(stream, from_ms, to_ms, reason, lost ?? null);
  }

  /** To be called before the state of the stream is changed. */
  #silentUntil(stream: number, { device, heard_ms, listener }: HeardState): void {
    const [earlier] = this.#readStream.values(stream) as [number, string | null][];
    if (earlier === undefined) return;
    const [from_ms] = earlier;
    const least_ms = silence_max_ms(cadenceOf(device.kind, device.subtype));
    if (heard_ms - from_ms <= least_ms) return;
    const who = listener ?? earlier[1] ?? "";
    const parameters = { $listener: who, $from: from_ms, $to: heard_ms };
    const deaf_ms = Number(this.#outagesBetween.values(parameters)[0]?.[0]);
    if (heard_ms - from_ms - deaf_ms > least_ms) this.#addSilence.run(stream, from_ms, heard_ms);
  }
}

/** Listeners are told of several times a minute, and what is told is committed once a minute at least. */
const break_max_ms = 60_000;

/** Stores facts that wait for their time, and the known time of each boot. Works inside the caller's transaction. */
export class TimeKeeper {
  readonly #putBoot;
  readonly #hold;
  readonly #release;

  constructor(database: Connection) {
    this.#putBoot = database.keep(
      `INSERT INTO boots (boot, timeline, seen_ms, bound_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT (boot) DO UPDATE SET
         timeline = coalesce(excluded.timeline, timeline),
         seen_ms = max(seen_ms, excluded.seen_ms),
         bound_ms = excluded.bound_ms`,
    );
    this.#hold = database.keep("INSERT INTO waiting (boot, monotonic_ms, fact) VALUES (?, ?, ?)");
    this.#release = database.keep("DELETE FROM waiting WHERE id = ?");
  }

  keep(notes: {
    readonly boots?: readonly BootTime[];
    readonly held?: readonly HeldFact[];
    readonly released?: readonly number[];
  }): void {
    for (const { boot, timeline, seen_ms, bound_ms } of notes.boots ?? []) {
      const known = timeline === undefined ? null : JSON.stringify(timeline);
      this.#putBoot.run(boot, known, seen_ms, bound_ms ?? null);
    }
    for (const { boot, monotonic_ms, fact } of notes.held ?? [])
      this.#hold.run(boot, monotonic_ms, JSON.stringify(fact, withoutFacts));
    for (const id of notes.released ?? []) this.#release.run(id);
  }
}

/** Facts of a device are told again with each sign of life, and need not wait. */
function withoutFacts(name: string, value: unknown): unknown {
  return name === "facts" ? undefined : value;
}

/** See `GatewayStore.timeKnown`. */
export function* timeKnown(): Work<{ boots: BootTime[]; waiting: number }> {
  const [rows, [waiting]] = yield* rowsOfAll(
    objects<BootRow>("SELECT boot, timeline, seen_ms, bound_ms FROM boots ORDER BY ordinal"),
    arrays<[number]>("SELECT count(*) FROM waiting"),
  );
  const boots = rows.map(({ timeline, bound_ms, ...boot }) => ({
    ...boot,
    timeline: timeline === null ? undefined : JSON.parse(timeline),
    bound_ms: bound_ms ?? undefined,
  }));
  return { boots, waiting: waiting?.[0] ?? 0 };
}

/** See `Doubts`. */
export function* uncertainTimes(): Work<UncertainTime[]> {
  const { boots } = yield* timeKnown();
  return boots.flatMap(({ timeline, seen_ms, bound_ms }) => {
    if (timeline === undefined || bound_ms === undefined) return [];
    const from_ms = Math.round(timeline.offset_ms);
    return [{ from_ms, to_ms: Math.round(from_ms + seen_ms) }];
  });
}

interface BootRow {
  readonly boot: string;
  readonly timeline: string | null;
  readonly seen_ms: number;
  readonly bound_ms: number | null;
}

/** See `GatewayStore.deviceOffset`. */
export function* deviceOffset(series: SeriesName, device: Device): Work<number | undefined> {
  if (seriesOf(series).deviceClock !== true) return undefined;
  const stream = yield* knownStream(device, 0);
  if (stream === undefined) return undefined;
  const row = yield* firstOf(
    arrays<[number]>(
      `SELECT offset_ms FROM ${series}
       WHERE stream = $1 AND clock = ${clockQuality.device} ORDER BY stamp DESC, seq DESC LIMIT 1`,
      stream,
    ),
  );
  return row?.[0];
}

/** See `GatewayStore.waiting`. */
export function* waitingFacts(limit: number): Work<WaitingFact[]> {
  const rows = yield* rowsOf(
    objects<Omit<WaitingFact, "fact"> & { fact: string }>(
      `SELECT id, boot, monotonic_ms, fact FROM boots JOIN waiting USING (boot)
       ORDER BY ordinal, monotonic_ms, id LIMIT $1`,
      limit,
    ),
  );
  return rows.map(({ fact, ...row }) => ({ ...row, fact: JSON.parse(fact) }));
}

/** To be called in a transaction. */
export function keepIdentities(database: Connection, notes: IdentityNotes): void {
  for (const identity of notes.identities) putIdentity(database, identity);
  for (const conflict of notes.conflicts) putConflict(database, conflict);
}

/** See `IdentityStore.settleConflict`; to be called in a transaction. */
export function settleConflict(database: Connection, { conflict, answer, at_ms, by }: Settling): void {
  if (answer === "refused") {
    putConflict(database, { ...conflict, refused_ms: at_ms, refused_by: by });
    return;
  }
  const { address } = conflict.known;
  forgetIdentity(database, address);
  putIdentity(database, acceptedIdentity(conflict, at_ms, by));
}

/** Whether anything was known under the address until now; to be called in a transaction. */
export function forgetIdentity(database: Connection, address: string): boolean {
  const tables = ["identities", "identity_conflicts"];
  const found = tables.map((table) => database.query(`DELETE FROM ${table} WHERE address = ?`).run(address));
  return found.some(({ changes }) => changes > 0);
}

/** Puts identities in the place of all that are known under their addresses. A conflict that a person has settled since then goes; to be called in a transaction. */
export function replaceIdentities(database: Connection, identities: readonly Identity[]): void {
  for (const { address, accepted_ms = null } of identities) {
    database.query("DELETE FROM identities WHERE address = ?").run(address);
    database
      .query(
        "DELETE FROM identity_conflicts WHERE address = ?1 AND ?2 IS NOT NULL AND conflict ->> '$.known.accepted_ms' IS NOT ?2",
      )
      .run(address, accepted_ms);
  }
  for (const identity of identities) putIdentity(database, identity);
}

function putIdentity(database: Connection, identity: Identity): void {
  database
    .query("INSERT OR REPLACE INTO identities VALUES (?, ?, ?)")
    .run(identity.address, identity.kind, JSON.stringify(identity));
}

function putConflict(database: Connection, conflict: Conflict): void {
  database
    .query("INSERT OR REPLACE INTO identity_conflicts VALUES (?, ?)")
    .run(conflict.known.address, JSON.stringify(conflict));
}
