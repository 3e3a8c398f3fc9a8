import { stamp_end_ms } from "../clock.ts";
import { day_ms } from "../durations.ts";
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
