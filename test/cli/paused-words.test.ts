import { afterAll, beforeAll, expect, test } from "bun:test";
import { pauseText } from "../../src/cli/pause.ts";
import { type PauseReason, pauseOpen_ms } from "../../src/store/pause.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";
import { events } from "../store/central-sample.ts";

const now_ms = Date.UTC(2026, 5, 15);
const [past_ms, coming_ms, end_ms] = [Date.UTC(2026, 4, 1), Date.UTC(2026, 6, 1), Date.UTC(2026, 7, 1)];
const pause = {
  id: "",
  at_ms: past_ms,
  home: 0,
  own: 1,
  refused: 0,
  from_ms: past_ms,
  before_ms: end_ms,
} as const;
const open = { before_ms: pauseOpen_ms };
const withdrawn = { why: "consent_withdrawn" } as const;

test.each([
  [
    {},
    "Recording is paused since 2026-05-01 00:00:00Z, until 2026-08-01 00:00:00Z: nothing of this time is kept.",
  ],
  [
    open,
    "Recording is paused since 2026-05-01 00:00:00Z, until lintel resume: nothing of this time is kept.",
  ],
  [
    { from_ms: coming_ms },
    "Recording is paused from 2026-07-01 00:00:00Z on, until 2026-08-01 00:00:00Z: nothing of this time is kept.",
  ],
  [
    { from_ms: now_ms, kind: "watches" },
    "Recording of the watches of this home is paused since 2026-06-15 00:00:00Z, until 2026-08-01 00:00:00Z: nothing of this time is kept.",
  ],
  [
    { ...open, ...withdrawn, kind: "watches", address: "11:22", itemid: 7, home: 12 },
    "Recording of the watch 11:22 of home 12 is stopped since 2026-05-01 00:00:00Z: consent was withdrawn. Nothing of this time is kept.",
  ],
  [
    { ...open, ...withdrawn, kind: "scales", itemid: 7 },
    "Recording of the scale 7 of this home is stopped since 2026-05-01 00:00:00Z: consent was withdrawn. Nothing of this time is kept.",
  ],
  [
    { ...open, why: "enrollment_ended", from_ms: coming_ms },
    "Recording is stopped from 2026-07-01 00:00:00Z on: the enrollment ends then. Nothing of this time is kept.",
  ],
  [
    { why: "restricted" },
    "Recording is stopped since 2026-05-01 00:00:00Z, until 2026-08-01 00:00:00Z: what was recorded is restricted, and shown to nobody. Nothing of this time is kept.",
  ],
] as const)("a pause is told by what, since or from when, until when and why: %j", (differs, said) => {
  expect(pauseText({ ...pause, ...differs }, now_ms)).toBe(said);
});

const place = temporaryDirectory();
afterAll(() => place[Symbol.dispose]());

/** Homes in which nothing is recorded, one for each reason that there is, and one that was restricted and is not any more. */
const reasons: Readonly<Record<number, PauseReason | undefined>> = {
  1: undefined,
  2: "consent_withdrawn",
  3: "enrollment_ended",
  4: "restricted",
  5: "restricted",
};
beforeAll(async () => {
  const store = await openCentral(place.path);
  for (const home of Object.keys(reasons).map(Number)) {
    const gateway = new SimulatedGateway(home, `home ${home}`).add(...events(home, 1));
    await store.receive(gateway.all(), gateway.sender);
    const why = reasons[home];
    const wish = { target: { home }, at_ms: start_ms + home, who: "lea", reason: `letter ${home}` };
    if (why === "restricted") await store.restrict(wish);
    else {
      const id = `${home}`.repeat(32);
      const span = { ...{ id, at_ms: start_ms, from_ms: start_ms }, ...open, ...(why && { why }) };
      await store.takePauses([{ ...span, home, own: 1 }]);
    }
    if (home === 5) await store.liftRestriction({ ...wish, at_ms: start_ms + 9_000 });
  }
  await store.close();
});

test("the list of restricted homes has no other in which nothing is recorded, and the journal says who and why", async () => {
  const list = async (...words: string[]) =>
    (await lintelHere(["restrict", "--list", ...words, "--data", place.path])).out;
  const { restricted, journal } = JSON.parse(await list("--json"));
  expect(restricted).toEqual([{ home: 4, since_ms: start_ms + 4 }]);
  expect(
    journal.map(({ act, home, words }: Record<string, unknown>) => [act, home, words]).toSorted(),
  ).toEqual([
    ["lift", 5, "letter 5"],
    ["restrict", 4, "letter 4"],
    ["restrict", 5, "letter 5"],
  ]);
  const [first, ...table] = (await list()).split("\n");
  expect(first).toStartWith("Home 4 has been restricted since ");
  expect(table.join("\n")).not.toContain("has been restricted");
  expect(table.map((line) => line.trim().split(/\s{2,}/)).filter(([, act]) => act === "lift")).toEqual([
    [expect.any(String), "lift", "5", "–", "lea", "letter 5"],
  ]);
});

test("resume ends what somebody may end there, and says of all else who may", async () => {
  const resumed = async (home: number, ...words: string[]) => {
    const { out, said } = await lintelHere(["resume", "--home", `${home}`, ...words, "--data", place.path]);
    return out + said;
  };
  const goesOn = (home: number) => `Recording of home ${home} goes on.`;
  const wasNot = (home: number) => `Recording of home ${home} was not paused.`;
  const withdrawn = "recording was stopped: consent was withdrawn";
  const ended = "recording was stopped: the last enrollment of the home has ended";
  const restricted = "the home is restricted: what was recorded is shown to nobody";
  for (const [words, expected] of [
    [[], [goesOn(1), withdrawn, ended, restricted, withdrawn, wasNot(6)]],
    [["--again"], [wasNot(1), goesOn(2), ended, restricted, goesOn(5), wasNot(6)]],
    [[], [wasNot(1), wasNot(2), ended, restricted, wasNot(5), wasNot(6)]],
  ] as const)
    for (const [place, said] of expected.entries())
      expect(await resumed(place + 1, ...words)).toContain(said);
  expect(JSON.parse(await resumed(1, "--json"))).toEqual({ home: 1, resumed: false });
});
