import { expect, test } from "bun:test";
import { homeReadings } from "../../../testbed/home-readings.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { ownServer } from "../../../testbed/postgres/own-server.ts";
import { notOurs } from "../../../testbed/postgres/server.ts";
import { seeded } from "../../../testbed/sample.ts";
import { lockTable } from "../../store/postgres/locked-table.ts";
import { Programme } from "./programme.ts";

test.skipIf(notOurs !== "" || !nightly)(
  `PostgreSQL that is cut off in the middle of a batch loses nothing and repeats nothing${notOurs}`,
  async () => {
    const server = await ownServer();
    await using database = await server.database();
    await using programme = new Programme();
    await programme.startOn({ database: database.url });
    const home = await programme.box(1);
    const readings = homeReadings(seeded(5), Date.UTC(2026, 9, 1))
      .take(40_000)
      .toArray();
    await home.append(readings.splice(0, 10_000));
    await home.upload();
    // A batch writes to the first of these before its other readings, and to the second after all of them.
    for (const table of ["wirelesssensor_events", "batches"]) {
      await home.append(readings.splice(0, 15_000));
      await using lock = await lockTable(database.url, table);
      let refused = 0;
      const uploading = home.upload({
        onRefused: () => {
          refused += 1;
          server.start();
        },
      });
      await Promise.race([lock.waitedFor(), uploading]);
      server.stop("immediate");
      expect(await uploading).toMatchObject({ sent: 15_000, differing_days: 0, lost: 0 });
      expect(refused).toBe(1);
    }
    expect(await home.state()).toMatchObject({ confirmed_seq: 40_000 });
    const { here, there } = await home.bothSides();
    expect(there).toEqual(here);
    const { items } = await programme.store.overview();
    const rows = items.flatMap(({ series }) => series).reduce((sum, { count }) => sum + count, 0);
    expect(rows).toBe(40_000);
  },
);
