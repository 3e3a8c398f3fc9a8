import postgres from "postgres";
import { SystemClock } from "../../../src/base/clock.ts";
import type { Value } from "../../../src/domain/series.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { openPostgresCentral } from "../../../src/store/postgres/open-postgres.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { keptLog } from "../../../testbed/sample.ts";
import type { Ask } from "../central-sample.ts";

/** A database with central's tables, gone at the end of the scope. */
export async function temporaryDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const server = await postgresServer();
  const template = await server.template("migrated", async (url) => (await openCentral(url)).close());
  return await server.database(template);
}

/** Central's store on a database of its own, both gone at the end of the scope. */
export async function temporaryCentral(): Promise<
  { store: CentralStore; url: string; ask: Ask } & AsyncDisposable
> {
  const database = await temporaryDatabase();
  const store = await openCentral(database.url);
  // Connects when it is first asked.
  const sql = postgres(database.url, { max: 1, types: { bigint }, onnotice: () => {} });
  return {
    store,
    url: database.url,
    ask: async (text, given = []) =>
      [...(await sql.unsafe(text, given as (string | number)[]))] as Record<string, Value>[],
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 5 });
      await store.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

export function openCentral(url: string): Promise<CentralStore> {
  return openPostgresCentral({ url, clock: new SystemClock(), log: keptLog().log });
}

const bigint = { to: 20, from: [20], serialize: String, parse: Number };
