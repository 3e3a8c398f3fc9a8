import { clockQuality } from "../../base/clock.ts";
import { type DatedFacts, historyAfter } from "../../domain/device-facts.ts";
import { acceptedIdentity, type Conflict, type Identity } from "../../domain/identity.ts";
import type { Device, Gap } from "../../domain/reading.ts";
import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { arrays, change, firstOf, objects, rowsOf, rowsOfAll, type Work } from "../database.ts";
import type {
  Admitted,
  BootTime,
  DeafIn,
  HeardState,
  IdentityNotes,
  ListeningSpan,
  Notes,
  Settling,
  UncertainTime,
  WaitingFact,
} from "../gateway/gateway-store.ts";
import { knownStream } from "../inventory/device-items.ts";
import { normalAddress } from "../inventory/item-names.ts";
import { cadenceOf, silence_max_ms } from "../series/coverage-intervals.ts";

/**
 * Keeps that the gateway or a driver listened. Who listened and which devices were alive is kept as two times that are
 * moved on and the interruptions between: a sensor that works for years is one row. A gateway keeps its own under home 0;
 * central keeps each home's under its number (central/receiving.ts). Call it before the states that were heard then.
 */
export function* noteListening({ listener, from_ms, to_ms }: ListeningSpan): Work<void> {
  const known = yield* firstOf(
    arrays<[number]>("SELECT last_ms FROM listeners WHERE home = 0 AND name = $1", listener),
  );
  if (known !== undefined && from_ms - known[0] > break_max_ms)
    yield* change(
      "INSERT OR IGNORE INTO outages (home, listener, start_ms, stop_ms) VALUES (0, $1, $2, $3)",
      ...[listener, known[0], from_ms],
    );
  yield* change(
    `INSERT INTO listeners (home, name, first_ms, last_ms) VALUES (0, $1, $2, $3)
     ON CONFLICT (home, name) DO UPDATE SET last_ms = max(last_ms, excluded.last_ms)`,
    ...[listener, from_ms, to_ms],
  );
}

/** Keeps the state of a device, and that it was silent before; values that the state does not have stay. */
export function* noteHeard(stream: number, state: HeardState): Work<void> {
  const earlier = yield* firstOf(
    arrays<EarlierState>(
      "SELECT heard_ms, listener, facts FROM stream_states WHERE stream = $1 AND home = 0",
      stream,
    ),
  );
  if (earlier !== undefined) yield* noteSilence(stream, state, earlier);
  const { heard_ms, battery_percent, battery_mv, linkquality, listener, facts } = state;
  const history: readonly DatedFacts[] = JSON.parse(earlier?.[2] ?? "[]");
  const after = facts === undefined ? history : historyAfter(history, facts, heard_ms);
  yield* change(
    `INSERT INTO stream_states (stream, home, heard_ms, first_ms, battery_percent, battery_mv, linkquality, listener, facts)
     VALUES ($1, 0, $2, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (stream, home) DO UPDATE SET
       heard_ms = max(heard_ms, excluded.heard_ms),
       listener = coalesce(excluded.listener, listener),
       battery_percent = coalesce(excluded.battery_percent, battery_percent),
       battery_mv = coalesce(excluded.battery_mv, battery_mv),
       linkquality = coalesce(excluded.linkquality, linkquality),
       facts = coalesce(excluded.facts, facts)`,
    ...[stream, heard_ms, battery_percent ?? null, battery_mv ?? null, linkquality ?? null],
    ...[listener ?? null, after === history ? null : JSON.stringify(after)],
  );
}

export function* noteGap(stream: number, { from_ms, to_ms, reason, lost }: Gap): Work<void> {
  yield* change(
    "INSERT OR REPLACE INTO gaps (stream, home, from_ms, to_ms, reason, lost) VALUES ($1, 0, $2, $3, $4, $5)",
    ...[stream, from_ms, to_ms, reason, lost ?? null],
  );
}

