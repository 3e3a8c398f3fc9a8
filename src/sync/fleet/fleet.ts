import { isBatteryLow } from "../../battery.ts";
import { disk_low_bytes } from "../../disk/free-bytes.ts";
import { hour_ms } from "../../durations.ts";
import type { FleetHome, FleetNeed, FleetNeedType } from "../../fleet-home.ts";
import { conflictText } from "../../identity.ts";
import type { Kind } from "../../kinds.ts";
import { isHot, isPowerLow, isWorn } from "../../machine-health.ts";
import { plainLine } from "../../plain-text.ts";
import { itemStatus } from "../../records/items.ts";
import type { CentralStore, GatewayRecord, UnplacedReadings } from "../../store/central-store.ts";
import type { ItemState } from "../../store/store.ts";
import type { GatewayReport } from "../protocol.ts";
import { type Erased, erasedOf, nothingErased, unanswered } from "./erased-there.ts";

/**
 * Every home that has ever sent anything, in order of number; `of`: only those of these homes, for somebody who may see no others, without what tells of
 * items or people that are elsewhere.
 */
export async function fleetOf(
  store: Pick<CentralStore, "gateways" | "itemHealth" | "unplaced" | "erasures" | "recordsWith">,
  now_ms: number,
  of?: readonly number[],
): Promise<FleetHome[]> {
  const [gateways, health, strays] = await Promise.all([
    store.gateways(of),
    store.itemHealth(of),
    of === undefined ? store.unplaced() : [],
  ]);
  const erased = of === undefined ? await erasedOf(store, gateways) : nothingErased;
  const byHome = Map.groupBy(health.doubtful, ({ record }) => record.currenthomeid);
  const straysByHome = Map.groupBy(strays, ({ home }) => home);
  return gateways.map((gateway) => {
    const heard = {
      items: health.items.get(gateway.home) ?? 0,
      doubtful: byHome.get(gateway.home) ?? [],
      strays: straysByHome.get(gateway.home) ?? [],
      erased,
    };
    return fleetHome(gateway, heard, now_ms);
  });
}

interface Heard {
  readonly items: number;
  readonly doubtful: readonly ItemState[];
  readonly strays: readonly UnplacedReadings[];
  readonly erased: Erased;
}

function fleetHome(
  gateway: GatewayRecord,
  { items, doubtful, strays, erased }: Heard,
  now_ms: number,
): FleetHome {
  const report = gateway.report as Partial<GatewayReport>;
  const { now_ms: theirs_ms, last_seq } = report;
  const { reported_ms } = gateway;
  const told = {
    homeid: gateway.home,
    epoch: gateway.epoch,
    version: report.version ?? null,
    timezone: report.timezone ?? null,
    last_upload_ms: gateway.uploaded_ms ?? null,
    last_report_ms: reported_ms ?? null,
    backlog: last_seq === undefined ? null : Math.max(0, last_seq - gateway.held_seq),
    waiting: report.waiting ?? null,
    clock_offset_ms: theirs_ms === undefined || reported_ms === undefined ? null : theirs_ms - reported_ms,
    disk_free_bytes: report.disk_free_bytes ?? null,
    ...machineOf(report),
    differing_days: report.differing_days ?? null,
    failure: report.failure ?? null,
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
    update: report.update ?? null,
    erased_there: erased === nothingErased ? [] : unanswered(report, gateway.home, erased),
    rivals: gateway.rivals,
  };
  return { ...told, needs: needsOf(told, now_ms) };
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

function needsOf(home: Omit<FleetHome, "needs">, now_ms: number): FleetNeed[] {
  const needs: FleetNeed[] = [];
  const need = (type: FleetNeedType, message: string) => needs.push({ type, message: plainLine(message) });
  const heard_ms = Math.max(home.last_upload_ms ?? 0, home.last_report_ms ?? 0);
  if (now_ms - heard_ms > upload_overdue_ms)
    need(
      "upload_overdue",
      `The gateway of home ${home.homeid} has not uploaded since ${dayText(heard_ms)}${home.failure === null ? "" : `: ${home.failure}`}`,
    );
  if (home.rivals.length > 0)
    need(
      "two_gateways",
      `${home.rivals.length + 1} gateways upload for home ${home.homeid}: one of them has the wrong token`,
    );
  if ((home.differing_days ?? 0) > 0)
    need("data_differ", `Central holds readings of home ${home.homeid} that its gateway has lost`);
  if (home.disk_free_bytes !== null && home.disk_free_bytes < disk_low_bytes)
    need("disk_nearly_full", `The disk of the gateway of home ${home.homeid} is nearly full`);
  if (home.power_low) need("power_low", `The power supply of the gateway of home ${home.homeid} is too weak`);
  if (home.disk_worn) need("disk_worn", `The disk of the gateway of home ${home.homeid} is nearly worn out`);
  if (isHot({ temperature_c: home.temperature_c ?? undefined }))
    need("gateway_hot", `The gateway of home ${home.homeid} is too hot`);
  if (home.clock_offset_ms !== null && Math.abs(home.clock_offset_ms) > clock_off_max_ms)
    need("clock_wrong", `The clock of the gateway of home ${home.homeid} is wrong`);
  const [conflict] = home.conflicts;
  if (conflict !== undefined) need("identity_conflict", conflictMessage(home, conflict));
  for (const subject of home.erased_there)
    need(
      "erased_there",
      `${subject === null ? `Home ${home.homeid}` : `Subject ${subject}`} was erased at the gateway of home ${home.homeid}, and is still here: lintel erase ${subject === null ? `--home ${home.homeid}` : `--subject ${subject}`}`,
    );
  for (const { itemname, heard_ms } of home.silent)
    need(
      "item_silent",
      `${itemname} has not been heard ${heard_ms === null ? "yet" : `since ${dayText(heard_ms)}`}`,
    );
  for (const { itemname } of home.low_batteries)
    need("battery_low", `The battery of ${itemname} is nearly empty`);
  return needs;
}

/** Without counts and hours: another message would be another alert. */
function conflictMessage(
  { homeid, conflicts }: Pick<FleetHome, "homeid" | "conflicts">,
  { address, why }: FleetHome["conflicts"][number],
): string {
  const more = conflicts.length - 1;
  const others = more === 0 ? "" : `; lintel items conflicts shows ${more} more there`;
  return `${conflictText({ claimed: { address }, why })} Nothing is recorded of it. At the gateway of home ${homeid}: lintel items accept ${address} if it was reset or replaced, else lintel items refuse ${address}${others}`;
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

/** The day alone: a message that says the hour would be another alert every time it is made. */
function dayText(at_ms: number): string {
  return at_ms === 0 ? "it was set up" : new Date(at_ms).toISOString().slice(0, 10);
}

/** A night may fail; two in a row are worth a look. */
export const upload_overdue_ms = 50 * hour_ms;
const clock_off_max_ms = 60_000;
