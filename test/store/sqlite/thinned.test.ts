import { expect, test } from "bun:test";
import type { Database } from "../../../src/store/database.ts";
import { homesOnSqlite } from "../../../src/store/inventory/homes.ts";
import { downsampled } from "../../../src/store/series/downsampling.ts";
import { SqliteDatabase } from "../../../src/store/sqlite/sqlite-database.ts";
import { rowsAlone, withBlocksOf } from "../../../testbed/block-sizes.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";
import { temporaryCentral } from "./temporary-central.ts";

test("a series in steps has each reading once, also where rows go into blocks while it is read", async () => {
  await using central = await temporaryCentral();
  const { store } = central;
  const gateway = new SimulatedGateway(12, "one");
  for (let event = 0; event < 30_000; event += 1) {
    const stamp_ms = start_ms + Math.floor(event / 700);
    gateway.add({ device: sensor(1), series: "wirelesssensor_events", stamp_ms, fields: [event] });
  }
  {
    using _rows = withBlocksOf(rowsAlone);
    await store.receive(gateway.all(), gateway.sender);
  }
  const database = new SqliteDatabase(databaseOf(central.directory));
  let parts = 0;
  const movedMeanwhile: Pick<Database, "page"> = {
    page: async (work) => {
      const part = await database.page(work);
      parts += 1;
      gateway.add({
        device: sensor(1),
        series: "wirelesssensor_events",
        stamp_ms: start_ms + 90_000,
        fields: [0],
      });
      await store.receive(gateway.batch(gateway.last_seq, gateway.last_seq), gateway.sender);
      return part;
    },
  };
  const { count, sum } = await downsampled(movedMeanwhile, homesOnSqlite, {
    series: "wirelesssensor_events",
    item: 1,
    from_ms: start_ms,
    before_ms: start_ms + 43,
    step_ms: 1,
    field: "event",
  });
  expect(parts).toBeGreaterThan(2);
  expect([...count]).toEqual([...new Array<number>(42).fill(700), 600]);
  expect(sum.reduce((all, one) => all + one, 0)).toBe((30_000 * 29_999) / 2);
  await database.close();
});