type EarlierState = [heard_ms: number, listener: string | null, facts: string | null];

/** To be called before the state of the stream is changed. */
function* noteSilence(
  stream: number,
  { device, heard_ms, listener }: HeardState,
  [from_ms, earlierListener]: EarlierState,
): Work<void> {
  const least_ms = silence_max_ms(cadenceOf(device.kind, device.subtype));
  if (heard_ms - from_ms <= least_ms) return;
  const deaf = yield* firstOf(
    arrays<[number]>(
      `SELECT (SELECT coalesce(sum(min(stop_ms, $3) - max(start_ms, $2)), 0) FROM outages
         WHERE home = 0 AND listener = $1 AND stop_ms > $2 AND start_ms < $3)
       + (SELECT coalesce(sum(min(before_ms, $3) - max(from_ms, $2)), 0) FROM pauses
         WHERE home = 0 AND before_ms > $2 AND from_ms < $3
           AND (kind IS NULL OR kind = $4 AND (address IS NULL AND itemid IS NULL OR address = $5)))`,
      ...[listener ?? earlierListener ?? "", from_ms, heard_ms],
      ...[device.kind, normalAddress(device.address) ?? null],
    ),
  );
  if (heard_ms - from_ms - Number(deaf?.[0]) > least_ms)
    yield* change(
      "INSERT OR IGNORE INTO silences (stream, home, start_ms, stop_ms) VALUES ($1, 0, $2, $3)",
      ...[stream, from_ms, heard_ms],
    );
}

/** Listeners are told of several times a minute, and what is told is committed once a minute at least. */
const break_max_ms = 60_000;

