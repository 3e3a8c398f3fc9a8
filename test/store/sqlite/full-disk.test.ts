import { expect, test } from "bun:test";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../../src/base/errors.ts";
import { sensor, sensorEvent, start_ms } from "../../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";
import { mountSmall, mountsAllowed } from "./mount.ts";

test.skipIf(!mountsAllowed)(
  "a full disk rejects the batch whole, and writing goes on when there is room",
  async () => {
    using mount = mountSmall({ bytes: 3_000_000 });
    const ballast = join(mount.path, "ballast");
    writeFileSync(ballast, new Uint8Array(2_000_000));
    const store = await openGateway(mount.path);
    let kept = 0;
    let fault: unknown;
    for (let group = 0; group < 200 && fault === undefined; group += 1) {
      try {
        await store.append(events(kept, 500));
        kept += 500;
      } catch (thrown) {
        fault = thrown;
      }
    }
    expect(fault).toBeInstanceOf(OperatorError);
    expect((fault as Error).message).toBe(
      `${databaseOf(mount.path)} cannot grow: the disk is full: free some space; writing goes on by itself`,
    );
    expect(kept).toBeGreaterThan(0);
    expect((await store.overview()).last_seq).toBe(kept);
    expect((await store.overview()).items[0]?.series[0]?.count).toBe(kept);
    expect(await store.append(events(kept, 500)).catch((thrown) => thrown)).toBeInstanceOf(OperatorError);

    rmSync(ballast);
    expect(await store.append(events(kept, 500))).toMatchObject({
      first_seq: kept + 1,
      last_seq: kept + 500,
    });
    const page = {
      series: "wirelesssensor_events",
      item: 1,
      before_ms: start_ms * 2,
      limit: 1,
      precision: "ms",
    } as const;
    expect((await store.page({ ...page, skip: kept + 499 })).records).toEqual([
      { stamp: start_ms, event: 0 },
    ]);
    expect((await store.page({ ...page, skip: 0 })).records).toEqual([
      { stamp: start_ms + kept + 499, event: kept + 499 },
    ]);
    await store.close();
  },
);

test.skipIf(!mountsAllowed)(
  "on a full disk an erasure, and the copy of the essentials, are refused in one line, and nothing is gone",
  async () => {
    using mount = mountSmall({ bytes: 3_000_000 });
    const store = await openGateway(mount.path);
    await store.append(events(0, 500));
    const ballast = join(mount.path, "ballast");
    writeFileSync(ballast, new Uint8Array(statfsSync(mount.path).bavail * 4096));
    const refusal = async (asked: Promise<unknown>) => {
      const fault = await asked.catch((thrown) => thrown);
      expect(fault).toBeInstanceOf(OperatorError);
      return (fault as Error).message;
    };
    const path = databaseOf(mount.path);
    const whole = { target: { home: 0 }, id: "ab".repeat(16), at_ms: start_ms * 2 } as const;
    expect(await refusal(store.erase(whole))).toMatch(
      /^\S+ is to be written anew without what is erased, for which \d+ bytes must be free, and \d+ are: free some space on its disk/,
    );
    expect(await refusal(store.keepEssentials())).toStartWith(`${path} cannot grow: the disk is full: `);
    expect((await store.overview()).items[0]?.series[0]?.count).toBe(500);

    rmSync(ballast);
    await store.keepEssentials();
    expect(await store.erase(whole)).toMatchObject({ readings: [{ readings: 500 }] });
    expect((await store.overview()).items).toEqual([]);
    await store.close();
  },
);

function events(first: number, count: number) {
  return Array.from({ length: count }, (_, n) => sensorEvent(sensor(1), start_ms + first + n, first + n));
}
