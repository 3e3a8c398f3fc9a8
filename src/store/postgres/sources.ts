import { type KnownSource, refuseForeign } from "../batch-acceptance.ts";
import type { Sender } from "../central-store.ts";
import { type NumberRun, OwnNumbers } from "../own-numbers.ts";
import type { SqlRunner } from "./connection.ts";

/** Stored facts of an epoch; undefined where nothing of it has come yet. Locks nothing. */
export async function sourceOf(sql: SqlRunner, epoch: string): Promise<Source | undefined> {
  const [owner] = await sql<{ home: number }[]>`SELECT home FROM epochs WHERE epoch = ${epoch}`;
  if (owner === undefined) return undefined;
  const [row] = await sql<SourceRow[]>`SELECT * FROM sources WHERE home = ${owner.home} AND epoch = ${epoch}`;
  return row === undefined ? undefined : known(row);
}

/**
 * The same, made if it is new, and held until the transaction ends: who else has something of this epoch waits.
 * @throws BatchRefused where it belongs to another home
 */
export async function holdSource(sql: SqlRunner, epoch: string, sender: Sender): Promise<Source> {
  const { home } = sender;
  const find = () =>
    sql<SourceRow[]>`SELECT * FROM sources WHERE home = ${home} AND epoch = ${epoch} FOR UPDATE`;
  let [row] = await find();
  if (row === undefined) {
    await sql`INSERT INTO epochs (epoch, home) VALUES (${epoch}, ${home}) ON CONFLICT DO NOTHING`;
    const owner = await sourceOfOther(sql, epoch, home);
    if (owner !== undefined) refuseForeign(epoch, owner, sender);
    await sql`
      INSERT INTO sources (home, epoch, began)
      SELECT ${home}::bigint, ${epoch}, coalesce(max(greatest(began, reported)), 0) + 1 FROM sources WHERE home = ${home}
      ON CONFLICT DO NOTHING`;
    [row] = await find();
  }
  if (row === undefined) throw new Error(`no source was made of ${epoch}`);
  return known(row);
}

/** Notes that an epoch is held up to `run.to_seq`, with the numbers of its newest batch. */
export async function noteHeld(
  sql: SqlRunner,
  { home, epoch }: Source,
  run: NumberRun,
  what: { readonly first_seq: number; readonly digest: string | undefined; readonly at_ms: number },
): Promise<void> {
  const { first_seq, digest = null, at_ms } = what;
  await Promise.all([
    sql`
      INSERT INTO batches (home, epoch, from_seq, to_seq, first_own, received_ms)
      VALUES (${home}, ${epoch}, ${run.from_seq}, ${run.to_seq}, ${run.first_own}, ${at_ms})`,
    sql`
      UPDATE sources SET first_seq = coalesce(first_seq, ${first_seq}), held_seq = ${run.to_seq}, digest = ${digest},
        uploaded_ms = ${at_ms}
      WHERE home = ${home} AND epoch = ${epoch}`,
  ]);
}

/** Which of our numbers stand for which of the epoch's. */
export async function numbersOf(sql: SqlRunner, { home, epoch }: Source): Promise<OwnNumbers> {
  const runs = await sql<NumberRun[]>`
    SELECT first_own, from_seq, to_seq FROM batches WHERE home = ${home} AND epoch = ${epoch} ORDER BY from_seq`;
  return new OwnNumbers(runs);
}

export interface Source extends KnownSource {
  readonly epoch: string;
  readonly held_note: number;
  readonly uploaded_ms: number | null;
}

type SourceRow = Omit<Source, "first_seq" | "digest"> & {
  readonly first_seq: number | null;
  readonly digest: string | null;
};

function known({ first_seq, digest, ...rest }: SourceRow): Source {
  return { ...rest, ...(first_seq === null ? {} : { first_seq }), ...(digest === null ? {} : { digest }) };
}

/** The epoch as another home has it. */
async function sourceOfOther(sql: SqlRunner, epoch: string, home: number): Promise<KnownSource | undefined> {
  const [owner] = await sql<{ home: number }[]>`SELECT home FROM epochs WHERE epoch = ${epoch}`;
  if (owner === undefined || owner.home === home) return undefined;
  return (await sourceOf(sql, epoch)) ?? { home: owner.home, held_seq: 0 };
}
