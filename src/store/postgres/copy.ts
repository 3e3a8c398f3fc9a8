import { once } from "node:events";
import type { Writable } from "node:stream";
import type { ValueColumn } from "../batch.ts";
import { forEverySeries, quoted } from "../series/series-columns.ts";
import type { SeriesRows } from "../series/series-rows.ts";
import { type SqlRunner, storedText } from "./pool.ts";
import { type PostgresColumnType, seriesColumns } from "./schema.ts";

/** Puts readings into the table of their series by COPY; `meanwhile` is called while PostgreSQL is at work. */
export async function copyReadings(sql: SqlRunner, rows: SeriesRows, meanwhile?: () => void): Promise<void> {
  if (rows.order.length === 0) return;
  const { statement, chunks } = copyOf(rows);
  await copyIn(sql, statement, chunks, meanwhile);
}

/** The statement that stores readings, and its arguments. */
export function copyOf(rows: SeriesRows): { statement: string; chunks: Iterable<Buffer> } {
  return { statement: copySql[rows.series], chunks: copyBytes(rows.order, copyColumns(rows)) };
}

/** The columns of the table, as `seriesColumns` orders them. */
function copyColumns({ series, home, columns, stream, own }: SeriesRows): CopyColumn[] {
  const values = [stream, columns.stamp_ms, own, home, ...columns.values];
  return seriesColumns(series).map(({ type }, place) => ({
    type,
    values: values[place] as ValueColumn | number,
  }));
}

const copySql = forEverySeries((series) => {
  const names = seriesColumns(series).map(({ name }) => name);
  return `COPY ${series} (${quoted(names)}) FROM STDIN (FORMAT binary)`;
});

/** A column of a table that is filled: what each row has in it, or what all have. */
export interface CopyColumn {
  readonly type: CopyType;
  readonly values: ValueColumn | readonly CopiedValue[] | number;
}

export type CopyType = PostgresColumnType | "bool" | "bytea";
type CopiedValue = number | string | Uint8Array | null;

export function isCopyType(name: string): name is CopyType {
  return Object.hasOwn(widths, name);
}

/**
 * Rows as `COPY … FROM STDIN (FORMAT binary)` takes them (COPY in the manual of PostgreSQL, "Binary Format"), without an object
 * for any row: `order` says which index of the columns comes after which. Made piece by piece, so that PostgreSQL works on one
 * while the next is made.
 */
export function* copyBytes(order: Uint32Array, columns: readonly CopyColumn[]): Generator<Buffer> {
  yield header;
  for (let row = 0; row < order.length; row += piece_rows) {
    yield rowBytes(order.subarray(row, row + piece_rows), columns);
  }
  yield trailer;
}

function rowBytes(order: Uint32Array, columns: readonly CopyColumn[]): Buffer {
  const rows = order.length;
  // Where the next value of each row goes.
  const cursor = new Uint32Array(rows);
  for (const column of columns) addLengths(column, order, cursor);
  let end = 0;
  for (let row = 0; row < rows; row += 1) {
    const length = cursor[row] as number;
    cursor[row] = end + 2;
    end += 2 + length;
  }
  const bytes = Buffer.allocUnsafe(end);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let row = 0; row < rows; row += 1) view.setInt16((cursor[row] as number) - 2, columns.length);
  for (const column of columns) writers[column.type]({ bytes, view, order, cursor, values: column.values });
  return bytes;
}

/** Adds to `lengths` what a column takes in each row: four bytes for the length, then the value; null is a length alone. */
function addLengths({ type, values }: CopyColumn, order: Uint32Array, lengths: Uint32Array): void {
  const fixed = widths[type];
  for (let row = 0; row < order.length; row += 1) {
    const value = typeof values === "number" ? values : values[order[row] as number];
    const width = isNull(value) ? 0 : (fixed ?? lengthOf(value));
    lengths[row] = (lengths[row] as number) + 4 + width;
  }
}

function lengthOf(value: CopiedValue | undefined): number {
  return value instanceof Uint8Array ? value.length : Buffer.byteLength(storedText(String(value)));
}

