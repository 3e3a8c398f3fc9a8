import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type ClockQuality, clockQuality, type Moment } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { day_ms } from "../../src/base/time.ts";
import type { BufferCursor, Device } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import { LineReader } from "../wire/lines.ts";
import { type Block, decodeLine, fetchLine, type Message, setTimeLine } from "./health-log.ts";
import { epochReading, notWornGaps, watchFacts } from "./readings.ts";

/** The end of the last block that is on disk. */
const placeSchema = Type.Object({ end_ms: Type.Integer() });

/** The watch has been silent for so long while it should send. */
export const silence_most_ms = 15_000;
/** A log that came incomplete is fetched anew, so often in all. */
const tries_max = 3;
/** More than a year of blocks. */
const blocks_max = 60_000;
/** Blocks of one watch that may wait for the disk at once. */
const accept_at_once = 1_000;
const progress_every_blocks = 2_000;
/** A block that ends later than this from now was made by a clock that was wrong. */
const ahead_most_ms = 600_000;
/** The newest blocks of a log that was cut off may still lack older ones. */
const unsettled_ms = day_ms;
export const line_max_bytes = 4_096;

/** One conversation with a watch: sets its clock and fetches the blocks since the last one on disk. */
export class HealthFetch {
  readonly #options: FetchOptions;
  readonly #lines: LineReader;
  #moment: Moment;
  #waiting: ((message: Message) => void) | undefined;

