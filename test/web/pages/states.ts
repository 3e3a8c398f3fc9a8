import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { sensor } from "../../../testbed/sample.ts";
import { box, now_ms, scale } from "./device-history.ts";
import type { PagesServing } from "./device-home.ts";
import { type StateDevice, serveState } from "./state-home.ts";

/** Every state in which somebody may find the pages of a home. */
export const states: Readonly<Record<string, () => Promise<PagesServing>>> = {
  "an empty home": () => serveState(),
  "a usual home": () => serveState({ devices: usual }),
  "sixty devices": () => serveState({ devices: sixty, days: 2 }),
  "two weeks of power cuts": () => serveState({ devices: usual, away: cuts, doubts }),
  "names of sixty characters": () =>
    serveState({ devices: named((name) => name.padEnd(60, longWords).replace(/ $/, "s")) }),
  "names from right to left": () =>
    serveState({ devices: named((_, place) => `${hebrew[place % hebrew.length]} ${place + 1}`) }),
  "a boot without a clock": () => serveState({ devices: usual, days: 0, troubles: [noTime] }),
  "a token that sees nothing": async () => {
    const serving = await serveState({ devices: usual });
    return { ...serving, tokens: { ...serving.tokens, read: serving.tokens.foreign } };
  },
};

type Hours = StateDevice["hours"];

/**
 * Somebody's home, in which a door is silent, a battery is nearly empty, a radio is hardly heard, and nobody has opened the pill box since the day
 * before yesterday.
 */
const usual: readonly StateDevice[] = [
  wall(1, "Bedroom", [20, 22, 6], [4, 6, 8]),
  wall(2, "Bathroom", [5, 6, 6], [20, 21, 5], [1, 2, 1]),
  { ...wall(3, "Kitchen", [6, 8, 20], [9, 11, 25], [16, 18, 15]), battery_percent: 9 },
  { ...wall(4, "Living room", [8, 10, 10], [13, 16, 30], [18, 21, 40]), linkquality: 22 },
  { ...wall(5, "Front door", [8, 9, 2], [14, 15, 2]), subtype: "door" },
  { ...wall(6, "Fridge", [6, 7, 3], [11, 12, 3], [17, 18, 3]), subtype: "door", silent_ms: 2.2 * day_ms },
  { ...wall(7, "Hall", [6, 20, 12]), subtype: "curtain" },
  { ...wall(8, "Pill box", [7, 8, 1]), device: box, subtype: "broadcasting", unused_ms: 1.8 * day_ms },
  { ...wall(9, "Scale", [6, 7, 1]), device: scale, subtype: "null" },
  {
    ...wall(10, "Watch", [6, 20, 90]),
    device: { kind: "watches", address: "c1:02:03:04:05:06" },
    subtype: "null",
  },
];

const sixty = Array.from({ length: 60 }, (_, place) => ({
  ...wall(200 + place, `Sensor ${place + 1}`, [6, 20, 10]),
  subtype: ["wall", "door", "curtain"][place % 3] as string,
}));

function wall(number: number, name: string, ...hours: Hours): StateDevice {
  return { device: sensor(number), name, subtype: "wall", hours };
}

function named(nameOf: (name: string, place: number) => string): StateDevice[] {
  return usual.map((device, place) => ({ ...device, name: nameOf(device.name, place) }));
}

const longWords = " in the flat of the late Mrs Featherstonehaugh, second floor, left";
const hebrew = ["חדר שינה", "חדר אמבטיה", "مطبخ", "غرفة الجلوس", "דלת כניסה", "מקרר"];

/** Twice a day nobody listens for an hour or four; after two of the cuts the time was not known at once. */
const cuts = Array.from({ length: 28 }, (_, place) => {
  const from_ms = now_ms - 14 * day_ms + place * 12 * hour_ms;
  return { from_ms, to_ms: from_ms + (place % 3 === 0 ? 4 : 1) * hour_ms };
});
const doubts = cuts.slice(-2).map(({ to_ms }) => ({ from_ms: to_ms, to_ms: to_ms + 3 * hour_ms }));

const noTime = {
  what: "The gateway does not know the time: what it hears is kept, and shown once it does.",
  remedy: "See that it reaches the internet, or a time server.",
  undated: true,
};
