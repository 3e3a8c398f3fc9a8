import { expect, test } from "bun:test";
import { postgresServer } from "../../store/postgres/server.ts";
import { seeded } from "../../store/sample.ts";
import { homeReadings } from "./home-readings.ts";
import { Programme } from "./programme.ts";

test("PostgreSQL that is cut off in the middle of a batch loses nothing and repeats nothing", async () => {
  const server = await postgresServer();
  await using database = await server.database();
  await using programme = new Programme();
  await programme.startOn({ database: database.url });
  const home = await programme.box(1);
  await home.append(
    homeReadings(seeded(5), Date.UTC(2026, 9, 1))
      .take(40_000)
      .toArray(),
  );
  let cut = false;
  const done = await home.upload({
    onProgress: ({ now }) => {
      if (cut || now !== "sending") return;
      cut = true;
      // While the first batch is on its way or being written.
      setTimeout(() => {
        server.stop("immediate");
        setTimeout(() => server.start(), 300);
      }, 200);
    },
  });
  expect(cut).toBe(true);
  expect(done).toMatchObject({ confirmed_seq: 40_000, differing_days: 0, lost: 0 });
  const { here, there } = await home.bothSides();
  expect(there).toEqual(here);
  const { items } = await programme.store.overview();
  const rows = items.flatMap(({ series }) => series).reduce((sum, { count }) => sum + count, 0);
  expect(rows).toBe(40_000);
}, 120_000);