interface CopyRows {
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly order: Uint32Array;
  readonly cursor: Uint32Array;
  readonly values: CopyColumn["values"];
}

const widths: Record<CopyType, number | undefined> = {
  ...{ int8: 8, int2: 2, float8: 8, bool: 1 },
  ...{ text: undefined, bytea: undefined },
};

const writers: Record<CopyType, (target: CopyRows) => void> = {
  int8: writeIntegers,
  int2: (target) => writeNumbers(target, 2, (view, at, value) => view.setInt16(at, value)),
  float8: (target) => writeNumbers(target, 8, (view, at, value) => view.setFloat64(at, value)),
  bool: (target) => writeNumbers(target, 1, (view, at, value) => view.setInt8(at, value)),
  text: writeTexts,
  bytea: writeTexts,
};

/** By far the most values are of this type: a loop of its own is worth it. */
function writeIntegers({ view, order, cursor, values }: CopyRows): void {
  for (let row = 0; row < order.length; row += 1) {
    const value = typeof values === "number" ? values : values[order[row] as number];
    const at = cursor[row] as number;
    if (typeof value === "number" && !isNull(value)) {
      view.setInt32(at, 8);
      view.setInt32(at + 4, Math.floor(value / 2 ** 32));
      view.setUint32(at + 8, value >>> 0);
      cursor[row] = at + 12;
    } else {
      view.setInt32(at, -1);
      cursor[row] = at + 4;
    }
  }
}

function writeNumbers(
  { view, order, cursor, values }: CopyRows,
  width: number,
  write: (view: DataView, at: number, value: number) => void,
): void {
  for (let row = 0; row < order.length; row += 1) {
    const value = typeof values === "number" ? values : values[order[row] as number];
    const at = cursor[row] as number;
    if (typeof value === "number" && !isNull(value)) {
      view.setInt32(at, width);
      write(view, at + 4, value);
      cursor[row] = at + 4 + width;
    } else {
      view.setInt32(at, -1);
      cursor[row] = at + 4;
    }
  }
}

function writeTexts({ bytes, view, order, cursor, values }: CopyRows): void {
  for (let row = 0; row < order.length; row += 1) {
    const value = typeof values === "number" ? values : values[order[row] as number];
    const at = cursor[row] as number;
    let length = 0;
    if (value instanceof Uint8Array) {
      bytes.set(value, at + 4);
      length = value.length;
    } else if (!isNull(value)) {
      length = bytes.write(storedText(String(value)), at + 4, "utf8");
    }
    view.setInt32(at, isNull(value) ? -1 : length);
    cursor[row] = at + 4 + length;
  }
}

function isNull(value: CopiedValue | undefined): boolean {
  return value === null || value === undefined || Number.isNaN(value);
}

const piece_rows = 8_192;
/** Signature, flags, and no extension. */
const header = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const trailer = Buffer.from([0xff, 0xff]);

/**
 * Runs a `COPY … FROM STDIN` with what `chunks` yields; resolves when PostgreSQL has taken it all, and rejects with what was wrong with
 * it. `meanwhile` is called while PostgreSQL is at work.
 *
 * The stream of the `postgres` library (3.4.9) says nothing of what goes wrong once its last byte is written: a value that the
 * table refuses, or a lost connection, would leave it waiting for ever. The library does tell the query, which has already
 * resolved with the stream; so the query is listened to as well.
 */
export async function copyIn(
  sql: SqlRunner,
  statement: string,
  chunks: Iterable<string | Uint8Array>,
  meanwhile: () => void = () => {},
): Promise<void> {
  const query = sql.unsafe(statement);
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const told = query as unknown as { reject: (fault: unknown) => void };
  const reject = told.reject;
  told.reject = (fault) => {
    fail(fault);
    reject(fault);
  };
  const stream: Writable = await query.writable();
  const finished = once(stream, "finish");
  finished.catch(() => {});
  // An error after the end has no other listener, and must not end the process.
  stream.on("error", () => {});
  for (const chunk of chunks) {
    if (!stream.write(chunk)) await Promise.race([once(stream, "drain"), failed]);
  }
  stream.end();
  meanwhile();
  await Promise.race([finished, failed]);
}
