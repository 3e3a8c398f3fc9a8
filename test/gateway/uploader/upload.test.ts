import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../../src/base/errors.ts";
import { day_ms } from "../../../src/base/time.ts";
import { fleetOf } from "../../../src/central/fleet/fleet.ts";
import { TryAgainLater } from "../../../src/web/client/http-request.ts";
import { changeBehind, daysOfEvents, type Home, Programme } from "./programme.ts";

const from_ms = Date.UTC(2026, 8, 1);

async function faultOf(uploading: Promise<unknown>): Promise<Error> {
  return (await uploading.then(
    () => new Error("it went well"),
    (fault) => fault,
  )) as Error;
}

async function expectEqual(home: Home): Promise<void> {
  const { here, there } = await home.bothSides();
  expect(there).toEqual(here);
  expect(here.length).toBeGreaterThan(0);
}

test("every reading reaches central once, in the order of the gateway, and the days are compared", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(12);
  await home.append(daysOfEvents({ from_ms, days: 3, count: 3_000 }));
  const done = await home.upload();
  expect(done).toEqual({
    sent: 3_000,
    confirmed_seq: 3_000,
    differing_days: 0,
    repaired: 0,
    kept: 0,
    lost: 0,
    pruned: 0,
    stopped: [],
  });
  await expectEqual(home);
  expect(await home.state()).toMatchObject({ confirmed_seq: 3_000, verified_seq: 3_000, failure: "" });
  expect((await home.state()).uploaded_ms).toBeGreaterThan(0);
  expect(await home.upload()).toMatchObject({ sent: 0, confirmed_seq: 3_000, differing_days: 0 });
  const [gateway] = await programme.store.gateways();
  expect(gateway).toMatchObject({ home: 12, epoch: home.gateway.epoch, held_seq: 3_000, rivals: [] });
  expect(gateway?.report).toMatchObject({ version: "0", timezone: "Europe/Berlin", last_seq: 3_000 });
  expect(programme.lines).toEqual([]);
});

test("a gateway tells central when its clock was in doubt: the boots that never learned the time", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(3);
  await home.gateway.append([], {
    boots: [
      { boot: "known", timeline: { offset_ms: 1_000, compared_ms: 5 }, seen_ms: 50 },
      { boot: "bounded", timeline: { offset_ms: 2_000.25, compared_ms: 5 }, seen_ms: 70.5, bound_ms: 9 },
      { boot: "waiting", seen_ms: 80 },
    ],
  });
  expect(await home.gateway.uncertainTimes()).toEqual([{ from_ms: 2_000, to_ms: 2_071 }]);
  await home.upload();
  const [gateway] = await programme.store.gateways();
  expect(gateway?.report).toMatchObject({ doubts: [{ from_ms: 2_000, to_ms: 2_071 }] });
});

test("a gateway tells central of devices that claim a known address, until somebody settles it", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(3);
  const identity = { kind: "wirelesssensors", driver: "zigbee", since_ms: from_ms } as const;
  const conflictAt = (address: string, first_ms: number, model: string) => ({
    known: { ...identity, address, model: "3041" },
    claimed: { ...identity, address, model, key: { fingerprint: "f", made: "it was typed" } },
    ...({ differs: "model", why: `its model is 3041, and now it says ${model}` } as const),
    ...{ first_ms, last_ms: from_ms + 9_000, count: 7 },
  });
  const [first, second] = [conflictAt("b", from_ms + 1_000, "3010"), conflictAt("a", from_ms + 2_000, "x")];
  const refused = { ...conflictAt("c", from_ms, "x"), refused_ms: from_ms, refused_by: "ann" };
  await home.gateway.append([], { identities: { identities: [], conflicts: [refused, second, first] } });
  await home.upload();
  const fleet = async () => (await fleetOf(programme.store, programme.clock.now().unix_ms))[0];
  expect((await fleet())?.conflicts).toEqual([
    {
      address: "b",
      known: "wirelesssensors, 3041, without a key, heard by zigbee",
      claimed: "wirelesssensors, 3010, with a key (it was typed), heard by zigbee",
      why: "its model is 3041, and now it says 3010",
      ...{ first_ms: from_ms + 1_000, last_ms: from_ms + 9_000, count: 7 },
    },
    expect.objectContaining({ address: "a" }),
  ]);
  expect((await fleet())?.needs.map(({ type }) => type)).toEqual(["identity_conflict"]);
  for (const conflict of [first, second])
    await home.gateway.settleConflict({ conflict, answer: "refused", at_ms: from_ms, by: "ann" });
  await home.upload();
  expect(await fleet()).toMatchObject({ conflicts: [], needs: [] });
});

