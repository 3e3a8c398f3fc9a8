import type { Moment } from "../../src/base/clock.ts";
import type { Gap, Reading } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";

/** Bytes as a device sends them, and the driver's expected result: its documentation and its proof in one. */
export interface Example {
  readonly name: string;
  /** In hexadecimal; spaces are for the reader. */
  readonly bytes: string;
  /** All readings that come of it, in order, with at least these parts. */
  readonly readings: readonly Partial<Reading>[];
  readonly gaps?: readonly Partial<Gap>[];
  /** Counts of what is thrown away of it, by name. */
  readonly dropped?: Readonly<Record<string, number>>;
}

/** The examples of a driver, from its folder. One test runs all of them, and the fuzzer begins with their bytes. */
export interface ExampleSet {
  readonly driver: string;
  /** When the bytes arrive. */
  readonly moment: Moment;
  readonly examples: readonly Example[];
  /** Hands the bytes of one example to the driver's own code, as its wire would. */
  feed(bytes: Uint8Array, host: Host): Promise<void> | void;
}
