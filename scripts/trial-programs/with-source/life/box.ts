import { clockQuality, type Moment } from "../../../../src/base/clock.ts";
import type { Device, Reading } from "../../../../src/domain/reading.ts";
import type { Happening } from "./happening.ts";

/** A pill box with a small buffer and a clock of its own. */
export class PillBox {
  readonly device: Device;
  /** The events that it remembers, the oldest first, and the number of the first. */
  readonly events: Happening[] = [];
  first = 0;

  constructor(home: number) {
    this.device = { kind: "pillboxes", address: `00:0d:6f:00:07:0${home}`, subtype: "polled" };
  }

  take(happening: Happening): void {
    this.events.push(happening);
    if (this.events.length <= events_max) return;
    this.first += 1;
    const gone = this.events.shift() as Happening;
    if (!gone.acknowledged) gone.excused = "overwritten in the box";
  }

  /** An event as it is read `age_ms` after it, when its gateway's clock shows `now`. */
  reading({ at_ms, serial }: Happening, now: Moment, age_ms: number): Reading {
    const stamp_ms = now.unix_ms - age_ms;
    const shown_ms = at_ms + ahead_ms;
    return {
      device: this.device,
      series: "pillbox_events",
      stamp_ms,
      clock: now.quality === clockQuality.synchronised ? clockQuality.device : now.quality,
      monotonic_ms: now.monotonic_ms - age_ms,
      deviceClock: { stamp_ms: shown_ms, offset_ms: stamp_ms - shown_ms },
      values: { event: serial },
    };
  }
}

const events_max = 12;
const ahead_ms = 3_600_000;
