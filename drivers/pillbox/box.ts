import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { clockQuality, type Moment } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import type { Host } from "../driver.ts";
import { BoxClock, off_most_ms } from "./box-clock.ts";
import { type Bridge, Unanswered } from "./bridge.ts";
import { EventBuffer } from "./event-buffer.ts";
import { requestType, result, type Status, type Window } from "./protocol.ts";
import { boxDevice, boxFacts, statusReading } from "./readings.ts";
import { type Outcome, type RadioWindow, wait_ms } from "./schedule.ts";

/** State of a box that is kept with each status, besides its events. */
const savedSchema = Type.Object({
  clock: Type.Unknown(),
  /** When the buffer had been read to its end. */
  end_ms: Type.Number(),
  window: Type.Optional(Type.Object({ from_ms: Type.Number(), to_ms: Type.Number() })),
});

/** A clock that does not stay set is left alone for so long. */
const set_interval_ms = day_ms;
/** Events wait on the box until the gateway knows the time, but not until they are overwritten. */
const await_time_max_ms = day_ms;
/** A gateway that is started again hears its bridge within this time. */
const near_ms = 120_000;

/** One polled pill box: its clock, its buffer and its radio windows. */
export class Box {
  readonly mac: string;
  /** When to ask it next, on the monotonic clock. */
  due_ms: number;
  readonly #host: Host;
  readonly #bridge: Bridge;
  readonly #buffer: EventBuffer;
  readonly #known_ms: number;
  #clock: BoxClock;
  #window: RadioWindow | undefined;
  #failures = 0;
  #set_ms = -Infinity;

  private constructor(
    options: BoxOptions,
    buffer: EventBuffer,
    saved: Static<typeof savedSchema> | undefined,
  ) {
    this.mac = options.mac;
    this.#host = options.host;
    this.#bridge = options.bridge;
    this.#buffer = buffer;
    this.#clock = BoxClock.from(saved?.clock);
    this.#window = saved?.window;
    this.#known_ms = options.host.clock.now().monotonic_ms;
    this.due_ms = this.#known_ms;
    options.host.describe(boxDevice(options.mac), boxFacts);
  }

  /** Takes up a box where the store has it. */
  static async open(options: BoxOptions): Promise<Box> {
    const text = await options.host.cursor(`clock ${options.mac}`);
    const parsed: unknown = text === undefined ? undefined : JSON.parse(text);
    const saved = Value.Check(savedSchema, parsed) ? parsed : undefined;
    return new Box(options, await EventBuffer.open({ ...options, end_ms: saved?.end_ms ?? 0 }), saved);
  }

  /** Whether its radio window is open, or is about to. */
  inWindow(now_ms: number): boolean {
    const window = this.#window;
    return window !== undefined && now_ms > window.from_ms - near_ms && now_ms < window.to_ms;
  }

  /** Asks the box and plans the next time. False when it did not answer at all. Rejects when `signal` is raised. */
  async poll(signal: AbortSignal): Promise<boolean> {
    const outcome = await this.#ask(signal);
    const now = this.#host.clock.now();
    const expected = this.#window;
    await this.#noteMissed(outcome, now);
    this.due_ms = now.monotonic_ms + wait_ms(outcome, expected, now);
    return outcome.result !== "silent";
  }

