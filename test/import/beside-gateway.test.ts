import { expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { importFiles } from "../../src/import/file-import.ts";
import { openGatewayStore, openStoreBeside } from "../../src/store/sqlite/open-store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

test("an import beside a gateway that takes readings keeps its counts exact, adopted or merged", async () => {
  using directory = temporaryDirectory();
  const options = { directory: directory.path, clock: new SystemClock(), log: keptLog().log };
  const gateway = await openGatewayStore({ ...options, ...writerOfTests() });
  const hear = (number: number, after_ms: number) =>
    gateway.append([sensorEvent(sensor(number), start_ms + after_ms, after_ms)]);
  // Sensors 1 and 2 are one item, as the second import says; sensor 3 is heard before it is known.
  const take = async (rows: string) => {
    const path = `${directory.path}/items.csv`;
    await Bun.write(path, `itemid,itemname,typename,macaddress\n${rows}\n`);
    const beside = await openStoreBeside(options);
    const { changes } = await importFiles({ files: [path], store: beside, dryRun: false });
    await beside.close();
    return changes.items;
  };
  try {
    await take(`1,door,wirelesssensors,${sensor(1).address}`);
    for (const number of [1, 2, 3, 1, 2, 3]) await hear(number, number);
    expect(
      await take(
        `1,door,wirelesssensors,${sensor(2).address}\n3,hall,wirelesssensors,${sensor(3).address.toUpperCase()}`,
      ),
    ).toEqual({ added: 1, updated: 1, unchanged: 0, adopted: 2 });
    for (const number of [2, 3]) expect((await hear(number, 10 + number)).created).toEqual([]);
    const { items, last_seq } = await gateway.overview();
    expect(last_seq).toBe(8);
    expect(items.map(({ record, series }) => [record.itemname, series[0]?.count])).toEqual([
      ["door", 5],
      ["hall", 3],
    ]);
    const door = await gateway.item("wirelesssensors", "door");
    const page = await gateway.page({
      series: "wirelesssensor_events",
      item: door?.key ?? 0,
      before_ms: start_ms + 100_000,
      skip: 1,
      limit: 100,
      precision: "ms",
    });
    expect(page.records.map(({ event }) => event)).toEqual([2, 2, 1, 1]);
  } finally {
    await gateway.close();
  }
});
