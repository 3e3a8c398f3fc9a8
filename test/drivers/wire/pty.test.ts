import { afterEach, expect, test } from "bun:test";
import { closeSync, constants, existsSync, openSync, readSync, writeSync } from "node:fs";
import { openPty, type Pty, write_queue_bytes_max } from "../../../drivers/wire/pty.ts";

const ptys: Pty[] = [];
afterEach(() => {
  for (const pty of ptys.splice(0)) pty.close();
});

function opened(): Pty {
  const pty = openPty();
  ptys.push(pty);
  return pty;
}

const slaveFlags = constants.O_RDWR | constants.O_NOCTTY;

test("bytes cross a pty unchanged in both directions, control characters included", async () => {
  const pty = opened();
  const slave = openSync(pty.path, slaveFlags);
  const every = Uint8Array.from({ length: 256 }, (_, byte) => byte);

  await pty.write(every);
  const there = Buffer.alloc(256);
  for (let got = 0; got < 256; ) got += readSync(slave, there, got, 256 - got, null);
  expect(new Uint8Array(there)).toEqual(every);

  writeSync(slave, every);
  expect(await take(pty, 256)).toEqual(every);
  closeSync(slave);
});

test("the wire survives the other side closing and opening it again", async () => {
  const pty = opened();
  const reader = pty.read.getReader();
  for (const word of ["first", "second", "third"]) {
    const slave = openSync(pty.path, slaveFlags);
    writeSync(slave, word);
    closeSync(slave);
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(word);
  }
});

test("closing hangs up the other side, ends the reader and removes the path", async () => {
  const pty = opened();
  const slave = openSync(pty.path, slaveFlags | constants.O_NONBLOCK);
  const other = Bun.file(slave).stream().getReader();
  const mine = pty.read.getReader().read();
  const heard = other.read();
  pty.close();
  // A read that waits ends; one that comes after the hang-up fails. Which it is, is a matter of moments.
  expect(
    await heard.then(
      ({ done }) => done,
      ({ code }) => code === "EIO",
    ),
  ).toBe(true);
  expect((await mine).done).toBe(true);
  expect(existsSync(pty.path)).toBe(false);
  expect(() => writeSync(slave, "x")).toThrow(/EIO/);
  closeSync(slave);
  pty.close();
});

test("what is written while nobody reads waits, up to its bound", async () => {
  const pty = opened();
  const half = new Uint8Array(write_queue_bytes_max / 2).fill(0x55);
  const first = pty.write(half);
  const second = pty.write(half);
  await expect(pty.write(half)).rejects.toThrow("nobody reads");

  const slave = openSync(pty.path, slaveFlags | constants.O_NONBLOCK);
  const other = Bun.file(slave).stream().getReader();
  let got = 0;
  while (got < write_queue_bytes_max) got += (await other.read()).value?.length ?? 0;
  await Promise.all([first, second]);
  expect(got).toBe(write_queue_bytes_max);
  await other.cancel();
  closeSync(slave);
});

test("a write that waits on a pty is released when the pty closes", async () => {
  const pty = opened();
  const waiting = pty.write(new Uint8Array(1024 * 1024));
  pty.close();
  await waiting;
  await pty.write("into the void");
});

async function take(pty: Pty, length: number): Promise<Uint8Array> {
  const reader = pty.read.getReader();
  const chunks: Uint8Array[] = [];
  for (let got = 0; got < length; ) {
    const { value, done } = await reader.read();
    if (done) break;
    chunks.push(value);
    got += value.length;
  }
  reader.releaseLock();
  return new Uint8Array(Buffer.concat(chunks));
}
