import { expect, test } from "bun:test";
import { ReadingRefused } from "../../../src/store/store.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

test("a cursor is on disk with the readings of its commit, and stays as it was when they are refused", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  expect(await store.cursor("pillbox events 1")).toBeUndefined();
  const event = sensorEvent(sensor(1), start_ms, 1);
  await store.append([event], { cursors: new Map([["pillbox events 1", "7"]]) });
  const impossible = sensorEvent(sensor(1), start_ms, "no number" as unknown as number);
  const cursors = new Map([["pillbox events 1", "8"]]);
  const fault = await store.append([impossible], { cursors }).catch((thrown: unknown) => thrown);
  expect(fault).toBeInstanceOf(ReadingRefused);
  expect(await store.cursor("pillbox events 1")).toBe("7");
  await store.append([], { cursors: new Map([["pillbox events 2", "1"]]) });
  await store.close();
  const again = await openGateway(directory.path);
  expect(await again.cursor("pillbox events 1")).toBe("7");
  expect(await again.cursor("pillbox events 2")).toBe("1");
  await again.close();
});
