import { expect, test } from "bun:test";
import type { Item } from "../../../src/domain/records/item.ts";
import { item, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload, ownEpoch } from "./opening.ts";

test("a batch tells of a device what the inventory knows, as far as a batch may, and of which kind its readings are", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const store = await openUpload(directory.path);
  const epoch = await ownEpoch(store);
  await gateway.append([sensorEvent(sensor(7), start_ms, 48)]);
  const toldAs = async (changes: Partial<Item>) => {
    await gateway.importRecords([[{ type: "items", record: item(7, changes) }]]);
    return (await store.batchAfter({ epoch, after_seq: 0, readings_max: 10 }))?.devices;
  };
  const { address } = sensor(7);
  const device = { kind: "wirelesssensors" as const, address, itemid: 7, subtype: "wall" };
  expect((await store.batchAfter({ epoch, after_seq: 0, readings_max: 10 }))?.devices).toEqual([sensor(7)]);
  expect(await toldAs({})).toEqual([device]);
  const words = { modelname: "3011", vendorname: "Visonic", subtypename: "door" };
  expect(await toldAs(words)).toEqual([{ ...device, subtype: "door", model: "3011", vendor: "Visonic" }]);
  const { subtype: _, ...plain } = device;
  expect(await toldAs({ modelname: "", vendorname: null, subtypename: "null" })).toEqual([plain]);
  const long = await toldAs({ modelname: "m".repeat(201) });
  expect(long).toEqual([{ ...device, model: "m".repeat(200) }]);
  // What the inventory calls a watch now were the events of a sensor.
  expect(await toldAs({ typename: "watches", typeid: 4 })).toEqual([device]);
  // An address that no device can have is none, and the number stays.
  expect(await toldAs({ macaddress: "x".repeat(64) })).toMatchObject([{ address: "x".repeat(64) }]);
  expect(await toldAs({ macaddress: "x".repeat(65) })).toMatchObject([{ address: "", itemid: 7 }]);
  expect(await toldAs({ macaddress: "#7" })).toMatchObject([{ address: "", itemid: 7 }]);
  expect(await toldAs({ macaddress: "" })).toMatchObject([{ address: "", itemid: 7 }]);
  await store.close();
  await gateway.close();
});
