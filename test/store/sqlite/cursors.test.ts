import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { ReadingRefused } from "../../../src/store/store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

test("a cursor is on disk with the readings of its commit, and stays as it was when they are refused", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  expect(await store.cursor("pillbox events 1")).toBeUndefined();
  const event = sensorEvent(sensor(1), start_ms, 1);
  await store.append([event], { cursors: [{ name: "pillbox events 1", value: "7" }] });
  const impossible = sensorEvent(sensor(1), start_ms, "no number" as unknown as number);
  const cursors = [{ name: "pillbox events 1", value: "8" }];
  const fault = await store.append([impossible], { cursors }).catch((thrown: unknown) => thrown);
  expect(fault).toBeInstanceOf(ReadingRefused);
  expect(await store.cursor("pillbox events 1")).toBe("7");
  await store.append([], { cursors: [{ name: "pillbox events 2", value: "1" }] });
  await store.close();
  const again = await openGateway(directory.path);
  expect(await again.cursor("pillbox events 1")).toBe("7");
  expect(await again.cursor("pillbox events 2")).toBe("1");
  await again.close();
});

test("a cursor tells nothing of what is not recorded, nor of what is taken away later, and the buffer is read on from there", async () => {
  using directory = temporaryDirectory();
  const of = { directory: directory.path, clock: new SystemClock(), log: keptLog().log };
  const store = await openGatewayStore({ ...of, home: 12, ...writerOfTests() });
  const [scale, box] = [sensor(1), { kind: "pillboxes", address: "00:00:00:00:00:01" } as const];
  const cursors = (value: string, at_ms: number) => [
    { name: "box", value: `7 ${value}`, bare: "7", of: { device: box, at_ms, waits: false } },
    { name: "scale", value, bare: null, of: { device: scale, at_ms, waits: false } },
    { name: "plain", value: "1" },
  ];
  const kept = () => Promise.all(["box", "scale", "plain"].map((name) => store.cursor(name)));
  const pause = {
    home: 0,
    own: 1,
    at_ms: start_ms,
    from_ms: start_ms + 100,
    before_ms: start_ms + 200,
  } as const;
  await store.append([], { cursors: cursors("KEPT", start_ms) });
  await store.takePauses([{ ...pause, id: "ab".repeat(16) }]);
  expect(await kept()).toEqual(["7 KEPT", "KEPT", "1"]);
  await store.append([], { cursors: cursors("PAUSED", start_ms + 150) });
  expect(await kept()).toEqual(["7", "KEPT", "1"]);
  // What nobody knew of yet is told later: of a kind of device, then of all.
  await store.append([], { cursors: cursors("LATER", start_ms + 300) });
  const later = { ...pause, from_ms: start_ms + 250, before_ms: start_ms + 350 };
  await store.takePauses([{ ...later, id: "cd".repeat(16), kind: "pillboxes" }]);
  expect(await kept()).toEqual(["7", "LATER", "1"]);
  await store.append([], { cursors: cursors("ERASED", start_ms + 400) });
  await store.erase({ target: { home: 12 }, id: "ef".repeat(16), at_ms: start_ms + 500 });
  expect(await kept()).toEqual(["7", undefined, "1"]);
  await store.close();
  for (const file of readdirSync(directory.path)) {
    const bytes = readFileSync(join(directory.path, file), "latin1");
    expect([file, bytes.match(/PAUSED|LATER|ERASED/)]).toEqual([file, null]);
  }
});
