import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { pauseOpen_ms } from "../../../src/store/pause.ts";
import { openPostgresCentral } from "../../../src/store/postgres/open-postgres.ts";
import { ownServer } from "../../../testbed/postgres/own-server.ts";
import { notOurs } from "../../../testbed/postgres/server.ts";
import { keptLog, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { lockTable } from "./locked-table.ts";
import { openCentral } from "./temporary-central.ts";

/** A measure of something whose name is found in the bytes of a file. */
const measure = (hours: number, quantity: string) => ({
  ...{ device: sensor(1), series: "wirelesssensor_measures" as const },
  ...{ stamp_ms: start_ms + hours * 3_600_000, fields: [quantity, 1, "unit"] },
});
const withdrawal = { home: 12, from_ms: start_ms + 3_600_000, at_ms: start_ms };

describe.skipIf(notOurs !== "")(`a server of PostgreSQL${notOurs}`, () => {
  test("what is removed at central on PostgreSQL is in no file of its tables, also where somebody reads meanwhile", async () => {
    const server = await ownServer();
    await using database = await server.database();
    const store = await openCentral(database.url);
    /** All files of the database, as they are on disk. */
    const bytes = async () => {
      await server.run("CHECKPOINT");
      const [place] = await server.run(
        "SELECT current_setting('data_directory') || '/base/' || oid AS directory FROM pg_database WHERE datname = current_database()",
        database.name,
      );
      const directory = String(place?.["directory"]);
      const files = readdirSync(directory).map((name) => join(directory, name));
      return files
        .filter((file) => statSync(file).isFile())
        .map((file) => readFileSync(file, "latin1"))
        .join("");
    };
    const gateway = new SimulatedGateway(12, "home 12");
    gateway.add(measure(0, "MARK-OF-BEFORE"));
    for (let place = 0; place < 200; place += 1) gateway.add(measure(2 + place / 60, "MARK-OF-AFTER"));
    await store.receive(gateway.all(), gateway.sender);
    const before = await bytes();
    expect([before.includes("MARK-OF-BEFORE"), before.includes("MARK-OF-AFTER")]).toEqual([true, true]);
    const held = await lockTable(database.url, "blocks");
    const withdrawn = store.withdraw(withdrawal);
    await held.waitedFor();
    await held[Symbol.asyncDispose]();
    expect(await withdrawn).toMatchObject([{ home: 12, before_ms: pauseOpen_ms }]);
    const after = await bytes();
    expect([after.includes("MARK-OF-BEFORE"), after.includes("MARK-OF-AFTER")]).toEqual([true, false]);
    expect(await server.run("SELECT * FROM meta WHERE name = 'rewrite'", database.name)).toEqual([]);
    await store.close();
  });

  test("a table that cannot be written anew is named with the remedy, and what was removed is removed all the same", async () => {
    const server = await ownServer();
    await using database = await server.database();
    await server.run("CREATE ROLE archivist LOGIN PASSWORD 'archivist'");
    await server.run("GRANT ALL ON SCHEMA public TO archivist", database.name);
    const url = server.url(database.name, "archivist", "archivist");
    const { log, lines } = keptLog();
    const store = await openPostgresCentral({ url, clock: new SystemClock(), log });
    await server.run("ALTER TABLE blocks OWNER TO CURRENT_USER", database.name);
    await server.run("GRANT ALL ON blocks TO archivist", database.name);
    const gateway = new SimulatedGateway(12, "home 12");
    gateway.add(measure(2, "MARK-OF-AFTER"));
    await store.receive(gateway.all(), gateway.sender);
    expect(await store.withdraw(withdrawal)).toMatchObject([{ home: 12 }]);
    expect(lines.join("\n")).toMatch(/blocks could not be written anew.*VACUUM \(FULL\) blocks;/);
    expect(await server.run("SELECT name FROM meta WHERE name = 'rewrite'", database.name)).toHaveLength(1);
    await store.close();
    // Whoever owns it has it done when central starts.
    const later = await openPostgresCentral({
      ...{ url: database.url, clock: new SystemClock(), log, onFailure: () => {} },
    });
    while ((await server.run("SELECT name FROM meta WHERE name = 'rewrite'", database.name)).length > 0)
      await Bun.sleep(20);
    await later.close();
  });
});
