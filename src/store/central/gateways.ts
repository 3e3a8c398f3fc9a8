import { OperatorError } from "../../base/errors.ts";
import { day_ms } from "../../base/time.ts";
import {
  arrays,
  change,
  firstOf,
  hold,
  objects,
  put,
  reach,
  rowsOf,
  rowsOfAll,
  type Work,
  withoutNulls,
} from "../database.ts";
import { fileWithoutUnkept } from "../erased-files.ts";
import { erasedIn } from "../inventory/erasing.ts";
import { givenNamesFile, givenNamesIn, namesWithoutErased } from "../inventory/given-names.ts";
import { keepNamesFile } from "../inventory/naming.ts";
import { pausesIn } from "../inventory/pausing.ts";
import {
  type AsOf,
  backup_bytes_max,
  backups_bytes_max,
  backups_max,
  type ComparedDays,
  type DailyArrivals,
  type GatewayRecord,
  type Sender,
} from "./central-store.ts";

/** See `CentralStore.gateways`. */
export function* gatewayRecords(of?: readonly number[]): Work<GatewayRecord[]> {
  const [chosen, given] = of === undefined ? ["", []] : ["WHERE home = ANY ($1::bigint[]) ", [of]];
  const rows = yield* rowsOf(
    objects<SourceRow>(
      `SELECT home, epoch, held_seq, began, reported, uploaded_ms, reported_ms, report
       FROM sources ${chosen}ORDER BY home, began, epoch`,
      ...given,
    ),
  );
  return [...Map.groupBy(rows, ({ home }) => home).values()].map(gatewayRecord);
}

/** Central's facts of one epoch of a home. The contacts of a home (a new epoch, a report) are counted in order. */
interface SourceRow {
  readonly home: number;
  readonly epoch: string;
  readonly held_seq: number;
  /** Which contact brought the epoch, and which its last report; 0 where there was none. */
  readonly began: number;
  readonly reported: number;
  readonly uploaded_ms: number | null;
  readonly reported_ms: number | null;
  readonly report: string | null;
}

/** The record of a home's gateway, from all the epochs of the home; there is at least one. */
function gatewayRecord(epochs: readonly SourceRow[]): GatewayRecord {
  const current = epochs.reduce((latest, epoch) => (isLater(epoch, latest) ? epoch : latest));
  // A box that was restored may still send what its older epoch had; only a box of its own reports under it.
  const rivals = epochs.filter((epoch) => epoch !== current && epoch.reported > current.began);
  return {
    home: current.home,
    epoch: current.epoch,
    held_seq: current.held_seq,
    uploaded_ms: latestOf(epochs.map((epoch) => epoch.uploaded_ms)),
    reported_ms: latestOf(epochs.map((epoch) => epoch.reported_ms)),
    report: current.report === null ? {} : JSON.parse(current.report),
    rivals: rivals.map(({ epoch }) => epoch).toSorted(),
  };
}

/** The gateway is the one that reported last; where none has, the one that began last. */
function isLater(one: SourceRow, other: SourceRow): boolean {
  return one.reported === other.reported ? one.began > other.began : one.reported > other.reported;
}

function latestOf(times_ms: readonly (number | null)[]): number | undefined {
  const known_ms = times_ms.filter((time_ms) => time_ms !== null);
  return known_ms.length === 0 ? undefined : Math.max(...known_ms);
}

/** See `CentralStore.putBackup`. */
export function* putBackup(home: number, name: string, content: Uint8Array): Work<void> {
  if (content.length > backup_bytes_max) {
    throw new OperatorError(
      `the file ${name} of home ${home} has ${content.length} bytes, and ${backup_bytes_max} are the most that is kept`,
      "leave it out of the backup",
    );
  }
  yield* hold({ home });
  const others = yield* rowsOf(
    arrays<[bytes: number]>("SELECT length(content) FROM backups WHERE home = $1 AND name <> $2", home, name),
  );
  const bytes = others.flat().reduce((sum, one) => sum + one, content.length);
  if (others.length >= backups_max || bytes > backups_bytes_max) {
    throw new OperatorError(
      `home ${home} has ${others.length} files at central besides ${name}, and at most ${backups_max} with ${backups_bytes_max} bytes are kept`,
      "send its files under the names they had before",
    );
  }
  // A gateway may not know yet what was erased here, or is not to be kept.
  const erased = yield* erasedIn(home);
  if (name === givenNamesFile) {
    yield* keepNamesFile(home, namesWithoutErased(givenNamesIn(content), erased));
    return;
  }
  yield* change(
    `INSERT INTO backups (home, name, content) VALUES ($1, $2, $3)
     ON CONFLICT (home, name) DO UPDATE SET content = excluded.content`,
    home,
    name,
    fileWithoutUnkept(name, content, [
      ...erased,
      ...(yield* pausesIn([home])).filter(({ own }) => own === 1),
    ]),
  );
}

