import { openCentral, temporaryDatabase } from "../../store/postgres/temporary-central.ts";
import { type Receiving, receive } from "./receiving.ts";

type Options = Omit<NonNullable<Parameters<typeof receive>[0]>, "open">;

/** A central server on either database, each new and gone at the end of its scope. */
export const centrals: readonly [name: string, open: (options?: Options) => Promise<Receiving>][] = [
  ["SQLite", receive],
  ["PostgreSQL", onPostgres],
];

async function onPostgres(options: Options = {}): Promise<Receiving> {
  const database = await temporaryDatabase();
  const receiving = await receive({ ...options, open: () => openCentral(database.url) });
  const stop = receiving[Symbol.asyncDispose];
  return Object.assign(receiving, {
    async [Symbol.asyncDispose]() {
      await stop();
      await database[Symbol.asyncDispose]();
    },
  });
}
