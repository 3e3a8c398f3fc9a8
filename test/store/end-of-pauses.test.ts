import { expect, test } from "bun:test";
import { clockQuality } from "../../src/base/clock.ts";
import { type Pause, pauseOpen_ms } from "../../src/store/pause.ts";
import { beginPause, endPauses } from "../../src/store/pause-requests.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

const now_ms = Date.UTC(2026, 4, 1, 12);
const clock = new SettableClock(now_ms);
const pause: Pause = {
  ...{ id: "one", home: 12, own: 1, refused: 0, at_ms: 0, from_ms: now_ms - 1, before_ms: pauseOpen_ms },
};

function storeOf(...pauses: readonly Pause[]) {
  const taken: unknown[] = [];
  const takePauses = async (all: readonly unknown[]) => taken.push(...all);
  return { taken, store: { pauses: async () => pauses, takePauses, overview: async () => ({ items: [] }) } };
}

const whys = [undefined, "consent_withdrawn", "restricted", "enrollment_ended"] as Pause["why"][];
const cases = [0, 12].flatMap((home) =>
  ([0, 1] as const).flatMap((own) =>
    [false, true].flatMap((again) => whys.map((why) => ({ home, own, again, why }))),
  ),
);

// A gateway is home 0 to itself. What central withdrew there, `own` 0, central alone lets go on.
test.each(cases)("a pause of %j ends where its end may end it", async ({ home, own, again, why }) => {
  const { taken, store } = storeOf({ ...pause, home, own, ...(why && { why }) });
  const { ended, stopped } = await endPauses(store as never, clock, { home, again });
  const mayEnd = why === undefined || (why === "consent_withdrawn" && again && (home === 12 || own === 1));
  expect([ended.length, taken.length, stopped === undefined]).toEqual(mayEnd ? [1, 1, true] : [0, 0, false]);
  if (mayEnd) expect(taken[0]).toMatchObject({ id: "one", before_ms: now_ms, own: 1 });
});

test("pauses that have not begun, are over, or are of one kind are told apart", async () => {
  const of = (change: Partial<Pause>) => storeOf({ ...pause, ...change }).store as never;
  const count = async (change: Partial<Pause>) =>
    (await endPauses(of(change), clock, { home: 12 })).ended.length;
  expect(await count({ from_ms: now_ms })).toBe(1);
  expect(await count({ from_ms: now_ms + 1 })).toBe(0);
  expect(await count({ before_ms: now_ms + 1 })).toBe(1);
  expect(await count({ before_ms: now_ms })).toBe(0);
  const ofKind = await endPauses(of({ kind: "scales", why: "restricted" }), clock, { home: 12 });
  expect(ofKind).toEqual({ ended: [] });
});

test("a pause that begins ends those under way at its own end, of its kind alone, and never later than theirs", async () => {
  const for_ms = 1_000;
  const shorter = { ...pause, id: "shorter", before_ms: now_ms + 500 };
  const scales = { ...pause, id: "scales", kind: "scales" } as const;
  const withdrawn = { ...pause, id: "withdrawn", why: "consent_withdrawn" } as const;
  const { taken, store } = storeOf(pause, shorter, scales, withdrawn);
  const begun = await beginPause(store as never, clock, { home: 12, for_ms });
  expect(taken).toMatchObject([
    { id: "one", before_ms: now_ms + for_ms },
    { id: "shorter", before_ms: now_ms + 500 },
    { at_ms: now_ms, from_ms: now_ms, before_ms: now_ms + for_ms, home: 12, own: 1 },
  ]);
  expect(begun).toMatchObject({ isKnown: true, pause: { id: "one", before_ms: now_ms + for_ms } });
});

test("a pause while nobody knows the time has no end, and begins after a device was heard", async () => {
  const unsure = new SettableClock(now_ms);
  unsure.quality = clockQuality.unsynchronised;
  const { taken, store } = storeOf();
  // The last two were heard before a restore: of one the newest readings are from then, of the other there are none.
  const items = [
    { heard_ms: 6, series: [{ newest_ms: 99 }] },
    { heard_ms: 41, series: [] },
    { series: [{ newest_ms: 30 }, { newest_ms: 42 }] },
    { series: [] },
  ];
  const heard = { ...store, overview: async () => ({ items }) };
  await beginPause(heard as never, unsure, { home: 12 });
  expect(taken).toMatchObject([{ from_ms: 43, before_ms: pauseOpen_ms }]);
  expect(beginPause(heard as never, unsure, { home: 12, for_ms: 1 })).rejects.toThrow(
    "when the pause would end",
  );
  expect(endPauses(heard as never, unsure, { home: 12 })).rejects.toThrow("when the pause would end");
});
