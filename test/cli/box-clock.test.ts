import { expect, test } from "bun:test";
import { clockQuality } from "../../src/base/clock.ts";
import { hour_ms } from "../../src/base/time.ts";
import { boxClock } from "../../src/cli/box-clock.ts";
import { Ingest } from "../../src/gateway/ingest/ingest.ts";
import { pauseOpen_ms } from "../../src/store/pause.ts";
import { beginPause, endPauses } from "../../src/store/pause-requests.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

test.each([-3, 3])(
  "a command beside the gateway does not believe a clock that has leapt by %d hours, and one that is back",
  async (hours) => {
    using directory = temporaryDirectory();
    const clock = new SettableClock(start_ms);
    const { log } = keptLog();
    const of = { directory: directory.path, clock };
    const store = await openGatewayStore({ ...of, log, ...writerOfTests() });
    const ingest = new Ingest({ store, clock, log });
    await ingest.accept(sensorEvent(sensor(1), start_ms, 1), undefined, "zigbee");
    await ingest.flush();
    const seen = boxClock(of);
    expect(seen.now().quality).toBe(clockQuality.synchronised);
    clock.advance(hour_ms);
    clock.leap(hours * hour_ms);
    expect(seen.doubt?.()?.what).toContain("has leapt");
    expect(boxClock(of).now().quality).toBe(clockQuality.unsynchronised);
    const refused = beginPause(store, boxClock(of), { home: 0, for_ms: hour_ms });
    await expect(refused).rejects.toThrow("has leapt, and nobody knows yet");
    await beginPause(store, boxClock(of), { home: 0 });
    expect((await store.pauses()).map(({ before_ms }) => before_ms)).toEqual([pauseOpen_ms]);
    // An end at a wrong time would let what a device has stored be recorded, or go on for hours.
    await expect(endPauses(store, boxClock(of), { home: 0 })).rejects.toThrow("has leapt");
    clock.leap(-hours * hour_ms);
    await endPauses(store, boxClock(of), { home: 0 });
    expect((await store.pauses()).map(({ before_ms }) => before_ms)).toEqual([start_ms + hour_ms]);
    await ingest.close();
    await store.close();
  },
);
