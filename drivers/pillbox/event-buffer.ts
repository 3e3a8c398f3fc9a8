import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { clockQuality, type Moment } from "../../src/base/clock.ts";
import type { BufferCursor } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import type { BoxClock } from "./box-clock.ts";
import type { Answer, Bridge } from "./bridge.ts";
import { type BoxEvent, type Events, requestType, result } from "./protocol.ts";
import { boxDevice, eventReading, relativeEventReading } from "./readings.ts";

/**
 * How far the events of a box are on disk: the last one, and the boot of the box that numbered it. Of one that is not recorded, its number and the boot
 * alone.
 */
const placeSchema = Type.Object({
  seq: Type.Integer({ minimum: 0 }),
  stamp: Type.Optional(Type.Integer()),
  doors: Type.Optional(Type.Integer()),
  boot: Type.Integer(),
  time_ms: Type.Number(),
});

type Place = Static<typeof placeSchema>;

/** Events that fit into one reply of at most 1,024 bytes: eleven bytes of head, nine for each event. */
const events_per_request = 100;
/** Three times the events of a busy month. A box that still has more after these is read on with the next poll. */
const events_max = 4_320;

/**
 * Reads the event buffer of a box, from the last event on disk to the newest one. The number of an event is committed with
 * its reading, as a cursor: so no event is lost or recorded twice, whenever the power fails.
 */
export class EventBuffer {
  readonly #mac: string;
  readonly #host: Host;
  readonly #bridge: Bridge;
  #place: Place | undefined;
  #end_ms: number;

  private constructor(options: BufferOptions, place: Place | undefined) {
    this.#mac = options.mac;
    this.#host = options.host;
    this.#bridge = options.bridge;
    this.#place = place;
    this.#end_ms = options.end_ms;
  }

  /** When the buffer was last read to its end, unix milliseconds. Events that are in it now happened after that. */
  get end_ms(): number {
    return this.#end_ms;
  }

  static async open(options: BufferOptions): Promise<EventBuffer> {
    const saved = await options.host.cursor(`events ${options.mac}`);
    const place: unknown = saved === undefined ? undefined : JSON.parse(saved);
    return new EventBuffer(options, Value.Check(placeSchema, place) ? place : undefined);
  }

