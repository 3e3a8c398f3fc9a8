import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SerialPort } from "serialport";
import { openPty, type Pty } from "../../../wire/pty.ts";
import { BindingsError, LinuxBinding } from "../index.ts";
import { standardRates } from "../termios.ts";
import { called, closed, closing, openPort, openWire, passing } from "./wire.ts";

const ptys: Pty[] = [];
afterEach(() => {
  for (const pty of ptys.splice(0)) pty.close();
});

function newPty(): Pty {
  const pty = openPty();
  ptys.push(pty);
  return pty;
}

async function wire(options: Parameters<typeof openWire>[0] = {}) {
  const made = await openWire(options);
  ptys.push(made.pty);
  return made;
}

/** The settings that the kernel holds for a line, as stty prints them. */
function stty(pty: Pty): string {
  return Bun.spawnSync(["stty", "-a", "-F", pty.path]).stdout.toString();
}

test("unplugging mid-stream closes serialport as disconnected, and a replugged device opens again", async () => {
  for (let round = 0; round < 20; round++) {
    const { pty, port } = await wire();
    const heard = new Promise((resolve) => port.once("data", resolve));
    await pty.write("half a mess");
    await heard;
    const gone = closing(port);
    pty.close();
    const error = await gone;
    expect(error?.disconnected).toBe(true);
    expect(error?.message).toContain(pty.path);
    expect(port.isOpen).toBe(false);
  }
});

test("unplugging while a write waits ends the write and closes serialport as disconnected", async () => {
  const { pty, port } = await wire();
  // A failed write is an error of the stream too, which Node then closes once more, without a reason.
  const failed = new Promise<Error>((resolve) => port.once("error", resolve));
  const gone = new Promise<boolean>((resolve) =>
    port.on("close", (error?: { disconnected?: boolean }) => error?.disconnected && resolve(true)),
  );
  const written = called((callback) =>
    port.write(Buffer.alloc(4_000_000), (error) => callback(error ?? null)),
  );
  pty.close();
  await expect(written).rejects.toThrow(pty.path);
  expect((await failed).message).toContain(pty.path);
  expect(await gone).toBe(true);
});

test("the same stream opens again after a disconnect, on the path's next device", async () => {
  const folder = mkdtempSync(join(tmpdir(), "serial-port-"));
  const path = join(folder, "port");
  const first = newPty();
  symlinkSync(first.path, path);
  const port = await openPort(path);
  const gone = closing(port);
  port.resume();
  first.close();
  await gone;
  const second = newPty();
  rmSync(path);
  symlinkSync(second.path, path);
  await called<void>((callback) => port.open(callback));
  const heard = new Promise<Buffer>((resolve) => port.once("data", resolve));
  await second.write("back");
  expect((await heard).toString()).toBe("back");
  await closed(port);
  rmSync(folder, { recursive: true });
});

test("a read that waits when the port closes is cancelled, and so is a write", async () => {
  const pty = newPty();
  const port = await LinuxBinding.open({ path: pty.path, baudRate: 115200 });
  const reading = port.read(Buffer.alloc(10), 0, 10).catch((error) => error);
  const writing = port.write(Buffer.alloc(4_000_000)).catch((error) => error);
  const draining = port.drain().catch((error) => error);
  await port.close();
  for (const outcome of [await reading, await writing]) {
    expect(outcome).toBeInstanceOf(BindingsError);
    expect(outcome.canceled).toBe(true);
  }
  expect((await draining).message).toBe("Port is not open");
  expect(port.isOpen).toBe(false);
  await expect(port.close()).rejects.toThrow("Port is not open");
  await expect(port.read(Buffer.alloc(1), 0, 1)).rejects.toMatchObject({ canceled: true });
});

test("opening and closing a hundred times leaves no descriptor behind", async () => {
  const pty = newPty();
  const openFiles = () =>
    readdirSync("/proc/self/fd")
      .map(linkOf)
      .filter((file) => file === pty.path).length;
  const before = openFiles();
  for (let round = 0; round < 100; round++) {
    const port = await openPort(pty.path);
    if (round % 2 === 0) port.resume();
    await closed(port);
  }
  for (let turns = 0; turns < 1000 && openFiles() > before; turns++) await new Promise(setImmediate);
  expect(openFiles()).toBe(before);
});

