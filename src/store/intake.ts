import { stamp_end_ms } from "../clock.ts";
import { day_ms } from "../durations.ts";
import { OperatorError } from "../errors.ts";
import { batch_readings_max } from "./batch.ts";

/**
 * Bounds of what central takes of one home. Whatever the gateway of a home says, or somebody who holds its token, costs the other homes
 * no more than this. docs/upload.md says what each is for, and what is answered beyond it.
 */

/** The highest number of a reading or a note: a gateway that numbers a thousand a second has it after thirty years. */
export const seq_max = 1_000_000_000_000;

/** Numbers in one batch, of its readings and of those that are lost: whoever has lost more sends several. */
export const batch_numbers_max = batch_readings_max;

/** The last day that has stamps, counted from 1970 in UTC. */
export const day_max = stamp_end_ms / day_ms - 1;

/** Quotas of one home: the most that it may have here, or send. */
export interface Quotas {
  /** Devices that it has ever sent anything of. A usual home has sixty. */
  readonly devices: number;
  /** Stores that have numbered its readings: each restore begins one. */
  readonly epochs: number;
  /** Listeners that it has ever had: its gateways and their drivers. */
  readonly listeners: number;
  /** Readings a day, those that are lost included, once it has sent `days_at_once` days' worth. A busy home has 500,000. */
  readonly readings: number;
  /** Interruptions of its devices and listeners, and gaps of data, a day, likewise. */
  readonly notes: number;
}
export type QuotaName = keyof Quotas;

export const defaultQuotas: Quotas = {
  devices: 1_000,
  epochs: 200,
  listeners: 200,
  readings: 10_000_000,
  notes: 100_000,
};

/** Days' worth of readings and notes that a home may send at once: fifty million readings are a hundred days of a busy home. */
export const days_at_once = 5;

/** A home has reached a quota: what it has sent was not taken. */
export class QuotaExceeded extends OperatorError {
  constructor(
    readonly home: number,
    readonly quota: QuotaName,
    readonly most: number,
  ) {
    super(
      `home ${home} would have more than ${most} ${quota} here`,
      `see at central who uses the token of home ${home}; where all is right, start central with --quota ${quota}=N`,
    );
  }
}
