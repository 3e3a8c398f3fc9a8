import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { RecordingHost, seededRandom, temporaryDirectory } from "../../../testbed/recording-host.ts";

const directory = temporaryDirectory();
afterAll(directory.remove);

describe("a stick that holds another network, at a gateway that has no files of it", () => {
  const host = new RecordingHost({ directory: join(directory.path, "driver") });
  let stick: ZnpSimulator;
  let sensor: SimulatedDevice;
  let driver: ZigbeeDriver;

  beforeAll(async () => {
    const link = join(directory.path, "stick");
    stick = await ZnpSimulator.listen({ transport: "pty", random: seededRandom(5), link });
    stick.runNetwork();
    stick.openJoining(60);
    sensor = stick.addDevice({ model: "3041" });
    sensor.join();
    // The next try would be in an hour: that it is made at once is what is tested.
    const bounds = { least_ms: 3600_000, most_ms: 3600_000 };
    driver = new ZigbeeDriver({ config: { port: stick.path }, host, bounds });
  });
  afterAll(async () => {
    await driver.stop();
    await stick.close();
  });

  test("is refused in one line that names it and both ways out, and keeps its network and its sensors", async () => {
    const before = stick.export();
    driver.start();
    await host.until("the refusal", () => driver.status().state === "retrying");
    const pan = stick.network?.pan_id.toString(16).padStart(4, "0");
    expect(driver.status().problem).toBe(
      `the Zigbee adapter ${stick.path} holds another network (channel 15, PAN 0x${pan}), and there are no files of it here: bring them with \`lintel restore\`, put in another adapter, or have this one form a new network, with which all its sensors must be paired again: \`lintel pair --new-network\``,
    );
    expect(stick.export()).toEqual(before);
    expect(sensor.notify(0x32)).toBe(true);
    expect(host.readings).toEqual([]);
  });

  test("forms a new network at once when that is asked for, and then knows of no other", async () => {
    const before = stick.network;
    driver.formNewNetwork();
    expect(driver.status().state).toBe("starting");
    await host.until("the driver to listen", () => driver.status().state === "listening");
    expect(stick.network?.extended_pan_id).not.toEqual(before?.extended_pan_id);
    expect(sensor.notify(0x32)).toBe(false);
    expect(() => driver.formNewNetwork()).toThrow(
      `the Zigbee adapter ${stick.path} holds no other network that could be given up: leave --new-network away`,
    );
  });

  test("is resumed by the gateway that formed it", async () => {
    const network = stick.network;
    await driver.stop();
    driver = new ZigbeeDriver({ config: { port: stick.path }, host });
    driver.start();
    await host.until("the driver to listen", () => driver.status().state === "listening");
    expect(stick.network).toEqual(network);
  });
});

test("a stick whose network is set up by half is set up anew, without a question", async () => {
  const host = new RecordingHost({ directory: join(directory.path, "half") });
  const stick = await ZnpSimulator.listen({ transport: "tcp", random: seededRandom(6) });
  // As a power cut leaves it, or a network nearby with the same PAN id: the mark of a whole set-up comes last.
  stick.form();
  const driver = new ZigbeeDriver({ config: { port: stick.path }, host });
  driver.start();
  await host.until("the driver to listen", () => driver.status().state === "listening");
  await driver.stop();
  await stick.close();
});

test("zigbee-herdsman still has the steps that end a network", async () => {
  const dist = "zigbee-herdsman/dist/adapter";
  const [znp, ember, ezsp, zboss, zoh] = await Promise.all([
    import(`${dist}/z-stack/adapter/manager.js`),
    import(`${dist}/ember/ezsp/ezsp.js`),
    import(`${dist}/ezsp/driver/ezsp.js`),
    import(`${dist}/zboss/driver.js`),
    import(`${dist}/zoh/adapter/zohAdapter.js`),
  ]);
  expect(znp.ZnpAdapterManager.prototype.beginCommissioning).toBeFunction();
  expect(ember.Ezsp.prototype.ezspLeaveNetwork).toBeFunction();
  expect(ezsp.Ezsp.prototype.leaveNetwork).toBeFunction();
  expect(zboss.ZBOSSDriver.prototype.reset).toBeFunction();
  const network = {
    panID: 1,
    extendedPanID: Array(8).fill(1),
    channelList: [15],
    networkKey: Array(16).fill(1),
  };
  expect(new zoh.ZoHAdapter(network, {}, "", {}).driver.resetNetwork).toBeFunction();
});
