import type { BatchDevice } from "../batch.ts";
import { erasedIn } from "../core/erasures.ts";
import { type Erasure, erasedAt } from "../erasure.ts";
import type { Runner } from "./runner.ts";

/** The erased times of a gateway's home, remembered, because every reading asks. Works inside the caller's transaction. */
export class ErasedTimes {
  readonly #runner: Runner;
  #known: readonly Erasure[] | undefined;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** All of them. */
  spans(): readonly Erasure[] {
    this.#known ??= this.#runner.run(erasedIn(0));
    return this.#known;
  }

  /** Whether nothing is kept of a device at a moment. */
  has(device: BatchDevice, at_ms: number): boolean {
    return erasedAt(this.spans(), device, at_ms) !== undefined;
  }

  /** Drops everything: after a rollback, or when another process wrote. */
  forget(): void {
    this.#known = undefined;
  }
}

/** The count of readings that were dropped because of it, as `lintel status` names it. */
export const erasedName = "of an erased time";