/** Stores facts that wait for their time, and the known time of each boot. */
export function* noteTimes(notes: Pick<Notes, "boots" | "held" | "released">): Work<void> {
  for (const { boot, timeline, seen_ms, bound_ms } of notes.boots ?? [])
    yield* change(
      `INSERT INTO boots (boot, timeline, seen_ms, bound_ms) VALUES ($1, $2, $3, $4)
       ON CONFLICT (boot) DO UPDATE SET
         timeline = coalesce(excluded.timeline, timeline),
         seen_ms = max(seen_ms, excluded.seen_ms),
         bound_ms = excluded.bound_ms`,
      ...[boot, timeline === undefined ? null : JSON.stringify(timeline), seen_ms, bound_ms ?? null],
    );
  for (const { boot, monotonic_ms, fact } of notes.held ?? [])
    yield* change(
      "INSERT INTO waiting (boot, monotonic_ms, fact) VALUES ($1, $2, $3)",
      ...[boot, monotonic_ms, JSON.stringify(fact, withoutFacts)],
    );
  for (const id of notes.released ?? []) yield* change("DELETE FROM waiting WHERE id = $1", id);
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

/** See `UncertainTimes.deaf_ms`. To be read in one snapshot. */
export function* deaf_ms({ from_ms, to_ms, drivers }: DeafIn): Work<number> {
  const [listeners, outages] = yield* rowsOfAll(
    objects<{ name: string; first_ms: number; last_ms: number }>(
      "SELECT name, first_ms, last_ms FROM listeners WHERE home = 0",
    ),
    objects<{ name: string; lost_ms: number }>(
      `SELECT listener AS name, sum(min(stop_ms, $2) - max(start_ms, $1)) AS lost_ms FROM outages
       WHERE home = 0 AND stop_ms > $1 AND start_ms < $2 GROUP BY listener`,
      from_ms,
      to_ms,
    ),
  );
  const lost = new Map(outages.map(({ name, lost_ms }) => [name, lost_ms]));
  const isDue = (name: string, last_ms: number) =>
    name === "gateway" || (drivers?.includes(name) ?? last_ms > from_ms);
  return listeners.reduce((worst_ms, { name, first_ms, last_ms }) => {
    if (!isDue(name, last_ms)) return worst_ms;
    const silent_ms = to_ms - Math.max(last_ms, first_ms, from_ms);
    // It is noted from time to time that somebody listens.
    const now_ms = silent_ms > noted_within_ms ? silent_ms : 0;
    return Math.max(worst_ms, (lost.get(name) ?? 0) + now_ms);
  }, 0);
}

const noted_within_ms = 5 * 60_000;

interface BootRow {
  readonly boot: string;
  readonly timeline: string | null;
  readonly seen_ms: number;
  readonly bound_ms: number | null;
}

/** Clocks of readings whose offset was measured: the gateway knew the time when they came. */
const measured = [clockQuality.synchronised, clockQuality.device];

/** See `GatewayStore.deviceOffset`. */
export function* deviceOffset(series: SeriesName, device: Device): Work<number | undefined> {
  if (seriesOf(series).deviceClock !== true) return undefined;
  const stream = yield* knownStream(device, 0);
  if (stream === undefined) return undefined;
  const row = yield* firstOf(
    arrays<[number]>(
      `SELECT offset_ms FROM ${series}
       WHERE stream = $1 AND clock IN (${measured.join()}) AND offset_ms IS NOT NULL
       ORDER BY stamp DESC, seq DESC LIMIT 1`,
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

/** Lets devices in: see `AdmissionStore`. */
export function* admit(devices: readonly Admitted[]): Work<void> {
  for (const { address, admitted_ms, reason } of devices)
    yield* change("INSERT OR REPLACE INTO admitted VALUES ($1, $2, $3)", address, admitted_ms, reason);
}

/** Forgets an admitted device and all that was known under its address; whether there was anything. */
export function* forgetDevice(address: string): Work<boolean> {
  const admitted = yield* change("DELETE FROM admitted WHERE address = $1", address);
  return (yield* forgetIdentity(address)) || admitted > 0;
}

/** Stores the id of this gateway's home. */
export function* setHome(home: number): Work<void> {
  yield* change("INSERT OR REPLACE INTO meta VALUES ('home', $1)", home);
}

export function* keepIdentities(notes: IdentityNotes): Work<void> {
  for (const identity of notes.identities) yield* putIdentity(identity);
  for (const conflict of notes.conflicts) yield* putConflict(conflict);
}

/** See `IdentityStore.settleConflict`. */
export function* settleConflict({ conflict, answer, at_ms, by }: Settling): Work<void> {
  if (answer === "refused") {
    yield* putConflict({ ...conflict, refused_ms: at_ms, refused_by: by });
    return;
  }
  yield* forgetIdentity(conflict.known.address);
  yield* putIdentity(acceptedIdentity(conflict, at_ms, by));
}

/** Whether anything was known under the address until now. */
function* forgetIdentity(address: string): Work<boolean> {
  let gone = 0;
  for (const table of ["identities", "identity_conflicts"])
    gone += yield* change(`DELETE FROM ${table} WHERE address = $1`, address);
  return gone > 0;
}

/** Puts identities in the place of all that are known under their addresses. A conflict that a person has settled since then goes. */
export function* replaceIdentities(identities: readonly Identity[]): Work<void> {
  for (const { address, accepted_ms = null } of identities) {
    yield* change("DELETE FROM identities WHERE address = $1", address);
    yield* change(
      `DELETE FROM identity_conflicts
       WHERE address = $1 AND $2 IS NOT NULL AND conflict ->> '$.known.accepted_ms' IS NOT $2`,
      ...[address, accepted_ms],
    );
  }
  for (const identity of identities) yield* putIdentity(identity);
}

function* putIdentity(identity: Identity): Work<void> {
  yield* change(
    "INSERT OR REPLACE INTO identities VALUES ($1, $2, $3)",
    ...[identity.address, identity.kind, JSON.stringify(identity)],
  );
}

function* putConflict(conflict: Conflict): Work<void> {
  yield* change(
    "INSERT OR REPLACE INTO identity_conflicts VALUES ($1, $2)",
    ...[conflict.known.address, JSON.stringify(conflict)],
  );
}
