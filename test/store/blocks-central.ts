import { type SeriesName, seriesNames, seriesOf, type Value } from "../../src/domain/series.ts";
import {
  decodeBlock,
  encodeBlock,
  readingAt,
  readingsOf,
  type StreamReading,
} from "../../src/store/series/block-codec.ts";
import { valueColumns } from "../../src/store/series/series-columns.ts";
import { smallBlocks, withBlocksOf } from "../../testbed/block-sizes.ts";
import type { Ask, MadeCentral, MakeCentral } from "./central-sample.ts";

/** A central that keeps nearly all readings in small blocks. */
export function inSmallBlocks(make: MakeCentral, of: Partial<typeof smallBlocks> = smallBlocks): MakeCentral {
  return async () => {
    const sizes = withBlocksOf(of);
    const made = await make();
    return {
      ...made,
      async [Symbol.asyncDispose]() {
        sizes[Symbol.dispose]();
        await made[Symbol.asyncDispose]();
      },
    };
  };
}

/** See `MadeCentral.damage`: of a row, or of a reading in a block. One that is moved goes where its new stamp belongs. */
export function damageBy(ask: Ask): MadeCentral["damage"] {
  return async ({ series, item, stamp_ms }, how) => {
    const field = Object.keys(seriesOf(series).fields)[0];
    const change = {
      value: `UPDATE ${series} SET "${field}" = "${field}" + 7`,
      stamp: `UPDATE ${series} SET stamp = stamp + 1`,
      day: `UPDATE ${series} SET stamp = stamp + 172800000`,
      gone: `DELETE FROM ${series}`,
    };
    await ask(`${change[how]} WHERE stream IN (SELECT key FROM streams WHERE item = $1) AND stamp = $2`, [
      item,
      stamp_ms,
    ]);
    const blocks = await ask(
      "SELECT * FROM blocks WHERE series = $1 AND stamp <= $2 AND last_stamp >= $2 AND stream IN (SELECT key FROM streams WHERE item = $3)",
      [series, stamp_ms, item],
    );
    for (const block of blocks) {
      const rows = rowsIn(series, block);
      const kept = rows.filter((row) => row.stamp_ms !== stamp_ms || how === "value");
      for (const row of kept) if (row.stamp_ms === stamp_ms) row.values[0] = Number(row.values[0]) + 7;
      await rewrite(ask, series, block, kept);
      if (how !== "stamp" && how !== "day") continue;
      const by_ms = { stamp: 1, day: 172_800_000 }[how];
      for (const row of rows.filter((one) => one.stamp_ms === stamp_ms))
        await place(ask, series, block, { ...row, stamp_ms: stamp_ms + by_ms });
    }
  };
}

interface Row {
  readonly stamp_ms: number;
  readonly seq: number;
  readonly values: Value[];
}

type BlockRow = Readonly<Record<string, Value>>;

function rowsIn(series: SeriesName, block: BlockRow): Row[] {
  const readings = decodeBlock(series, block["readings"] as unknown as Uint8Array);
  return [...readings.seq.keys()].map((index) => {
    const [stamp_ms, seq, ...values] = readingAt(readings, index);
    return { stamp_ms, seq, values };
  });
}

/** Puts a reading into the block that it falls into, or beside the rows. */
async function place(ask: Ask, series: SeriesName, of: BlockRow, row: Row): Promise<void> {
  const key = [of["stream"] as Value, series];
  const [totals] = await ask("SELECT rows_from FROM totals WHERE stream = $1 AND series = $2", key);
  if (row.stamp_ms >= Number(totals?.["rows_from"])) {
    const own = of["home"] === 0 ? [] : ["home"];
    const names = ["stream", "stamp", "seq", ...valueColumns(series).map(({ name }) => name), ...own];
    const given = [of["stream"] as Value, row.stamp_ms, row.seq, ...row.values];
    const values = own.length === 0 ? given : [...given, of["home"] as Value];
    const places = values.map((_, at) => `$${at + 1}`).join(", ");
    await ask(
      `INSERT INTO ${series} (${names.map((name) => `"${name}"`).join(", ")}) VALUES (${places})`,
      values,
    );
    return;
  }
  const [block] = await ask(
    "SELECT * FROM blocks WHERE stream = $1 AND series = $2 AND stamp <= $3 ORDER BY stamp DESC, seq DESC LIMIT 1",
    [...key, row.stamp_ms],
  );
  if (block !== undefined)
    await rewrite(ask, series, block as BlockRow, [...rowsIn(series, block as BlockRow), row]);
}

async function rewrite(ask: Ask, series: SeriesName, block: BlockRow, given: readonly Row[]): Promise<void> {
  const rows = given.toSorted((one, other) => one.stamp_ms - other.stamp_ms || one.seq - other.seq);
  const key = [block["stream"], series, block["stamp"], block["seq"]] as Value[];
  const ofBlock = "stream = $1 AND series = $2 AND stamp = $3 AND seq = $4";
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) {
    await ask(`DELETE FROM blocks WHERE ${ofBlock}`, key);
    return;
  }
  const readings = rows.map(({ stamp_ms, seq, values }): StreamReading => [stamp_ms, seq, ...values]);
  const numbers = rows.map(({ seq }) => seq);
  const head = [
    first.stamp_ms,
    first.seq,
    last.stamp_ms,
    rows.length,
    Math.min(...numbers),
    Math.max(...numbers),
  ];
  const bytes = encodeBlock(series, readingsOf(series, readings)) as unknown as Value;
  await ask(
    `UPDATE blocks SET stamp = $5, seq = $6, last_stamp = $7, count = $8, min_seq = $9, max_seq = $10, readings = $11 WHERE ${ofBlock}`,
    [...key, ...head, bytes],
  );
}

/** Readings that are rows, and those that are in blocks. */
export async function rowsAndBlocks(ask: Ask): Promise<{ rows: number; inBlocks: number }> {
  let rows = 0;
  for (const series of seriesNames) rows += await countOf(ask, `SELECT count(*) AS count FROM ${series}`);
  const inBlocks = await countOf(ask, "SELECT coalesce(sum(count), 0) AS count FROM blocks");
  return { rows, inBlocks };
}

async function countOf(ask: Ask, text: string): Promise<number> {
  const [row] = await ask(text);
  return Number(row?.["count"]);
}
