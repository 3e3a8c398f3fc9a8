import { expect, test } from "bun:test";
import { isAsSigned } from "../../../src/base/signed-json.ts";
import { day_ms } from "../../../src/base/time.ts";
import { acceptanceAnswer, acceptanceReportOf } from "../../../src/domain/acceptance.ts";
import { acceptancesIn } from "../../../src/gateway/acceptance/acceptances.ts";
import {
  FirstNights,
  type NightFigures,
  nextMorning_ms,
} from "../../../src/gateway/acceptance/first-night.ts";
import { keptLog, reading } from "../../../testbed/sample.ts";
import { type HomeName, VisitedHome } from "./visit-home.ts";

/** In Berlin; the visit ended on the day before at about half past three. */
const seven_ms = Date.UTC(2026, 10, 21, 6);

async function nightOf(asleep: readonly HomeName[], changed: Partial<NightFigures> = {}) {
  await using visited = await VisitedHome.make();
  await visited.tryAll();
  await visited.faults();
  const { store, clock, directory, hold } = visited;
  let figures: NightFigures = { late: 5, commit_ms: 25, clock_error_ms: 12 };
  let uploads = 0;
  const upload = async () => {
    uploads += 1;
  };
  const before = acceptancesIn(directory)[0];
  const nights = new FirstNights({
    store: {
      item: (...asked) => store.item(...asked),
      oldestFirst: (...asked) => store.oldestFirst(...asked),
      coverage: (asked) => {
        expect([asked.from_ms, asked.before_ms]).toEqual([(before?.signed.finished ?? 0) * 1_000, seven_ms]);
        return store.coverage(asked);
      },
    },
    clock,
    directory,
    hold,
    log: keptLog().log,
    figures: () => figures,
    upload,
  });
  expect(await nights.look()).toBeUndefined();
  visited.asleep = asleep;
  figures = { ...figures, ...changed };
  await visited.passes(seven_ms - 1);
  expect(await nights.look()).toBeUndefined();
  await visited.passes(seven_ms);
  const night = await nights.look();
  expect(await nights.look()).toBeUndefined();
  nights.stop();
  const [kept] = acceptancesIn(directory);
  if (night === undefined || kept === undefined) throw new Error("no first night");
  // The record itself is as it was.
  expect({ ...kept, nights: [] }).toEqual(before as never);
  expect(kept.nights.map((one) => [isAsSigned(one), one.signed])).toEqual([[true, night]]);
  expect(uploads).toBe(1);
  return { night, answer: acceptanceAnswer(acceptanceReportOf(kept)) };
}

test("on the next morning the box adds a night in which every device was covered, and central can say that it was good", async () => {
  const { night, answer } = await nightOf([]);
  expect(answer).toBe("Accepted, first night good.");
  expect(night).toMatchObject({
    number: 1,
    good: true,
    faults: [],
    lateframes: 0,
    commit: 25,
    clockoffset: 12,
  });
  expect(night.until).toBe(seven_ms / 1_000);
  expect(night.coverage.map(({ covered }) => covered)).toEqual(night.coverage.map(() => 1));
  expect(night.coverage).toHaveLength(8);
});

test("a night names what was not good: a silent device, late messages, a slow card, and a clock that may be off", async () => {
  const { night, answer } = await nightOf(["kitchen"], {
    late: 99,
    commit_ms: 2_500,
    clock_error_ms: 16_000,
  });
  expect(night.good).toBe(false);
  expect(night.faults.map(({ what }) => what)).toEqual([
    expect.stringMatching(/^Kitchen motion was covered for \d % of the first night\.$/) as never,
    "94 messages came late to the disk in the first night.",
    "The clock may be off by 16 s.",
    "The card took up to 2500 ms for a write.",
  ]);
  expect(answer).toMatch(
    /^Accepted, but the first night was not good, for several reasons\. The first: Kitchen motion was covered/,
  );
});

