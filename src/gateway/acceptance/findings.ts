import { faultOfLine } from "../../config/walking-line.ts";
import {
  type AcceptanceTask,
  type AcceptedDevice,
  type AcceptedLine,
  type AcceptedWalk,
  acceptanceTasks,
  type TaskReading,
  taskDone_ms,
  taskOf,
  type VisitFindings,
  type WalkDirection,
  walkAsk,
} from "../../domain/acceptance.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import { isBatteryLow, type Kind } from "../../domain/kinds.ts";
import { type MeshScan, namesByAddress, plainAddress, poorLinks, waysOf } from "../../domain/mesh.ts";
import { itemStatus } from "../../domain/records/item.ts";
import { seriesOf } from "../../domain/series.ts";
import { type GivenName, isDevice } from "../../store/inventory/given-names.ts";
import { linesOf, measuredLines } from "../../store/inventory/walking-lines.ts";
import { cadenceOf } from "../../store/series/coverage-intervals.ts";
import type { ItemOverview, Store } from "../../store/store.ts";
import type { Ask, Visit } from "./visit-file.ts";

/** Finds what each device and line of a home did since the technician was asked for it. Times are unix milliseconds. */
export async function visitFindings(of: {
  readonly store: Pick<Store, "itemOverviews" | "item" | "oldestFirst" | "givenNames">;
  readonly visit: Visit;
  /** Lines of curtain sensors in the configuration. */
  readonly walking: readonly WalkingLine[];
  readonly scans: readonly MeshScan[];
  readonly home: number | undefined;
  readonly now_ms: number;
}): Promise<Pick<VisitFindings, "devices" | "lines" | "orders">> {
  const { store, visit, walking, scans, home, now_ms } = of;
  const names = await store.givenNames();
  const overviews = (await store.itemOverviews()).filter(isPresent);
  const records = overviews.map(({ record }) => record);
  // A line with a fault stands for itself once: `linesOf` leaves it out.
  const measured = measuredLines(walking, names, records);
  const lines = [...linesOf(walking, names, records), ...measured.filter((line) => faultOfLine(line))];
  const times = askedTimes(visit, now_ms);
  const inLine = new Set(lines.flatMap(({ sensors }) => sensors.map(({ item }) => item)));
  const seen: SeenDevice[] = [];
  // One after the other: a visit takes no more of the store than one reader.
  for (const overview of overviews) {
    const task = inLine.has(overview.record.itemname) ? "walk" : taskOfOverview(overview);
    const { typename, itemname } = overview.record;
    const span = { from_ms: visit.asks[0]?.at_ms ?? now_ms, before_ms: now_ms + 1 };
    const readings = await taskReadings(store, { kind: typename as Kind, itemname, task, ...span });
    const asked = task === "walk" ? undefined : times.get(overview.record.macaddress ?? "");
    seen.push({ overview, task, readings, asked });
  }
  const ways = waysBy(scans, overviews);
  return {
    devices: seen.map((one) => deviceOf(one, { seen, names, lines, home, way: ways(one.overview) })),
    lines: lines.map((line) => lineOf(line, { times, seen })),
    orders: ordersOf({ times, seen, names }),
  };
}

/** Devices that the inventory has not put away, and whose place no other one took. */
function isPresent({ record, replaced }: ItemOverview): boolean {
  const isGone = record.statusname === itemStatus.decommissioned.statusname || replaced !== undefined;
  return record.typename !== "gateways" && !isGone;
}

interface SeenDevice {
  readonly overview: ItemOverview;
  readonly task: AcceptanceTask;
  /** From the begin of the visit on, old to new. */
  readonly readings: readonly TaskReading[];
  readonly asked: AskedTime | undefined;
}

/** The time in which a task counts as done: until the technician went on to the next one. */
interface AskedTime {
  readonly from_ms: number;
  readonly before_ms: number;
}

