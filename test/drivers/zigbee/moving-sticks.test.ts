import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import { frames_since_backup_max } from "../../../drivers/zigbee/moving.ts";
import { EmberSimulator } from "../../../drivers/zigbee/simulator/ember/coordinator.ts";
import { listenAs, type Make, makes } from "../../../drivers/zigbee/simulator/makes.ts";
import type { StickSimulator } from "../../../drivers/zigbee/simulator/stick.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { RecordingHost, seededRandom, temporaryDirectory } from "../../../testbed/recording-host.ts";

const directory = temporaryDirectory();
afterAll(directory.remove);

/** A gateway whose network was formed by a stick of this make, which a sensor has joined and which was then pulled out. */
async function homeOf(make: Make, name: string) {
  const host = new RecordingHost({ directory: join(directory.path, name) });
  const listen = async (stick: StickSimulator, adapter: Make) => {
    const driver = new ZigbeeDriver({
      config: { port: stick.path, adapter },
      host,
      bounds: { least_ms: 20 },
    });
    driver.start();
    await host.until("the driver to listen", () => driver.status().state === "listening");
    return driver;
  };
  const old = await listenAs(make, { transport: "tcp", random: seededRandom(21) });
  const driver = await listen(old, make);
  await driver.openJoining(60);
  const sensor = old.addDevice({ model: "3041" });
  sensor.join();
  await host.until("the sensor to join", () => host.joins.some(({ state }) => state === "joined"));
  await driver.stop();
  const { devices } = old.export();
  await old.close();
  return { host, old, devices, listen };
}

/** By day each make gives its network away once and takes one over once, and the one whose backups differ has one of its own. */
const directions = makes.flatMap((from, index) =>
  makes
    .filter((to) => nightly || to === makes[(index + 1) % makes.length] || (from === "ember" && to === from))
    .map((to) => [from, to] as const),
);

test.each([...directions])(
  "a home moves from a stick of %s to one of %s: its sensors go on, and none is let in anew",
  async (from, to) => {
    const { host, old, devices, listen } = await homeOf(from, `${from}-${to}`);
    const stick = await listenAs(to, { transport: "tcp", random: seededRandom(22), devices });
    const driver = await listen(stick, to);
    expect(host.said(/network was restored from its backup/)).toBeDefined();
    expect(stick.network).toMatchObject({
      pan_id: old.network?.pan_id,
      channel: old.network?.channel,
      extended_pan_id: old.network?.extended_pan_id,
    });
    expect(stick.eui).toEqual(old.eui);
    expect(stick.frameCounter).toBeGreaterThanOrEqual(old.frameCounter + frames_since_backup_max);
    const [sensor] = stick.devices;
    expect(sensor?.notify(0x32)).toBe(true);
    const reading = await host.until("its event", () => host.readings[0]);
    expect(reading).toMatchObject({ device: { address: sensor?.ieee }, values: { event: 0x32 } });
    expect(sensor?.interviews).toBe(0);
    const network = stick.network;
    await driver.stop();
    const again = await listen(stick, to);
    expect(stick.network).toEqual(network);
    expect(sensor?.notify(0x30)).toBe(true);
    await again.stop();
    await stick.close();
  },
);

test("an adapter of a type that takes over no network is refused in one line", async () => {
  const { host } = await homeOf("ember", "other-type");
  const stick = await listenAs("zstack", { transport: "tcp", random: seededRandom(24) });
  const driver = new ZigbeeDriver({ config: { port: stick.path, adapter: "zboss" }, host });
  driver.start();
  await host.until("the refusal", () => driver.status().state === "retrying");
  expect(driver.status().problem).toBe(
    `the Zigbee adapter ${stick.path} is of the type zboss, to which the network of another adapter cannot move: put in one of the type zstack, ember, deconz, or have this one form a new network, with which all its sensors must be paired again: \`lintel pair --new-network\``,
  );
  await driver.stop();
  await stick.close();
});

test("a stick whose firmware keeps its own address is refused in one line, and takes the network when that is asked for", async () => {
  const { host, devices, listen } = await homeOf("deconz", "own-address");
  const stick = await EmberSimulator.listen({
    ...{ transport: "tcp", random: seededRandom(23), devices },
    setsAddress: false,
  });
  const config = { port: stick.path, adapter: "ember" } as const;
  const driver = new ZigbeeDriver({ config, host, bounds: { least_ms: 3600_000, most_ms: 3600_000 } });
  driver.start();
  await host.until("the refusal", () => driver.status().state === "retrying");
  expect(driver.status().problem).toStartWith(
    `the firmware of the Zigbee adapter ${stick.path} does not let it take over the address of the one before, to which the sensors send: put in another adapter,`,
  );
  expect(stick.network).toBeUndefined();
  driver.formNewNetwork();
  await host.until("the driver to listen", () => driver.status().state === "listening");
  expect(stick.devices[0]?.notify(0x32)).toBe(false);
  await driver.stop();
  await (await listen(stick, "ember")).stop();
  await stick.close();
});
