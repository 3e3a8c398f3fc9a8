import { refuseForeign } from "../batch-acceptance.ts";
import type { ReportNote, Sender } from "../central-store.ts";
import { type HeardDevice, itemsOf, prepareItems } from "../core/items.ts";
import { holdSource, sourceOf } from "../core/sources.ts";
import type { DeviceHealth } from "../device-health.ts";
import type { Connections, SqlRunner } from "./connection.ts";
import { type PostgresDatabase, run } from "./database.ts";

/** Keeps what gateways say of themselves, and who listened and which devices were alive in each home. */
export class Reports {
  readonly #connections: Connections;
  readonly #database: PostgresDatabase;

  constructor(options: { connections: Connections; database: PostgresDatabase }) {
    this.#connections = options.connections;
    this.#database = options.database;
  }

  /** See `CentralStore.noteReport`. */
  async note({ epoch, health, report }: ReportNote, sender: Sender): Promise<void> {
    const { home, at_ms } = sender;
    const known = await this.#connections.read((sql) => run(sql, sourceOf(epoch)));
    if (known !== undefined) refuseForeign(epoch, known, sender);
    const mentioned = mentionedIn(health, known?.held_note ?? 0);
    await prepareItems(this.#database, [...mentioned.values()], home);
    await this.#connections.write(async (sql) => {
      const { held_note } = await run(sql, holdSource(epoch, sender));
      const heard = mentionedIn(health, held_note);
      const keys = await run(sql, itemsOf([...heard.values()], home));
      const keyOf = new Map([...heard.keys()].map((place, index) => [place, keys[index] as number]));
      await noteListening(sql, home, health);
      await noteStates(sql, home, health, keyOf);
      // Earlier notes are stored already: an interruption never changes once it is over.
      if (health.to_note > held_note) await noteInterruptions(sql, home, health, keyOf);
      await sql`
        UPDATE sources SET report = ${JSON.stringify(report)}, reported_ms = ${at_ms},
          held_note = ${heldAfter(health, held_note)},
          reported = (SELECT max(greatest(began, reported)) + 1 FROM sources WHERE home = ${home})
        WHERE home = ${home} AND epoch = ${epoch}`;
    });
  }
}

/** Notes between the held ones and those of a health that have not come are to be sent again. */
function heldAfter({ after_note, to_note }: DeviceHealth, held_note: number): number {
  return after_note > held_note ? held_note : Math.max(held_note, to_note);
}

/** The devices that a health has something new of, by place, in the order in which they are mentioned. */
function mentionedIn(health: DeviceHealth, held_note: number): Map<number, HeardDevice> {
  const { devices, states, silences, gaps, to_note } = health;
  const mentions = states.map(({ device, first_ms }) => ({ place: device, heard_ms: first_ms }));
  if (to_note > held_note) {
    mentions.push(...silences.map(({ device, start_ms }) => ({ place: device, heard_ms: start_ms })));
    mentions.push(...gaps.map(({ device, from_ms }) => ({ place: device, heard_ms: from_ms })));
  }
  const heard = new Map<number, HeardDevice>();
  for (const { place, heard_ms } of mentions) {
    const device = devices[place];
    if (device === undefined) throw new Error(`a health names device ${place} of ${devices.length}`);
    if (!heard.has(place)) heard.set(place, { device, heard_ms });
  }
  return heard;
}

async function noteListening(sql: SqlRunner, home: number, { listeners }: DeviceHealth): Promise<void> {
  for (const { name, first_ms, last_ms } of listeners) {
    await sql`
      INSERT INTO listeners AS known (home, name, first_ms, last_ms) VALUES (${home}, ${name}, ${first_ms}, ${last_ms})
      ON CONFLICT (home, name) DO UPDATE SET
        first_ms = least(known.first_ms, excluded.first_ms), last_ms = greatest(known.last_ms, excluded.last_ms)`;
  }
}

type KeyOf = ReadonlyMap<number, number>;

/** The state heard last wins; values that it does not have stay. */
async function noteStates(
  sql: SqlRunner,
  home: number,
  { states }: DeviceHealth,
  keyOf: KeyOf,
): Promise<void> {
  for (const state of states) {
    const { device, first_ms, heard_ms, listener = null } = state;
    const { battery_percent = null, battery_mv = null, linkquality = null } = state;
    await sql`
      INSERT INTO item_states AS known
        (item, home, first_ms, heard_ms, listener, battery_percent, battery_mv, linkquality)
      VALUES (${keyOf.get(device) ?? 0}, ${home}, ${first_ms}, ${heard_ms}, ${listener}, ${battery_percent},
        ${battery_mv}, ${linkquality})
      ON CONFLICT (item, home) DO UPDATE SET
        first_ms = least(known.first_ms, excluded.first_ms),
        heard_ms = greatest(known.heard_ms, excluded.heard_ms),
        ${sql.unsafe(latest)}`;
  }
}

const latest = ["listener", "battery_percent", "battery_mv", "linkquality"]
  .map(
    (field) => `${field} = CASE WHEN excluded.heard_ms >= known.heard_ms
      THEN coalesce(excluded.${field}, known.${field}) ELSE known.${field} END`,
  )
  .join(", ");

async function noteInterruptions(
  sql: SqlRunner,
  home: number,
  { outages, silences, gaps }: DeviceHealth,
  keyOf: KeyOf,
): Promise<void> {
  await sql`
    INSERT INTO outages (home, listener, start_ms, stop_ms)
    SELECT ${home}::bigint, * FROM unnest(${outages.map(({ listener }) => listener)}::text[],
      ${outages.map(({ start_ms }) => start_ms)}::bigint[], ${outages.map(({ stop_ms }) => stop_ms)}::bigint[])
    ON CONFLICT DO NOTHING`;
  await sql`
    INSERT INTO silences (home, item, start_ms, stop_ms)
    SELECT ${home}::bigint, * FROM unnest(${silences.map(({ device }) => keyOf.get(device) ?? 0)}::bigint[],
      ${silences.map(({ start_ms }) => start_ms)}::bigint[], ${silences.map(({ stop_ms }) => stop_ms)}::bigint[])
    ON CONFLICT DO NOTHING`;
  // Of two that are told of the same stretch the last counts, and one statement may not write a row twice.
  const unlike = new Map(
    gaps.map((gap) => [`${keyOf.get(gap.device)} ${gap.from_ms} ${gap.to_ms} ${gap.reason}`, gap]),
  );
  const told = [...unlike.values()];
  await sql`
    INSERT INTO gaps (item, from_ms, to_ms, reason, lost)
    SELECT * FROM unnest(${told.map(({ device }) => keyOf.get(device) ?? 0)}::bigint[],
      ${told.map(({ from_ms }) => from_ms)}::bigint[], ${told.map(({ to_ms }) => to_ms)}::bigint[],
      ${told.map(({ reason }) => reason)}::text[], ${told.map(({ lost = null }) => lost)}::bigint[])
    ON CONFLICT (item, from_ms, to_ms, reason) DO UPDATE SET lost = excluded.lost`;
}