/** The last time that each task was asked for. */
function askedTimes({ asks }: Visit, now_ms: number): ReadonlyMap<string, AskedTime> {
  const ends = asks.map((_, place) => asks[place + 1]?.at_ms ?? now_ms + 1);
  return new Map(
    asks.map(({ of, at_ms }: Ask, place) => [of, { from_ms: at_ms, before_ms: ends[place] as number }]),
  );
}

function taskOfOverview({ record, history = [], series }: ItemOverview): AcceptanceTask {
  const facts = history[0]?.facts;
  const hasEvents =
    facts?.events !== undefined || series.some((one) => one.series === "wirelesssensor_events");
  const hasMeasures = facts?.measures !== undefined || series.length > 0;
  return taskOf(record.typename as Kind, record.subtypename, !hasEvents && hasMeasures);
}

/** Readings of a device by which a task is judged, old to new, `readings_max` at most. */
export async function taskReadings(
  store: Pick<Store, "item" | "oldestFirst">,
  of: { kind: Kind; itemname: string; task: AcceptanceTask; from_ms: number; before_ms: number },
): Promise<TaskReading[]> {
  const { kind, itemname, task, from_ms, before_ms } = of;
  const item = await store.item(kind, itemname);
  if (item === undefined) return [];
  const { series } = acceptanceTasks[task];
  const { rows } = await store.oldestFirst({
    series,
    item: item.key,
    from_ms,
    before_ms,
    limit: readings_max,
  });
  const place = 1 + Object.keys(seriesOf(series).fields).indexOf(valueField[series]);
  return rows.map((row) => [row[0], row[place]]);
}

/** The field by which a task is judged. */
const valueField: Readonly<Record<(typeof acceptanceTasks)[AcceptanceTask]["series"], string>> = {
  wirelesssensor_events: "event",
  wirelesssensor_measures: "quantity",
  pillbox_events: "event",
  scale_weights: "weight",
  watch_epochs: "steps",
};

const inTime = (readings: readonly TaskReading[], { from_ms, before_ms }: AskedTime) =>
  readings.filter(([stamp_ms]) => stamp_ms >= from_ms && stamp_ms < before_ms);

function deviceOf(
  { overview, task, readings, asked }: SeenDevice,
  of: {
    readonly seen: readonly SeenDevice[];
    readonly names: readonly GivenName[];
    readonly lines: readonly WalkingLine[];
    readonly way: Pick<AcceptedDevice, "through" | "poor">;
    readonly home: number | undefined;
  },
): AcceptedDevice {
  const { record, heard_ms, overdue, linkquality, battery_percent, battery_mv, history = [] } = overview;
  const kind = record.typename as Kind;
  const later = cadenceOf(kind, record.subtypename).buffered;
  const done_ms =
    asked &&
    taskDone_ms(task, inTime(readings, later ? { ...asked, before_ms: Number.POSITIVE_INFINITY } : asked));
  const others = of.seen.filter((one) => one.overview !== overview && one.task === task);
  const instead =
    asked === undefined || done_ms !== undefined || later
      ? []
      : others.filter((one) => taskDone_ms(task, inTime(one.readings, asked)) !== undefined);
  const facts = history[0]?.facts;
  const given = of.names.find((one) => isDevice(one, record));
  const vendor = [record.vendorname, record.modelname].filter((word) => word !== null).join(" ");
  const place = of.lines.flatMap(({ sensors }) => sensors).find(({ item }) => item === record.itemname);
  return {
    itemname: record.itemname,
    typename: kind,
    subtypename: record.subtypename,
    room: given?.room ?? null,
    macaddress: record.macaddress ?? "",
    replaces: given?.replaces ?? null,
    model: vendor || (facts?.model ?? null),
    firmware: facts?.firmware ?? null,
    task,
    asked: asked === undefined ? null : seconds(asked.from_ms),
    done: done_ms === undefined ? null : seconds(done_ms),
    later,
    instead: instead.map((one) => one.overview.record.itemname),
    heard: heard_ms === undefined ? null : seconds(heard_ms),
    overdue,
    signal: linkquality ?? null,
    battery: battery_percent ?? null,
    batteryvoltage: battery_mv ?? null,
    batterylow:
      isBatteryLow({ kind, percent: battery_percent, millivolts: battery_mv }) || saysLow(kind, readings),
    ...of.way,
    metres: place?.metres ?? null,
    elsewhere: of.home !== undefined && (record.currenthomeid ?? of.home) !== of.home,
  };
}

