import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Parser } from "zigbee-herdsman/dist/adapter/z-stack/unpi/index.js";
import { findEveryFrame } from "../../../drivers/zigbee/parser.ts";

const dropped: [string, number][] = [];
await findEveryFrame((what, bytes) => dropped.push([what, bytes]));

const captures: { hex: string }[] = JSON.parse(
  readFileSync(new URL("../../captures/zigbee-znp.json", import.meta.url), "utf8"),
);
const frames = captures.map(({ hex }) => Buffer.from(hex.replaceAll(" ", ""), "hex"));

const [ping, , , notification] = frames as [Buffer, Buffer, Buffer, Buffer];

/** The frames that a new parser takes from these pieces, as bytes. */
function parse(...pieces: Uint8Array[]): Buffer[] {
  const parser = new Parser();
  const parsed: Buffer[] = [];
  parser.on("parsed", (frame) => parsed.push(frame.toBuffer()));
  for (const piece of pieces) parser.write(piece);
  return parsed;
}

test("frames are the same in one gulp and byte by byte", () => {
  const rounds = 2_000;
  const many = Array(rounds).fill(frames).flat();
  expect(parse(Buffer.concat(many))).toEqual(many);
  expect(parse(...[...Buffer.concat(frames)].map((byte) => Uint8Array.of(byte)))).toEqual(frames);
});

test("bytes that never start a frame are let go of and counted, and the next frame is found", () => {
  dropped.length = 0;
  expect(parse(Buffer.alloc(100_000), Buffer.concat(frames))).toEqual(frames);
  expect(dropped).toEqual([["zigbee bytes outside frames", 100_000]]);
});

test("a frame with a wrong checksum takes none of the frames behind it along", () => {
  const broken = Buffer.from(notification);
  broken.writeUInt8(broken.readUInt8(20) ^ 1, 20);
  expect(parse(Buffer.concat([ping, broken, ...frames]))).toEqual([ping, ...frames]);
});

test("a port that is opened in the middle of a frame misses that frame alone, wherever it was cut", () => {
  // A sender whose address has the byte that begins a frame, and what a frame could go on with.
  const address = Buffer.from(notification);
  address.set([0xfe, 0x80, 0x44], 7);
  for (let cut = 1; cut < address.length; cut += 1) {
    const opened = address.subarray(cut);
    expect(parse(Buffer.concat([opened, notification]))).toEqual([notification]);
    // The answer to the first request may be all that comes.
    expect(parse(opened, notification)).toEqual([notification]);
  }
});
