import { afterEach, expect, test } from "bun:test";
import type { SerialPort } from "serialport";
import { openPty, type Pty } from "../../../wire/pty.ts";
import { LinuxBinding } from "../index.ts";
import { closed, openWire, passing, pieces, seededBytes } from "./wire.ts";

const ptys: Pty[] = [];
afterEach(() => {
  for (const pty of ptys.splice(0)) pty.close();
});

async function wire() {
  const made = await openWire();
  ptys.push(made.pty);
  return made;
}

const ten_megabytes = 10_000_000;
const chunkings: { size: number | "mixed"; total: number }[] = [
  { size: 1, total: 100_000 },
  { size: 61, total: 1_000_000 },
  { size: 4096, total: ten_megabytes },
  { size: 65_536, total: ten_megabytes },
  { size: "mixed", total: ten_megabytes },
];

for (const { size, total } of chunkings) {
  test(`${total} bytes written to the device in pieces of ${size} arrive byte for byte`, async () => {
    const { pty, port } = await wire();
    const bytes = seededBytes(1, total);
    const [arrived] = await Promise.all([heardBy(pty, total), writeToPort(port, bytes, size)]);
    expect(Bun.hash(arrived)).toBe(Bun.hash(bytes));
    await closed(port);
  });

  test(`${total} bytes that the device sends in pieces of ${size} arrive byte for byte`, async () => {
    const { pty, port } = await wire();
    const bytes = seededBytes(2, total);
    const [arrived] = await Promise.all([heardByPort(port, total), writeToPty(pty, bytes, size)]);
    expect(Bun.hash(arrived)).toBe(Bun.hash(bytes));
    await closed(port);
  });
}

test("10 MB each way at the same time arrive byte for byte", async () => {
  const { pty, port } = await wire();
  const down = seededBytes(3, ten_megabytes);
  const up = seededBytes(4, ten_megabytes);
  const [atPty, atPort] = await Promise.all([
    heardBy(pty, ten_megabytes),
    heardByPort(port, ten_megabytes),
    writeToPort(port, down, "mixed"),
    writeToPty(pty, up, "mixed"),
  ]);
  expect(Bun.hash(atPty)).toBe(Bun.hash(down));
  expect(Bun.hash(atPort)).toBe(Bun.hash(up));
  await closed(port);
});

test("reads of any length, down to one byte, give the bytes in order", async () => {
  const pty = openPty();
  ptys.push(pty);
  const port = await LinuxBinding.open({ path: pty.path, baudRate: 9600 });
  const bytes = seededBytes(5, 300_000);
  const sending = writeToPty(pty, bytes, "mixed");
  const arrived = Buffer.alloc(bytes.length);
  const lengths = [1, 7, 128, 3000, 65_536];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = Math.min(lengths[turn % lengths.length] ?? 1, bytes.length - at);
    const { bytesRead } = await port.read(arrived, at, length);
    expect(bytesRead).toBeWithin(1, length + 1);
    at += bytesRead;
  }
  await sending;
  expect(Bun.hash(arrived)).toBe(Bun.hash(bytes));
  await port.close();
});

test("a consumer that doesn't read holds the sender up, and loses nothing", async () => {
  const { pty, port } = await wire();
  const bytes = seededBytes(6, 2_000_000);
  let handed_bytes = 0;
  const sending = (async () => {
    for (const piece of pieces(bytes, 4096)) {
      await pty.write(piece);
      handed_bytes += piece.length;
    }
  })();
  // The stream reads ahead until its own buffer is full; after that the wire must come to a standstill.
  port.once("readable", () => {});
  for (let before = -1; before !== handed_bytes; await passing(50)) before = handed_bytes;
  expect(handed_bytes).toBeLessThan(500_000);

  const arrived = await heardByPort(port, bytes.length);
  await sending;
  expect(Bun.hash(arrived)).toBe(Bun.hash(bytes));
  await closed(port);
});

async function writeToPort(port: SerialPort, bytes: Buffer<ArrayBuffer>, size: number | "mixed") {
  for (const piece of pieces(bytes, size)) {
    if (!port.write(piece)) await new Promise((resolve) => port.once("drain", resolve));
  }
}

async function writeToPty(pty: Pty, bytes: Buffer<ArrayBuffer>, size: number | "mixed") {
  for (const piece of pieces(bytes, size)) await pty.write(piece);
}

function heardByPort(port: SerialPort, total: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const arrived = Buffer.alloc(total);
    let at = 0;
    port.on("data", (chunk: Buffer) => {
      at += chunk.copy(arrived, at);
      if (at === total) resolve(arrived);
    });
  });
}

async function heardBy(pty: Pty, total: number): Promise<Buffer> {
  const arrived = Buffer.alloc(total);
  let at = 0;
  for await (const chunk of pty.read) {
    arrived.set(chunk, at);
    at += chunk.length;
    if (at === total) break;
  }
  return arrived;
}
