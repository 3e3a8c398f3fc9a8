import type { Clock } from "../../base/clock.ts";
import { isPowerLow, isWorn } from "../../base/machine-health.ts";
import type { FleetHome } from "../../domain/fleet-home.ts";
import { isBatteryLow, type Kind } from "../../domain/kinds.ts";
import { itemStatus } from "../../domain/records/item.ts";
import type { StoredRecord } from "../../domain/records/record-table.ts";
import type { CentralStore, GatewayRecord, UnplacedReadings } from "../../store/central/central-store.ts";
import type { Erasure } from "../../store/erasure.ts";
import { type Pause, restrictedHomesIn, restricts } from "../../store/pause.ts";
import type { RetentionNotice } from "../../store/retention.ts";
import type { ItemState, Token } from "../../store/store.ts";
import type { GatewayReport } from "../../transfer/protocol.ts";
import { needsOf } from "./needs-of-home.ts";

/**
 * Every home that has ever sent anything or has a token to do so, in order of number; `of`: only those of these homes, for somebody who may see no others, without what tells of
 * items or people that are elsewhere.
 */
export async function fleetOf(
  store: Pick<
    CentralStore,
    | "gateways"
    | "itemHealth"
    | "unplaced"
    | "erasures"
    | "pauses"
    | "recordsWith"
    | "tokens"
    | "retentionNotices"
  >,
  now_ms: number,
  of?: readonly number[],
): Promise<FleetHome[]> {
  const [tokens, gateways, health, strays, pauses, notices] = await Promise.all([
    store.tokens(),
    store.gateways(of),
    store.itemHealth(of),
    of === undefined ? store.unplaced() : [],
    store.pauses(),
    store.retentionNotices(),
  ]);
  const ends = endsOf(pauses, now_ms);
  const kept = retentionsOf(notices);
  const restricted = new Set(pauses.filter(restricts).map(({ home }) => home));
  const erased = of === undefined ? await erasedOf(store, gateways) : nothingErased;
  const byHome = Map.groupBy(health.doubtful, ({ record }) => record.currenthomeid);
  const straysByHome = Map.groupBy(strays, ({ home }) => home);
  const heard = gateways.map((gateway) => {
    const dates = {
      ends_ms: ends.get(gateway.home) ?? null,
      retention: kept.get(gateway.home) ?? null,
    };
    if (restricted.has(gateway.home)) return restrictedHome(gateway, dates, now_ms);
    const told = {
      ...dates,
      items: health.items.get(gateway.home) ?? 0,
      doubtful: byHome.get(gateway.home) ?? [],
      strays: straysByHome.get(gateway.home) ?? [],
      erased,
      restricted: false,
    };
    return fleetHome(gateway, told, now_ms);
  });
  const unheard = waitedFor(tokens, now_ms, of);
  for (const { homeid } of heard) unheard.delete(homeid);
  const nothing = { ...noItems, ends_ms: null, retention: null };
  const missing = [...unheard].map(([home, expected_since_ms]) =>
    fleetHome({ home, held_seq: 0, report: {}, rivals: [], expected_since_ms }, nothing, now_ms),
  );
  return [...heard, ...missing].sort((one, other) => one.homeid - other.homeid);
}

/** Restrictions and erasures to come of the data of homes, and of people who lived there: of several the first. */
function retentionsOf(notices: readonly RetentionNotice[]): ReadonlyMap<number, FleetHome["retention"]> {
  const last = notices.toSorted((one, other) => other.due_ms - one.due_ms);
  return new Map(last.map(({ home, due_ms, act }) => [home, { due_ms, act }]));
}

/** A home that is restricted: that it is there, and when its box was last heard. */
function restrictedHome(
  gateway: GatewayRecord,
  dates: Pick<Heard, "ends_ms" | "retention">,
  now_ms: number,
): FleetHome {
  const { version, now_ms: theirs_ms, timezone } = gateway.report as Partial<GatewayReport>;
  const bare = { ...gateway, report: { version, timezone, now_ms: theirs_ms } };
  const shown = fleetHome(bare, { ...noItems, ...dates, restricted: true }, now_ms);
  return { ...shown, needs: shown.needs.filter(({ type }) => type === "retention_due") };
}

/** The time from which on nothing is recorded any more of homes whose consent or enrollments end: of several the first. */
function endsOf(pauses: readonly Pause[], now_ms: number): ReadonlyMap<number, number> {
  const ending = pauses
    .filter(({ kind, why, before_ms }) => kind === undefined && why !== undefined && now_ms < before_ms)
    .sort((one, other) => other.from_ms - one.from_ms);
  return new Map(ending.map(({ home, from_ms }) => [home, from_ms]));
}