test("a store with nothing in it uploads nothing, and central knows of it", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(3);
  expect(await home.upload()).toMatchObject({ sent: 0, confirmed_seq: 0, differing_days: 0 });
  expect((await programme.store.gateways()).map((gateway) => gateway.home)).toEqual([3]);
});

test("sixty nights without central are one night's work once it is back", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 50 }));
  await home.upload();
  await programme.stop();
  for (let night = 1; night <= 60; night++) {
    await home.append(daysOfEvents({ from_ms: from_ms + night * day_ms, days: 1, count: 50 }));
    // Some nights are tried, as a timer would; each ends with the same word.
    if (night % 20 !== 0) continue;
    const fault = await faultOf(home.upload());
    expect(fault).toBeInstanceOf(TryAgainLater);
    expect(fault.message).toContain("cannot be reached (nobody listens there; 8 attempts): nothing is lost");
  }
  expect((await home.state()).failure).toContain("cannot be reached");
  await programme.start();
  expect(await home.upload()).toMatchObject({ sent: 3_000, confirmed_seq: 3_050, differing_days: 0 });
  expect((await home.state()).failure).toBe("");
  await expectEqual(home);
});

test("what a kill between sending and comparing left uncompared is compared the next time", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 50 }));
  await home.upload();
  await home.append(daysOfEvents({ from_ms: from_ms + 5 * day_ms, days: 1, count: 100 }));
  const stop = new Error("killed");
  const fault = await faultOf(
    home.upload({
      onProgress: ({ now }) => {
        if (now.startsWith("comparing")) throw stop;
      },
    }),
  );
  expect(fault).toBe(stop);
  expect(await home.state()).toMatchObject({ confirmed_seq: 150, verified_seq: 50 });
  const compared: string[] = [];
  const done = await home.upload({
    onProgress: ({ now }) => {
      if (now.startsWith("comparing")) compared.push(now);
    },
  });
  expect(done.sent).toBe(0);
  expect(compared).toEqual(["comparing 2026-09-06"]);
  expect(await home.state()).toMatchObject({ verified_seq: 150 });
});

test("once a week every day is compared, and so it is when asked", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 70, count: 700 }));
  const spans = async (everyDay = false): Promise<string[]> => {
    const compared: string[] = [];
    await home.upload({
      everyDay,
      onProgress: ({ now }) => {
        if (now.startsWith("comparing")) compared.push(now.slice(10));
      },
    });
    return compared;
  };
  const all = ["2026-09-01", "2026-10-02", "2026-11-02"];
  expect(await spans()).toEqual(all);
  expect(await spans()).toEqual([]);
  expect(await spans(true)).toEqual(all);
  programme.clock.travel(6.9 * day_ms);
  expect(await spans()).toEqual([]);
  programme.clock.travel(0.2 * day_ms);
  expect(await spans()).toEqual(all);
  // A clock that was ahead when all were compared, and has been set right, does not put off the next time.
  expect(await spans()).toEqual([]);
  programme.clock.wrong_ms = -30 * day_ms;
  expect(await spans()).toEqual(all);
});

test("a day that differs at central is put right and counted", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 4, count: 400 }));
  await home.upload();
  await programme.stop();
  programme.changeEvents(
    (stamp_ms) => stamp_ms < from_ms + day_ms / 50 + 1,
    (event) => event + 1,
  );
  await programme.start();
  expect(await home.upload({ everyDay: true })).toMatchObject({
    sent: 0,
    differing_days: 1,
    repaired: 3,
    kept: 0,
  });
  await expectEqual(home);
  expect(programme.lines.filter((line) => line.includes("differed"))).toEqual([
    "warn  1 days of this box differed from central's: 3 readings were sent again",
  ]);
  expect(await home.upload({ everyDay: true })).toMatchObject({ differing_days: 0 });
});

test("readings that central alone still has stay there, come back to the box, and are said", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 4, count: 400 }));
  await home.upload();
  await home.stop();
  changeBehind(home.directory, "DELETE FROM wirelesssensor_events WHERE stamp < ?", [
    from_ms + day_ms / 50 + 1,
  ]);
  await home.start();
  expect(await home.upload({ everyDay: true })).toMatchObject({ differing_days: 1, repaired: 0, kept: 3 });
  expect(await home.state()).toMatchObject({ verified_seq: 400 });
  const { there } = await home.bothSides();
  expect(there.reduce((sum, line) => sum + Number.parseInt(line, 10), 0)).toBe(400);
  expect(programme.lines.filter((line) => line.includes("differ"))).toEqual([
    "warn  1 days of this box differed from central's: 0 readings were sent again, and central has 3 besides, of which 3 came back",
  ]);
  await expectEqual(home);
  expect(await home.upload({ everyDay: true })).toMatchObject({ differing_days: 0, kept: 0 });
});

