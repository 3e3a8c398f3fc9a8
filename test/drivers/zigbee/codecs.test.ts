import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  data_max_bytes,
  encodeFrame,
  type Frame,
  FrameReader,
  frameType,
} from "../../../drivers/zigbee/simulator/frame.ts";
import { decodeNib, encodeNib } from "../../../drivers/zigbee/simulator/nv.ts";
import {
  decodeStatusChange,
  decodeValue,
  decodeZcl,
  encodeStatusChange,
  encodeValue,
  encodeZcl,
} from "../../../drivers/zigbee/simulator/zcl.ts";
import { seededRandom } from "../../../testbed/recording-host.ts";

interface Capture {
  readonly what: string;
  readonly hex: string;
  readonly type: number;
  readonly subsystem: number;
  readonly id: number;
}

const captures: Capture[] = JSON.parse(
  readFileSync(new URL("../../captures/zigbee-znp.json", import.meta.url), "utf8"),
);

const whole = (capture: Capture) => Buffer.from(capture.hex.replaceAll(" ", ""), "hex");
const names = (frames: readonly Frame[]) => frames.map(({ type, subsystem, id }) => [type, subsystem, id]);
const wanted = captures.map(({ type, subsystem, id }) => [type, subsystem, id]);
const stream = Buffer.concat(captures.map(whole));

describe("ZNP frames", () => {
  test("captured frames decode to what they are, and encode to the same bytes", () => {
    for (const capture of captures) {
      const [frame] = new FrameReader().read(whole(capture));
      expect(names(frame === undefined ? [] : [frame])).toEqual([
        [capture.type, capture.subsystem, capture.id],
      ]);
      if (frame === undefined) continue;
      expect(encodeFrame(frame.type, (frame.subsystem << 8) | frame.id, frame.data)).toEqual(whole(capture));
    }
  });

  test("frames come out the same in one gulp and byte by byte", () => {
    expect(names(new FrameReader().read(stream))).toEqual(wanted);
    const reader = new FrameReader();
    expect(names([...stream].flatMap((byte) => reader.read(Uint8Array.of(byte))))).toEqual(wanted);
    expect(reader.discarded_bytes).toBe(0);
  });

  test("garbage between frames is thrown away and counted", () => {
    const reader = new FrameReader();
    const noise = Buffer.from([0x00, 0x7e, 0x55, 0x01]);
    expect(names(reader.read(Buffer.concat([noise, stream, noise])))).toEqual(wanted);
    expect(reader.discarded_bytes).toBe(2 * noise.length);
  });

  test("a frame with a wrong checksum is no frame, and the next one is found", () => {
    const broken = Buffer.from(whole(captures[0] as Capture));
    broken.writeUInt8(broken.readUInt8(broken.length - 1) ^ 0xff, broken.length - 1);
    const reader = new FrameReader();
    expect(names(reader.read(Buffer.concat([broken, stream])))).toEqual(wanted);
    expect(reader.discarded_bytes).toBe(broken.length);
  });

  test("a frame that is cut short waits for its rest, wherever it was cut", () => {
    const frame = whole(captures[0] as Capture);
    for (let cut = 0; cut < frame.length; cut += 1) {
      const reader = new FrameReader();
      expect(reader.read(frame.subarray(0, cut))).toEqual([]);
      expect(names(reader.read(frame.subarray(cut)))).toEqual([wanted[0] ?? []]);
    }
  });

  test("random noise never makes the reader hold more than one frame", () => {
    const random = seededRandom(5);
    const reader = new FrameReader();
    let given = 0;
    for (let round = 0; round < 200; round += 1) {
      const noise = random(64);
      given += noise.length;
      reader.read(noise);
    }
    expect(given - reader.discarded_bytes).toBeLessThanOrEqual(2 * (data_max_bytes + 5));
  });

  test("a frame too long for its length byte is refused", () => {
    expect(() => encodeFrame(frameType.event, 0x4481, new Uint8Array(data_max_bytes + 1))).toThrow(
      RangeError,
    );
  });
});

describe("ZCL", () => {
  test("frames and status changes come back as they were", () => {
    const change = { zonestatus: 0x0032, zone: 23, delay_quarter_s: 65_535 };
    const frame = {
      specific: true,
      fromServer: true,
      disableDefaultResponse: true,
      sequence: 255,
      command: 0,
      payload: encodeStatusChange(change),
    };
    expect(decodeZcl(encodeZcl(frame))).toEqual(frame);
    expect(decodeZcl(encodeZcl({ ...frame, manufacturer: 0x10b9 }))).toEqual({
      ...frame,
      manufacturer: 0x10b9,
    });
    expect(decodeStatusChange(frame.payload)).toEqual(change);
    for (let cut = 0; cut < 3; cut += 1) {
      expect(decodeZcl(encodeZcl(frame).subarray(0, cut))).toBeUndefined();
      expect(decodeStatusChange(frame.payload.subarray(0, cut))).toBeUndefined();
    }
  });

  test("attribute values of each type come back as they were, and not at all when they are cut short", () => {
    const attributes = [
      { type: "u8", value: 200 },
      { type: "u16", value: 65_535 },
      { type: "u32", value: 14_400 },
      { type: "enum8", value: 1 },
      { type: "enum16", value: 0x15 },
      { type: "bitmap16", value: 0x31 },
      { type: "eui64", value: Buffer.from("0011223344556677", "hex") },
      { type: "string", value: "3041" },
    ] as const;
    for (const attribute of attributes) {
      const bytes = encodeValue(attribute);
      expect(decodeValue(Buffer.concat([bytes, Buffer.from([9])]))).toEqual({
        attribute,
        length: bytes.length,
      });
      expect(decodeValue(bytes.subarray(0, bytes.length - 1))).toBeUndefined();
    }
    expect(decodeValue(Buffer.from([0x99, 1, 2, 3]))).toBeUndefined();
  });
});

test("a network information base of 110 bytes comes back as it was", () => {
  const network = {
    pan_id: 0x1a62,
    channel: 25,
    extended_pan_id: Buffer.from("0102030405060708", "hex"),
    eui: Buffer.from("00124b0001020304", "hex"),
  };
  expect(encodeNib(network)).toHaveLength(110);
  expect(decodeNib(encodeNib(network))).toEqual(network);
  expect(decodeNib(encodeNib(network).subarray(1))).toBeUndefined();
});
