import { clockQuality } from "../../../../../src/base/clock.ts";
import type { Disk } from "../disk.ts";
import type { SimulatedHome } from "../home.ts";

/** A home, and what people and its machine have done to it. */
export interface Place {
  readonly home: SimulatedHome;
  /** Subjects that live there; the first holds the pill box. */
  readonly subjects: readonly number[];
  /** When each of them leaves, unix seconds. */
  readonly leave_s: (number | null)[];
  /** Who holds the pill box, and until when. */
  holder: number;
  handOver_ms: number | undefined;
  /** The clock is wrong although a time service has set it. */
  leapt: boolean;
  /** Since when its machine knows the time, unless it has lost it. */
  known_ms: number;
  /** When a device was last heard at a known time. */
  heard_ms: number;
  /** Since when it has its card. */
  card_ms: number;
  backup: { readonly disk: Disk; readonly at_ms: number } | undefined;
  /** Its box asks central all the time whether there is anything for it, as with `[remote]`. */
  readonly polls: boolean;
}

/** Whether the box of a home knows the time, and is right. */
export function knowsTime({ home, leapt }: Place): boolean {
  return !leapt && home.machine.clock({ alive: true }).now().quality === clockQuality.synchronised;
}
