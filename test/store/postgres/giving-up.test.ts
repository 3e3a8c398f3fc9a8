import { expect, test } from "bun:test";
import postgres from "postgres";
import { StoreOutage } from "../../../src/base/errors.ts";
import { copyIn } from "../../../src/store/postgres/copy.ts";
import { Pool, type SqlRunner } from "../../../src/store/postgres/pool.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { lockTable } from "./locked-table.ts";

type Opened = ReturnType<ConstructorParameters<typeof Pool>[0]["open"]>;
const outage = new StoreOutage("worker 10.0.0.2:5432 is away", "start it", "unreachable");

test.each([
  ["a statement", (sql: SqlRunner) => sql`INSERT INTO kept VALUES (1)`],
  ["a COPY", (sql: SqlRunner) => copyIn(sql, "COPY kept FROM STDIN", ["1\n"])],
] as const)(
  "%s that waits without end is given up once its home is known to be out of reach, undone, and others have the connections",
  async (_what, waits) => {
    await using database = await (await postgresServer()).database();
    const admin = postgres(database.url, { max: 1, onnotice: () => {} });
    await admin`CREATE TABLE kept (a bigint)`;
    const lock = await lockTable(database.url, "kept");
    const clock = new SettableClock(0);
    let slow = 0;
    const pool = new Pool({
      open: ({ onClose }) => {
        const connection = { application_name: "lintel" };
        return postgres(database.url, { max: 1, onclose: onClose, connection }) as unknown as Opened;
      },
      connections_max: 1,
      clock,
      onSlow: () => {
        slow += 1;
      },
    });
    const given = pool
      .transaction("", async (sql) => {
        pool.note(sql, [12]);
        await waits(sql);
      })
      .catch((thrown: unknown) => thrown);
    const next = pool.use(async (sql) => (await sql`SELECT 1`).length);
    await lock.waitedFor();
    pool.giveUp(new Map([[12, outage]]));
    expect([slow, pool.slowHomes()]).toEqual([0, []]);
    clock.advance(3_000);
    expect([slow, pool.slowHomes()]).toEqual([1, [12]]);
    // Another home's outage is nothing to it.
    pool.giveUp(new Map([[13, outage]]));
    pool.giveUp(new Map([[12, outage]]));
    expect(await given).toBe(outage);
    expect(await next).toBe(1);
    await lock[Symbol.asyncDispose]();
    expect(await admin`SELECT * FROM kept`).toHaveLength(0);
    await pool.close(1);
    await admin.end();
  },
);
