import { expect, test } from "bun:test";
import { StoppedReleases, stoppedReleases } from "../../src/central/fleet/stopped-releases.ts";
import type { ReleaseRefusal, ReleaseRefusalReason } from "../../src/domain/fleet-home.ts";
import type { GatewayRecord } from "../../src/store/central/central-store.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

const refusal = (
  sha256: string,
  reason: ReleaseRefusalReason = "went_back",
  version = "2.0.0",
): ReleaseRefusal => ({ version, sha256, reason, message: `${sha256} hears nothing`, at_ms: 1, times: 1 });
const [bad, worse] = ["a".repeat(64), "b".repeat(64)];

test.each<[name: string, boxes: ReleaseRefusal[][], stopped: [sha256: string, boxes: number][]]>([
  ["one box", [[refusal(bad)]], []],
  ["two boxes", [[refusal(bad)], [refusal(bad)]], []],
  ["three boxes", [[refusal(bad)], [], [refusal(bad)], [refusal(bad)]], [[bad, 3]]],
  ["three boxes that only refused it", Array(3).fill([refusal(bad, "damaged")]), []],
  ["three boxes, each from another package of a version", ["c", "d", "e"].map((one) => [refusal(one)]), []],
  [
    "boxes from two releases, the one of most boxes first",
    [...Array(3).fill([refusal(bad), refusal(worse)]), [refusal(worse)]],
    [
      [worse, 4],
      [bad, 3],
    ],
  ],
])("what %s went back from is stopped from three boxes on", (_name, boxes, stopped) => {
  const found = stoppedReleases(boxes.map((refusals, home) => ({ home, refusals })));
  expect(found.map(({ sha256, boxes }) => [sha256, boxes])).toEqual(stopped);
  for (const { sha256, why, homes, boxes } of found)
    expect([why, homes.length]).toEqual([`${sha256} hears nothing`, boxes]);
});

test("a box is told of a stop in the answer to its report: at once by whoever went back, within a minute by others", async () => {
  const clock = new SettableClock(0);
  const boxes: ReleaseRefusal[][] = [[], [], [], []];
  let reads = 0;
  const store = {
    gateways: async () => {
      reads += 1;
      return boxes.map((refusals, home) => ({ home, report: { update: { ring: 1, refusals } } })) as never;
    },
  } satisfies { gateways: () => Promise<GatewayRecord[]> };
  const releases = new StoppedReleases({ store, clock });
  const report = async (box: number) => {
    const { stopped = [] } = await releases.answerTo({ update: { ring: 1, refusals: boxes[box] ?? [] } });
    return stopped.map(({ sha256 }) => sha256);
  };
  expect(await report(3)).toEqual([]);
  for (const box of [0, 1]) {
    boxes[box]?.push(refusal(bad));
    expect(await report(box)).toEqual([]);
  }
  expect(await report(3)).toEqual([]);
  boxes[2]?.push(refusal(bad));
  // Of another gateway of the same central, or before this one was started.
  expect(await report(3)).toEqual([]);
  expect(await report(2)).toEqual([bad]);
  expect(await report(3)).toEqual([bad]);
  const before = reads;
  for (let report_s = 0; report_s < 60; report_s += 1) await report(3);
  expect(reads).toBe(before);
  for (const refusals of boxes) refusals.length = 0;
  clock.advance(60_001);
  expect(await report(3)).toEqual([]);
  expect(await releases.answerTo({})).toEqual({});
});

test("a box is answered again once the store can be read", async () => {
  let isAway = true;
  const store = {
    gateways: async () => {
      if (isAway) throw new Error("the database is away");
      return [];
    },
  };
  const releases = new StoppedReleases({ store, clock: new SettableClock(0) });
  const report = () => releases.answerTo({ update: { ring: 1, refusals: [] } });
  expect(report()).rejects.toThrow("away");
  await Promise.resolve();
  await Promise.allSettled([report()]);
  isAway = false;
  expect(await report()).toEqual({});
});
