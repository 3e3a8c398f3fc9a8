import { ptr } from "bun:ffi";
import { expect, test } from "bun:test";
import { closeSync, mkdirSync, readSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import {
  AdapterLine,
  kernelAdapters,
  openAdapter,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
} from "../../../drivers/ble/adapter.ts";
import { openLibc } from "../../../src/base/libc.ts";
import { temporaryDirectory } from "../../../testbed/recording-host.ts";

/** Two ends that keep packets whole, as the kernel's socket of an adapter does. `./scripts/trials bluetooth` has the kernel's. */
function packetSockets(): [adapter: number, kernel: number] {
  const { socketpair } = openLibc({ socketpair: { args: ["i32", "i32", "i32", "ptr"], returns: "i32" } });
  const fds = new Int32Array(2);
  const [unix, seqpacket] = [1, 5];
  expect(socketpair(unix, seqpacket | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ptr(fds))).toBe(0);
  return [fds[0] ?? -1, fds[1] ?? -1];
}

test("packets of an adapter come whole, each write is one packet, and its end is one line with the remedy", async () => {
  const [adapter, kernel] = packetSockets();
  const received: number[] = [];
  const came = Promise.withResolvers<void>();
  const line = new AdapterLine("hci0", adapter, (chunk) => {
    received.push(...chunk);
    if (received.length === 7) came.resolve();
  });
  await line.write(Uint8Array.of(1, 3, 12, 0));
  await line.write(Uint8Array.of(1, 9, 16, 0));
  const packet = new Uint8Array(64);
  for (const command of [3, 9]) expect([readSync(kernel, packet), packet[1]]).toEqual([4, command]);
  writeSync(kernel, Uint8Array.of(4, 14, 1));
  writeSync(kernel, Uint8Array.of(4, 62, 1, 2));
  await came.promise;
  expect(received).toEqual([4, 14, 1, 4, 62, 1, 2]);
  closeSync(kernel);
  expect((await line.ended).message).toBe(
    "the Bluetooth adapter hci0: it is gone: plug it in again, or correct the port in [ble]",
  );
  await expect(line.write(packet)).rejects.toThrow("it is gone");
  await line.close();
  await line.close();
});

test("an adapter that cannot be had is one line with the remedy, whatever this kernel says", async () => {
  const refused = await openAdapter("hci65000", () => {}).catch((thrown: Error) => thrown.message);
  expect(refused).toMatch(
    /^the Bluetooth adapter hci65000: (it is not there: plug it in|Lintel lacks the right .* run `sudo lintel setup`|this service may not use Bluetooth, or the kernel has none: run)/,
  );
});

test("adapters are told in words: where they are, what keeps them off, and who is connected", () => {
  const { path, remove } = temporaryDirectory();
  const list = join(path, "class/bluetooth");
  mkdirSync(list, { recursive: true });
  const add = (name: string, device: string, files: Readonly<Record<string, string>> = {}) => {
    const at = join(path, "devices", device);
    mkdirSync(at, { recursive: true });
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(at, file, ".."), { recursive: true });
      writeFileSync(join(at, file), `${text}\n`);
    }
    symlinkSync(at, join(list, name));
  };
  expect(kernelAdapters(join(path, "nowhere"))).toEqual([]);
  add("hci10", "pci0/usb1/1-2/1-2:1.0/bluetooth/hci10", { "../../../product": "UB500 Adapter" });
  add("hci0", "platform/soc/fe201000.serial/serial0/bluetooth/hci0", {
    "rfkill1/soft": "1",
    "rfkill1/hard": "0",
  });
  add("hci0:64", "platform/soc/fe201000.serial/serial0/bluetooth/hci0/hci0:64");
  add("hci2", "virtual/bluetooth/hci2", { "rfkill2/soft": "0", "rfkill2/hard": "1" });
  expect(kernelAdapters(list)).toEqual([
    { name: "hci0", title: "Bluetooth adapter built in", off: "by software", connections: 1 },
    { name: "hci2", title: "Bluetooth adapter of a simulation", off: "by a switch", connections: 0 },
    { name: "hci10", title: "Bluetooth adapter on USB (UB500 Adapter)", connections: 0 },
  ]);
  remove();
});
