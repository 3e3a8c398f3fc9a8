import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseIfWhole, readIfThere, writeDurably } from "../../src/base/disk/safe-files.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import type { Dated } from "./scale-clock.ts";
import type { CompositionMeasurement, WeightMeasurement } from "./standard.ts";
import {
  identityOf,
  isComposition,
  isSame,
  isWhole,
  placeOf,
  valuesOf,
  type Weighing,
  withMeasurement,
} from "./weighing.ts";

/** Contents of the file that holds the half weighings of one scale. */
interface Half {
  readonly boot: string;
  readonly device: Device;
  readonly weighings: readonly Weighing[];
}

/**
 * Weighings of one scale that are not committed yet. A scale indicates weight and composition one after the other, and the
 * second only when the first is confirmed, but they are one reading. The first half is therefore written durably to a file of
 * this folder, and then confirmed. The reading is committed with the second half, or without it where that does not come.
 * After a crash the file is read again. A cursor, committed with the readings, holds the weighings that are committed.
 */
export class Weighings {
  readonly #host: Host;
  readonly #file: string;
  readonly #cursor: string;
  #halves: Weighing[] = [];
  /** Identities of the weighings committed last, oldest first, … */
  #done: readonly string[] | undefined;
  /** … and of those that are not recorded, which are written nowhere. */
  #unrecorded: readonly string[] = [];
  #device: Device;

  constructor(options: { host: Host; device: Device }) {
    const { host, device } = options;
    this.#host = host;
    this.#device = device;
    this.#file = fileOf(host.directory, device.address);
    this.#cursor = `weighings ${device.address}`;
  }

  /** The scale's description, as far as the scale has sent it. */
  set device(device: Device) {
    this.#device = device;
  }

  /** Whether a weighing waits for its second half. */
  get waiting(): boolean {
    return this.#halves.length > 0;
  }

  /** Reads the halves that an earlier process left in the file. To be called before anything else. */
  async recover(): Promise<void> {
    await this.#doneSoFar();
    const left = halfOf(parseIfWhole(readIfThere(this.#file)));
    if (left === undefined) return;
    this.#device = left.device;
    // Monotonic times of another boot mean nothing: ingest then dates the weighing by its stamp alone.
    const sameBoot = left.boot === this.#host.clock.boot;
    this.#halves = left.weighings.map((one) =>
      sameBoot ? one : { ...one, dated: withoutMonotonic(one.dated) },
    );
  }

  /**
   * Takes a measurement. `halves`: the scale sends both weight and composition. Resolves when the measurement is on disk, in a
   * reading or as a half.
   */
  async take(
    measurement: WeightMeasurement | CompositionMeasurement,
    options: { dated: Dated; halves: boolean; battery_percent?: number },
  ): Promise<void> {
    const { dated, halves, battery_percent } = options;
    // Sent again: the connection ended before the scale got the confirmation.
    const told = JSON.stringify(measurement);
    const repeated = this.#halves.some(({ weight, composition }) =>
      [weight, composition].some((one) => JSON.stringify(one) === told),
    );
    if (repeated) return;
    const found = placeOf(measurement, this.#halves);
    const fresh: Weighing = {
      dated,
      ...(battery_percent === undefined ? {} : { battery_percent }),
    };
    const weighing = withMeasurement(this.#halves[found] ?? fresh, measurement);
    if (await this.#isDone(weighing)) {
      // The scale did not get the confirmation, or the composition came after its weighing was given up.
      if (isComposition(measurement)) this.#host.dropped("scale compositions after their weighing");
      return;
    }
    if (halves ? isWhole(weighing) : weighing.cut !== true) {
      await this.#commit(weighing);
      if (found >= 0) this.#keep(this.#halves.filter((_, index) => index !== found));
      return;
    }
    if (found < 0) await this.#makeRoom(measurement);
    this.#keep(found < 0 ? [...this.#halves, weighing] : this.#halves.with(found, weighing));
  }

  /** Commits every half without the other, which does not come any more. Rejects when the disk does not take one. */
  async finish(): Promise<void> {
    let failure: unknown;
    for (const weighing of this.#halves) {
      try {
        if (!(await this.#isDone(weighing))) await this.#commit(weighing);
        this.#keep(this.#halves.filter((one) => one !== weighing));
      } catch (thrown) {
        failure = thrown;
      }
    }
    if (failure !== undefined) throw failure;
    rmSync(this.#file, { force: true });
  }

  /** Commits halves whose other half will not come, as the new weighing shows: those without a time, and the oldest beyond `halves_max`. */
  async #makeRoom({ shown_ms }: WeightMeasurement): Promise<void> {
    const over = this.#halves.filter(
      (one, index) =>
        one.shown_ms === undefined || (shown_ms !== undefined && index <= this.#halves.length - halves_max),
    );
    for (const weighing of over) {
      await this.#commit(weighing);
      this.#keep(this.#halves.filter((one) => one !== weighing));
    }
  }

  async #commit(weighing: Weighing): Promise<void> {
    const values = valuesOf(weighing);
    if (values === undefined) {
      this.#host.dropped("scale weighings without a weight");
      return;
    }
    const reading: Reading = { device: this.#device, series: "scale_weights", ...weighing.dated, values };
    const identity = identityOf(weighing);
    const done = [...(await this.#doneSoFar()), identity].slice(-done_max);
    const cursor = { name: this.#cursor, value: JSON.stringify(done), bare: null };
    if (await this.#host.accept(reading, cursor)) this.#done = done;
    else this.#unrecorded = [...this.#unrecorded, identity].slice(-done_max);
  }

  async #isDone(weighing: Weighing): Promise<boolean> {
    const identity = identityOf(weighing);
    return [...(await this.#doneSoFar()), ...this.#unrecorded].some((one) => isSame(one, identity));
  }

  async #doneSoFar(): Promise<readonly string[]> {
    this.#done ??= textsOf(parseIfWhole(await this.#host.cursor(this.#cursor)));
    return this.#done;
  }

  #keep(halves: Weighing[]): void {
    const half: Half = { boot: this.#host.clock.boot, device: this.#device, weighings: halves };
    writeDurably(this.#file, JSON.stringify(half));
    this.#halves = halves;
  }
}

/** Addresses of the scales of which an earlier process has left halves in the folder. */
export function leftBehind(host: Host): string[] {
  try {
    return readdirSync(host.directory).flatMap((name) => {
      const [, hex] = /^half-([0-9a-f]{12})\.json$/.exec(name) ?? [];
      return hex === undefined ? [] : [hex.replace(/(..)(?!$)/g, "$1:")];
    });
  } catch (thrown) {
    host.log.warn(`weighings left in ${host.directory} cannot be read: ${messageOf(thrown)}`);
    return [];
  }
}

function fileOf(directory: string, address: string): string {
  return join(directory, `half-${address.replaceAll(":", "")}.json`);
}

function halfOf(value: unknown): Half | undefined {
  const { device, weighings, boot } = (value ?? {}) as Partial<Half>;
  return device !== undefined && Array.isArray(weighings) && typeof boot === "string"
    ? { device, weighings, boot }
    : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function withoutMonotonic({ monotonic_ms: _, ...dated }: Dated): Dated {
  return dated;
}

/** Weighings whose second half may be awaited at once: a scale may send all weights before all compositions. */
const halves_max = 32;
/** Committed weighings that new ones are compared with, because a scale may send one again. */
const done_max = 64;