  /**
   * True when every event of the box is on disk; false when its radio went off or it restarted meanwhile. Rejects when the box
   * does not answer or an event can't be committed; events committed before that stay.
   */
  async readToEnd(boot: number, clock: BoxClock, signal: AbortSignal): Promise<boolean> {
    if (this.#place !== undefined && this.#place.boot !== boot && !(await this.#goesOn(signal)))
      this.#startAgain(boot);
    let waiting: BoxEvent[] = [];
    for (let read = 0; read < events_max; ) {
      const after = waiting.at(-1)?.seq ?? this.#place?.seq ?? 0;
      const answer = await this.#ask(after, events_per_request, signal);
      if (answer === undefined || answer.events.boot !== boot) return false;
      const { events, newest } = answer.events;
      if (newest < after) {
        this.#startAgain(boot);
        waiting = [];
        read += events_per_request;
        continue;
      }
      read += Math.max(events.length, 1);
      waiting.push(...events.filter(({ seq }) => seq > after));
      const end = events.length === 0 || (events.at(-1)?.seq ?? 0) >= newest;
      // The box's clock may have been set between two events. Only the newest events show where, so all are read before any is dated.
      if (end || !clock.spansEras(this.#after_ms)) {
        await this.#keep(waiting, clock, answer);
        waiting = [];
      }
      if (end) {
        if (answer.moment.quality !== clockQuality.unsynchronised) this.#end_ms = answer.moment.unix_ms;
        return true;
      }
    }
    this.#host.log.warn(`pill box ${this.#mac} has no end of events: reading goes on with the next poll`);
    return false;
  }

  /** All events that are still on the box happened after this time, unix milliseconds. */
  get #after_ms(): number {
    return Math.max(this.#place?.time_ms ?? 0, this.#end_ms);
  }

  async #ask(after: number, max: number, signal: AbortSignal): Promise<ReadEvents | undefined> {
    const request = { type: requestType.events, mac: this.#mac, after, max } as const;
    const { reply, moment }: Answer<"events"> = await this.#bridge.ask("events", request, signal);
    return reply.result === result.ok && "events" in reply ? { events: reply.events, moment } : undefined;
  }

  /** Whether a box that restarted goes on with its numbers: then it still has the last event that was read, or a later one. */
  async #goesOn(signal: AbortSignal): Promise<boolean> {
    const place = this.#place;
    if (place === undefined || place.seq === 0) return true;
    const answer = await this.#ask(place.seq - 1, 1, signal);
    if (answer === undefined) return true;
    const first = answer.events.events[0];
    if (answer.events.newest < place.seq) return false;
    const { seq, stamp = first?.stamp, doors = first?.doors } = place;
    return first?.seq !== seq || (first.stamp === stamp && first.doors === doors);
  }

  #startAgain(boot: number): void {
    this.#host.log.warn(
      `pill box ${this.#mac} has begun to count its events anew: it is read from the first one`,
    );
    this.#place = { seq: 0, stamp: 0, doors: 0, boot, time_ms: this.#place?.time_ms ?? 0 };
  }

  /** Commits events in their order, and a gap wherever numbers are missing. */
  async #keep(
    events: readonly BoxEvent[],
    clock: BoxClock,
    { events: reply, moment }: ReadEvents,
  ): Promise<void> {
    const after_ms = this.#after_ms;
    const known = moment.quality !== clockQuality.unsynchronised;
    const dated = known
      ? clock.date(
          events.map(({ stamp }) => stamp),
          // `after_ms` is in the future where an earlier time of the gateway was wrong: then it is not used.
          {
            stamp_s: reply.devicestamp,
            at_ms: moment.unix_ms,
            after_ms: after_ms > moment.unix_ms ? 0 : after_ms,
          },
        )
      : [];
    let place = this.#place ?? { seq: 0, stamp: 0, doors: 0, boot: reply.boot, time_ms: 0 };
    const kept: Promise<boolean>[] = [];
    for (const [index, event] of events.entries()) {
      const age_ms = clock.ageOf(event.stamp, reply.devicestamp);
      const date = dated[index];
      const time_ms = date?.time_ms ?? moment.unix_ms - age_ms;
      if (event.seq > place.seq + 1) {
        await Promise.all(kept);
        place = await this.#noteGap(place, event, time_ms);
      }
      place = { ...event, boot: reply.boot, time_ms: known ? time_ms : place.time_ms };
      const reading =
        date === undefined
          ? relativeEventReading(this.#mac, event, age_ms, moment)
          : eventReading(this.#mac, event, date);
      kept.push(this.#host.accept(reading, this.#cursorAt(place)));
    }
    await Promise.all(kept);
    this.#place = place;
  }

  async #noteGap(place: Place, event: BoxEvent, to_ms: number): Promise<Place> {
    const lost = event.seq - place.seq - 1;
    // For a box that was never read, the time of the first lost event is unknown.
    const from_ms = place.time_ms === 0 ? to_ms : Math.min(place.time_ms, to_ms);
    const past = { ...place, seq: event.seq - 1 };
    this.#host.log.warn(`pill box ${this.#mac}: ${lost} events were overwritten before they were read`);
    await this.#host.gap(
      { device: boxDevice(this.#mac), from_ms, to_ms, reason: "overwritten", lost },
      this.#cursorAt(past),
    );
    return past;
  }

  #cursorAt(place: Place): BufferCursor {
    const { seq, boot } = place;
    const bare: Place = { seq, boot, time_ms: 0 };
    return { name: `events ${this.#mac}`, value: JSON.stringify(place), bare: JSON.stringify(bare) };
  }
}

interface BufferOptions {
  readonly mac: string;
  readonly host: Host;
  readonly bridge: Bridge;
  readonly end_ms: number;
}

interface ReadEvents {
  readonly events: Events;
  readonly moment: Moment;
}
