import type { Clock } from "../clock.ts";
import type { Fact, HeardState } from "../store/store.ts";
import { type Fault, faultOfDevice, nameOf } from "./validity.ts";

/**
 * Notes that wait to be stored beside readings: the newest state of each device, who was listening, and counts of
 * dropped data. Calls `onDue` when a note has waited for `interval_ms`.
 */
export class NoteBook {
  readonly #clock: Clock;
  readonly #interval_ms: number;
  readonly #onDue: () => void;
  readonly #onRefused: (fault: Fault) => void;
  #states = new Map<string, TimedState>();
  #listening = new Map<string, TimedSpan[]>();
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

  heard(state: HeardState): void {
    const fault = faultOfState(state);
    if (fault !== undefined) {
      this.dropped(fault.name, 1);
      this.#onRefused(fault);
      return;
    }
    const now = this.#clock.now();
    this.#putState({ state, monotonic_ms: now.monotonic_ms - (now.unix_ms - state.heard_ms) });
    if (state.listener !== undefined) this.listening(state.listener);
  }

  /** Notes that who bears this name hears its devices now. */
  listening(listener: string): void {
    const { unix_ms, monotonic_ms } = this.#clock.now();
    this.#putSpan({ listener, from_ms: unix_ms, to_ms: unix_ms, start_ms: monotonic_ms, monotonic_ms });
  }

  dropped(what: string, count: number): void {
    const known = this.#dropped.has(what) || this.#dropped.size < names_max;
    const name = known ? what : "things of too many names";
    this.#dropped.set(name, (this.#dropped.get(name) ?? 0) + count);
    this.#startTimer();
  }

  get waiting(): boolean {
    return this.#states.size > 0 || this.#listening.size > 0 || this.#dropped.size > 0;
  }

  /** Hands over everything, to be committed. */
  take(): Noted {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const spans = [...this.#listening.values()].flat();
    const facts: Timed[] = [
      ...spans.map(({ start_ms: _, monotonic_ms, ...listening }) => ({ fact: { listening }, monotonic_ms })),
      ...[...this.#states.values()].map(({ state, monotonic_ms }) => ({ fact: { state }, monotonic_ms })),
    ];
    const noted: Noted = { facts, dropped: this.#dropped, states: this.#states, spans };
    this.#states = new Map();
    this.#listening = new Map();
    this.#dropped = new Map();
    return noted;
  }

  /** Takes back notes that could not be committed; newer notes win over them. */
  giveBack(noted: Noted): void {
    const newer = this.take();
    for (const state of [...noted.states.values(), ...newer.states.values()]) this.#putState(state);
    for (const span of [...noted.spans, ...newer.spans]) this.#putSpan(span);
    for (const [name, count] of [...noted.dropped, ...newer.dropped]) this.dropped(name, count);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #putState(later: TimedState): void {
    const name = nameOf(later.state.device);
    const earlier = this.#states.get(name);
    if (earlier === undefined && this.#states.size >= states_max) {
      this.dropped("device states that found no room", 1);
      return;
    }
    const { monotonic_ms } = later;
    this.#states.set(name, { state: merged(earlier?.state, later.state), monotonic_ms });
    this.#startTimer();
  }

  /** Extends the last span, unless too much time has passed in which nobody was known to listen. */
  #putSpan(later: TimedSpan): void {
    const spans = this.#listening.get(later.listener) ?? [];
    const last = spans.at(-1);
    if (last !== undefined && later.start_ms - last.monotonic_ms <= continuous_max_ms) {
      const length_ms = Math.round(later.monotonic_ms - last.start_ms);
      spans.pop();
      spans.push({ ...later, start_ms: last.start_ms, from_ms: later.to_ms - length_ms });
    } else if (spans.length < spans_max) spans.push(later);
    this.#listening.set(later.listener, spans);
    this.#startTimer();
  }

  #startTimer(): void {
    if (this.#stopped || this.#cancelTimer !== undefined) return;
    this.#cancelTimer = this.#clock.after(this.#interval_ms, () => {
      this.#cancelTimer = undefined;
      this.#onDue();
    });
  }
}

/** Something that has a time, and when that was: monotonic; the unix times in it may be wrong by as much as the clock is. */
export interface Timed {
  readonly fact: Fact;
  readonly monotonic_ms: number;
}

/** The notes to store now. */
export interface Noted {
  readonly facts: readonly Timed[];
  readonly dropped: ReadonlyMap<string, number>;
  readonly states: ReadonlyMap<string, TimedState>;
  readonly spans: readonly TimedSpan[];
}

interface TimedState {
  readonly state: HeardState;
  readonly monotonic_ms: number;
}

/** `start_ms` and `monotonic_ms` are start and end on the monotonic clock. */
interface TimedSpan {
  readonly listener: string;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly start_ms: number;
  readonly monotonic_ms: number;
}

function faultOfState(state: HeardState): Fault | undefined {
  const numbers = [state.heard_ms, state.battery_percent, state.battery_mv, state.linkquality];
  const impossible = numbers.some((number) => number !== undefined && !Number.isFinite(number));
  if (impossible || !Number.isSafeInteger(state.heard_ms)) {
    return { name: "device states with impossible values", detail: nameOf(state.device) };
  }
  return faultOfDevice(state.device);
}

function merged(earlier: HeardState | undefined, later: HeardState): HeardState {
  return { ...earlier, ...later, device: { ...earlier?.device, ...later.device } };
}

const states_max = 5_000;
const names_max = 200;
/** Of one listener between two commits; a driver that comes and goes oftener is not worth more rows. */
const spans_max = 100;
/** Listeners are asked several times in it. */
const continuous_max_ms = 60_000;