/** Bit 3 of the status of a zone: its battery is low. */
function saysLow(kind: Kind, readings: readonly TaskReading[]): boolean {
  return kind === "wirelesssensors" && (Number(readings.at(-1)?.[1] ?? 0) & 0b1000) !== 0;
}

function waysBy(scans: readonly MeshScan[], overviews: readonly ItemOverview[]) {
  const [scan] = scans;
  const nameOf = namesByAddress(overviews.map(({ record }) => [record.macaddress, record.itemname]));
  const stick = scan?.nodes.find(({ role }) => role === "stick")?.address;
  const ways = new Map((scan ? waysOf(scan) : []).map((way) => [plainAddress(way.address), way]));
  const poor = new Set(poorLinks(scans).map(({ address }) => plainAddress(address)));
  return ({ record }: ItemOverview) => {
    const address = plainAddress(record.macaddress);
    const through = ways.get(address)?.through?.address;
    const name = through === stick ? "the stick" : (nameOf(through ?? "") ?? through);
    return { through: through === undefined ? null : (name ?? null), poor: poor.has(address) };
  };
}

function lineOf(
  line: WalkingLine,
  { times, seen }: { times: ReadonlyMap<string, AskedTime>; seen: readonly SeenDevice[] },
): AcceptedLine {
  const order = line.sensors.map(({ item }) => item);
  const sensors = seen.filter(({ overview }) => order.includes(overview.record.itemname));
  const fault = faultOfLine(line);
  const walks = (["there", "back"] satisfies WalkDirection[]).flatMap((direction): AcceptedWalk[] => {
    const asked = times.get(walkAsk(line.name, direction));
    if (asked === undefined) return [];
    const fired = firedIn(sensors, asked);
    const took = fired.length < 2 ? null : ((fired.at(-1)?.at_ms ?? 0) - (fired[0]?.at_ms ?? 0)) / 1000;
    return [{ direction, asked: seconds(asked.from_ms), fired: fired.map(({ name }) => name), took }];
  });
  return { line: line.name, order, fault: fault ? `${fault.what}: ${fault.remedy}` : null, walks };
}

/** Sensors in the order in which each first saw somebody. */
function firedIn(sensors: readonly SeenDevice[], asked: AskedTime): { name: string; at_ms: number }[] {
  return sensors
    .flatMap(({ overview, readings }) => {
      const at_ms = taskDone_ms("walk", inTime(readings, asked));
      return at_ms === undefined ? [] : [{ name: overview.record.itemname, at_ms }];
    })
    .sort((one, other) => one.at_ms - other.at_ms);
}

function ordersOf(of: {
  readonly times: ReadonlyMap<string, AskedTime>;
  readonly seen: readonly SeenDevice[];
  readonly names: readonly GivenName[];
}): Record<string, string[]> {
  const curtains = of.seen.filter(({ overview }) => overview.record.subtypename === "curtain");
  const rooms = Map.groupBy(
    curtains,
    ({ overview }) => of.names.find((one) => isDevice(one, overview.record))?.room ?? "",
  );
  return Object.fromEntries(
    [...rooms].flatMap(([room, sensors]) => {
      const asked = of.times.get(walkAsk(room, "order"));
      return asked === undefined ? [] : [[room, firedIn(sensors, asked).map(({ name }) => name)] as const];
    }),
  );
}

const seconds = (unix_ms: number) => Math.floor(unix_ms / 1000);

/** Readings of one device in a visit. */
const readings_max = 5_000;
