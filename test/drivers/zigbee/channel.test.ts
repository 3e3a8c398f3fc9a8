import { afterAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { quietestChannel } from "../../../drivers/zigbee/channel.ts";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import { newNetwork } from "../../../drivers/zigbee/network.ts";
import { listenAs, type Make, makes } from "../../../drivers/zigbee/simulator/makes.ts";
import type { StickSimulator } from "../../../drivers/zigbee/simulator/stick.ts";
import { channelText } from "../../../src/domain/mesh.ts";
import { RecordingHost, seededRandom, temporaryDirectory } from "../../../testbed/recording-host.ts";

const directory = temporaryDirectory();
afterAll(directory.remove);

const seed = 3;
const usual = newNetwork(seededRandom(seed)).channel;

/** A driver at a new stick, and how it is started anew. */
async function fresh(make: Make, name: string) {
  const path = join(directory.path, name);
  mkdirSync(path);
  const host = new RecordingHost({ directory: path });
  const stick = await listenAs(make, { transport: "tcp", random: seededRandom(8) });
  const start = async () => {
    const config = { port: stick.path, adapter: make };
    const driver = new ZigbeeDriver({ config, host, random: seededRandom(seed) });
    driver.start();
    await host.until("the driver to listen", () => driver.status().state === "listening");
    return driver;
  };
  return { host, stick, start };
}

function quietAlone(stick: StickSimulator, quiet: number): void {
  for (const index of stick.energies.keys()) stick.energies[index] = index + 11 === quiet ? 20 : 120;
}

test.each([...makes])(
  "a new network at a stick of %s gets the quietest channel, and keeps it",
  async (make) => {
    const { stick, start } = await fresh(make, make);
    const quiet = usual === 20 ? 25 : 20;
    quietAlone(stick, quiet);
    const driver = await start();
    expect(stick.network?.channel).toBe(quiet);
    const text = channelText({ number: quiet, measured: true });
    expect(driver.status().detail).toContain(`channel ${text}`);
    expect((await driver.scanMesh()).channel).toEqual({ number: quiet, measured: true });
    const { network } = stick;
    await driver.stop();
    quietAlone(stick, 15);
    const again = await start();
    expect(stick.network).toEqual(network);
    expect(again.status().detail).toContain(`channel ${text}`);
    await again.stop();
    await stick.close();
  },
);

test("a stick that measures nothing keeps the channel of its new network, which says so", async () => {
  const { host, stick, start } = await fresh("zstack", "unmeasured");
  stick.energies.length = 0;
  const driver = await start();
  expect(stick.network?.channel).toBe(usual);
  expect(host.said(/does not measure its channels, so that channel \d+ stays/)).toBeDefined();
  expect(driver.status().detail).toContain(`channel ${channelText({ number: usual, measured: false })}`);
  await driver.stop();
  await stick.close();
});

test("a channel that is clearly quieter is taken: of the gaps of Wi-Fi, or of all where these are loud; 26 never", () => {
  const energies = (quiet: Readonly<Record<number, number>>, else_: number) =>
    Array.from({ length: 16 }, (_, index) => quiet[index + 11] ?? else_);
  expect(quietestChannel(energies({ 20: 40 }, 100), 11)).toBe(20);
  expect(quietestChannel(energies({ 20: 95 }, 100), 11)).toBe(11);
  expect(quietestChannel(energies({ 20: 80, 18: 50 }, 100), 11)).toBe(20);
  expect(quietestChannel(energies({ 20: 180, 18: 50 }, 200), 11)).toBe(18);
  expect(quietestChannel(energies({ 26: 0 }, 200), 11)).toBe(11);
});

test("where a channel lies among those of Wi-Fi", () => {
  const where = (number: number) => channelText({ number, measured: true });
  expect([11, 13, 15, 16, 18, 20, 25].map(where)).toEqual(
    [
      "11 (at the edge of Wi-Fi channel 1",
      "13 (inside Wi-Fi channel 1",
      "15 (between the Wi-Fi channels 1 and 6",
      "16 (at the edge of Wi-Fi channel 6",
      "18 (inside Wi-Fi channel 6",
      "20 (between the Wi-Fi channels 6 and 11",
      "25 (above Wi-Fi channel 11",
    ].map((text) => `${text}; the quietest when the network was formed)`),
  );
});
