import type { Controller, Events } from "zigbee-herdsman";
import type { Clock, Moment } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";

/** The adapter of a controller, of any kind. */
export type Adapter = Controller["adapter"];
type Handler = (...heard: unknown[]) => void;

/** All kinds of adapter report their messages through these. */
const heardEvents = ["zclPayload", "zdoResponse", "deviceJoined", "deviceLeave"] as const;

/** Messages held while an adapter starts. A serial line carries 370 notifications a second; a start takes seconds. */
export const held_events_max = 10_000;

const lost = "zigbee messages while the adapter was starting";

interface Held {
  readonly event: string;
  readonly heard: unknown[];
  readonly moment: Moment;
}

/**
 * Messages that an adapter receives, each with its time of arrival, from the first byte to the last.
 *
 * zigbee-herdsman's controller listens to its adapter only once its own start is done, a second or more after the port
 * was opened, and stops listening before it closes it. Messages before the controller is ready are held here and handed
 * to it in order then; messages after it has stopped listening are handed on as before.
 */
export class Arrivals {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #dropped: (what: string, count: number) => void;
  readonly #moments = new WeakMap<object, Moment>();
  readonly #held: Held[] = [];
  #overflow = 0;
  /** The arrival of the message that is being handed on. */
  #present: Moment | undefined;
  /** Handlers of the controller for each event; none while it starts. */
  #handlers: ReadonlyMap<string, readonly Handler[]> | undefined;

  constructor(options: { clock: Clock; log: Log; dropped: (what: string, count: number) => void }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#dropped = options.dropped;
  }

  /** Takes the adapter's messages from now on: call it before its port is opened. */
  listenTo(adapter: Adapter): void {
    const emit = adapter.emit.bind(adapter) as (event: string, ...heard: unknown[]) => boolean;
    adapter.emit = ((event: string, ...heard: unknown[]) => {
      if (!heardEvents.some((name) => name === event)) return emit(event, ...heard);
      this.#take(event, heard);
      return true;
    }) as Adapter["emit"];
  }

  /** The controller is ready: hands on the held messages, oldest first, and from now on new ones. */
  release(adapter: Adapter): void {
    this.#handlers = new Map(heardEvents.map((event) => [event, adapter.listeners(event) as Handler[]]));
    for (const { event, heard, moment } of this.#held.splice(0)) {
      try {
        this.#handOn(event, heard, moment);
      } catch (thrown) {
        this.#log.warn(`a Zigbee message that came while the adapter was starting: ${messageOf(thrown)}`);
      }
    }
    if (this.#overflow === 0) return;
    const came = `more than ${held_events_max} came while the adapter was starting`;
    this.#log.warn(`${this.#overflow} Zigbee messages are lost: ${came}`);
    this.#dropped(lost, this.#overflow);
    this.#overflow = 0;
  }

  /** The controller ends: messages still go to it until its port is closed, while nobody joins or leaves any more. */
  closing(): void {
    const messages = this.#handlers?.get("zclPayload") ?? [];
    this.#handlers = new Map([["zclPayload", messages]]);
  }

  /** The start has failed, or the adapter has another network now: the held messages belong to no device of this one. */
  discard(): void {
    const count = this.#held.splice(0).length + this.#overflow;
    this.#overflow = 0;
    if (count > 0) this.#dropped(lost, count);
  }

  /** When a message came. */
  momentOf(message: Events.MessagePayload): Moment {
    return this.#moments.get(message.meta.rawData) ?? this.now();
  }

  /** The arrival of the message that is being handed on; the present time where there is none. */
  now(): Moment {
    return this.#present ?? this.#clock.now();
  }

  #take(event: string, heard: unknown[]): void {
    const moment = this.#clock.now();
    if (this.#handlers !== undefined) this.#handOn(event, heard, moment);
    else if (this.#held.length < held_events_max) this.#held.push({ event, heard, moment });
    else this.#overflow += 1;
  }

  #handOn(event: string, heard: unknown[], moment: Moment): void {
    // A sender whose network address is new is asked who it is before its message is told: the moment goes with the bytes.
    const raw = event === "zclPayload" ? (heard[0] as { data?: unknown }).data : undefined;
    if (typeof raw === "object" && raw !== null) this.#moments.set(raw, moment);
    this.#present = moment;
    try {
      for (const handler of this.#handlers?.get(event) ?? []) handler(...heard);
    } finally {
      this.#present = undefined;
    }
  }
}
