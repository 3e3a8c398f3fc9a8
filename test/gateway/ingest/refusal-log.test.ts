import { expect, test } from "bun:test";
import { refusalLog } from "../../../src/gateway/ingest/validity.ts";
import { keptLog } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

test("a refusal is said at once, then once a minute for each name, with how many there were between", () => {
  const clock = new SettableClock(0);
  const { log, lines } = keptLog();
  clock.advance(90_000);
  const refuse = refusalLog({ clock, log });
  const frames = { name: "frames", detail: "too long" };
  expect(refuse(frames, "it is left out")).toMatchObject({
    what: "frames: too long",
    remedy: "it is left out",
  });
  refuse(frames, "it is left out");
  refuse({ name: "gaps", detail: "of nothing" }, "it is left out");
  clock.advance(59_999);
  refuse(frames, "it is left out");
  expect(lines).toEqual(["warn  frames: too long: it is left out", "warn  gaps: of nothing: it is left out"]);
  clock.advance(1);
  refuse(frames, "it is left out");
  refuse({ name: "gaps", detail: "of nothing" }, "it is left out");
  expect(lines.slice(2)).toEqual([
    "warn  frames: too long: it is left out (and 2 more since the last line)",
    "warn  gaps: of nothing: it is left out",
  ]);
  clock.advance(60_000);
  refuse(frames, "it is left out");
  expect(lines.at(-1)).toBe("warn  frames: too long: it is left out");
});
