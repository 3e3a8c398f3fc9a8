import { expect, test } from "bun:test";
import { decodeLine, encodeBlock, fetchLine, setTimeLine } from "../../../drivers/watch/health-log.ts";

const line = (fields: object) =>
  JSON.stringify({ t: "act", ts: 1_800_000_000_000, stp: 7, act: "WALKING", ...fields });

test("a line of the log is a block of ten minutes, whatever stands around it", () => {
  for (const text of [line({}), `  ${line({})}\r`, line({ hrm: 70, later: true })])
    expect(decodeLine(text)).toEqual({
      kind: "block",
      block: { end_ms: 1_800_000_000_000, steps: 7, activity: "WALKING" },
    });
});

test.each<[object, boolean]>([
  [{ ts: 0 }, true],
  [{ ts: -1 }, false],
  [{ ts: Date.UTC(2100, 0, 1) }, true],
  [{ ts: Date.UTC(2100, 0, 1) + 1 }, false],
  [{ ts: 1.5 }, false],
  [{ stp: 0 }, true],
  [{ stp: -1 }, false],
  [{ stp: 100_000 }, true],
  [{ stp: 100_001 }, false],
  [{ stp: 0.5 }, false],
  [{ act: "FLYING" }, false],
])("a block with %j is one: %p", (fields, whole) => {
  expect(decodeLine(line(fields))?.kind).toBe(whole ? "block" : undefined);
});

test("lines that are no blocks are told apart, and damaged ones from text of the console", () => {
  expect(decodeLine(line({ rt: 1 }))).toEqual({ kind: "live" });
  expect(decodeLine(line({ rt: 0 }))?.kind).toBe("block");
  expect(decodeLine('{"t":"actfetch","state":"start"}')).toEqual({ kind: "start" });
  expect(decodeLine('{"t":"actfetch","state":"end","count":3}')).toEqual({ kind: "end", count: 3 });
  expect(decodeLine('{"t":"actfetch","state":"end","count":0}')).toEqual({ kind: "end", count: 0 });
  expect(decodeLine('{"t":"actfetch","state":"end"}')).toEqual({ kind: "end", count: undefined });
  for (const wrong of [
    '"state":"rest"',
    '"state":"end","count":-1',
    '"state":"end","count":1.5',
    '"count":1',
  ])
    expect(decodeLine(`{"t":"actfetch",${wrong}}`)).toBeUndefined();
  for (const percent of [0, 100])
    expect(decodeLine(`{"t":"status","bat":${percent}}`)).toEqual({ kind: "battery", percent });
  for (const other of [
    '{"t":"status","bat":101}',
    '{"t":"status","bat":-1}',
    '{"t":"status"}',
    '{"t":"gps"}',
    ">",
    "",
  ])
    expect(decodeLine(other)).toEqual({ kind: "other" });
  for (const damaged of ['{"t":"ac', "{}", '{"t":1}', '>"t":"act","ts":1', "{"])
    expect(decodeLine(damaged)).toBeUndefined();
});

test("lines to and from a watch have the fields of its apps", () => {
  const block = { end_ms: 5, steps: 6, activity: "DEEP_SLEEP" } as const;
  expect(encodeBlock(block)).toBe('{"t":"act","ts":5,"stp":6,"hrm":0,"mov":0,"act":"DEEP_SLEEP"}');
  expect(encodeBlock(block, { hrm: 61, mov: 9 })).toContain('"hrm":61,"mov":9');
  expect(setTimeLine(1_800_000_000_600)).toBe("\x10setTime(1800000001);\n");
  expect(fetchLine(7)).toBe('\x10GB({"t":"actfetch","ts":7})\n');
});