  async #ask(signal: AbortSignal): Promise<Outcome> {
    try {
      const outcome = await this.#status(signal);
      this.#failures = 0;
      return outcome;
    } catch (thrown) {
      signal.throwIfAborted();
      this.#failures += 1;
      // Not logged again: the refusal of a reading is logged where it is refused.
      if (thrown instanceof Unanswered && this.#failures === 1) this.#host.log.warn(thrown.message);
      else if (!(thrown instanceof Unanswered)) this.#host.log.debug(String(thrown));
      return { result: "silent", failures: this.#failures };
    }
  }

  async #status(signal: AbortSignal): Promise<Outcome> {
    const request = { type: requestType.status, mac: this.mac } as const;
    const { reply, moment } = await this.#bridge.ask("status", request, signal);
    if ("window" in reply) return { result: "radio off", window: this.#inTime(reply.window) };
    if (!("status" in reply)) {
      const why =
        reply.result === result.unknownBox ? "does not know it any more" : `refuses it (${reply.result})`;
      throw new Unanswered(`pill box ${this.mac}: the bridge ${why}`, "pair it with the bridge again");
    }
    const { status } = reply;
    this.#host.describe(boxDevice(this.mac), { ...boxFacts, firmware: status.firmware });
    this.#host.heard({
      device: boxDevice(this.mac),
      heard_ms: moment.unix_ms,
      battery_mv: status.voltage_mv,
    });
    const window = await this.#keep(status, moment);
    if (this.#awaitsTime(moment)) return { result: "read", window };
    const all = await this.#buffer.readToEnd(status.boot, this.#clock, signal);
    if (all && (await this.#setClock(status, moment, signal))) return { result: "clock set" };
    return { result: "read", window };
  }

  /** Keeps a status, with its facts about the box's clock and next window. */
  async #keep(status: Status, moment: Moment): Promise<RadioWindow | undefined> {
    const known = moment.quality !== clockQuality.unsynchronised;
    const clock = known
      ? this.#clock.measured([status.devicestamp, moment.unix_ms], status.boot)
      : this.#clock;
    const before = this.#clock;
    this.#clock = clock;
    const window = status.power === "battery" ? this.#inTime(status) : undefined;
    const saved = {
      clock: clock.toJson(),
      end_ms: this.#buffer.end_ms,
      window: upcoming(window, moment.unix_ms),
    };
    const reading = statusReading(this.mac, status, moment);
    try {
      await this.#host.accept(
        reading,
        known ? { name: `clock ${this.mac}`, value: JSON.stringify(saved) } : undefined,
      );
    } catch (thrown) {
      this.#clock = before;
      throw thrown;
    }
    return window;
  }

  #inTime({ nextpanicstart, nextpanicstop }: Window): RadioWindow {
    const at = (stamp_s: number) => this.#clock.timeAt(stamp_s) ?? stamp_s * 1000;
    return { from_ms: at(nextpanicstart), to_ms: at(Math.max(nextpanicstop, nextpanicstart)) };
  }

  #awaitsTime({ quality, monotonic_ms }: Moment): boolean {
    return quality === clockQuality.unsynchronised && monotonic_ms - this.#known_ms < await_time_max_ms;
  }

  /**
   * Sets a clock that is far off, right after its buffer was read to the end: what happens between the two is told
   * apart by BoxClock, because the stretch before the setting is known to have held until now.
   */
  async #setClock(
    { devicestamp }: Status,
    { unix_ms, quality }: Moment,
    signal: AbortSignal,
  ): Promise<boolean> {
    const off_ms = unix_ms - devicestamp * 1000;
    const now = this.#host.clock.now();
    if (Math.abs(off_ms) <= off_most_ms || quality === clockQuality.unsynchronised) return false;
    if (now.monotonic_ms - this.#set_ms < set_interval_ms) return false;
    this.#set_ms = now.monotonic_ms;
    const unix_s = Math.round(now.unix_ms / 1000);
    const { reply } = await this.#bridge.ask(
      "setClock",
      { type: requestType.setClock, mac: this.mac, unix_s },
      signal,
    );
    const off = `${Math.round(Math.abs(off_ms) / 1000)} s ${off_ms > 0 ? "behind" : "ahead"}`;
    if (reply.result === result.ok)
      this.#host.log.info(`pill box ${this.mac}: its clock was ${off} and has been set`);
    else this.#host.log.warn(`pill box ${this.mac}: its clock is ${off} and cannot be set (${reply.result})`);
    return reply.result === result.ok;
  }

  /** Notes a window that has passed without an answer, once, and remembers the next one. */
  async #noteMissed(outcome: Outcome, { unix_ms, quality }: Moment): Promise<void> {
    const expected = this.#window;
    const passed =
      expected !== undefined && expected.to_ms <= unix_ms && quality !== clockQuality.unsynchronised;
    if (outcome.result === "read") this.#window = upcoming(outcome.window, unix_ms);
    else if (outcome.result === "radio off") this.#window = outcome.window;
    else if (passed || outcome.result === "clock set") this.#window = undefined;
    if (!passed) return;
    this.#host.log.warn(
      `pill box ${this.mac} was not heard in its radio window; its events wait for the next one`,
    );
    try {
      await this.#host.gap({ device: boxDevice(this.mac), ...expected, reason: "missed_window" });
    } catch (thrown) {
      this.#host.log.debug(String(thrown));
    }
  }
}

/** A window that is yet to come: one in which the box is being read has not been missed. */
function upcoming(window: RadioWindow | undefined, now_ms: number): RadioWindow | undefined {
  return window !== undefined && window.from_ms > now_ms ? window : undefined;
}

interface BoxOptions {
  readonly mac: string;
  readonly host: Host;
  readonly bridge: Bridge;
}