test("what is sent after a close and a reopen arrives, and what came before the open doesn't", async () => {
  const { pty, port } = await wire();
  port.resume();
  await closed(port);
  await pty.write("stale");
  await called<void>((callback) => port.open(callback));
  const heard = new Promise<Buffer>((resolve) => port.once("data", resolve));
  await pty.write("fresh");
  expect((await heard).toString()).toBe("fresh");
  await closed(port);
});

test("every standard baud rate and an odd one are set, and read back", async () => {
  const { port } = await wire({ baudRate: 9600 });
  expect(await port.port?.getBaudRate()).toEqual({ baudRate: 9600 });
  for (const baudRate of [...standardRates, 31_250, 74_880]) {
    await called<void>((callback) => port.update({ baudRate }, callback));
    expect(port.baudRate).toBe(baudRate);
    expect(await port.port?.getBaudRate()).toEqual({ baudRate });
  }
  await closed(port);
});

test("a baud rate that no line can have is refused, on opening and on updating", async () => {
  const { pty, port } = await wire();
  for (const baudRate of [-9600, 0.5, 1e9]) {
    await expect(openPort(pty.path, { baudRate })).rejects.toThrow(`baud rate of ${baudRate}`);
    await expect(called<void>((callback) => port.update({ baudRate }, callback))).rejects.toThrow(
      "baud rate",
    );
  }
  await expect(openPort(pty.path, { baudRate: 0 })).rejects.toThrow("baudRate");
  expect(await port.port?.getBaudRate()).toEqual({ baudRate: 115200 });
  await closed(port);
});

const settings: [Parameters<typeof openPort>[1], string[]][] = [
  [
    {},
    [
      "115200 baud",
      "cs8",
      "-parenb",
      "-cstopb",
      "-crtscts",
      "-ixon",
      "-ixoff",
      "-icanon",
      "-echo",
      "-opost",
      "hupcl",
    ],
  ],
  [{ baudRate: 19200, dataBits: 7, parity: "even" }, ["19200 baud", "cs7", " parenb", "-parodd", "-cmspar"]],
  [{ dataBits: 6, parity: "odd", stopBits: 2 }, ["cs6", " parenb", " parodd", " cstopb"]],
  [{ dataBits: 5, parity: "mark", stopBits: 1.5 }, ["cs5", " parodd", " cmspar", " cstopb"]],
  [{ parity: "space" }, [" parenb", "-parodd", " cmspar"]],
  [{ rtscts: true, hupcl: false }, [" crtscts", "-hupcl"]],
  [{ xon: true, xoff: true, xany: true }, [" ixon", " ixoff", " ixany"]],
  [{ vmin: 5, vtime: 3 } as object, ["min = 5", "time = 3"]],
  [{ vmin: 0 } as object, ["min = 1"]],
];

for (const [options, expected] of settings) {
  test(`the kernel is given ${JSON.stringify(options)}`, async () => {
    const { pty, port } = await wire({ lock: false, ...options });
    // A pseudo-terminal has eight data bits and no parity whatever it is asked for; the rest it keeps.
    const there = ` ${stty(pty).replace(/\s+/g, " ")} `;
    const kept = expected.filter((word) => !fixedOnPtys.test(word));
    for (const word of kept) expect(there).toContain(word);
    await closed(port);
  });
}
const fixedOnPtys = /^cs[567]$|parenb$/;

test("with software flow control the other side stops what is written to it, and its characters are no data", async () => {
  const { pty, port } = await wire({ xon: true, xoff: true });
  const heard: number[] = [];
  const toEnd = new Promise<void>((resolve) =>
    port.on("data", (bytes: Buffer) => {
      heard.push(...bytes);
      if (heard.at(-1) === 0x43) resolve();
    }),
  );
  const reader = pty.read.getReader();
  await pty.write(Uint8Array.of(0x41, 0x00, 0x13, 0x42));
  await pty.write(Uint8Array.of(0x43));
  await toEnd;
  const written = called((callback) => port.write("held", (error) => callback(error ?? null)));
  const read = reader.read();
  expect(await Promise.race([read, passing(50)])).toBeUndefined();
  await pty.write(Uint8Array.of(0x11));
  expect(Buffer.from((await read).value ?? []).toString()).toBe("held");
  await written;
  expect(heard).toEqual([0x41, 0x00, 0x42, 0x43]);
  await closed(port);
});

