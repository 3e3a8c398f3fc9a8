import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { setLogger } from "zigbee-herdsman";
import { Parser } from "zigbee-herdsman/dist/adapter/z-stack/unpi/index.js";
import { feedInSmallPieces } from "../../../drivers/zigbee/parser.ts";

const silent = { debug: () => {}, info: () => {}, warning: () => {}, error: () => {} };
let longest = 0;
const dropped: [string, number][] = [];
setLogger({
  ...silent,
  debug: (message) => {
    longest = Math.max(longest, typeof message === "string" ? message.length : 0);
  },
});
afterAll(() => setLogger(silent));
await feedInSmallPieces((what, bytes) => dropped.push([what, bytes]));

const captures: { hex: string }[] = JSON.parse(
  readFileSync(new URL("../../captures/zigbee-znp.json", import.meta.url), "utf8"),
);
const frames = captures.map(({ hex }) => Buffer.from(hex.replaceAll(" ", ""), "hex"));

test("a long read costs zigbee-herdsman no more for each frame than a short one", () => {
  const rounds = 2_000;
  const parser = new Parser();
  let parsed = 0;
  parser.on("parsed", () => {
    parsed += 1;
  });
  parser.write(Buffer.concat(Array(rounds).fill(Buffer.concat(frames)).flat()));
  expect(parsed).toBe(rounds * frames.length);
  // Its debug messages hold all bytes that it has yet to parse, four characters for each.
  expect(longest).toBeLessThan(4_096);
});

test("bytes that never start a frame are let go of and counted, and the next frame is found", () => {
  const parser = new Parser();
  let parsed = 0;
  parser.on("parsed", () => {
    parsed += 1;
  });
  parser.write(Buffer.alloc(100_000));
  expect(dropped.map(([what]) => what)).toContain("zigbee bytes outside frames");
  expect(dropped.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeGreaterThan(98_000);
  parser.write(Buffer.concat(frames));
  expect(parsed).toBe(frames.length);
});