/** Homes that have a token to upload with, or those of these homes, each with when it first got one, unix milliseconds. */
function waitedFor(
  tokens: readonly Token[],
  now_ms: number,
  of: readonly number[] | undefined,
): Map<number, number> {
  const since = new Map<number, number>();
  for (const { scope, home, created_ms, expires_ms = Number.POSITIVE_INFINITY } of tokens) {
    if (scope !== "sync" || home === undefined || expires_ms <= now_ms) continue;
    if (of === undefined || of.includes(home))
      since.set(home, Math.min(created_ms, since.get(home) ?? created_ms));
  }
  return since;
}

/** A gateway as central knows it, or the home of one that it waits for. */
type Expected = Omit<GatewayRecord, "epoch"> & {
  readonly epoch?: string;
  readonly expected_since_ms?: number;
};

interface Heard {
  readonly items: number;
  readonly doubtful: readonly ItemState[];
  readonly strays: readonly UnplacedReadings[];
  readonly erased: Erased;
  readonly restricted: boolean;
  readonly ends_ms: number | null;
  readonly retention: FleetHome["retention"];
}

function fleetHome(
  gateway: Expected,
  { items, doubtful, strays, erased, restricted, ends_ms, retention }: Heard,
  now_ms: number,
): FleetHome {
  const report = gateway.report as Partial<GatewayReport>;
  const { now_ms: theirs_ms, last_seq } = report;
  const { reported_ms } = gateway;
  const told = {
    homeid: gateway.home,
    epoch: gateway.epoch ?? null,
    expected_since_ms: gateway.expected_since_ms ?? null,
    version: report.version ?? null,
    timezone: report.timezone ?? null,
    last_upload_ms: gateway.uploaded_ms ?? null,
    last_report_ms: reported_ms ?? null,
    next_upload_ms: nextUpload_ms(report, reported_ms),
    backlog: last_seq === undefined ? null : Math.max(0, last_seq - gateway.held_seq),
    waiting: report.waiting ?? null,
    clock_offset_ms: theirs_ms === undefined || reported_ms === undefined ? null : theirs_ms - reported_ms,
    disk_free_bytes: report.disk_free_bytes ?? null,
    ...machineOf(report),
    restarts: report.restarts ?? null,
    memory_bytes: report.memory_bytes ?? null,
    machine_memory_bytes: report.machine_memory_bytes ?? null,
    joining_since_ms: report.joining_since_ms ?? null,
    clock_synchronised: report.clock_synchronised ?? null,
    clock_doubted_ms: report.doubts?.at(-1)?.to_ms ?? null,
    deaf_minutes: report.deaf_minutes ?? null,
    differing_days: report.differing_days ?? null,
    unmended_days: report.unmended_days ?? null,
    failure: report.failure ?? null,
    recording_ends_ms: ends_ms,
    restricted,
    retention,
    items,
    silent: doubtful
      .filter(({ overdue }) => overdue)
      .map(({ record: { typename, itemname }, heard_ms }) => ({
        typename,
        itemname,
        heard_ms: heard_ms ?? null,
      })),
    low_batteries: doubtful.filter(isLow).map(({ record, battery_percent, battery_mv }) => ({
      typename: record.typename,
      itemname: record.itemname,
      percent: battery_percent ?? null,
      millivolts: battery_mv ?? null,
    })),
    replaced: doubtful
      .filter(isInInventory)
      .flatMap(({ record: { typename, itemname }, replaced }) =>
        replaced === undefined ? [] : [{ typename, itemname, ...replaced }],
      ),
    strays: strays.map(({ record, readings, newest_ms }) => ({
      itemname: record.itemname,
      readings,
      newest_ms,
    })),
    strangers: report.strangers ?? null,
    conflicts: report.conflicts ?? [],
    poor_links: report.poor_links ?? [],
    update: report.update ?? null,
    burn_in: report.burn_in ?? null,
    acceptance: report.acceptance ?? null,
    erased_there: erased === nothingErased ? [] : unanswered(report, gateway.home, erased),
    rivals: gateway.rivals,
  };
  return { ...told, needs: needsOf(told, now_ms) };
}

function nextUpload_ms({ upload_due_in_ms }: Partial<GatewayReport>, reported_ms: number | undefined) {
  return upload_due_in_ms === undefined || reported_ms === undefined ? null : reported_ms + upload_due_in_ms;
}

/** Figures of the machine, as its last report has them; null where it does not tell. */
function machineOf({ machine = {}, now_ms = 0 }: Partial<GatewayReport>) {
  const { life_used_percent, spare_low, power_low } = machine;
  return {
    disk_written_a_day_bytes: machine.written_a_day_bytes ?? null,
    disk_life_used_percent: life_used_percent ?? null,
    disk_worn: (life_used_percent ?? spare_low) === undefined ? null : isWorn(machine),
    temperature_c: machine.temperature_c ?? null,
    power_low: power_low === undefined ? null : isPowerLow(machine, now_ms),
  };
}

