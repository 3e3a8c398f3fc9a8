import { expect, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, createServer, Socket } from "node:net";
import type { Controller } from "zigbee-herdsman";
import { openPty } from "../../../drivers/wire/pty.ts";
import type { Adapter } from "../../../drivers/zigbee/arrivals.ts";
import { DeconzGuard } from "../../../drivers/zigbee/deconz.ts";
import { releaseLeftovers } from "../../../drivers/zigbee/leftovers.ts";

type Opening = { open: () => Promise<unknown>; isOpen: () => boolean; adapter: object };

/** The parts of zigbee-herdsman's adapters that open their port anew while a start of theirs goes on. */
const adapters: Readonly<Record<string, (path: string) => Promise<Opening>>> = {
  ember: async (path) => {
    const { UartAsh } = await import("zigbee-herdsman/dist/adapter/ember/uart/ash.js");
    const ash = new UartAsh({ path, baudRate: 115_200 });
    return { open: () => ash.resetNcp(), isOpen: () => ash.portOpen, adapter: { ezsp: { ash } } };
  },
  deconz: async (path) => {
    const { default: Driver } = await import("zigbee-herdsman/dist/adapter/deconz/driver/driver.js");
    const driver = new Driver({ path }, {} as never, undefined, undefined as never);
    clearInterval(driver["tickTimer"]);
    const open = () => driver.openSerialPort(115_200).catch(() => {});
    return { open, isOpen: () => driver["isOpen"](), adapter: { driver } };
  },
};

for (const [name, make] of Object.entries(adapters)) {
  for (const [when, first] of [
    ["before its start opened the port", false],
    ["after it", true],
  ] as const) {
    test(`an adapter of ${name} that was ended ${when} opens no port any more`, async () => {
      const pty = openPty();
      const { open, isOpen, adapter } = await make(pty.path);
      if (first) await open();
      expect(isOpen()).toBe(first);
      await releaseLeftovers({ adapter, removeAllListeners: () => {} } as unknown as Controller);
      expect(isOpen()).toBe(false);
      await open();
      expect(isOpen()).toBe(false);
      pty.close();
    });
  }
}

test("a write into a port that has closed ends nothing, although deCONZ's adapter throws where nobody catches it", async () => {
  const guard = await DeconzGuard.make();
  const driver = { reconfigureNetwork: () => {}, onPortClose: () => {}, once: () => {} };
  guard.watch({ driver } as unknown as Adapter);
  const ended = Promise.withResolvers<unknown>();
  const socket = new Socket();
  Object.assign(driver, { socketPort: socket });
  socket.on("error", ended.resolve);
  socket.destroy(new Error("it has ended"));
  const thrown: unknown[] = [];
  socket.write(new Uint8Array(1), (fault) => thrown.push(fault));
  expect(await ended.promise).toBeInstanceOf(Error);
  expect(thrown).toEqual([]);
  guard.release();
});

test("nor does a write into a port whose other end has gone", async () => {
  const guard = await DeconzGuard.make();
  const driver = { reconfigureNetwork: () => {}, onPortClose: () => {}, once: () => {} };
  guard.watch({ driver } as unknown as Adapter);
  const server = createServer((other) => other.end()).listen(0);
  await once(server, "listening");
  const socket = new Socket();
  Object.assign(driver, { socketPort: socket });
  socket.on("error", () => {});
  socket.connect((server.address() as AddressInfo).port);
  socket.resume();
  await once(socket, "end");
  const thrown: unknown[] = [];
  socket.write(new Uint8Array(1), (fault) => thrown.push(fault));
  await once(socket, "close");
  expect(thrown).toEqual([]);
  server.close();
  guard.release();
});
