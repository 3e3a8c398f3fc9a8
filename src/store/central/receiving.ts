import { type FactsHistory, joinedHistory } from "../../domain/device-facts.ts";
import { type Batch, firstIndexFrom, seriesIn } from "../batch.ts";
import { arrays, change, hold, objects, type Put, put, rowsOf, rowsOfAll, type Work } from "../database.ts";
import { healthWithoutErased } from "../erased-health.ts";
import { withoutErased } from "../erasure.ts";
import type { DeviceHealth } from "../exchange.ts";
import { type HeardDevice, heardFrom, streamsOf } from "../inventory/device-items.ts";
import type { Homes } from "../inventory/homes.ts";
import { takeToldNotes } from "../inventory/noting.ts";
import { countRefused, takeToldPauses, unkeptIn } from "../inventory/pausing.ts";
import { Additions } from "../series/additions.ts";
import { byDevice } from "../series/series-rows.ts";
import { devicesFrom, digestAt, firstNewSeq } from "./batch-acceptance.ts";
import type { Received, ReportNote, Sender } from "./central-store.ts";
import { noteArrived } from "./gateways.ts";
import { holdSource, newestStretch, noteHeld, requireListeners } from "./sources.ts";

/** See `CentralStore.receive`. */
export function* receive(homes: Homes, batch: Batch, sender: Sender): Work<Received> {
  const source = yield* holdSource(batch.epoch, sender);
  const from_seq = firstNewSeq(batch, source, sender);
  if (from_seq === undefined) return { held_seq: source.held_seq, taken: 0 };
  // What is erased while this batch is under way waits for its end; what was erased before is seen from here on.
  yield* hold("inventory");
  const { batch: kept, refused } = withoutErased(batch, yield* unkeptIn(sender.home), from_seq);
  const newest = yield* newestStretch(sender.home);
  const first_own = newest === undefined ? 1 : newest.first_own + newest.to_seq - newest.from_seq + 1;
  const taken = yield* take(homes, kept, { from_seq, first_own }, sender);
  const erased = yield* countRefused(refused);
  const { first_seq, to_seq } = batch;
  const what = { newest, first_seq, digest: digestAt(kept, to_seq), at_ms: sender.at_ms };
  yield* noteHeld(source, { first_own, from_seq, to_seq }, what);
  return { held_seq: to_seq, taken, ...(erased === 0 ? {} : { erased }) };
}

/**
 * Puts the readings of a batch from a number on into their tables, and answers how many those are. The home is held, so that of its readings a lower number
 * is never committed after a higher one, and a page that counts readings up to a number stays right.
 */
function* take(
  homes: Homes,
  batch: Batch,
  { from_seq, first_own }: { from_seq: number; first_own: number },
  { home }: Sender,
): Work<number> {
  const heard = devicesFrom(batch, from_seq);
  const keys = yield* streamsOf(heardFrom(batch, from_seq), home);
  const keyOf = new Float64Array(batch.devices.length);
  for (const [index, { place }] of heard.entries()) keyOf[place] = keys[index] as number;
  const additions = new Additions(homes, homes.of(home));
  yield* additions.begin(keys);
  let taken = 0;
  for (const [series, columns] of seriesIn(batch)) {
    const { seq, device } = columns;
    const order = byDevice(device, firstIndexFrom(seq, from_seq), batch.devices.length);
    const stream = device.map((place) => keyOf[place] as number);
    const own = seq.map((number) => first_own + number - from_seq);
    yield* additions.put({ series, home: homes.of(home), columns, order, stream, own });
    taken += order.length;
  }
  yield* additions.settle();
  return taken;
}

/** See `CentralStore.noteReport`. Taking in the same twice changes nothing. */
export function* noteReport(
  homes: Homes,
  { epoch, health: told, report, as_of, pauses = [], notes }: ReportNote,
  sender: Sender,
): Work<void> {
  const { home, at_ms } = sender;
  yield* takeToldPauses(home, pauses);
  if (notes !== undefined) yield* takeToldNotes(homes, home, notes);
  const { held_note } = yield* holdSource(epoch, sender);
  yield* hold("inventory");
  const health = healthWithoutErased(told, yield* unkeptIn(home));
  yield* requireListeners(
    home,
    health.listeners.map(({ name }) => name),
  );
  const heard = heardIn(health, held_note);
  const keys = yield* streamsOf([...heard.values()], home);
  const keyOf = new Map([...heard.keys()].map((place, index) => [place, keys[index] as number]));
  yield* noteLatest(home, health, keyOf);
  // Earlier notes are stored already: an interruption never changes once it is over.
  if (health.to_note > held_note) yield* noteInterruptions(home, health, keyOf);
  yield* noteArrived(epoch, sender, as_of);
  yield* change(
    `UPDATE sources SET report = $3, reported_ms = $4, held_note = $5, told_seq = $6, told_day = $7,
       reported = (SELECT max(greatest(began, reported)) + 1 FROM sources WHERE home = $1)
     WHERE home = $1 AND epoch = $2`,
    home,
    epoch,
    JSON.stringify(report),
    at_ms,
    heldAfter(health, held_note),
    as_of?.last_seq ?? null,
    as_of?.day ?? null,
  );
}

