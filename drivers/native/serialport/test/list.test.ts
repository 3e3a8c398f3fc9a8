import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { listPorts } from "../list.ts";

/** Lays out the kernel's and udev's files as they are on a Raspberry Pi with two adapters plugged in. */
function machine(): { sys: string; dev: string; remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), "serial-list-"));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), `${text}\n`);
  };
  const link = (target: string, path: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  };
  const usb = "sys/devices/platform/usb1/1-1/1-1.2";
  write(`${usb}/idVendor`, "10c4");
  write(`${usb}/idProduct`, "ea60");
  write(`${usb}/manufacturer`, "ITEAD");
  write(`${usb}/serial`, "1c0ffee");
  mkdirSync(join(root, `${usb}/1-1.2:1.0/ttyUSB0`), { recursive: true });
  link("../../../devices/platform/usb1/1-1/1-1.2/1-1.2:1.0/ttyUSB0", "sys/class/tty/ttyUSB0/device");

  const plain = "sys/devices/platform/usb1/1-1/1-1.3";
  write(`${plain}/idVendor`, "2341");
  write(`${plain}/idProduct`, "0043");
  mkdirSync(join(root, `${plain}/1-1.3:1.0`), { recursive: true });
  link("../../../devices/platform/usb1/1-1/1-1.3/1-1.3:1.0", "sys/class/tty/ttyACM0/device");

  mkdirSync(join(root, "sys/devices/platform/uart"), { recursive: true });
  link("../../../devices/platform/uart", "sys/class/tty/ttyAMA0/device");
  link("../../../devices/platform/uart", "sys/class/tty/ttyS0/device");
  write("sys/class/tty/ttyS0/type", "0");
  write("sys/class/tty/tty1/dev", "4:1");
  write("sys/class/tty/ptmx/dev", "5:2");

  link("../../ttyUSB0", "dev/serial/by-id/usb-ITEAD_SONOFF_Zigbee_3.0_1c0ffee-if00-port0");
  link("../../ttyUSB0", "dev/serial/by-path/platform-usb-0:1.2:1.0-port0");
  return { sys: join(root, "sys"), dev: join(root, "dev"), remove: () => rmSync(root, { recursive: true }) };
}

test("ports are listed with their lasting names and USB numbers, and UARTs that aren't there are left out", () => {
  const { sys, dev, remove } = machine();
  const nothing = {
    manufacturer: undefined,
    serialNumber: undefined,
    vendorId: undefined,
    productId: undefined,
    pnpId: undefined,
    locationId: undefined,
  };
  expect(listPorts({ sys, dev })).toEqual([
    { ...nothing, path: `${dev}/ttyACM0`, vendorId: "2341", productId: "0043" },
    { ...nothing, path: `${dev}/ttyAMA0` },
    {
      path: `${dev}/ttyUSB0`,
      manufacturer: "ITEAD",
      serialNumber: "1c0ffee",
      vendorId: "10c4",
      productId: "ea60",
      pnpId: "usb-ITEAD_SONOFF_Zigbee_3.0_1c0ffee-if00-port0",
      locationId: "platform-usb-0:1.2:1.0-port0",
    },
  ]);
  remove();
});

test("a machine without serial ports, or without these file systems, has an empty list", () => {
  expect(listPorts({ sys: "/nowhere", dev: "/nowhere" })).toEqual([]);
});
