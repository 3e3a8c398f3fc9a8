import { type Clock, repeat } from "../../base/clock.ts";
import { type DeviceFacts, keptFacts } from "../../domain/device-facts.ts";
import type { Device } from "../../domain/reading.ts";
import type { GatewayFact, HeardState, ListeningSpan } from "../../store/gateway/gateway-store.ts";
import { faultOfDevice, type IntakeFault, kindAndAddress } from "./validity.ts";

/** Something that has a time, and when that was: monotonic; the unix times in it may be wrong by as much as the clock is. */
export interface Timed<Kind extends GatewayFact = GatewayFact> {
  readonly fact: Kind;
  readonly monotonic_ms: number;
}

/** The notes to store now. */
export interface NotesTaken {
  readonly facts: readonly Timed<StateFact | ListeningFact>[];
  readonly dropped: ReadonlyMap<string, number>;
}

type StateFact = { readonly state: HeardState };
type ListeningFact = { readonly listening: ListeningSpan };

interface NoteBookOptions {
  readonly clock: Clock;
  readonly interval_ms: number;
  /** Called when a note has waited for `interval_ms`. */
  readonly onDue: () => void;
  readonly onRefused: (fault: IntakeFault) => void;
}

/**
 * Notes that wait to be stored beside readings: the newest state of each device, who was listening, and counts of
 * dropped data.
 */
export class NoteBook {
  readonly #options: NoteBookOptions;
  #states = new Map<string, Timed<StateFact>>();
  /** Facts of devices, which go with each state. */
  readonly #facts = new Map<string, DeviceFacts>();
  #listening = new Map<string, Timed<ListeningFact>[]>();
  #dropped = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;
  #stopped = false;

  constructor(options: NoteBookOptions) {
    this.#options = options;
  }

  heard(state: HeardState): void {
    const fault = faultOfState(state);
    if (fault !== undefined) {
      this.dropped(fault.name, 1);
      this.#options.onRefused(fault);
      return;
    }
    const now = this.#options.clock.now();
    const monotonic_ms = now.monotonic_ms - (now.unix_ms - state.heard_ms);
    const facts = this.#facts.get(kindAndAddress(state.device));
    this.#putState({ fact: { state: facts === undefined ? state : { ...state, facts } }, monotonic_ms });
    if (state.listener !== undefined) this.listening(state.listener);
  }

  /** Keeps facts of a device, to be stored with its next sign of life. */
  describe(device: Device, facts: DeviceFacts): void {
    const { model } = device;
    const kept = keptFacts(model === undefined ? facts : { model, ...facts });
    if (kept === undefined) this.dropped("facts of devices that cannot be", 1);
    else if (this.#facts.has(kindAndAddress(device)) || this.#facts.size < states_max)
      this.#facts.set(kindAndAddress(device), kept);
  }

  /** Notes that the driver of this name hears its devices now. */
  listening(listener: string): void {
    const { unix_ms, monotonic_ms } = this.#options.clock.now();
    this.#putSpan({ fact: { listening: { listener, from_ms: unix_ms, to_ms: unix_ms } }, monotonic_ms });
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
  take(): NotesTaken {
    this.#endTimer();
    const facts = [...[...this.#listening.values()].flat(), ...this.#states.values()];
    const noted = { facts, dropped: this.#dropped };
    this.#states = new Map();
    this.#listening = new Map();
    this.#dropped = new Map();
    return noted;
  }

  /** Takes back notes that could not be committed; newer notes win over them. */
  giveBack(noted: NotesTaken): void {
    const newer = this.take();
    for (const { fact, monotonic_ms } of [...noted.facts, ...newer.facts])
      if ("state" in fact) this.#putState({ fact, monotonic_ms });
      else this.#putSpan({ fact, monotonic_ms });
    for (const [name, count] of [...noted.dropped, ...newer.dropped]) this.dropped(name, count);
  }

  stop(): void {
    this.#stopped = true;
    this.#endTimer();
  }

  #putState({ fact: { state }, monotonic_ms }: Timed<StateFact>): void {
    const name = kindAndAddress(state.device);
    const earlier = this.#states.get(name)?.fact.state;
    if (earlier === undefined && this.#states.size >= states_max) {
      this.dropped("device states that found no room", 1);
      return;
    }
    const device = { ...earlier?.device, ...state.device };
    this.#states.set(name, { fact: { state: { ...earlier, ...state, device } }, monotonic_ms });
    this.#startTimer();
  }

  /** Extends the last span, unless too much time has passed in which nobody was known to listen. */
  #putSpan(later: Timed<ListeningFact>): void {
    const { listener, to_ms } = later.fact.listening;
    const spans = this.#listening.get(listener) ?? [];
    const last = spans.at(-1);
    if (last !== undefined && startOf(later) - last.monotonic_ms <= continuous_max_ms) {
      const from_ms = to_ms - Math.round(later.monotonic_ms - startOf(last));
      spans[spans.length - 1] = { ...later, fact: { listening: { listener, from_ms, to_ms } } };
    } else if (spans.length < spans_max) spans.push(later);
    this.#listening.set(listener, spans);
    this.#startTimer();
  }

  #startTimer(): void {
    if (this.#stopped || this.#cancelTimer !== undefined) return;
    const { clock, interval_ms, onDue } = this.#options;
    this.#cancelTimer = clock.after(interval_ms, () => {
      this.#cancelTimer = undefined;
      onDue();
    });
  }

  #endTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

/** When a span began, monotonic. */
function startOf({ fact: { listening }, monotonic_ms }: Timed<ListeningFact>): number {
  return monotonic_ms - (listening.to_ms - listening.from_ms);
}

function faultOfState(state: HeardState): IntakeFault | undefined {
  const numbers = [state.heard_ms, state.battery_percent, state.battery_mv, state.linkquality];
  const impossible = numbers.some((number) => number !== undefined && !Number.isFinite(number));
  if (impossible || !Number.isSafeInteger(state.heard_ms)) {
    return { name: "device states with impossible values", detail: kindAndAddress(state.device) };
  }
  return faultOfDevice(state.device);
}

const states_max = 5_000;
const names_max = 200;
/** Of one listener between two commits; a driver that comes and goes oftener is not worth more rows. */
const spans_max = 100;
/** The note book checks each listener several times in it. */
const continuous_max_ms = 60_000;

/**
 * Notes every 15 s which drivers listen, so that coverage can say when none did. `listeners` are the names of the drivers
 * that hear their devices now; the gateway itself always does. Answers the end of it, which tells once more, so that a
 * clean end is known to the second.
 */
export function keepListening(options: {
  clock: Clock;
  listeners: () => readonly string[];
  note: (listener: string) => void;
}): () => void {
  const tell = () => {
    for (const listener of ["gateway", ...options.listeners()]) options.note(listener);
  };
  tell();
  const cancel = repeat(options.clock, interval_ms, tell);
  return () => {
    cancel();
    tell();
  };
}

const interval_ms = 15_000;