test("central that was restored from an older backup gets again what it lost", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 2, count: 200 }));
  await home.upload();
  await programme.stop();
  cpSync(join(programme.directory, "central"), join(programme.directory, "older"), { recursive: true });
  await programme.start();
  await home.append(daysOfEvents({ from_ms: from_ms + 2 * day_ms, days: 2, count: 300 }));
  await home.upload();
  await programme.stop();
  await programme.start("older");
  expect(await home.upload()).toMatchObject({ sent: 300, confirmed_seq: 500, lost: 0, differing_days: 0 });
  await expectEqual(home);
  expect(programme.lines.filter((line) => line.includes("restored from a backup?"))).toEqual([
    "warn  central had confirmed readings of this box up to 500 and now holds them up to 200 (was it restored from a backup?): they are sent again",
  ]);
});

test("a clock that is a year ahead is said, and sends the times as they are", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  const ahead_ms = 365 * day_ms;
  await home.append(daysOfEvents({ from_ms: from_ms + ahead_ms, days: 1, count: 20 }));
  const { clock } = programme;
  const wrong = {
    boot: clock.boot,
    after: clock.after.bind(clock),
    now: () => ({ ...clock.now(), unix_ms: clock.now().unix_ms + ahead_ms }),
  };
  expect(await home.upload({ clock: wrong, keep_days: 30 })).toMatchObject({ sent: 20, pruned: 0 });
  expect(programme.lines).toEqual([
    "warn  the clock of this machine is 525600 minutes ahead of central's: readings are sent with the times they have; lintel doctor says whether the clock is synchronised",
  ]);
  await expectEqual(home);
  const [gateway] = await programme.store.gateways();
  expect(Number(gateway?.report["now_ms"]) - (gateway?.reported_ms ?? 0)).toBeWithin(
    ahead_ms - 60_000,
    ahead_ms + 60_000,
  );
});

test("a token that was revoked is refused with what to do, and nothing is lost", async () => {
  await using programme = new Programme();
  await programme.start();
  const home = await programme.box(1);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 20 }));
  await programme.store.revokeToken(home.tokenId);
  const fault = await faultOf(home.upload());
  expect(fault).toBeInstanceOf(OperatorError);
  expect(fault).not.toBeInstanceOf(TryAgainLater);
  expect(fault.message).toContain("refuses the token");
  expect((await home.state()).failure).toContain("refuses the token");
});

test("two boxes with copies of one card are told apart, and the second is told what to do", async () => {
  await using programme = new Programme();
  await programme.start();
  const one = await programme.box(1);
  await one.append(daysOfEvents({ from_ms, days: 1, count: 20 }));
  const other = await one.copy("other");
  await one.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 20, first: 1 }));
  await other.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 40, first: 2 }));
  expect(await one.upload()).toMatchObject({ sent: 40 });
  const fault = await faultOf(other.upload());
  expect(fault).toBeInstanceOf(OperatorError);
  expect(fault.message).toContain("two boxes run on copies of one card");
  expect(fault.message).toContain("lintel restore");
  expect(await one.upload()).toMatchObject({ sent: 0, differing_days: 0 });
  await expectEqual(one);
});

test("a box on an older copy of its data is told so before it sends anything", async () => {
  await using programme = new Programme();
  await programme.start();
  const one = await programme.box(1);
  await one.append(daysOfEvents({ from_ms, days: 1, count: 20 }));
  const older = await one.copy("older");
  await one.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 20 }));
  await one.upload();
  const fault = await faultOf(older.upload());
  expect(fault.message).toContain(
    "central has readings up to 40 of this box, which itself has them up to 20: it runs on an older copy of its data",
  );
  expect(fault.message).toContain("lintel restore");
});

test("a box that carries readings of another home is refused", async () => {
  await using programme = new Programme();
  await programme.start();
  const one = await programme.box(1);
  const two = await programme.box(2);
  await one.append(daysOfEvents({ from_ms, days: 1, count: 20 }));
  await one.upload();
  const fault = await faultOf(one.upload({ token: two.token }));
  expect(fault).toBeInstanceOf(OperatorError);
  expect(fault.message).toContain("as another home's");
});
