import { firstIndexFrom } from "../batch.ts";
import {
  arrays,
  change,
  firstOf,
  hold,
  objects,
  reach,
  rowsOf,
  rowsOfAll,
  type Statement,
  type Work,
  withoutNulls,
} from "../database.ts";
import { defaultQuotas, QuotaExceeded, type QuotaName, type Quotas } from "../exchange.ts";
import { type KnownSource, refuseForeign } from "./batch-acceptance.ts";
import type { HeldEpoch, Sender } from "./central-store.ts";

/** Stored facts of an epoch; undefined where nothing of it has come yet. Locks nothing. */
export function* sourceOf(epoch: string): Work<HeldSource | undefined> {
  const home = yield* ownerOf(epoch);
  if (home === undefined) return undefined;
  yield* reach([home]);
  const row = yield* firstOf(sourceIn(home, epoch));
  return row && withoutNulls(row);
}

/**
 * The same, made if it is new. The home is held until the transaction ends: who else has something of it waits.
 * @throws BatchRefused where the epoch belongs to another home
 */
export function* holdSource(epoch: string, sender: Sender): Work<HeldSource> {
  const { home } = sender;
  yield* hold({ home });
  const find = sourceIn(home, epoch);
  let row = yield* firstOf(find);
  if (row === undefined) {
    yield* requireRoom("epochs", home, 1);
    yield* change(
      "INSERT INTO epoch_homes (epoch, home) VALUES ($1, $2) ON CONFLICT DO NOTHING",
      epoch,
      home,
    );
    const owner = yield* ownerOf(epoch);
    if (owner !== undefined)
      refuseForeign(epoch, (yield* sourceOf(epoch)) ?? { home: owner, held_seq: 0 }, sender);
    // As a SELECT Citus takes it by way of the coordinator, and so commits it in two phases with the row above.
    yield* change(
      `INSERT INTO sources (home, epoch, began)
       SELECT $1::bigint, $2, coalesce(max(greatest(began, reported)), 0) + 1 FROM sources WHERE home = $1
       ON CONFLICT DO NOTHING`,
      home,
      epoch,
    );
    row = yield* firstOf(find);
  }
  if (row === undefined) throw new Error(`no source was made of ${epoch}`);
  return withoutNulls(row);
}

/** Notes that an epoch is held up to `run.to_seq`, with the numbers of its newest batch, which follow on the newest of the home. */
export function* noteHeld(
  { home, epoch }: HeldSource,
  run: NumberStretch,
  what: {
    readonly newest: NewestStretch | undefined;
    readonly first_seq: number;
    readonly digest: string | undefined;
    readonly at_ms: number;
  },
): Work<void> {
  const { newest, first_seq, digest = null, at_ms } = what;
  // An epoch has no gaps: what follows on in our numbers too extends the row before.
  const { from_seq, first_own } = newest?.epoch === epoch ? newest : run;
  yield* rowsOfAll(
    objects(
      `INSERT INTO batches (home, epoch, from_seq, to_seq, first_own) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (home, epoch, from_seq) DO UPDATE SET to_seq = excluded.to_seq`,
      home,
      epoch,
      from_seq,
      run.to_seq,
      first_own,
    ),
    objects(
      `UPDATE sources SET first_seq = coalesce(first_seq, $3), held_seq = $4, digest = $5, uploaded_ms = $6
       WHERE home = $1 AND epoch = $2`,
      home,
      epoch,
      first_seq,
      run.to_seq,
      digest,
      at_ms,
    ),
  );
}

/** The run of the newest numbers of a home, which is held; undefined where it has none. Readings that its gateways have lost have numbers too. */
export function* newestStretch(home: number): Work<NewestStretch | undefined> {
  return yield* firstOf(
    objects<NewestStretch>(
      "SELECT epoch, first_own, from_seq, to_seq FROM batches WHERE home = $1 ORDER BY first_own DESC LIMIT 1",
      home,
    ),
  );
}

interface NewestStretch extends NumberStretch {
  readonly epoch: string;
}

/** How many numbers the readings of all homes have. */
export function* numbersGiven(): Work<number> {
  const sum = yield* firstOf(arrays<[number | null]>("SELECT sum(to_seq - from_seq + 1) FROM batches"));
  return Number(sum?.[0] ?? 0);
}

/** Which of our numbers stand for which of the epoch's. */
export function* numbersOf({ home, epoch }: HeldSource): Work<OwnNumbers> {
  const runs = yield* rowsOf(
    objects<NumberStretch>(
      "SELECT first_own, from_seq, to_seq FROM batches WHERE home = $1 AND epoch = $2 ORDER BY from_seq",
      home,
      epoch,
    ),
  );
  return new OwnNumbers(runs);
}