test("a visit that ends while its first night is added stays, and the night stands beside its own record", async () => {
  await using visited = await VisitedHome.make();
  await visited.tryAll();
  await visited.faults();
  const { store, clock, directory, hold } = visited;
  await visited.passes(seven_ms);
  const finishing = async (...asked: Parameters<typeof store.coverage>) => {
    if (acceptancesIn(directory).length === 1) await visited.faults();
    return store.coverage(...asked);
  };
  const nights = new FirstNights({
    store: {
      item: (...asked) => store.item(...asked),
      oldestFirst: (...asked) => store.oldestFirst(...asked),
      coverage: finishing,
    },
    ...{ clock, directory, hold, log: keptLog().log },
    figures: () => ({ late: 0, commit_ms: 25, clock_error_ms: 12 }),
  });
  await nights.look();
  nights.stop();
  expect(acceptancesIn(directory).map(({ signed, nights }) => [signed.number, nights.length])).toEqual([
    [2, 0],
    [1, 1],
  ]);
});

test("the next morning is seven o'clock by the clocks of the home, also where they change in that night", () => {
  const mornings = [
    ["Europe/Berlin", "2026-11-20T15:30:00+01:00", "2026-11-21T07:00:00+01:00"],
    ["Europe/Berlin", "2026-10-24T15:30:00+02:00", "2026-10-25T07:00:00+01:00"],
    ["Europe/Berlin", "2027-03-27T15:30:00+01:00", "2027-03-28T07:00:00+02:00"],
    ["America/Los_Angeles", "2026-10-31T23:30:00-07:00", "2026-11-01T07:00:00-08:00"],
    // Four hours before seven there was no night.
    ["Pacific/Auckland", "2026-11-20T03:00:00+13:00", "2026-11-21T07:00:00+13:00"],
  ];
  for (const [zone = "", finished = "", morning = ""] of mornings)
    expect(nextMorning_ms(zone, Date.parse(finished))).toBe(Date.parse(morning));
});

const box = { kind: "pillboxes", address: "00:00:00:00:00:21", subtype: "polled" } as const;
const watch = { kind: "watches", address: "a4:c1:38:00:00:22" } as const;
const epoch = { duration: 60, distance: 1, steps: 2, walkState: 2, runState: 1, sleepState: 1 };
const opened = (at_ms: number) =>
  [0b10, 0].map((event, second) => reading(box, "pillbox_events", at_ms + second * 1_000, { event }));
const worn = (at_ms: number) => [reading(watch, "watch_epochs", at_ms, epoch)];
const untold = (name: string) => expect.stringContaining(`${name} has told of no task since`);

test.each([
  ["neither", undefined, undefined, [untold("Polled box"), untold("Watch")]],
  ["both", 60_000, 60_000, []],
  ["one", 60_000, undefined, [untold("Watch")]],
  ["neither but before it was asked", -3_600_000, -3_600_000, [untold("Polled box"), untold("Watch")]],
  ["neither but after the night", day_ms, day_ms, [untold("Polled box"), untold("Watch")]],
] as const)(
  "of devices that tell later, a night names those that have told of no task since they were asked: %s",
  async (_, box_ms, watch_ms, faults) => {
    await using visited = await VisitedHome.make();
    const { store, clock, directory, hold, acceptances } = visited;
    for (const [device, name] of [
      [box, "Polled box"],
      [watch, "Watch"],
    ] as const) {
      await store.append([], { states: [{ device, heard_ms: clock.now().unix_ms, listener: "zigbee" }] });
      await store.nameItem({ address: device.address, name, given_ms: clock.now().unix_ms });
      acceptances.ask(device.address);
      clock.advance(60_000);
    }
    await visited.tryAll();
    const asked_ms = clock.now().unix_ms - 60_000;
    await visited.faults();
    await visited.passes(seven_ms);
    await store.append([
      ...(box_ms === undefined ? [] : opened(asked_ms + box_ms)),
      ...(watch_ms === undefined ? [] : worn(asked_ms + watch_ms)),
    ]);
    const nights = new FirstNights({
      ...{ store, clock, directory, hold, log: keptLog().log },
      figures: () => ({ late: 0, commit_ms: 25, clock_error_ms: 12 }),
    });
    const night = await nights.look();
    nights.stop();
    expect(night?.faults.map(({ what }) => what)).toEqual([...faults] as never);
  },
);
