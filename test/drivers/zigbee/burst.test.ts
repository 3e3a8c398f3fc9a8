import { afterAll, expect, test } from "bun:test";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { formedCoordinator } from "./formed.ts";

const directory = temporaryDirectory();
afterAll(directory.remove);

/** Many times what a serial line carries in a second: what has piled up while the gateway could not look. */
const burst = 10_000;

test("ten thousand notifications that arrive at once are ten thousand readings, in order", async () => {
  const host = new RecordingHost({ directory: directory.path });
  const coordinator = await formedCoordinator({ directory: directory.path, transport: "tcp" });
  const driver = new ZigbeeDriver({ config: { port: coordinator.path }, host, bounds: { least_ms: 20 } });
  driver.start();
  await host.until("the driver to listen", () => driver.status().state === "listening");
  await driver.openJoining(60);
  const sensor = coordinator.addDevice({ model: "3041" });
  sensor.join();
  await host.until("the sensor to join", () => host.joins.some(({ state }) => state === "joined"));
  // The extended bits count up, so that an order and a loss show.
  for (let n = 0; n < burst; n += 1) sensor.notify(n);
  await host.until("all readings", () => host.readings.length === burst);
  expect(host.readings.every(({ values }, n) => values["event"] === n)).toBe(true);
  expect([...host.drops]).toEqual([]);
  await driver.stop();
  await coordinator.close();
});
