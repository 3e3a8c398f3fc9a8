import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";

/**
 * The newest version of the interface, as the parts of a download ask it: a server over HTTP (interface-client.ts), or a store in this
 * process through the same endpoints. So there is one code for what is in a download, wherever it is from.
 */
export interface InterfaceReader {
  /**
   * @param path below the version, percent-encoded
   * @param query with its `?`, or empty
   * @param schema what the body must be
   * @returns undefined where there is no such path or record; `gone` where the query goes on from what is not known any more
   */
  get<Body>(path: string, query: string, schema: TSchema): Promise<InterfacePage<Body> | "gone" | undefined>;
  /** The parts in which a server lists what is new of an answer, from old to new; absent: it is one. */
  partsOf?(path: string): readonly InterfacePart[];
}

/** A part of an answer. */
export interface InterfacePart {
  /** Without the `?`; empty: all of it. */
  readonly query: string;
  /** Reads pages of that part alone. */
  readonly answers: InterfaceReader;
  /** Whether the answer to a path with its query need not be asked for; absent: it is not held. */
  readonly isHeld?: (asked: string) => boolean;
}

/** An answer of the interface, with the query of the page that follows it. */
export interface InterfacePage<Body> {
  readonly body: Body;
  /** With its `?`; undefined on the last page. */
  readonly next: string | undefined;
}

export type ListRecord = Readonly<Record<string, unknown>>;

/**
 * Pages of a list, from the one with this query on; none where there is no such path.
 *
 * @throws OperatorError where a server names one more page again and again
 */
export async function* pagesOf(
  answers: InterfaceReader,
  path: string,
  schema: TObject,
  first = "",
): AsyncGenerator<readonly ListRecord[]> {
  const array = arrayOf(schema);
  let pages = 0;
  for (let query: string | undefined = first; query !== undefined; ) {
    pages += 1;
    if (pages > pages_max) throw withoutEnd(path, `${pages_max} pages`);
    const answer: Awaited<ReturnType<typeof answers.get<readonly ListRecord[]>>> = await answers.get(
      path,
      query,
      array,
    );
    if (answer === undefined || answer === "gone") return;
    yield answer.body;
    query = answer.next;
  }
}

/**
 * All records of some lists, with the fields that their schema names. They are held in memory, and so they are bounded.
 *
 * @throws OperatorError where they are more than `gathered_bytes_max`
 */
export async function gathered(
  answers: InterfaceReader,
  paths: readonly string[],
  schema: TObject,
  query?: string,
): Promise<ListRecord[]> {
  const names = Object.keys(schema.properties);
  const records: ListRecord[] = [];
  let bytes = 0;
  let collected_bytes = 0;
  for (const path of paths)
    for await (const page of pagesOf(answers, path, schema, query))
      for (const record of page) {
        const known: Record<string, unknown> = {};
        for (const name of names) if (record[name] !== undefined) known[name] = record[name];
        bytes += bytesOf(known);
        if (bytes > gathered_bytes_max) throw withoutEnd(path, `${records.length} records`);
        records.push(known);
        if (bytes - collected_bytes < collect_bytes) continue;
        // The more is held, the later it would be collected by itself: up to then the texts of all pages stay beside the records.
        Bun.gc(true);
        collected_bytes = bytes;
      }
  return records;
}

/** About as many as a record takes in memory. */
function bytesOf(record: ListRecord): number {
  return Object.values(record).reduce(
    (sum: number, value) =>
      sum + value_bytes + (typeof value === "string" ? text_bytes + 2 * value.length : 0),
    0,
  );
}

function withoutEnd(path: string, read: string): OperatorError {
  return new OperatorError(
    `the list ${path} has not ended after ${read}, which is more than is read`,
    "check that --url is the server that is meant; if it is, ask with a token that is bound to some of its homes (lintel token create --home)",
  );
}

function arrayOf(schema: TObject) {
  const known = arrays.get(schema) ?? Type.Array(schema);
  arrays.set(schema, known);
  return known;
}

const arrays = new WeakMap<TObject, ReturnType<typeof Type.Array>>();

/** Of a thousand records each. */
const pages_max = 100_000;
/** Items of some four thousand homes. */
const gathered_bytes_max = 64 * 1024 * 1024;
/** After so many more, what was read and is not held is collected. */
const collect_bytes = 16 * 1024 * 1024;
const value_bytes = 8;
const text_bytes = 24;
