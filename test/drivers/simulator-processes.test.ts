import { expect, test } from "bun:test";
import { join } from "node:path";
import { PillboxDriver } from "../../drivers/pillbox/driver.ts";
import { WatchDriver } from "../../drivers/watch/driver.ts";
import { RecordingHost, temporaryDirectory } from "../../testbed/recording-host.ts";
import { SimulatorProcess } from "../../testbed/simulator-process.ts";

test("a simulated bridge in a process of its own is polled, and obeys", async () => {
  const directory = temporaryDirectory();
  const host = new RecordingHost({ directory: join(directory.path, "pillbox") });
  const bridge = await SimulatorProcess.start(
    "pillbox",
    "--transport",
    "pty",
    "--link",
    join(directory.path, "bridge"),
  );
  const mac = "c0:ff:ee:00:00:01";
  expect(await bridge.tell({ do: "add", mac })).toEqual({ ok: true, mac });
  expect(await bridge.tell({ do: "fill", mac, count: 3, every_s: 600 })).toEqual({ ok: true });
  expect(await bridge.tell({ do: "nonsense" })).toEqual({ error: "RangeError: no command nonsense" });
  const driver = new PillboxDriver({ config: { port: bridge.path }, host });
  driver.start();
  await host.until(
    "its events",
    () => host.readings.filter(({ series }) => series === "pillbox_events").length === 3,
  );
  await driver.stop();
  expect((await bridge.tell({ do: "boxes" }))["boxes"][0].history).toHaveLength(3);
  expect(await bridge.end()).toBe(0);
  directory.remove();
});

test("a simulated watch in a process of its own is read, and obeys", async () => {
  const directory = temporaryDirectory();
  const host = new RecordingHost({ directory: join(directory.path, "watch") });
  const watch = await SimulatorProcess.start("watch", "--days", "1");
  expect(await watch.tell({ do: "live", stp: 3 })).toEqual({ ok: true });
  expect(await watch.tell({ do: "nonsense" })).toEqual({ error: "RangeError: no command nonsense" });
  const driver = new WatchDriver({ config: { port: watch.path }, host });
  driver.start();
  // A day has 144 blocks, of which some were not worn.
  await host.until("a day of epochs", () => host.readings.length > 130);
  await driver.stop();
  expect(await watch.end()).toBe(0);
  directory.remove();
});
