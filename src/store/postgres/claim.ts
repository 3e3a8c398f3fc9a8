import type postgres from "postgres";
import { OperatorError } from "../../base/errors.ts";
import type { Types } from "./pool.ts";

/** `beside`: others may have a store open in the database too. `alone`: nobody else may. */
export type ClaimKind = "beside" | "alone";

/**
 * The right to have a store open in a database: everybody who has shares it, and who moves a store away or into it has it alone, so that nothing is
 * written meanwhile. It is an advisory lock of a connection of its own, which PostgreSQL lets go of with the process, however that ends.
 */
export class StoreClaim {
  readonly #kind: ClaimKind;
  readonly #name: string;
  readonly #open: (onClose: () => void) => postgres.Sql<Types>;
  #held: postgres.Sql<Types> | undefined;
  #taking: Promise<void> | undefined;

  /** @param open makes a client of one connection that is never closed for age, and tells `onClose` when it has ended */
  constructor(options: {
    kind: ClaimKind;
    name: string;
    open: (onClose: () => void) => postgres.Sql<Types>;
  }) {
    this.#kind = options.kind;
    this.#name = options.name;
    this.#open = options.open;
  }

  /**
   * Takes it, where it is not held: at first, and again when the connection was lost.
   *
   * @throws OperatorError where others have it
   */
  async renew(): Promise<void> {
    if (this.#held !== undefined) return;
    this.#taking ??= this.#take().finally(() => {
      this.#taking = undefined;
    });
    await this.#taking;
  }

  /** Keeps these tables as they are until it is released: whoever else would write to them waits. */
  async freeze(tables: readonly string[]): Promise<void> {
    await this.#held?.unsafe(`BEGIN; LOCK TABLE ${tables.join(", ")} IN SHARE MODE`);
  }

  /** False once the connection was lost: others may have come since. */
  get held(): boolean {
    return this.#held !== undefined;
  }

  async release(timeout_s: number): Promise<void> {
    await this.#held?.end({ timeout: timeout_s });
  }

  async #take(): Promise<void> {
    const sql = this.#open(() => {
      if (this.#held === sql) this.#held = undefined;
    });
    try {
      const [row] = await sql.unsafe<{ taken: boolean }[]>(`SELECT ${locks[this.#kind]} AS taken`);
      if (row?.taken !== true) throw refusals[this.#kind](this.#name);
      this.#held = sql;
    } catch (thrown) {
      await sql.end({ timeout: 0 });
      throw thrown;
    }
  }
}

const locks: Readonly<Record<ClaimKind, string>> = {
  beside: "pg_try_advisory_lock_shared(7813243, 3)",
  alone: "pg_try_advisory_lock(7813243, 3)",
};

const refusals: Readonly<Record<ClaimKind, (name: string) => OperatorError>> = {
  beside: (name) =>
    new OperatorError(
      `a store is being moved by \`lintel central move\`, from or to ${name}`,
      "wait until that has ended, or end it first; nothing can use the database meanwhile",
    ),
  alone: (name) =>
    new OperatorError(
      `a central, or a command, has ${name} open`,
      "stop every central on it first, such as by `systemctl stop lintel-central`: a store is moved while nobody uses it",
    ),
};
