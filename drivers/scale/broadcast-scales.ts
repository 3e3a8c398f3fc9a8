import type { Moment } from "../../src/base/clock.ts";
import { parseIfWhole } from "../../src/base/disk/safe-files.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import { devices_max } from "../peripheral.ts";
import { BroadcastQueue } from "../wire/broadcast-queue.ts";

/** The result of a broadcast: the state to remember, and the weighings to record. */
export interface Judged<State> {
  /** Absent where nothing changes. */
  readonly state?: State;
  readonly readings?: readonly (Pick<Reading, "series" | "values"> & {
    /** The scale's clock, unix milliseconds. */
    readonly shown_ms?: number;
    /** State to remember once it is recorded. */
    readonly state: State;
  })[];
}

interface Scale<State> {
  readonly queue: BroadcastQueue;
  /** As it was left on the disk, once that was asked. */
  state: State | undefined;
  loaded: boolean;
}

/**
 * Scales that only broadcast. Each broadcast is compared with the weighings recorded before it. What was recorded is
 * committed together with the readings. A weighing is live, so its time is the arrival.
 */
export class BroadcastScales<State> {
  readonly #host: Host;
  readonly #parse: (value: unknown) => State | undefined;
  readonly #scales = new Map<string, Scale<State>>();

  constructor(options: { host: Host; parse: (value: unknown) => State | undefined }) {
    this.#host = options.host;
    this.#parse = options.parse;
  }

  /** Takes a broadcast in its turn: the one before it is on disk when `judge` is called. */
  take(device: Device, moment: Moment, judge: (last: State | undefined) => Judged<State>): void {
    const scale = this.#scales.get(device.address) ?? this.#follow(device.address);
    if (scale === undefined) {
      this.#host.dropped("scale broadcasts of more scales than can be followed");
      return;
    }
    const cursor = `broadcasts ${device.address}`;
    scale.queue.add(async () => {
      if (!scale.loaded) scale.state = this.#parse(parseIfWhole(await this.#host.cursor(cursor)));
      scale.loaded = true;
      const { state = scale.state, readings = [] } = judge(scale.state);
      // One after the other: the state of a later one says that those before it are recorded.
      for (const one of readings) {
        const cursorOfIt = { name: cursor, value: JSON.stringify(one.state), bare: null };
        await this.#host.accept(readingOf(device, moment, one), cursorOfIt);
        scale.state = one.state;
      }
      scale.state = state;
    });
  }

  #follow(address: string): Scale<State> | undefined {
    if (this.#scales.size >= devices_max) return undefined;
    const queue = new BroadcastQueue({ host: this.#host, kind: "scale" });
    const scale: Scale<State> = { queue, state: undefined, loaded: false };
    this.#scales.set(address, scale);
    return scale;
  }

  /** Resolves when all that was taken is on disk or given up. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#host.clock.after(stop_most_ms, resolve);
      void Promise.all([...this.#scales.values()].map(({ queue }) => queue.settled())).then(() => {
        cancel();
        resolve();
      });
    });
  }
}

function readingOf(
  device: Device,
  { unix_ms: stamp_ms, monotonic_ms, quality: clock }: Moment,
  { series, values, shown_ms }: NonNullable<Judged<unknown>["readings"]>[number],
): Reading {
  return {
    device,
    series,
    stamp_ms,
    clock,
    monotonic_ms,
    ...(shown_ms === undefined
      ? {}
      : { deviceClock: { stamp_ms: shown_ms, offset_ms: stamp_ms - shown_ms } }),
    values,
  };
}

const stop_most_ms = 1_500;
