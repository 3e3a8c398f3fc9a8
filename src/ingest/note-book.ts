import type { Clock } from "../clock.ts";
import type { DeviceState } from "../reading.ts";
import type { Notes } from "../store/store.ts";
import { type Fault, faultOfDevice, nameOf } from "./validity.ts";

/**
 * What waits to be kept beside readings: the newest state of each device, and counts of what was thrown away.
 * Calls `onDue` when something has waited for `interval_ms`.
 */
export class NoteBook {
  readonly #clock: Clock;
  readonly #interval_ms: number;
  readonly #onDue: () => void;
  readonly #onRefused: (fault: Fault) => void;
  #states = new Map<string, DeviceState>();
  #dropped = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;
  #stopped = false;

  constructor(options: {
    clock: Clock;
    interval_ms: number;
    onDue: () => void;
    onRefused: (fault: Fault) => void;
  }) {
    this.#clock = options.clock;
    this.#interval_ms = options.interval_ms;
    this.#onDue = options.onDue;
    this.#onRefused = options.onRefused;
  }

  heard(state: DeviceState): void {
    const fault = faultOfState(state);
    if (fault !== undefined) {
      this.dropped(fault.name, 1);
      this.#onRefused(fault);
      return;
    }
    const name = nameOf(state.device);
    const earlier = this.#states.get(name);
    if (earlier === undefined && this.#states.size >= states_max) {
      this.dropped("device states that found no room", 1);
      return;
    }
    this.#states.set(name, merged(earlier, state));
    this.#startTimer();
  }

  dropped(what: string, count: number): void {
    const known = this.#dropped.has(what) || this.#dropped.size < names_max;
    const name = known ? what : "things of too many names";
    this.#dropped.set(name, (this.#dropped.get(name) ?? 0) + count);
    this.#startTimer();
  }

  get waiting(): boolean {
    return this.#states.size > 0 || this.#dropped.size > 0;
  }

  /** Hands over everything, to be committed. */
  take(): Notes {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const notes = { states: [...this.#states.values()], dropped: this.#dropped };
    this.#states = new Map();
    this.#dropped = new Map();
    return notes;
  }

  /** Takes back what could not be committed, below what has come since. */
  giveBack(notes: Notes): void {
    const newer = this.take();
    for (const state of [...(notes.states ?? []), ...(newer.states ?? [])]) this.heard(state);
    for (const [name, count] of [...(notes.dropped ?? []), ...(newer.dropped ?? [])])
      this.dropped(name, count);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #startTimer(): void {
    if (this.#stopped || this.#cancelTimer !== undefined) return;
    this.#cancelTimer = this.#clock.after(this.#interval_ms, () => {
      this.#cancelTimer = undefined;
      this.#onDue();
    });
  }
}

function faultOfState(state: DeviceState): Fault | undefined {
  const numbers = [state.heard_ms, state.battery_percent, state.battery_mv, state.linkquality];
  const impossible = numbers.some((number) => number !== undefined && !Number.isFinite(number));
  if (impossible || !Number.isSafeInteger(state.heard_ms)) {
    return { name: "device states with impossible values", detail: nameOf(state.device) };
  }
  return faultOfDevice(state.device);
}

function merged(earlier: DeviceState | undefined, later: DeviceState): DeviceState {
  return { ...earlier, ...later, device: { ...earlier?.device, ...later.device } };
}

const states_max = 5_000;
const names_max = 200;
