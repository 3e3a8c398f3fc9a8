import { once } from "node:events";
import type { Writable } from "node:stream";
import type { SqlRunner } from "./pool.ts";

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