/** Nobody misses what is decommissioned. */
function isInInventory({ record }: ItemState): boolean {
  return record.statusname !== itemStatus.decommissioned.statusname;
}

function isLow(state: ItemState): boolean {
  const { record, battery_percent, battery_mv, replaced } = state;
  if (!isInInventory(state) || replaced !== undefined) return false;
  const kind = record.typename as Kind;
  return isBatteryLow({ kind, percent: battery_percent, millivolts: battery_mv });
}

/** Erasures at central, and who lives where, as far as gateways say that they have erased somebody. */
export interface Erased {
  readonly here: readonly Erasure[];
  /** Homes that the enrollments of subjects name, by subject; those whom central knows nothing of have none. */
  readonly homesOf: ReadonlyMap<number, readonly (number | null)[]>;
}

/** For who may not see what was erased. */
const nothingErased: Erased = { here: [], homesOf: new Map() };

const noItems = { items: 0, doubtful: [], strays: [], erased: nothingErased, restricted: false };

export async function erasedOf(
  store: Pick<CentralStore, "erasures" | "recordsWith">,
  gateways: readonly GatewayRecord[],
): Promise<Erased> {
  const asked = gateways.flatMap(({ report }) => (report as Partial<GatewayReport>).erasures ?? []);
  const subjects = [...new Set(asked.flatMap(({ subject }) => subject ?? []))];
  if (asked.length === 0) return { here: [], homesOf: new Map() };
  const known = (await store.recordsWith("subjects", "subjectid", subjects)).map(
    ({ subjectid }) => subjectid,
  );
  const enrollments = await store.recordsWith("project_enrollments", "subjectid", subjects);
  const homes = Map.groupBy(enrollments, ({ subjectid }) => subjectid);
  const homeOf = ({ homeid }: StoredRecord) => (typeof homeid === "number" ? homeid : null);
  return {
    here: await store.erasures(),
    homesOf: new Map(known.map((subject) => [Number(subject), (homes.get(subject) ?? []).map(homeOf)])),
  };
}

/** Subjects that a gateway has erased and central has not; null is the home. Nobody is named by it who lived in other homes alone. */
export function unanswered(
  { erasures: there = [] }: Partial<GatewayReport>,
  home: number,
  { here, homesOf }: Erased,
): (number | null)[] {
  const asked = new Set(there.map(({ subject }) => subject));
  const isOpen = (subject: number | null) => {
    if (here.some((one) => one.subject === subject && (subject !== null || one.home === home))) return false;
    if (subject === null) return true;
    const homes = homesOf.get(subject)?.filter((homeid) => homeid !== null);
    return homes !== undefined && (homes.length === 0 || homes.includes(home));
  };
  return [...asked].filter(isOpen);
}

/** Reads the fleet for whoever looks at it: all of it once for all who look within some seconds, or until something changes. */
export class FleetReader {
  readonly #store: CentralStore;
  readonly #clock: Clock;
  #kept: KeptFleet | undefined;

  constructor(options: { store: CentralStore; clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** See `fleetOf`. What is of some homes alone is read each time: it costs as much as these homes. */
  async read(of?: readonly number[]): Promise<FleetHome[]> {
    const { unix_ms, monotonic_ms } = this.#clock.now();
    if (of !== undefined) return fleetOf(this.#store, unix_ms, of);
    const changes = this.#store.changes();
    const known = this.#kept;
    const age_ms = monotonic_ms - (known?.at_ms ?? Number.NEGATIVE_INFINITY);
    const isSame = changes !== undefined && changes === known?.changes;
    if (known !== undefined && age_ms < (isSame ? same_ms : changed_ms))
      if (isSame || (await this.#restricted()) === (await known.restricted))
        // What is restricted is in no answer any more, also not in one of some seconds ago.
        return known.homes;
    const restricted = this.#restricted();
    const homes = restricted.then(() => fleetOf(this.#store, unix_ms));
    const kept = { homes, restricted, changes, at_ms: monotonic_ms };
    this.#kept = kept;
    homes.catch(() => {
      if (this.#kept === kept) this.#kept = undefined;
    });
    return homes;
  }

  async #restricted(): Promise<string> {
    return [...(await restrictedHomesIn(this.#store))].join();
  }
}

interface KeptFleet {
  readonly homes: Promise<FleetHome[]>;
  /** The homes that were restricted when it was read. */
  readonly restricted: Promise<string>;
  readonly changes: number | undefined;
  readonly at_ms: number;
}

/** A central that takes in uploads changes all the time: its fleet may be so old. */
const changed_ms = 10_000;
/** A home in which nothing has changed may become overdue all the same. */
const same_ms = 60_000;
