import type { Device, Kind } from "./model.ts";

/**
 * Marks by which whatever central shows is recognised as somebody's: every value, name and address that is sent has one. Numbers have
 * their home in front, texts hold `mh12m` (home 12) or `mi507m` (item 507), and times before 2021 stand for the home that spoke of them.
 */
const values_per_home = 1_000_000;

/** A value of a home that nobody else sends. */
export const valueFrom = (home: number, order: number) => home * values_per_home + order;
export const homeOfValue = (value: number) => Math.floor(value / values_per_home);
export const orderOfValue = (value: number) => value % values_per_home;

export const homeMark = (home: number) => `mh${home}m`;
export const itemMark = (itemid: number) => `mi${itemid}m`;

/** The homes and items whose marks stand in a text. */
export function marksIn(text: string): { homes: Set<number>; items: Set<number> } {
  const [homes, items] = [new Set<number>(), new Set<number>()];
  for (const [, kind, number] of text.matchAll(/m([hi])([0-9]+)m/g))
    (kind === "h" ? homes : items).add(Number(number));
  return { homes, items };
}

/** Ten minutes of a time before all readings, for each home: whatever it tells of the health of a device begins there. */
const slot_ms = 600_000;
const slots_ms = Date.UTC(2020, 0, 1);
export const slotOf = (home: number) => slots_ms + home * slot_ms;
/** The home that a time stands for; undefined for one of a reading. */
export function homeOfSlot(time_ms: number): number | undefined {
  return time_ms >= slots_ms && time_ms < slots_ms + slots_max * slot_ms
    ? Math.floor((time_ms - slots_ms) / slot_ms)
    : undefined;
}
const slots_max = 10_000;

/** The one device of a kind and number. */
export function deviceNumbered(kind: Kind, number: number): Device {
  const bytes = [0x02, 0x4c, kinds.indexOf(kind), number >> 16, (number >> 8) & 255, number & 255];
  return { kind, address: bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(":") };
}
export function numberOf({ address }: Device): number {
  const [high = 0, middle = 0, low = 0] = address
    .split(":")
    .slice(3)
    .map((byte) => Number.parseInt(byte, 16));
  return (high << 16) | (middle << 8) | low;
}
/** Devices from this number on are in no inventory at first. */
export const unlisted_first = 100_000;

export const kinds: readonly Kind[] = ["wirelesssensors", "pillboxes", "scales", "watches"];

/** The series of each kind: its path, and the field that has the mark. */
export const seriesOfKind: Readonly<Record<Kind, readonly Series[]>> = {
  wirelesssensors: [{ name: "wirelesssensor_events", path: "events", field: "event" }],
  pillboxes: [
    { name: "pillbox_events", path: "events", field: "event" },
    { name: "pillbox_status", path: "status", field: "eventcount" },
  ],
  scales: [
    { name: "scale_weights", path: "weights", field: "weight" },
    { name: "scale_heart", path: "heart", field: "heartRate" },
  ],
  watches: [{ name: "watch_epochs", path: "epochs", field: "steps" }],
};
export interface Series {
  readonly name: string;
  readonly path: string;
  readonly field: string;
}
