import { type BthomeObject, objectIds } from "./objects.ts";

/** One broadcast of a box: its doors, and the fields that tell it from the broadcast before. */
export interface Sighting {
  /** Bit p is door p, 0 Sunday to 6 Saturday; a box of one lid has bit 0 alone. */
  readonly doors: number;
  /** Events so far, modulo 65,536; absent in the broadcasts of door and window sensors. */
  readonly count?: number;
  /** Number of the packet, modulo 256. */
  readonly packet?: number;
  readonly battery_percent?: number;
  /** The clock of the box, unix seconds. */
  readonly stamp_s?: number;
  /** Of an encrypted broadcast. */
  readonly counter?: number;
}

/**
 * The sighting that objects make: a pill box by its doors and its count, else a door or window sensor by the one
 * object that says whether it is open. Undefined for other devices; `"impossible"` where a value cannot be.
 */
export function sightingOf(
  objects: readonly BthomeObject[],
  counter?: number,
): Sighting | "impossible" | undefined {
  const the = (id: number) => objects.find((object) => object.id === id)?.value;
  const count = the(objectIds.count16);
  const mask = the(objectIds.count8);
  const lid = lidIds.map(the).find((value) => value !== undefined);
  const box = mask !== undefined && count !== undefined;
  const doors = box ? mask : lid;
  if (doors === undefined) return undefined;
  if (doors > (box ? doors_most : 1)) return "impossible";
  const battery_percent = the(objectIds.battery);
  const packet = the(objectIds.packet);
  const stamp_s = the(objectIds.timestamp);
  return {
    doors,
    ...(box ? { count } : {}),
    ...(packet === undefined ? {} : { packet }),
    // 255 and the like are said by firmware that does not know.
    ...(battery_percent === undefined || battery_percent > 100 ? {} : { battery_percent }),
    ...(stamp_s === undefined ? {} : { stamp_s }),
    ...(counter === undefined ? {} : { counter }),
  };
}

/** Door, window, opening: the first that is there counts. */
const lidIds = [objectIds.door, objectIds.window, objectIds.opening];
/** Seven doors. */
const doors_most = 0b111_1111;