  constructor(options: FetchOptions) {
    this.#options = options;
    this.#moment = options.host.clock.now();
    options.host.describe(options.device, watchFacts(options.stride_m));
    this.#lines = new LineReader({
      line_max_bytes,
      onLine: (line) => this.#line(line),
      onOverlong: (bytes) => options.host.dropped("watch: bytes of overlong lines", bytes),
    });
  }

  receive(chunk: Uint8Array, moment: Moment): void {
    this.#moment = moment;
    this.#lines.push(chunk);
  }

  /**
   * Resolves when everything that the watch has is on disk. Rejects with an OperatorError when it falls silent, after
   * keeping what is safe to keep, and when a reading can't be kept.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { host, device, send } = this.#options;
    const now = host.clock.now();
    if (now.quality === clockQuality.unsynchronised) return;
    await send(setTimeLine(now.unix_ms));
    for (let attempt = 1; ; attempt += 1) {
      const log = new Log(await this.#place());
      const whole = await this.#collect(log, signal);
      if (whole === "short" && attempt < tries_max) continue;
      if (whole === "short") {
        host.log.warn(
          `watch ${device.address}: lines of its log were lost ${tries_max} times, what came is kept`,
        );
      }
      await this.#keep(whole === "cut" ? log.settled() : log.inOrder(), log.known);
      if (whole !== "cut") return;
      throw new OperatorError(
        `watch ${device.address} fell silent while it sent its log`,
        "bring it closer to the gateway",
      );
    }
  }

  async #place(): Promise<number | undefined> {
    const saved = await this.#options.host.cursor(this.#cursorName);
    const place: unknown = saved === undefined ? undefined : JSON.parse(saved);
    return Value.Check(placeSchema, place) ? place.end_ms : undefined;
  }

  /** Asks for the log and collects it: whole, short of lines that were lost, or cut off. */
  async #collect(log: Log, signal: AbortSignal): Promise<"whole" | "short" | "cut"> {
    const { host, device, send } = this.#options;
    const { promise: ended, resolve: end } = Promise.withResolvers<"whole" | "short" | "cut">();
    let cancel = () => {};
    const listen = () => {
      cancel();
      cancel = host.clock.after(silence_most_ms, () => end("cut"));
    };
    this.#waiting = (message) => {
      listen();
      if (message.kind === "end")
        end(message.count === undefined || log.received >= message.count ? "whole" : "short");
      if (message.kind !== "block") return;
      const { end_ms } = message.block;
      log.received += 1;
      if (end_ms > this.#moment.unix_ms + ahead_most_ms) host.dropped("watch: blocks from the future", 1);
      else if (!log.add(message.block)) end("cut");
      if (log.received % progress_every_blocks === 0) {
        const until = new Date(log.newest_ms).toISOString().slice(0, 10);
        host.log.info(`watch ${device.address}: ${log.received} blocks of its log have come, up to ${until}`);
      }
    };
    const abort = () => end("cut");
    signal.addEventListener("abort", abort, { once: true });
    try {
      listen();
      if (!signal.aborted) await send(fetchLine(log.known ?? 0));
      return signal.aborted ? "cut" : await ended;
    } finally {
      cancel();
      this.#waiting = undefined;
      signal.removeEventListener("abort", abort);
    }
  }

  /** Stores blocks in their order, and the times when the watch was not worn. */
  async #keep(blocks: readonly Block[], known_ms: number | undefined): Promise<void> {
    const { host, device } = this.#options;
    const stride_m = this.#options.stride_m;
    // Before its first conversation with this gateway nobody knows who set the watch's clock.
    const clock: ClockQuality = known_ms === undefined ? clockQuality.deviceUnmeasured : clockQuality.device;
    const last = blocks.at(-1);
    if (last === undefined) return;
    for (const gap of notWornGaps(device, blocks)) {
      if (gap.to_ms < last.end_ms) await host.gap(gap);
    }
    for (let from = 0; from < blocks.length; from += accept_at_once) {
      const kept = blocks.slice(from, from + accept_at_once).map(async (block) => {
        const reading = epochReading(device, block, { stride_m, clock });
        if (reading !== undefined) await host.accept(reading, this.#cursorAt(block));
      });
      await Promise.all(kept);
    }
    const open = notWornGaps(device, blocks).at(-1);
    if (open !== undefined && open.to_ms === last.end_ms) await host.gap(open, this.#cursorAt(last));
    if (blocks.length >= progress_every_blocks)
      host.log.info(`watch ${device.address}: ${blocks.length} blocks are on disk`);
  }

  #line(line: string): void {
    const { host, device } = this.#options;
    const message = decodeLine(line);
    if (message === undefined) {
      host.dropped("watch: damaged lines", 1);
      return;
    }
    const state = message.kind === "battery" ? { battery_percent: message.percent } : {};
    if (message.kind !== "block" && message.kind !== "other")
      host.heard({ device, heard_ms: this.#moment.unix_ms, ...state });
    this.#waiting?.(message);
  }

  get #cursorName(): string {
    return `epochs ${this.#options.device.address}`;
  }

  #cursorAt({ end_ms }: Block): BufferCursor {
    const place: Static<typeof placeSchema> = { end_ms };
    return { name: this.#cursorName, value: JSON.stringify(place) };
  }
}

export interface FetchOptions {
  readonly host: Host;
  readonly device: Device;
  readonly stride_m: number;
  /** Sends a line. */
  readonly send: (text: string) => Promise<void>;
}

/** The blocks of one answer: in any order, some told before. */
class Log {
  received = 0;
  newest_ms = 0;
  /** The end of the last block that is on disk: the watch sends it once more. */
  readonly known: number | undefined;
  readonly #blocks = new Map<number, Block>();
  #ordered = true;

  constructor(known: number | undefined) {
    this.known = known;
  }

  /** False when there is no room for more. */
  add(block: Block): boolean {
    if (block.end_ms <= (this.known ?? 0)) return true;
    if (block.end_ms < this.newest_ms) this.#ordered = false;
    this.newest_ms = Math.max(this.newest_ms, block.end_ms);
    this.#blocks.set(block.end_ms, block);
    return this.#blocks.size < blocks_max;
  }

  inOrder(): Block[] {
    return [...this.#blocks.values()].sort((one, other) => one.end_ms - other.end_ms);
  }

  /** Blocks of an interrupted log that can be stored already: those that no older block can follow. */
  settled(): Block[] {
    return this.#ordered
      ? this.inOrder().filter(({ end_ms }) => end_ms <= this.newest_ms - unsettled_ms)
      : [];
  }
}
