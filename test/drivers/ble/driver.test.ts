import { expect, test } from "bun:test";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { bleDriver } from "../../../drivers/ble/driver.ts";
import type { PeripheralDefinition } from "../../../drivers/peripheral.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { bthome, listening, recordingProduct, startRig } from "./rig.ts";

const box = "54:48:e6:8f:80:a5";

for (const transport of ["pty", "tcp"] as const) {
  test(`an advertisement arrives with its service data and its moment, over ${transport}`, async () => {
    const { definition, heard } = recordingProduct({});
    await using rig = await startRig({ products: [definition], transport });
    await listening(rig);
    const before = rig.host.clock.now();
    const device = rig.controller.addPeripheral({
      address: "54:48:E6:8F:80:A5",
      addressType: "public",
      advertisement: bthome(0x40, 0x00, 0x07),
      rssi: -71,
    });
    expect(device.advertise()).toBe(true);
    const [first] = await rig.host.until("the advertisement", () => heard.length > 0 && heard);
    expect(first?.advertisement).toEqual({
      address: box,
      addressType: "public",
      services: [],
      serviceData: new Map([["fcd2", Uint8Array.of(0x40, 0x00, 0x07)]]),
      rssi: -71,
      connectable: false,
    });
    expect(first?.moment.monotonic_ms).toBeGreaterThanOrEqual(before.monotonic_ms);
    expect(rig.driver.status().detail).toMatch(/^Bluetooth 5\.3 controller c0:ff:ee:00:00:01 on /);
  });
}

test("repeated packets are all handed on, and data is never handed on twice", async () => {
  const { definition, heard } = recordingProduct({});
  await using rig = await startRig({ products: [definition] });
  await listening(rig);
  const device = rig.controller.addPeripheral({
    address: box,
    advertisement: bthome(0x40, 0x00, 0x01),
    scanResponse: { name: "box", manufacturerData: { company: 0x05f1, data: Uint8Array.of(9) } },
  });
  device.advertise();
  device.advertise();
  device.say({ services: ["180f"] });
  device.advertise();
  await rig.host.until("six packets", () => heard.length === 6);
  const seen = heard.map(({ advertisement: { serviceData, manufacturerData, name, services } }) => [
    serviceData.get("fcd2")?.[2],
    manufacturerData?.data[0],
    name,
    services,
  ]);
  expect(seen).toEqual([
    [1, undefined, undefined, []],
    [undefined, 9, "box", []],
    [1, undefined, "box", []],
    [undefined, 9, "box", []],
    [undefined, undefined, "box", ["180f"]],
    [undefined, 9, "box", ["180f"]],
  ]);
});

test("devices that are ignored, or not allowed, or nobody's are not handed on", async () => {
  const { definition, heard } = recordingProduct({});
  const config = { allow: [box, "00:00:00:00:00:02"], ignore: ["00:00:00:00:00:02"] };
  await using rig = await startRig({ products: [definition], config });
  await listening(rig);
  for (const address of ["00:00:00:00:00:02", "00:00:00:00:00:03"]) {
    rig.controller.addPeripheral({ address, advertisement: bthome(0x40) }).advertise();
  }
  const other = rig.controller.addPeripheral({ address: box, advertisement: { name: "phone" } });
  other.advertise();
  other.say(bthome(0x40));
  other.advertise();
  await rig.host.until("an advertisement", () => heard.length > 0);
  expect(heard.map(({ advertisement }) => advertisement.address)).toEqual([box]);
  expect(heard[0]?.advertisement.name).toBe("phone");
});

test("the first product of the list that recognises a device has it", async () => {
  const first = recordingProduct({ name: "first", uuid: "181b" });
  const second = recordingProduct({ name: "second" });
  const third = recordingProduct({ name: "third" });
  const products = [first.definition, second.definition, third.definition];
  await using rig = await startRig({ products });
  await listening(rig);
  rig.controller.addPeripheral({ address: box, advertisement: bthome(0x40) }).advertise();
  await rig.host.until("an advertisement", () => second.heard.length > 0);
  expect([first.heard.length, third.heard.length]).toEqual([0, 0]);
});

test("a product gets its table, its directory, its cursors and the keys", async () => {
  let made: Parameters<PeripheralDefinition["create"]>[0] | undefined;
  const section = Type.Object({ stride_m: Type.Optional(Type.Number()) });
  const { definition } = recordingProduct({ name: "watch", section, created: (one) => (made = one) });
  const directory = temporaryDirectory();
  const keysFile = join(directory.path, "keys");
  writeFileSync(keysFile, `# boxes\n${box} 231d39c1d7cc1ab1aee224cd096db932 # kitchen\n\n`, { mode: 0o600 });
  const config = {
    watch: { stride_m: 0.65 },
    keys_file: keysFile,
    keys: { "00:00:00:00:00:02": "00".repeat(16) },
  };
  await using rig = await startRig({ products: [definition], config });
  expect(made?.config).toEqual({ stride_m: 0.65 });
  expect(Buffer.from(made?.keyOf(box.toUpperCase()) ?? []).toString("hex")).toBe(
    "231d39c1d7cc1ab1aee224cd096db932",
  );
  expect(made?.keyOf("00:00:00:00:00:02")).toEqual(new Uint8Array(16));
  expect(made?.keyOf("00:00:00:00:00:03")).toBeUndefined();
  expect(made?.host.directory).toBe(join(rig.host.directory, "watch"));
  expect(existsSync(made?.host.directory ?? "")).toBe(true);
  expect(rig.host.said(/keys/)).toBeUndefined();
  directory.remove();
});

test("keys that are wrong are told by their place and never shown", () => {
  const directory = temporaryDirectory();
  const host = new RecordingHost({ directory: join(directory.path, "ble") });
  const definition = bleDriver([]);
  const port = "/dev/none";
  const file = join(directory.path, "keys");
  const create = (more: object) => () => definition.create({ config: { port, ...more }, host });
  writeFileSync(file, `${box} 231d39c1d7cc1ab1aee224cd096db9\n`);
  expect(create({ keys_file: file })).toThrow(`line 1 of ${file} is no address and key`);
  expect(create({ keys: { [box]: "secret" } })).toThrow(
    `the key of ${box} in [ble.keys] is no address and key`,
  );
  expect(create({ keys_file: `${file}.not` })).toThrow("cannot be read from");
  writeFileSync(file, "");
  chmodSync(file, 0o644);
  create({ keys_file: file })();
  expect(host.said(/everybody on this machine may read the keys/)).toBeDefined();
  directory.remove();
});

test("a product that throws is counted and disturbs no other", async () => {
  const broken = recordingProduct({
    name: "broken",
    peripheral: {
      advertised: () => {
        throw new Error("no such field");
      },
    },
  });
  const sound = recordingProduct({ name: "sound", uuid: "181b" });
  await using rig = await startRig({ products: [broken.definition, sound.definition] });
  await listening(rig);
  rig.controller.addPeripheral({ address: box, advertisement: bthome(0x40) }).advertise();
  rig.controller
    .addPeripheral({
      address: "00:00:00:00:00:02",
      advertisement: { serviceData: { "181b": Uint8Array.of(1) } },
    })
    .advertise();
  await rig.host.until("the other product's", () => sound.heard.length > 0);
  expect(rig.host.drops).toEqual(new Map([["broken advertisements that could not be understood", 1]]));
});

test("noble is kept to the commands that a controller knows, one at a time", async () => {
  await using rig = await startRig({ products: [] });
  await listening(rig);
  expect(rig.controller.overruns).toBe(0);
  expect([...rig.controller.unknown]).toEqual([]);
});
