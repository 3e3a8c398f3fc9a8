import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { SimulatorProcess } from "../../../testbed/simulator-process.ts";
import { formedCoordinator } from "./formed.ts";

const program = join(import.meta.dir, "../../../drivers/zigbee/simulator/main.ts");
const directory = temporaryDirectory();
afterAll(directory.remove);

const simulator = (...options: string[]) => SimulatorProcess.start("zigbee", ...options);

test("a simulator that was killed takes up its network and sensors again, and the driver goes on", async () => {
  const host = new RecordingHost({ directory: directory.path });
  const formed = await formedCoordinator({ directory: directory.path, transport: "tcp" });
  const state = join(directory.path, "state.json");
  writeFileSync(state, JSON.stringify(formed.export()));
  await formed.close();

  const first = await simulator("--state", state);
  const { path } = first;
  const driver = new ZigbeeDriver({ config: { port: path }, host, bounds: { least_ms: 20, most_ms: 100 } });
  driver.start();
  await host.until("the driver to listen", () => driver.status().state === "listening");
  const { ieee } = await first.tell({ do: "add", model: "3045" });
  expect(await first.tell({ do: "join", ieee })).toEqual({ ok: true, joined: false });
  await driver.openJoining(60);
  expect(await first.tell({ do: "join", ieee })).toEqual({ ok: true, joined: true });
  await host.until("the sensor to join", () => host.joins.some((event) => event.state === "joined"));
  expect(await first.tell({ do: "alarm", ieee })).toEqual({ ok: true, heard: true });
  expect(await first.tell({ do: "nonsense" })).toEqual({ error: "RangeError: no command nonsense" });
  await host.until("its event", () => host.readings.length === 1);
  writeFileSync(state, JSON.stringify((await first.tell({ do: "export" }))["state"]));
  await first.kill();
  await host.until("the driver to notice", () => driver.status().state === "retrying");

  const second = await simulator("--state", state, "--port", new URL(path).port);
  expect(second.path).toBe(path);
  await host.until("the driver to listen", () => driver.status().state === "listening");
  await second.tell({ do: "restore", ieee });
  await host.until("another event", () => host.readings.length === 2);
  expect(host.readings.map(({ values }) => values["event"])).toEqual([0x32, 0x30]);
  await driver.stop();
  expect(await second.end()).toBe(0);
});

test("a simulator takes over the link of one that was killed, and no file that is somebody's own", async () => {
  const link = join(directory.path, "stick");
  const first = await simulator("--transport", "pty", "--link", link);
  expect(first.path).toBe(link);
  await first.kill();
  const second = await simulator("--transport", "pty", "--link", link);
  expect(second.path).toBe(link);
  expect(await second.end()).toBe(0);

  writeFileSync(link, "mine");
  const third = Bun.spawn([process.execPath, program, "--transport", "pty", "--link", link], {
    stderr: "pipe",
  });
  expect(await third.exited).not.toBe(0);
  expect(readFileSync(link, "utf8")).toBe("mine");
});
