import { expect, test } from "bun:test";
import { encodeLine, type LineSettings } from "../termios.ts";

const plain: LineSettings = {
  baudRate: 9600,
  dataBits: 8,
  stopBits: 1,
  parity: "none",
  rtscts: false,
  xon: false,
  xoff: false,
  xany: false,
  hupcl: false,
  vmin: 1,
  vtime: 0,
};

/** Control flags as the kernel's headers have them: a pseudo-terminal doesn't keep all of these. */
const lines: [string, Partial<LineSettings>, number][] = [
  ["9600 8N1", {}, 0x8bd],
  ["115200 7E1", { baudRate: 115200, dataBits: 7, parity: "even" }, 0x19a2],
  ["1200 7O2", { baudRate: 1200, dataBits: 7, parity: "odd", stopBits: 2 }, 0xbe9],
  ["50 5N1.5", { baudRate: 50, dataBits: 5, stopBits: 1.5 }, 0x8c1],
  ["9600 6M1", { dataBits: 6, parity: "mark" }, 0x40000b9d],
  ["9600 8S1", { parity: "space" }, 0x400009bd],
  ["4000000 8N1 with RTS/CTS, hanging up", { baudRate: 4_000_000, rtscts: true, hupcl: true }, 0x80001cbf],
  ["250000 8N1", { baudRate: 250_000 }, 0x18b0],
];

for (const [name, settings, flags] of lines) {
  test(`the kernel's flags for ${name}`, () => {
    const line = encodeLine({ ...plain, ...settings });
    expect(line.byteLength).toBe(44);
    expect(line.getUint32(8, true)).toBe(flags);
    expect(line.getUint32(40, true)).toBe(settings.baudRate ?? plain.baudRate);
  });
}
