import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { day_ms } from "../../../src/base/time.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";
import { daysOfEvents, type Home, Programme } from "./programme.ts";

/** The fifty days up to the day on which the tests take place. */
const now_ms = Date.UTC(2026, 10, 20, 12);
const from_ms = Date.UTC(2026, 10, 20) - 49 * day_ms;

async function held(home: Home): Promise<{ count: number; oldest_ms: number }> {
  return home.beside(async (store) => {
    let count = 0;
    let oldest_ms = Number.POSITIVE_INFINITY;
    for (const { itemname } of await store.items("wirelesssensors", { skip: 0, limit: 100 })) {
      const item = (await store.item("wirelesssensors", itemname))?.key ?? 0;
      const request = {
        series: "wirelesssensor_events",
        item,
        from_ms: 0,
        before_ms: 2 * now_ms,
        limit: 100_000,
      } as const;
      const { rows } = await store.oldestFirst(request);
      count += rows.length;
      oldest_ms = Math.min(oldest_ms, rows[0]?.[0] ?? oldest_ms);
    }
    return { count, oldest_ms };
  });
}

/** A home whose fifty days are at central, and of which only the last twenty were asked to stay. */
async function prunedHome(programme: Programme): Promise<Home> {
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 50, count: 6_000 }));
  await home.upload({ keep_days: 20 });
  return home;
}

test("without a policy nothing is ever removed", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 50, count: 6_000 }));
  expect(await home.upload()).toMatchObject({ pruned: 0 });
  expect((await held(home)).count).toBe(6_000);
});

test("what is older than the policy says goes once it is confirmed and compared, and the rest stays equal to central's", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 50, count: 6_000 }));
  const { pruned } = await home.upload({ keep_days: 20 });
  const before_ms = Date.UTC(2026, 10, 20) - 20 * day_ms;
  const { count, oldest_ms } = await held(home);
  expect(count).toBe(6_000 - pruned);
  expect(pruned).toBe(3_480);
  expect(oldest_ms).toBe(before_ms);
  expect(await home.state()).toMatchObject({ pruned_before_ms: before_ms, verified_seq: 6_000 });
  const again = await home.upload({ keep_days: 20, everyDay: true });
  expect(again).toMatchObject({ sent: 0, differing_days: 0, kept: 0, lost: 0, pruned: 0 });
  const { here, there } = await home.bothSides();
  expect(there.length).toBeGreaterThan(here.length);
  expect(programme.lines).toEqual([]);
});

test("what central has not confirmed stays, however old", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 50, count: 6_000 }));
  // A box that was out of reach hands over what it had kept, after everything else has been sent.
  const late = Array.from({ length: 3_000 }, (_, index) =>
    sensorEvent(sensor(9), from_ms + index * 1_000, 1),
  );
  const before = await home.upload({
    keep_days: 20,
    takeHomeRecords: async () => {
      await home.append(late);
      return { created: {}, updated: {} } as never;
    },
  });
  expect(before.pruned).toBeGreaterThan(0);
  const { count } = await held(home);
  expect(count).toBe(9_000 - before.pruned);
  expect(await home.upload({ keep_days: 20 })).toMatchObject({ sent: 3_000, lost: 0 });
});

test("a clock that is a year ahead empties nothing", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 50, count: 6_000 }));
  const { clock } = programme;
  const ahead = {
    boot: clock.boot,
    after: clock.after.bind(clock),
    now: () => ({ ...clock.now(), unix_ms: clock.now().unix_ms + 365 * day_ms }),
  };
  expect(await home.upload({ clock: ahead, keep_days: 60 })).toMatchObject({ sent: 6_000, pruned: 0 });
});

test("a reading that comes late for a day that was pruned is sent, and held against central's", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await prunedHome(programme);
  const late_ms = from_ms + 5 * day_ms + 1_234;
  await home.append([sensorEvent(sensor(1), late_ms, 5)]);
  expect(await home.upload({ keep_days: 20 })).toMatchObject({ sent: 1, differing_days: 0, lost: 0 });
  expect(await home.state()).toMatchObject({ verified_seq: 6_001 });
  // Another is sent, and is not what it was when it comes to comparing.
  await home.append([sensorEvent(sensor(1), late_ms + 1, 6)]);
  const stopped = await home
    .upload({
      onProgress: ({ now }) => {
        if (now.startsWith("comparing")) throw new Error("stopped before comparing");
      },
    })
    .catch((fault) => fault.message);
  expect(stopped).toBe("stopped before comparing");
  programme.changeEvents(
    (stamp_ms) => stamp_ms === late_ms + 1,
    () => 7,
  );
  expect(await home.upload({ keep_days: 20 })).toMatchObject({ sent: 0, differing_days: 1, repaired: 1 });
  expect(await home.state()).toMatchObject({ verified_seq: 6_002 });
});

test("what central lost and the gateway has pruned is counted and said; all else is sent again", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 5, count: 600 }));
  await home.upload();
  await programme.stop();
  cpSync(join(programme.directory, "central"), join(programme.directory, "older"), { recursive: true });
  await programme.start();
  await home.append(daysOfEvents({ from_ms: from_ms + 5 * day_ms, days: 45, count: 5_400 }));
  const { pruned } = await home.upload({ keep_days: 20 });
  await programme.stop();
  await programme.start("older");
  const done = await home.upload({ keep_days: 20 });
  const lost = pruned - 600;
  expect(lost).toBeGreaterThan(1_000);
  expect(done).toMatchObject({ sent: 5_400 - lost, lost, confirmed_seq: 6_000, differing_days: 0 });
  expect(programme.lines.at(-1)).toBe(
    `warn  ${lost} readings that central does not hold are not at this box any more either, lost or erased: central passes their numbers`,
  );
  // They are lost once: central does not ask for them again.
  expect(await home.upload({ keep_days: 20 })).toMatchObject({ sent: 0, lost: 0 });
});
