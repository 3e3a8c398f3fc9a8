import type { BoxEvent, Events, Status, Window } from "../protocol.ts";

/** About a month of door states. */
export const buffer_max = 1_440;

export interface SimulatedBoxOptions {
  readonly mac: string;
  /** True time, unix milliseconds. */
  readonly now_ms: () => number;
  /** How far the box's clock is ahead. */
  readonly ahead_ms?: number;
  readonly drift_ppm?: number;
  readonly power?: Status["power"];
  /** On battery the radio is on for so long, so often, by the box's clock. */
  readonly window?: { readonly every_s: number; readonly length_s: number };
}

/** A pill box as its firmware sees the world: doors, a clock of its own that may be wrong, a buffer that is circular. */
export class SimulatedBox {
  readonly mac: string;
  power: Status["power"];
  voltage_mv = 3_000;
  rssi_dbm = -60;
  boot = 1;
  /** All events with their true times, for tests to compare with. */
  readonly history: { readonly seq: number; readonly at_ms: number; readonly doors: number }[] = [];
  readonly #now_ms: () => number;
  readonly #window: { readonly every_s: number; readonly length_s: number };
  readonly #rate: number;
  readonly #batterySince_ms: number;
  #zero_true_ms: number;
  #zero_device_ms: number;
  #buffer: BoxEvent[] = [];
  #seq = 0;
  #doors = 0;

  constructor(options: SimulatedBoxOptions) {
    this.mac = options.mac;
    this.power = options.power ?? "external_power";
    this.#now_ms = options.now_ms;
    this.#window = options.window ?? { every_s: 24 * 3600, length_s: 600 };
    this.#rate = 1 + (options.drift_ppm ?? 0) / 1e6;
    this.#zero_true_ms = options.now_ms();
    this.#batterySince_ms = this.#zero_true_ms;
    this.#zero_device_ms = this.#zero_true_ms + (options.ahead_ms ?? 0);
  }

  /** Opens or closes a door, 0 Sunday to 6 Saturday. */
  door(position: number, open: boolean): void {
    this.doors(open ? this.#doors | (1 << position) : this.#doors & ~(1 << position));
  }

  /** A new state of all doors, now or, to fill the buffer, at an earlier time. */
  doors(doors: number, at_ms = this.#now_ms()): void {
    this.#doors = doors;
    this.#seq += 1;
    this.#buffer.push({ seq: this.#seq, stamp: this.#stampAt(at_ms), doors });
    if (this.#buffer.length > buffer_max) this.#buffer.shift();
    this.history.push({ seq: this.#seq, at_ms, doors });
  }

  /** Starts again; `clock_s` is the new time of its clock, for a box that forgets it. */
  restart(clock_s?: number): void {
    this.boot = (this.boot + 1) & 0xffff;
    if (clock_s !== undefined) this.setClock(clock_s);
  }

  /** Starts again with an empty buffer, counting from one. */
  forget(clock_s?: number): void {
    this.restart(clock_s);
    this.#buffer = [];
    this.#seq = 0;
  }

  setClock(unix_s: number): void {
    this.#zero_true_ms = this.#now_ms();
    this.#zero_device_ms = unix_s * 1000;
  }

  get devicestamp(): number {
    return this.#stampAt(this.#now_ms());
  }

  get radioOn(): boolean {
    const { every_s, length_s } = this.#window;
    return this.power === "external_power" || this.devicestamp % every_s < length_s;
  }

  /** The next window that begins, by the box's clock. */
  get nextWindow(): Window {
    const { every_s, length_s } = this.#window;
    const nextpanicstart = (Math.floor(this.devicestamp / every_s) + 1) * every_s;
    return { nextpanicstart, nextpanicstop: nextpanicstart + length_s };
  }

  status(): Status {
    return {
      devicestamp: this.devicestamp,
      voltage_mv: this.voltage_mv,
      power: this.power,
      eventcount: this.#seq,
      batteryseconds:
        this.power === "battery" ? Math.floor((this.#now_ms() - this.#batterySince_ms) / 1000) : 0,
      ...this.nextWindow,
      boot: this.boot,
      firmware: "1.4.2",
    };
  }

  events(after: number, max: number): Events {
    const events = this.#buffer.filter(({ seq }) => seq > after).slice(0, Math.min(max, events_per_reply));
    return {
      devicestamp: this.devicestamp,
      boot: this.boot,
      oldest: this.#buffer[0]?.seq ?? this.#seq,
      newest: this.#seq,
      events,
    };
  }

  #stampAt(true_ms: number): number {
    const device_ms = this.#zero_device_ms + (true_ms - this.#zero_true_ms) * this.#rate;
    return Math.max(Math.floor(device_ms / 1000), 0);
  }
}

/** The number of events that fit into a payload of 1,024 bytes. */
const events_per_reply = 111;
