import { day_ms, hour_ms, type TimeSpan } from "../../../src/base/time.ts";
import { kinds } from "../../../src/domain/kinds.ts";
import type { Device, Reading } from "../../../src/domain/reading.ts";
import { importDocument } from "../../../src/import/file-import.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import type { Trouble } from "../../../src/web/pages/site.ts";
import { below, item, reading, seeded, sensorEvent } from "../../../testbed/sample.ts";
import { now_ms, zone } from "./device-history.ts";
import { type PagesServing, serveHome } from "./device-home.ts";

/** A device as a state has it. */
export interface StateDevice {
  readonly device: Device;
  readonly name: string;
  readonly subtype: string;
  /** Hours of the day in UTC between which something happens to it, and how often. */
  readonly hours: readonly (readonly [from_h: number, to_h: number, count: number])[];
  /** For how long it has not been heard, and for how long nothing has happened to it, milliseconds. */
  readonly silent_ms?: number;
  readonly unused_ms?: number;
  /** How long ago something happened to it for the first time, milliseconds, where that is not when it was first heard. */
  readonly used_ms?: number;
  readonly battery_percent?: number;
  readonly linkquality?: number;
}

/** A home as its pages find it. */
export interface State {
  readonly devices?: readonly StateDevice[];
  /** Days of readings up to now; none: nothing is dated yet. */
  readonly days?: number;
  /** Stretches in which nobody listened. */
  readonly away?: readonly TimeSpan[];
  readonly doubts?: readonly TimeSpan[];
  readonly troubles?: readonly Trouble[];
}

/** Serves the pages of a home, 12, on a store that is filled so. */
export async function serveState({
  devices = [],
  days = 15,
  away = [],
  doubts = [],
  troubles = [],
}: State = {}): Promise<PagesServing> {
  const serving = await serveHome({ now_ms, home: 12, zone, doubts, troubles });
  try {
    await nameDevices(serving.store, devices);
    if (days === 0) await hold(serving.store, devices);
    await fill(
      serving.store,
      devices,
      listenedBetween({ from_ms: now_ms - days * day_ms, to_ms: now_ms }, away),
    );
    return serving;
  } catch (thrown) {
    await serving[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function nameDevices(store: GatewayStore, devices: readonly StateDevice[]): Promise<void> {
  const items = devices.map(({ device, name, subtype }, place) =>
    item(100 + place, {
      itemname: name,
      macaddress: device.address,
      typeid: kinds[device.kind].typeid,
      typename: device.kind,
      subtypename: subtype,
      currenthomeid: 12,
      currenthomestart: 1,
      lastbatterychange: "2026-07-20",
    }),
  );
  if (items.length === 0) return;
  await importDocument({ name: "state", text: JSON.stringify({ items }), store, dryRun: false });
}

/** Readings of each span in which somebody listened, and a sign of life of each device in every hour of it. */
async function fill(
  store: GatewayStore,
  devices: readonly StateDevice[],
  spans: readonly TimeSpan[],
): Promise<void> {
  const random = seeded(12);
  for (const span of spans) {
    const until = (ago_ms = 0) => Math.min(span.to_ms, now_ms - ago_ms);
    const readings = devices.flatMap((one) => {
      const to_ms = until(one.silent_ms ?? one.unused_ms);
      const from_ms = Math.max(span.from_ms, now_ms - (one.used_ms ?? now_ms));
      return momentsOf(one, { from_ms, to_ms }, random).flatMap((at_ms) => readingsAt(one, at_ms));
    });
    const heard = devices.flatMap(({ device, silent_ms, battery_percent = 90, linkquality = 120 }) => {
      const to_ms = until(silent_ms);
      const hours = Array.from({ length: Math.max(0, Math.ceil((to_ms - span.from_ms) / hour_ms)) });
      return hours.map((_, hour) => ({
        device,
        heard_ms: to_ms - hour * hour_ms,
        listener: "radio",
        battery_percent,
        linkquality,
      }));
    });
    await store.append(
      readings.toSorted((one, other) => one.stamp_ms - other.stamp_ms),
      {
        listening: [{ listener: "radio", ...span }],
        states: heard.toSorted((one, other) => one.heard_ms - other.heard_ms),
      },
    );
  }
}

/** Readings of a boot that has not learned the time: they have neither stamp nor number. */
async function hold(store: GatewayStore, devices: readonly StateDevice[]): Promise<void> {
  const held = devices
    .filter(({ device }) => device.kind === "wirelesssensors")
    .map(({ device }, place) => {
      const fact = { reading: sensorEvent(device, place, open) };
      return { boot: "two", monotonic_ms: 60_000 + place, fact };
    });
  await store.append([], { held, boots: [{ boot: "two", seen_ms: 120_000 }] });
}

/** Moments in a span at which something happens to a device, in order. */
function momentsOf({ hours }: StateDevice, { from_ms, to_ms }: TimeSpan, random: () => number): number[] {
  const moments: number[] = [];
  for (let day = Math.floor(from_ms / day_ms); day * day_ms < to_ms; day++)
    for (const [from_h, to_h, count] of hours)
      for (let time = 0; time < count; time++)
        moments.push(day * day_ms + from_h * hour_ms + below(random, (to_h - from_h) * hour_ms));
  return moments
    .filter((at_ms) => at_ms >= from_ms && at_ms + lasts_ms < to_ms)
    .toSorted((one, other) => one - other);
}

/** Everything that a device tells when something happens to it. */
function readingsAt({ device, subtype }: StateDevice, at_ms: number): Reading[] {
  const end_ms = at_ms + lasts_ms;
  switch (device.kind) {
    case "pillboxes": {
      const door = 1 << new Date(at_ms).getUTCDay();
      return [
        reading(device, "pillbox_events", at_ms, { event: door }),
        reading(device, "pillbox_events", end_ms, { event: 0 }),
      ];
    }
    case "scales": {
      const body = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
      return [reading(device, "scale_weights", at_ms, { weight: 68_000 + (at_ms % 1_000), ...body })];
    }
    case "watches":
      return [reading(device, "watch_epochs", at_ms, { duration: 300, distance: 80, steps: 110, ...awake })];
    default:
      return [
        sensorEvent(device, at_ms, subtype === "door" ? open : present),
        sensorEvent(device, end_ms, idle),
      ];
  }
}

/** The spans of a time that are not away, in order. */
function listenedBetween({ from_ms, to_ms }: TimeSpan, away: readonly TimeSpan[]): TimeSpan[] {
  const edges = [from_ms, ...away.flatMap((cut) => [cut.from_ms, cut.to_ms]), to_ms];
  const spans = edges.flatMap((at_ms, place) =>
    place % 2 === 0 ? [{ from_ms: at_ms, to_ms: edges[place + 1] ?? to_ms }] : [],
  );
  return spans.filter((span) => span.to_ms > span.from_ms);
}

const lasts_ms = 20_000;
/** Zone statuses of NYCE's sensors: a contact raises alarm 1, a motion sensor alarm 2. */
const open = 0x31;
const present = 0x32;
const idle = 0x30;
const awake = { walkState: 2, runState: 1, sleepState: 1 };
