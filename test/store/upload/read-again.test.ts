import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { databasePath } from "../../../src/store/sqlite/connection.ts";
import { beginEpochIn } from "../../../src/store/sqlite/role-and-epoch.ts";
import { reading, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkTotals } from "../sqlite/totals.ts";
import { batchesAfter, rowsOf } from "./model.ts";
import { openUpload, ownEpoch } from "./opening.ts";

const box = { kind: "pillboxes", address: "00:0d:6f:00:07:01", subtype: "polled" } as const;
const sensor = { kind: "wirelesssensors", address: "00:0d:6f:00:05:a1:b2:c3" } as const;

/** An event of the box, by its number; its clock was found to be so much off. */
function doors(event: number, off_ms: number): Reading {
  const shown_ms = start_ms + event * 60_000;
  return {
    ...reading(box, "pillbox_events", shown_ms + off_ms, { event }),
    clock: clockQuality.device,
    deviceClock: { stamp_ms: shown_ms, offset_ms: off_ms },
  };
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("events of a box that came back from central and are read again are there once, however the clock was measured", async () => {
  using lost = temporaryDirectory();
  const gateway = await openGateway(lost.path);
  const turn = reading(sensor, "wirelesssensor_events", start_ms + 90_000, { event: 49 });
  await gateway.append([...range(1, 6).map((event) => doors(event, 5_000)), turn]);
  const from = await openUpload(lost.path);
  const sent = await batchesAfter(from, {
    epoch: await ownEpoch(from),
    after_seq: 0,
    readings_max: () => 100,
  });
  await from.close();
  await gateway.close();

  using spare = temporaryDirectory();
  const restored = await openUpload(spare.path, { create: true });
  for (const batch of sent) await restored.restoreReadings(batch);
  const running = await openGateway(spare.path);
  const cursors = [{ name: "box", value: "9" }];
  // The box is read on from its third event; another door at one of these seconds, and a sensor without a clock, are other readings.
  const other = { ...doors(5, 9_000), values: { event: 64 } };
  const appended = await running.append([...range(3, 9).map((event) => doors(event, 9_000)), other, turn], {
    cursors,
  });
  expect(appended).toMatchObject({ first_seq: 8, last_seq: 16 });
  expect(await running.cursor("box")).toBe("9");
  // What this box has recorded itself is never taken for one that came back.
  await running.append([doors(9, 9_000)]);
  checkTotals(spare.path);
  const epoch = await ownEpoch(restored);
  const own = await batchesAfter(restored, { epoch, after_seq: 7, readings_max: () => 100 });
  expect(own.flatMap(rowsOf).map(([seq, , , , , event]) => [seq, event])).toEqual([
    [12, 7],
    [13, 8],
    [14, 9],
    [15, 64],
    [16, 49],
    [17, 9],
  ]);
  await running.close();
  await restored.close();
});

test("what may be read again is not pruned before the box has told something newer", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await gateway.append(range(1, 6).map((event) => doors(event, 5_000)));
  await gateway.close();
  beginEpochIn(directory.path, "0123456789abcdef0123456789abcdef");
  const spare = await openGateway(directory.path);
  const store = await openUpload(directory.path);
  const all = { before_ms: start_ms + day_ms, through_seq: 100, readings_max: 100 };
  expect(await store.prune(all)).toEqual({ pruned: 0, more: false });
  await spare.append(range(3, 7).map((event) => doors(event, 6_000)));
  expect(await store.prune(all)).toEqual({ pruned: 6, more: false });
  await store.close();
  await spare.close();
});

test("so are events of a box whose place in the buffer was lost with a damaged page, where the readings were saved", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await gateway.append(range(1, 6).map((event) => doors(event, 5_000)));
  await gateway.close();
  beginEpochIn(directory.path, "0123456789abcdef0123456789abcdef");
  const mended = await openGateway(directory.path);
  await mended.append(range(4, 8).map((event) => doors(event, 6_000)));
  checkTotals(directory.path);
  using database = new Database(databasePath(directory.path), { readonly: true });
  expect(database.query("SELECT event, seq FROM pillbox_events ORDER BY seq").values()).toEqual([
    ...range(1, 6).map((event) => [event, event]),
    [7, 10],
    [8, 11],
  ]);
  await mended.close();
});

test("an event that is dated a day apart or more is another one: the clock of the box was set back", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  await gateway.append([doors(1, 0)]);
  await gateway.close();
  beginEpochIn(directory.path, "0123456789abcdef0123456789abcdef");
  const mended = await openGateway(directory.path);
  await mended.append([
    doors(1, day_ms - 1),
    doors(1, 1 - day_ms),
    doors(1, day_ms + 1),
    doors(1, -day_ms - 1),
  ]);
  using database = new Database(databasePath(directory.path), { readonly: true });
  const stamps = database.query("SELECT stamp FROM pillbox_events ORDER BY seq").values();
  const shown_ms = start_ms + 60_000;
  expect(stamps).toEqual([[shown_ms], [shown_ms + day_ms + 1], [shown_ms - day_ms - 1]]);
  await mended.close();
});
