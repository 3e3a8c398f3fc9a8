import type { Moment } from "../../src/base/clock.ts";
import type { BufferCursor, Device, Reading } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import { BroadcastQueue } from "../wire/broadcast-queue.ts";
import { type BoxState, bareState, type Judgement, judge, parseState } from "./box.ts";
import { boxFacts, lidFacts } from "./models.ts";
import type { Sighting } from "./sighting.ts";

/** An event on its way to the disk. */
interface Underway {
  /** State to judge the next broadcast by: that of the event, or of a heartbeat that came since. */
  state: BoxState;
  done: Promise<void>;
}

/**
 * One box: its broadcasts, one after another, become events. How far its count has been heard is committed together with
 * the event itself, so that no crash stores an event twice or loses one that a repeat could still tell.
 */
export class Box {
  readonly #host: Host;
  readonly #cursor: string;
  readonly #queue: BroadcastQueue;
  readonly #underway: Underway[] = [];
  /** Of the newest event on disk, and the heartbeats since. */
  #kept: BoxState | undefined;
  #loaded: Promise<void> | undefined;
  #newest: Uint8Array = new Uint8Array();

  constructor(options: { host: Host; address: string }) {
    this.#host = options.host;
    this.#cursor = `bthome ${options.address}`;
    this.#queue = new BroadcastQueue({ host: options.host, kind: "bthome" });
  }

  /** Takes a broadcast, in its turn. `bytes` tell it from others: a repeat of one that still waits says nothing new. */
  take(device: Device, seen: Sighting, moment: Moment, bytes: Uint8Array): void {
    if (this.#queue.isBusy && Buffer.compare(bytes, this.#newest) === 0) return;
    this.#newest = bytes;
    this.#queue.add(() => this.#hear(device, seen, moment));
  }

  /** Resolves when all that was taken is on disk or given up. */
  async settled(): Promise<void> {
    await this.#queue.settled();
    await Promise.all(this.#underway.map(({ done }) => done));
  }

  async #hear(device: Device, seen: Sighting, moment: Moment): Promise<void> {
    this.#loaded ??= this.#load();
    await this.#loaded;
    const before = this.#latest();
    // What is older was refused before: see Claim.counter.
    if (seen.counter !== undefined && seen.counter === before?.counter) return;
    this.#host.describe(device, seen.count === undefined ? lidFacts : boxFacts);
    this.#host.heard({
      device,
      heard_ms: moment.unix_ms,
      ...(seen.battery_percent === undefined ? {} : { battery_percent: seen.battery_percent }),
    });
    const { state, event } = judge(before, seen, { moment, boot: this.#host.clock.boot });
    if (state === undefined) return;
    if (event === undefined) {
      this.#heartbeat(state);
      return;
    }
    const stamp_ms = Math.round(moment.unix_ms - event.age_ms);
    if (event.lost > 0 && before !== undefined) {
      await this.#gap({ device, before, state, lost: event.lost, to_ms: stamp_ms });
    }
    this.#accept(readingOf({ device, seen, moment, event, stamp_ms }), state);
  }

  #latest(): BoxState | undefined {
    return this.#underway.at(-1)?.state ?? this.#kept;
  }

  /** Not written down: its count is that of the event before, and its counter guards nothing more. */
  #heartbeat(state: BoxState): void {
    const last = this.#underway.at(-1);
    if (last === undefined) this.#kept = state;
    else last.state = state;
  }

  /** Commits a gap together with the count of the last missed event, so that the event is the next one. */
  async #gap(options: {
    device: Device;
    before: BoxState;
    state: BoxState;
    lost: number;
    to_ms: number;
  }): Promise<void> {
    const { device, before, state, lost, to_ms } = options;
    await Promise.all(this.#underway.map(({ done }) => done));
    const { counter: _, packet: __, ...past } = state;
    const next: BoxState = {
      ...past,
      doors: before.doors,
      count: (state.count ?? 0) - 1,
      // A repeat of this broadcast must still be taken for a new one.
      ...(before.counter === undefined ? {} : { counter: before.counter }),
      ...(before.packet === undefined ? {} : { packet: before.packet }),
    };
    const from_ms = Math.min(before.heard.unix_ms, to_ms);
    await this.#host.gap({ device, from_ms, to_ms, reason: "missed_broadcasts", lost }, this.#cursorAt(next));
    this.#kept = next;
  }

  #accept(reading: Reading, state: BoxState): void {
    const accepted = this.#host.accept(reading, this.#cursorAt(state));
    const underway: Underway = { state, done: Promise.resolve() };
    const leave = () => this.#underway.splice(this.#underway.indexOf(underway), 1);
    underway.done = accepted.then(
      () => {
        leave();
        this.#kept = underway.state;
      },
      // It has been counted and said; a repeat of the broadcast is an event again.
      () => {
        leave();
      },
    );
    this.#underway.push(underway);
  }

  #cursorAt(state: BoxState): BufferCursor {
    return { name: this.#cursor, value: JSON.stringify(state), bare: JSON.stringify(bareState(state)) };
  }

  async #load(): Promise<void> {
    try {
      this.#kept = parseState(await this.#host.cursor(this.#cursor));
    } catch (thrown) {
      this.#loaded = undefined;
      throw thrown;
    }
  }
}

function readingOf(options: {
  device: Device;
  seen: Sighting;
  moment: Moment;
  event: NonNullable<Judgement["event"]>;
  stamp_ms: number;
}): Reading {
  const { device, seen, moment, event, stamp_ms } = options;
  const device_ms = seen.stamp_s === undefined ? undefined : seen.stamp_s * 1000;
  return {
    device,
    series: "pillbox_events",
    stamp_ms,
    clock: event.clock,
    monotonic_ms: moment.monotonic_ms - event.age_ms,
    ...(device_ms === undefined
      ? {}
      : { deviceClock: { stamp_ms: device_ms, offset_ms: stamp_ms - device_ms } }),
    ...(event.unsure_ms === undefined ? {} : { unsure_ms: event.unsure_ms }),
    values: { event: event.doors },
  };
}