/** The files of a home by name, in order of name. */
export function* backupsOf(home: number): Work<Map<string, Uint8Array>> {
  yield* reach([home]);
  const rows = yield* rowsOf(
    arrays<[name: string, content: Uint8Array]>(
      "SELECT name, content FROM backups WHERE home = $1 ORDER BY name",
      home,
    ),
  );
  return new Map(rows.map(([name, content]) => [name, new Uint8Array(content)]));
}

/**
 * Notes of a home, which is held, up to which day all that its gateway had is here. Central learns that with a report: where the numbers that it
 * names are held, or those that the report before named. Call it before the new report is kept.
 */
export function* noteArrived(epoch: string, { home, at_ms }: Sender, as_of: AsOf | undefined): Work<void> {
  const known = yield* firstOf(
    objects<Told>(
      `SELECT held_seq, told_seq, told_day, reported_ms, uploaded_ms FROM sources WHERE home = $1 AND epoch = $2`,
      home,
      epoch,
    ),
  );
  if (known === undefined) return;
  const { held_seq, told_seq, told_day, reported_ms, uploaded_ms } = known;
  const arrived = new Map<number, number>();
  if (as_of !== undefined && held_seq >= as_of.last_seq) arrived.set(as_of.day, at_ms);
  // What was on its way then has come with a batch after that report, at the latest with the last one.
  if (told_seq !== null && told_day !== null && held_seq >= told_seq)
    arrived.set(told_day, Math.max(reported_ms ?? 0, uploaded_ms ?? 0));
  yield* put({
    put: "nights",
    columns: { home: "bigint", day: "bigint", arrived_ms: "bigint" },
    rows: [...arrived].map(([day, arrived_ms]) => [home, day, arrived_ms]),
    conflict:
      "ON CONFLICT (home, day) DO UPDATE SET arrived_ms = coalesce(nights.arrived_ms, excluded.arrived_ms)",
  });
}

interface Told {
  readonly held_seq: number;
  readonly told_seq: number | null;
  readonly told_day: number | null;
  readonly reported_ms: number | null;
  readonly uploaded_ms: number | null;
}

/** Of compared days those that are kept otherwise: a day that never differed has nothing to be kept, and one long ago is not looked at. */
export function* newlyCompared(compared: ComparedDays, { home, at_ms }: Sender): Work<[number, number][]> {
  const today = Math.floor(at_ms / day_ms);
  const days = [...compared.keys()].filter((day) => day <= today + 1 && day > today - compared_days_max);
  const rows = yield* rowsOf(
    arrays<[day: number, differing: number]>(
      "SELECT day, differing FROM nights WHERE home = $1 AND day = ANY ($2::bigint[])",
      home,
      days,
    ),
  );
  const kept = new Map(rows);
  return days
    .map((day): [number, number] => [day, compared.get(day) ?? 0])
    .filter(([day, differing]) => differing !== (kept.get(day) ?? 0));
}

/** See `CentralStore.noteCompared`. */
export function* noteCompared(compared: ComparedDays, sender: Sender): Work<void> {
  yield* hold({ home: sender.home });
  yield* put({
    put: "nights",
    columns: { home: "bigint", day: "bigint", differing: "bigint" },
    rows: (yield* newlyCompared(compared, sender)).map(([day, differing]) => [sender.home, day, differing]),
    conflict: "ON CONFLICT (home, day) DO UPDATE SET differing = excluded.differing",
  });
}

/** See `CentralStore.nights`. */
export function* dailyArrivalsOf(homes: readonly number[], from_day: number): Work<DailyArrivals[]> {
  yield* reach(homes);
  const [rows, first] = yield* rowsOfAll(
    objects<NightRow>(
      "SELECT home, day, arrived_ms, differing FROM nights WHERE home = ANY ($1::bigint[]) AND day >= $2 ORDER BY home, day",
      homes,
      from_day,
    ),
    arrays<[home: number, day: number]>(
      "SELECT home, min(day) FROM nights WHERE home = ANY ($1::bigint[]) AND arrived_ms IS NOT NULL GROUP BY home",
      homes,
    ),
  );
  const first_days = new Map(first);
  const byHome = Map.groupBy(rows, ({ home }) => home);
  return homes.map((home) => ({
    home,
    first_day: first_days.get(home),
    days: (byHome.get(home) ?? []).map(({ home: _, ...day }) => withoutNulls(day)),
  }));
}

interface NightRow {
  readonly home: number;
  readonly day: number;
  readonly arrived_ms: number | null;
  readonly differing: number;
}

/** Rows that comparisons may make of a home; arrivals make one a day. */
const compared_days_max = 400;