test("settings that don't exist are named", async () => {
  const pty = newPty();
  await expect(openPort(pty.path, { dataBits: 9 as 8 })).rejects.toThrow("data bits setting 9");
  await expect(openPort(pty.path, { stopBits: 3 as 2 })).rejects.toThrow("stop bits setting 3");
  await expect(openPort(pty.path, { stopBits: 1.5 })).rejects.toThrow("stop bits setting 1.5");
  await expect(openPort(pty.path, { parity: "weird" as "none" })).rejects.toThrow("parity setting weird");
});

test("a path that isn't there, isn't a serial port or isn't given is named", async () => {
  await expect(openPort("/dev/no-such-port")).rejects.toThrow(
    "No such file or directory, cannot open /dev/no-such-port",
  );
  await expect(openPort("/dev/null")).rejects.toThrow("not a serial port");
  await expect(LinuxBinding.open({ path: "", baudRate: 9600 })).rejects.toThrow("path");
  // @ts-expect-error what a program without types may do
  await expect(LinuxBinding.open("/dev/ttyS0")).rejects.toThrow("options");
});

test("control lines can be set and read on a port that has none", async () => {
  const { port } = await wire();
  await called<void>((callback) => port.set({ dtr: false, rts: true, brk: true }, callback));
  await called<void>((callback) => port.set({ dtr: true, rts: false, brk: false }, callback));
  const lines = await called<object>((callback) => port.get(callback));
  expect(lines).toMatchObject({ cts: false, dsr: false, dcd: false });
  await closed(port);
});

test("drain waits for the write before it, and flush forgets what came in", async () => {
  const { pty, port } = await wire();
  const order: string[] = [];
  const bytes = Buffer.alloc(300_000, 0x41);
  const written = called((callback) => port.write(bytes, (error) => callback(error ?? null))).then(() =>
    order.push("written"),
  );
  const drained = called<void>((callback) => port.drain(callback)).then(() => order.push("drained"));
  let heard_bytes = 0;
  for await (const chunk of pty.read) {
    heard_bytes += chunk.length;
    if (heard_bytes === bytes.length) break;
  }
  await Promise.all([written, drained]);
  expect(order).toEqual(["written", "drained"]);

  await pty.write("never mind");
  await called<void>((callback) => port.flush(callback));
  const heard = new Promise<Buffer>((resolve) => port.once("data", resolve));
  await pty.write("this");
  expect((await heard).toString()).toBe("this");
  await closed(port);
});

test("flush forgets what was read ahead and not asked for yet", async () => {
  const pty = newPty();
  const port = await LinuxBinding.open({ path: pty.path, baudRate: 115200 });
  const buffer = Buffer.alloc(8);
  const reading = port.read(buffer, 0, 1);
  await pty.write("never mind");
  expect((await reading).bytesRead).toBe(1);
  await port.flush();
  await pty.write("this");
  expect((await port.read(buffer, 0, 8)).bytesRead).toBe(4);
  expect(buffer.toString("latin1", 0, 4)).toBe("this");
  await port.close();
});

test("a port that was flushed with a read waiting goes on reading", async () => {
  const pty = newPty();
  const port = await LinuxBinding.open({ path: pty.path, baudRate: 115200 });
  const buffer = Buffer.alloc(8);
  const reading = port.read(buffer, 0, 8);
  await port.flush();
  await pty.write("go on");
  expect((await reading).bytesRead).toBe(5);
  expect(buffer.toString("latin1", 0, 5)).toBe("go on");
  await port.close();
});

test("a port listed by serialport comes from this binding", async () => {
  expect(await SerialPort.list()).toBeArray();
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
}