/** The devices that device health has something new of, by place, in the order in which they are mentioned. */
export function heardIn(health: DeviceHealth, held_note: number): Map<number, HeardDevice> {
  const { devices, states, silences, gaps, to_note } = health;
  const mentions = states.map(({ device, first_ms }) => ({ place: device, heard_ms: first_ms }));
  if (to_note > held_note) {
    mentions.push(...silences.map(({ device, start_ms }) => ({ place: device, heard_ms: start_ms })));
    mentions.push(...gaps.map(({ device, from_ms }) => ({ place: device, heard_ms: from_ms })));
  }
  const heard = new Map<number, HeardDevice>();
  for (const { place, heard_ms } of mentions) {
    const device = devices[place];
    if (device === undefined) throw new Error(`device health names device ${place} of ${devices.length}`);
    if (!heard.has(place)) heard.set(place, { device, heard_ms });
  }
  return heard;
}

/** Notes between the held ones and these that have not come are to be sent again. */
function heldAfter({ after_note, to_note }: DeviceHealth, held_note: number): number {
  return after_note > held_note ? held_note : Math.max(held_note, to_note);
}

type KeyOf = ReadonlyMap<number, number>;

/** Keeps who has listened, and the state of each device: the one heard last wins, and values that it does not have stay. */
function* noteLatest(home: number, { listeners, states }: DeviceHealth, keyOf: KeyOf): Work<void> {
  const held = yield* rowsOf(
    arrays<[stream: number, facts: string]>(
      "SELECT stream, facts FROM stream_states WHERE stream = ANY ($1::bigint[]) AND home = $2 AND facts IS NOT NULL",
      states.flatMap(({ device, history }) => (history === undefined ? [] : [keyOf.get(device) ?? 0])),
      home,
    ),
  );
  const heldOf = new Map(held);
  yield* rowsOfAll(
    ...listeners.map(({ name, first_ms, last_ms }) => objects(listenerSql, home, name, first_ms, last_ms)),
    ...states.map((state) => {
      const { device, first_ms, heard_ms, listener = null } = state;
      const { battery_percent = null, battery_mv = null, linkquality = null } = state;
      const stream = keyOf.get(device) ?? 0;
      const facts = state.history === undefined ? null : joined(state.history, heldOf.get(stream));
      const known = [listener, battery_percent, battery_mv, linkquality, facts];
      return objects(stateSql, stream, home, first_ms, heard_ms, ...known);
    }),
  );
}

/** A box that was restored begins its history anew: what it told before stays. */
function joined(told: FactsHistory, held: string | undefined): string {
  return JSON.stringify(joinedHistory(told, JSON.parse(held ?? "[]")));
}

const listenerSql = `INSERT INTO listeners (home, name, first_ms, last_ms) VALUES ($1, $2, $3, $4)
  ON CONFLICT (home, name) DO UPDATE SET
    first_ms = least(listeners.first_ms, excluded.first_ms), last_ms = greatest(listeners.last_ms, excluded.last_ms)`;

const told = ["listener", "battery_percent", "battery_mv", "linkquality", "facts"];
const latest = told.map(
  (field) => `${field} = CASE WHEN excluded.heard_ms >= stream_states.heard_ms
    THEN coalesce(excluded.${field}, stream_states.${field}) ELSE stream_states.${field} END`,
);
const stateSql = `INSERT INTO stream_states (stream, home, first_ms, heard_ms, ${told.join(", ")})
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (stream, home) DO UPDATE SET
    first_ms = least(stream_states.first_ms, excluded.first_ms),
    heard_ms = greatest(stream_states.heard_ms, excluded.heard_ms), ${latest.join(", ")}`;

function* noteInterruptions(home: number, health: DeviceHealth, keyOf: KeyOf): Work<void> {
  const streamOf = ({ device }: { readonly device: number }) => keyOf.get(device) ?? 0;
  yield* putLast(3, {
    put: "outages",
    columns: { home: "bigint", listener: "text", start_ms: "bigint", stop_ms: "bigint" },
    rows: health.outages.map(({ listener, start_ms, stop_ms }) => [home, listener, start_ms, stop_ms]),
    conflict: "ON CONFLICT (home, listener, start_ms) DO UPDATE SET stop_ms = excluded.stop_ms",
  });
  yield* putLast(3, {
    put: "silences",
    columns: { stream: "bigint", home: "bigint", start_ms: "bigint", stop_ms: "bigint" },
    rows: health.silences.map((silence) => [streamOf(silence), home, silence.start_ms, silence.stop_ms]),
    conflict: "ON CONFLICT (stream, home, start_ms) DO UPDATE SET stop_ms = excluded.stop_ms",
  });
  yield* putLast(5, {
    put: "gaps",
    columns: {
      ...{ stream: "bigint", home: "bigint", from_ms: "bigint", to_ms: "bigint" },
      ...{ reason: "text", lost: "bigint" },
    },
    rows: health.gaps.map(({ lost = null, ...gap }) => {
      return [streamOf(gap), home, gap.from_ms, gap.to_ms, gap.reason, lost];
    }),
    conflict: "ON CONFLICT (stream, home, from_ms, to_ms, reason) DO UPDATE SET lost = excluded.lost",
  });
}

/** Of rows that are alike in their first `key` columns the last counts. */
function* putLast(key: number, { rows, ...step }: Put): Work<void> {
  const last = new Map(rows.map((row) => [JSON.stringify(row.slice(0, key)), row]));
  yield* put({ ...step, rows: [...last.values()] });
}
