import type { KnownSource } from "../batch-acceptance.ts";
import { type NumberRun, OwnNumbers } from "../own-numbers.ts";
import type { Connection } from "./connection.ts";

/** How far the epochs of gateways are held, and under which numbers. Works inside the caller's transaction. */
export class Sources {
  readonly #find;
  readonly #make;
  readonly #move;
  readonly #lastBatch;
  readonly #extend;
  readonly #addBatch;
  readonly #runs;

  constructor(database: Connection) {
    this.#find = database.keep("SELECT * FROM sources WHERE epoch = ?");
    this.#make = database.keep(
      `INSERT INTO sources (epoch, home, began)
       VALUES ($epoch, $home, (SELECT coalesce(max(max(began, reported)), 0) + 1 FROM sources WHERE home = $home))`,
    );
    this.#move = database.keep(
      `UPDATE sources SET first_seq = coalesce(first_seq, ?), held_seq = ?, digest = ?, uploaded_ms = ? WHERE source = ?`,
    );
    this.#lastBatch = database.keep("SELECT * FROM batches ORDER BY first_own DESC LIMIT 1");
    this.#extend = database.keep("UPDATE batches SET to_seq = ? WHERE first_own = ?");
    this.#addBatch = database.keep("INSERT INTO batches VALUES (?, ?, ?, ?)");
    this.#runs = database.keep(
      "SELECT first_own, from_seq, to_seq FROM batches WHERE source = ? ORDER BY from_seq",
    );
  }

  find(epoch: string): Source | undefined {
    const row = this.#find.get(epoch) as SourceRow | null;
    if (row === null) return undefined;
    const { first_seq, digest, ...rest } = row;
    return {
      ...rest,
      ...(first_seq === null ? {} : { first_seq }),
      ...(digest === null ? {} : { digest }),
    };
  }

  /** The source of an epoch, made if it is new. */
  make(epoch: string, home: number): Source {
    const found = this.find(epoch);
    if (found !== undefined) return found;
    this.#make.run({ $epoch: epoch, $home: home });
    return this.find(epoch) as Source;
  }

  /** Notes that the numbers from `run.from_seq` to `run.to_seq` are held now, beginning at `run.first_own`. */
  hold(
    { source }: Source,
    run: NumberRun,
    what: { readonly first_seq: number; readonly digest: string | undefined; readonly at_ms: number },
  ): void {
    const last = this.#lastBatch.get() as (NumberRun & { source: number }) | null;
    // A source has no gaps, and central's own numbers have none: whatever comes next of the same source follows on in both.
    if (last?.source === source) this.#extend.run(run.to_seq, last.first_own);
    else this.#addBatch.run(run.first_own, source, run.from_seq, run.to_seq);
    this.#move.run(what.first_seq, run.to_seq, what.digest ?? null, what.at_ms, source);
  }

  numbers({ source }: Source): OwnNumbers {
    return new OwnNumbers(this.#runs.all(source) as NumberRun[]);
  }
}

export interface Source extends KnownSource {
  readonly source: number;
  readonly epoch: string;
  readonly held_note: number;
  readonly began: number;
  readonly reported: number;
  readonly uploaded_ms: number | null;
  readonly reported_ms: number | null;
  readonly report: string | null;
}

type SourceRow = Omit<Source, "first_seq" | "digest"> & {
  readonly first_seq: number | null;
  readonly digest: string | null;
};
