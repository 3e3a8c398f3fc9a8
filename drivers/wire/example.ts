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

/** Where the specification has a row, and messages of it with all that the driver must record of each, in words; "" for nothing. */
type Proof = readonly [source: string, ...messages: (readonly [message: string, told: string])[]];

/**
 * A table with a proof beside each of its rows: one test feeds all messages of all tables, and fails where a row has none. What must come of a
 * message is computed from the specification: `temperature 21.5 °C`, `event 2`, `battery 85 %`.
 */
export interface ProvenTable {
  readonly name: string;
  /** Names of the rows, from the table that the driver works by. */
  readonly rows: Iterable<string>;
  readonly proofs: Readonly<Record<string, Proof>>;
  /** When the messages arrive. */
  readonly moment: Moment;
  /** Hands one message to the driver's own code. An answer is what was told; without one, what the host recorded counts. */
  feed(message: string, host: Host, row: string): Promise<unknown> | unknown;
}

/** Bytes from hexadecimal with spaces. */
export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.fromHex(hex.replaceAll(/\s/g, ""));
}