/** See `CentralStore.held`. */
export function* heldOf(epochs: readonly string[]): Work<HeldEpoch[]> {
  const held: HeldEpoch[] = [];
  for (const epoch of epochs) {
    const { home, held_seq = 0, held_note = 0 } = (yield* sourceOf(epoch)) ?? {};
    held.push({ epoch, home, held_seq, held_note });
  }
  return held;
}

export interface HeldSource extends KnownSource {
  readonly epoch: string;
  readonly held_note: number;
}

function sourceIn(home: number, epoch: string): Statement<SourceRow> {
  return objects(
    "SELECT home, epoch, first_seq, held_seq, digest, held_note FROM sources WHERE home = $1 AND epoch = $2",
    home,
    epoch,
  );
}

interface SourceRow {
  readonly home: number;
  readonly epoch: string;
  readonly first_seq: number | null;
  readonly held_seq: number;
  readonly digest: string | null;
  readonly held_note: number;
}

/** The home that an epoch belongs to; undefined where nothing of it has come yet. */
function* ownerOf(epoch: string): Work<number | undefined> {
  const owner = yield* firstOf(
    objects<{ home: number }>("SELECT home FROM epoch_homes WHERE epoch = $1", epoch),
  );
  return owner?.home;
}

/** Which of central's own numbers stand for which of an epoch's: both rise together. */
export class OwnNumbers {
  readonly #runs: readonly NumberStretch[];
  readonly #firstSeqs: readonly number[];
  readonly #firstOwns: readonly number[];

  /** `runs` of one epoch, in order. */
  constructor(runs: readonly NumberStretch[]) {
    this.#runs = runs;
    this.#firstSeqs = runs.map(({ from_seq }) => from_seq);
    this.#firstOwns = runs.map(({ first_own }) => first_own);
  }

  /** Central's number for a number of the epoch; undefined where that is not held. */
  ownOf(seq: number): number | undefined {
    const run = this.#runs[firstIndexFrom(this.#firstSeqs, seq + 1) - 1];
    return run === undefined || seq > run.to_seq ? undefined : run.first_own + seq - run.from_seq;
  }

  /** The epoch's number for one of central's; undefined where that belongs to another epoch. */
  seqOf(own: number): number | undefined {
    const run = this.#runs[firstIndexFrom(this.#firstOwns, own + 1) - 1];
    const seq = run === undefined ? 0 : run.from_seq + own - run.first_own;
    return run === undefined || seq > run.to_seq ? undefined : seq;
  }
}

/** Numbers that were taken one after the other: own number `first_own` is `from_seq` of the epoch, and so on to `to_seq`. */
interface NumberStretch {
  readonly first_own: number;
  readonly from_seq: number;
  readonly to_seq: number;
}

/** Keeps the quotas of every home, in the place of those before; what is the same is not written. They stand in the database because several servers may share it. */
export function* setQuotas(quotas: Quotas): Work<void> {
  for (const [name, most] of Object.entries(quotas))
    yield* change(
      `INSERT INTO meta (name, value) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value <> excluded.value`,
      keyOf(name),
      String(most),
    );
}

/** @throws QuotaExceeded where a home cannot have so many more devices or epochs */
export function* requireRoom(quota: keyof typeof counted, home: number, more: number): Work<void> {
  if (more === 0) return;
  const text = `SELECT count(*) FROM ${counted[quota]} WHERE home = $1`;
  const [held = 0] = (yield* firstOf(arrays<[number]>(text, home))) ?? [];
  yield* requireCount(quota, home, held + more);
}

/** Tables whose rows of a home are counted for a quota. */
const counted = { devices: "streams", epochs: "sources" } as const;

/** @throws QuotaExceeded where a home cannot have these listeners too */
export function* requireListeners(home: number, names: readonly string[]): Work<void> {
  if (names.length === 0) return;
  const known = yield* rowsOf(arrays<[string]>("SELECT name FROM listeners WHERE home = $1", home));
  const more = new Set(names).difference(new Set(known.flat())).size;
  if (more > 0) yield* requireCount("listeners", home, known.length + more);
}

function* requireCount(quota: QuotaName, home: number, count: number): Work<void> {
  const kept = yield* firstOf(arrays<[string]>("SELECT value FROM meta WHERE name = $1", keyOf(quota)));
  const most = Number(kept?.[0] ?? defaultQuotas[quota]);
  if (count > most) throw new QuotaExceeded(home, quota, most);
}

function keyOf(quota: string): string {
  return `quota ${quota}`;
}
