import { expect, test } from "bun:test";
import { closeSync, constants, openSync } from "node:fs";
import { ioctl } from "../libc.ts";
import { openLinuxPort, TIOCGEXCL } from "../linux-port.ts";

/**
 * Tests of functions that no pseudo-terminal has, on a serial adapter: `ADAPTER=/dev/ttyUSB0 bun test
 * ./drivers/native/serialport/test/adapter.ts`. Written for the FTDI that qemu emulates, whose input lines are always
 * up. Sends zeros.
 */
const path = process.env["ADAPTER"] ?? "";

const plain = {
  path,
  baudRate: 9600,
  dataBits: 8,
  stopBits: 1,
  parity: "none",
  lock: true,
  rtscts: false,
  xon: false,
  xoff: false,
  xany: false,
  hupcl: false,
  vmin: 1,
  vtime: 0,
} as const;

/** Runs `use` with the open port, and closes it. */
async function withPort(
  options: Partial<Parameters<typeof openLinuxPort>[0]>,
  use: (port: Awaited<ReturnType<typeof openLinuxPort>>) => Promise<void>,
): Promise<void> {
  const port = await openLinuxPort({ ...plain, ...options });
  try {
    await use(port);
  } finally {
    await port.close();
  }
}

const settings = [
  [{ baudRate: 115200 }, ["115200", "cs8", "-parenb", "-cstopb", "-crtscts"]],
  [{ baudRate: 9600, dataBits: 7, parity: "even" }, ["9600", "cs7", "parenb", "-parodd", "-cmspar"]],
  [{ parity: "odd", stopBits: 2 }, ["cs8", "parenb", "parodd", "cstopb"]],
  [{ parity: "mark" }, ["parenb", "parodd", "cmspar"]],
  [{ rtscts: true, hupcl: true }, ["crtscts", "hupcl"]],
] as const;

for (const [options, words] of settings) {
  test(`its driver keeps ${JSON.stringify(options)}`, () =>
    withPort(options, async () => {
      const kept = Bun.spawnSync(["stty", "-a", "-F", path]).stdout.toString();
      expect(kept.split(/[\s;]+/)).toEqual(expect.arrayContaining([...words]));
    }));
}

test("a rate that has no name is made", () =>
  withPort({ baudRate: 250_000 }, async (port) => {
    expect(await port.getBaudRate()).toEqual({ baudRate: 250_000 });
  }));

test("control lines are set and read", () =>
  withPort({}, async (port) => {
    await port.set({ dtr: false, rts: false, brk: true });
    await port.set({ dtr: true, rts: true, brk: false });
    expect(await port.get()).toMatchObject({ cts: true, dsr: true, dcd: true });
  }));

test("low latency is switched on and off", () =>
  withPort({}, async (port) => {
    for (const lowLatency of [true, false, true]) {
      await port.set({ lowLatency });
      expect((await port.get()).lowLatency).toBe(lowLatency);
    }
  }));

test("it is exclusive while it is open", async () => {
  const exclusive = () => {
    const fd = openSync(path, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
    const answer = new Uint8Array(4);
    const failure = ioctl(fd, TIOCGEXCL, answer);
    closeSync(fd);
    return failure ?? answer[0];
  };
  await withPort({}, async () => {
    expect(exclusive()).toBe(1);
    await expect(openLinuxPort(plain)).rejects.toThrow("Cannot lock port: this process");
  });
  expect(exclusive()).toBe(0);
});

test("a drain ends when the last byte has left", () =>
  withPort({ baudRate: 115200 }, async (port) => {
    await port.write(Buffer.alloc(1000));
    await port.drain();
    await port.flush();
  }));
