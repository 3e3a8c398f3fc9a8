import { expect, test } from "bun:test";
import type { Controller } from "zigbee-herdsman";
import { openPty } from "../../../drivers/wire/pty.ts";
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
