import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { openPty } from "../../../drivers/wire/pty.ts";
import type { RetryBounds } from "../../../drivers/wire/reconnect.ts";
import { ZigbeeDriver, zigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import type { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import { EmberSimulator } from "../../../drivers/zigbee/simulator/ember/coordinator.ts";
import { RecordingHost, seededRandom, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { formedCoordinator } from "./formed.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let host: RecordingHost;
let driver: ZigbeeDriver;
const closers: (() => unknown)[] = [];

beforeEach(() => {
  directory = temporaryDirectory();
  host = new RecordingHost({ directory: directory.path });
});

afterEach(async () => {
  await driver.stop();
  for (const close of closers.splice(0)) await close();
  directory.remove();
});

function start(
  port: string,
  options: { adapter?: "zstack" | "ember"; bounds?: Partial<RetryBounds> } = {},
): void {
  const { adapter = "zstack", bounds } = options;
  driver = new ZigbeeDriver({
    config: { port, adapter },
    host,
    bounds: { least_ms: 20, most_ms: 100, open_max_ms: 15_000, ...bounds },
  });
  driver.start();
}

async function coordinator(transport: "tcp" | "pty"): Promise<ZnpSimulator> {
  const simulator = await formedCoordinator({ directory: directory.path, transport });
  closers.push(() => simulator.close());
  return simulator;
}

const problem = () => host.until("a problem", () => driver.status().problem);
const listening = () => host.until("the driver to listen", () => driver.status().state === "listening");
const warnings = () => host.lines.filter((line) => !line.startsWith("info"));
const openFiles = () => readdirSync("/proc/self/fd").length;

/** Sends random bytes to whoever connects, and whatever they say. */
async function babbler(): Promise<{ port: string; open: () => number; total: () => number }> {
  const random = seededRandom(9);
  let open = 0;
  let total = 0;
  const server: Server = createServer((socket) => {
    open += 1;
    total += 1;
    const babble = setInterval(() => socket.write(random(200)), 5);
    socket.on("error", () => {});
    socket.on("close", () => {
      open -= 1;
      clearInterval(babble);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => server.close());
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  return { port: `tcp://127.0.0.1:${port}`, open: () => open, total: () => total };
}

test("firmware that is too old, or too new, is told with what to do about it", async () => {
  for (const [version, says] of [
    [
      8,
      /^the firmware of the Zigbee adapter .* is too old: write a newer firmware onto it with its maker's tool/,
    ],
    [30, /^the firmware of the Zigbee adapter .* is newer than this release knows: update Lintel/],
  ] as const) {
    const link = join(directory.path, `stick-${version}`);
    const stick = await EmberSimulator.listen({ transport: "pty", random: seededRandom(3), link, version });
    closers.push(() => stick.close());
    start(stick.path, { adapter: "ember" });
    expect(await problem()).toMatch(says);
    await driver.stop();
  }
});

test("a missing adapter is one line with the remedy, and is used as soon as it appears", async () => {
  const simulator = await coordinator("pty");
  await simulator.unplug();
  start(simulator.path);
  expect(await problem()).toMatch(/^the Zigbee adapter .* is not there: plug it in, or correct the port/);
  const since_ms = driver.status().since_ms;
  await simulator.replug();
  await listening();
  expect(driver.status().since_ms).toBeGreaterThanOrEqual(since_ms);
  expect(warnings()).toHaveLength(1);
});

test("a refused connection is one line with the remedy, and is used as soon as it is taken", async () => {
  const simulator = await coordinator("tcp");
  await simulator.unplug();
  start(simulator.path);
  expect(await problem()).toMatch(/^nothing listens at tcp:.*: start the serial server there/);
  await simulator.replug();
  await listening();
  expect(warnings()).toHaveLength(1);
});

test("an adapter of another type is one line that names the types", async () => {
  const simulator = await coordinator("pty");
  start(simulator.path, { adapter: "ember", bounds: { open_max_ms: 1_500 } });
  expect(await problem()).toMatch(/answers as a ember adapter.*its type is ember, not zstack, deconz/);
  expect(warnings()).toHaveLength(1);
  await driver.stop();
  // The port is free again for the right type.
  start(simulator.path);
  await listening();
});

test("an unknown type of adapter is a fault of the configuration that names those there are", () => {
  start("/dev/null");
  const config = { port: "/dev/ttyUSB0", adapter: "conbee" as "zstack" };
  expect(() => zigbeeDriver.create({ config, host })).toThrow(
    /"conbee" is unknown: use one of zstack, ember/,
  );
});

test("a silent adapter is given up in time, and heard once it answers", async () => {
  const simulator = await coordinator("pty");
  simulator.hung = true;
  start(simulator.path, { bounds: { open_max_ms: 500 } });
  expect(await problem()).toMatch(
    /^nothing on .* answers as a zstack adapter: check that.*baudrate in \[zigbee\]/,
  );
  simulator.hung = false;
  await listening();
  expect(warnings()).toHaveLength(1);
});

test("starting over and over against garbage leaks neither ports nor rejections", async () => {
  const babble = await babbler();
  start(babble.port, { bounds: { open_max_ms: 150, least_ms: 1, most_ms: 1 } });
  await problem();
  const before = openFiles();
  await host.until("ten starts", () => babble.total() >= 10);
  await driver.stop();
  await host.until("the last connection to end", () => babble.open() === 0);
  expect(openFiles()).toBeLessThanOrEqual(before);
  expect(warnings()).toHaveLength(1);
});

test("a port that another program holds is one line that says so", async () => {
  const simulator = await coordinator("pty");
  start(simulator.path);
  await listening();
  const holder = driver;
  const second = new RecordingHost({ directory: join(directory.path, "second") });
  driver = new ZigbeeDriver({ config: { port: simulator.path }, host: second, bounds: { least_ms: 20 } });
  driver.start();
  await second.until("a problem", () => driver.status().problem);
  expect(driver.status().problem).toMatch(/is held by another program: stop that program/);
  await driver.stop();
  driver = holder;
});

test("stopping in the middle of a start ends at once and frees the port", async () => {
  const pty = openPty();
  closers.push(() => pty.close());
  start(pty.path, { bounds: { open_max_ms: 60_000 } });
  const reader = pty.read.getReader();
  // The first bytes of the start: it is under way.
  await reader.read();
  const before = openFiles();
  await driver.stop();
  expect(driver.status().state).toBe("stopped");
  expect(openFiles()).toBeLessThan(before);
});
