import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeBatch } from "../../../src/transfer/batch-codec.ts";
import { bytesWith, readingsOfDay, textOf, written } from "../../../testbed/batch-sample.ts";
import { batchOf, plainOf } from "../../../testbed/plain-batch.ts";

test("a batch is as docs/upload.md shows one", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/upload.md"), "utf8");
  const shown = JSON.parse(/```json\n([^`]*)```/.exec(page)?.[1] ?? "");
  const text = JSON.parse(textOf(written(readingsOfDay)));
  const { from_seq, to_seq } = { from_seq: shown.seq[0], to_seq: shown.seq[0] + shown.seq.length - 1 };
  const batch = { ...text, from_seq, to_seq, series: { wirelesssensor_events: shown } };
  const held = plainOf(decodeBatch(bytesWith(JSON.stringify(batch))));
  expect(held.series.wirelesssensor_events?.stamp_ms[1]).toBe(shown.stamp_ms[0] + 23_840);
  expect(JSON.parse(textOf(written(batchOf(held)))).series.wirelesssensor_events).toEqual(shown);
});
