import { expect, test } from "bun:test";
import { crc16X25 } from "../../../drivers/wire/crc.ts";
import { encodeFrame, type FrameFault, FrameReader } from "../../../drivers/wire/hdlc.ts";
import { LineReader } from "../../../drivers/wire/lines.ts";

const ascii = (text: string) => new TextEncoder().encode(text);

function reading(payload_max = 1_024) {
  const payloads: string[] = [];
  const discarded: [FrameFault, number][] = [];
  const reader = new FrameReader({
    payload_max,
    onPayload: (payload) => payloads.push(Buffer.from(payload).toString("hex")),
    onDiscarded: (what, bytes) => discarded.push([what, bytes]),
  });
  return { reader, payloads, discarded };
}

test("the checksum is CRC-16/X-25: its published check value is 0x906E", () => {
  expect(crc16X25(ascii("123456789"))).toBe(0x906e);
  expect(crc16X25(new Uint8Array())).toBe(0);
});

test("a frame carries its checksum low byte first, and escapes what means something to the line", () => {
  expect(Buffer.from(encodeFrame(ascii("123456789"))).toString("hex")).toBe("7e3132333435363738396e907e");
  const escaped = Buffer.from(encodeFrame(Uint8Array.of(0x7e, 0x7d, 0x11, 0x13, 0x20))).toString("hex");
  expect(escaped.startsWith("7e7d5e7d5d7d317d3320")).toBe(true);
  const { reader, payloads } = reading();
  reader.push(encodeFrame(Uint8Array.of(0x7e, 0x7d, 0x11, 0x13, 0x20)));
  expect(payloads).toEqual(["7e7d111320"]);
});

test("frames may share a flag, and the longest payload passes while one byte more does not", () => {
  const { reader, payloads, discarded } = reading(100);
  const frame = encodeFrame(Uint8Array.of(1));
  reader.push(frame);
  reader.push(frame.subarray(1));
  reader.push(encodeFrame(new Uint8Array(100)));
  reader.push(encodeFrame(new Uint8Array(101)));
  expect(payloads).toEqual(["01", "01", "00".repeat(100)]);
  expect(discarded).toEqual([["bytes of overlong frames", 103]]);
});

test("every byte that is thrown away is counted, with the reason", () => {
  const { reader, payloads, discarded } = reading();
  reader.push(Uint8Array.of(1, 2, 3));
  const spoilt = encodeFrame(Uint8Array.of(5, 6));
  spoilt[1] = 4;
  reader.push(spoilt);
  reader.push(Uint8Array.of(9, 0x7d));
  reader.push(encodeFrame(Uint8Array.of(7)));
  // A whole frame that its sender takes back, and a checksum of nothing.
  reader.push(Uint8Array.of(...encodeFrame(Uint8Array.of(8)).subarray(0, -1), 0x7d, 0x7e));
  reader.push(Uint8Array.of(0, 0, 0x7e));
  expect(payloads).toEqual(["07"]);
  expect(discarded).toEqual([
    ["bytes outside frames", 3],
    ["bytes of frames with a bad checksum", 4],
    ["bytes of frames with a bad checksum", 1],
    ["bytes of frames with a bad checksum", 3],
    ["bytes of frames with a bad checksum", 2],
  ]);
  expect(reader.held_bytes).toBe(0);
});

test("a line that is too long is thrown away whole and counted, and the next one is read", () => {
  const lines: string[] = [];
  let overlong = 0;
  const reader = new LineReader({
    line_max_bytes: 10,
    onLine: (line) => lines.push(line),
    onOverlong: (bytes) => {
      overlong += bytes;
    },
  });
  for (const piece of ["one\r\n", "0123456789", "\n", "012345", "678910", "11", "\ntw", "o\n\n", "grüße\n"])
    reader.push(ascii(piece));
  expect(lines).toEqual(["one", "0123456789", "two", "grüße"]);
  expect(overlong).toBe(14);
  expect(reader.held_bytes).toBe(0);
});
