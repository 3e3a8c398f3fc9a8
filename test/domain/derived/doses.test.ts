import { describe, expect, test } from "bun:test";
import { hour_ms, startOfDate_ms } from "../../../src/base/time.ts";
import { type DoorState, type DoseFindings, dosesOf } from "../../../src/domain/derived/doses.ts";

const berlin = "Europe/Berlin";
const minute_ms = 60_000;
/** 1 March 2026 is a Sunday. */
const sunday = "2026-03-01";

function at(date: string, hour: number, zone = berlin): number {
  return (startOfDate_ms(zone, date) ?? Number.NaN) + hour * hour_ms;
}

/** A door opened and closed again. */
function opening(door: number, at_ms: number, for_ms = 20_000): DoorState[] {
  return [
    { stamp_ms: at_ms, event: 1 << door },
    { stamp_ms: at_ms + for_ms, event: 0 },
  ];
}

/** Every door opened and closed, a change each 20 s. */
function reload(at_ms: number): DoorState[] {
  return Array.from({ length: 7 }, (_, door) => opening(door, at_ms + door * 40_000)).flat();
}

function find(
  states: readonly DoorState[],
  options: Partial<Parameters<typeof dosesOf>[0]> & { from?: string; until?: string } = {},
): DoseFindings {
  const { from = sunday, until = "2026-03-08", zone = berlin } = options;
  return dosesOf({
    states,
    zone,
    span: { from_ms: at(from, 0, zone), to_ms: at(until, 0, zone) },
    now_ms: at("2026-12-31", 0, zone),
    ...options,
  });
}

function statuses(findings: DoseFindings): string[] {
  return findings.doses.map(({ status }) => status);
}

describe("doses", () => {
  test("a week of pills, each from the door of its day, is seven doses taken when the door opened", () => {
    const days = [0, 1, 2, 3, 4, 5, 6].map((day) => at(`2026-03-0${day + 1}`, 8));
    const findings = find(days.flatMap((at_ms, door) => opening(door, at_ms)));
    expect(findings.doses.map(({ status, at_ms }) => ({ status, at_ms }))).toEqual(
      days.map((at_ms) => ({ status: "taken", at_ms })),
    );
    expect(findings).toMatchObject({ doors: "weekdays", reloads: [], otherDoors: [], leftOpen: [] });
  });

  test("a day without its door is missed, and another day's door is told apart", () => {
    const findings = find([...opening(0, at(sunday, 8)), ...opening(5, at("2026-03-02", 8))]);
    expect(statuses(findings)).toEqual(["taken", ...Array(6).fill("missed")]);
    expect(findings.otherDoors).toEqual([{ at_ms: at("2026-03-02", 8), door: 5 }]);
  });

  test("a door that only went down that day counts, since either direction may be a pill taken", () => {
    const findings = find([{ stamp_ms: at("2026-03-02", 9), event: 0 }], { before: 0b10 });
    expect(findings.doses[1]).toMatchObject({ status: "taken", at_ms: at("2026-03-02", 9) });
  });

  test("an evening's pill shortly after midnight is late, one the next morning is not", () => {
    expect(find(opening(1, at("2026-03-03", 0.5))).doses[1]).toMatchObject({
      status: "late",
      at_ms: at("2026-03-03", 0.5),
    });
    expect(find(opening(1, at("2026-03-03", 0.5))).otherDoors).toEqual([]);
    const morning = find(opening(1, at("2026-03-03", 9)));
    expect(morning.doses[1]?.status).toBe("missed");
    expect(morning.otherDoors).toHaveLength(1);
  });

  test("a day that isn't over is due, not missed", () => {
    const findings = find([], { now_ms: at("2026-03-03", 12) });
    expect(statuses(findings).slice(0, 4)).toEqual(["missed", "missed", "due", "due"]);
    const night = find([], { now_ms: at("2026-03-03", 2) });
    expect(statuses(night).slice(0, 3)).toEqual(["missed", "due", "due"]);
  });

  test("a day of which some wasn't covered is unknown, unless its door was seen", () => {
    const unknown = [{ from_ms: at("2026-03-02", 20), to_ms: at("2026-03-04", 1) }];
    const findings = find(opening(2, at("2026-03-03", 8)), { unknown });
    expect(statuses(findings).slice(0, 5)).toEqual(["missed", "unknown", "taken", "unknown", "missed"]);
  });
});

describe("reloads", () => {
  test("filling all seven doors is one reload and no dose, but does not make its day missed", () => {
    const findings = find(reload(at("2026-03-07", 15)));
    expect(findings.reloads).toEqual([
      { from_ms: at("2026-03-07", 15), to_ms: at("2026-03-07", 15) + 260_000 + 1 },
    ]);
    expect(statuses(findings)).toEqual([...Array(6).fill("missed"), "unknown"]);
    expect(findings.otherDoors).toEqual([]);
  });

  test("a pill on the day of a reload, before or after it, is taken", () => {
    const findings = find([...opening(6, at("2026-03-07", 8)), ...reload(at("2026-03-07", 15))]);
    expect(findings.doses[6]).toMatchObject({ status: "taken", at_ms: at("2026-03-07", 8) });
  });

  test("six changes within ten minutes are no reload, seven are", () => {
    const changes = [0, 1, 2].flatMap((door) => opening(door, at(sunday, 8) + door * minute_ms));
    expect(find(changes).reloads).toEqual([]);
    const seventh = { stamp_ms: at(sunday, 8) + 10 * minute_ms, event: 8 };
    expect(find([...changes, seventh]).reloads).toHaveLength(1);
    expect(find([...changes, { ...seventh, stamp_ms: seventh.stamp_ms + 1 }]).reloads).toEqual([]);
  });

  test("a state that repeats is no change", () => {
    const same = Array.from({ length: 20 }, (_, index) => ({ stamp_ms: at(sunday, 8) + index, event: 1 }));
    expect(find(same).reloads).toEqual([]);
  });

  test("a reload that leaves the day's door alone does not explain it", () => {
    const others = [0, 1, 2, 3].flatMap((door) => opening(door, at("2026-03-06", 15) + door * minute_ms));
    expect(find(others).doses[5]).toMatchObject({ weekday: 5, status: "missed" });
  });
});

describe("days", () => {
  test("have 23 and 25 hours when the clocks change, and the wall clock decides whose pill it was", () => {
    // In Berlin Sunday 29 March 2026 ends at 22:00 UTC and begins at 23:00 UTC of the day before.
    const early = Date.UTC(2026, 2, 28, 23, 1);
    const tooLate = Date.UTC(2026, 2, 29, 22, 1);
    const spring = { from: "2026-03-29", until: "2026-03-30" };
    expect(find(opening(0, early), spring).doses[0]).toMatchObject({ status: "taken", at_ms: early });
    expect(find(opening(0, tooLate), spring).doses[0]).toMatchObject({ status: "late", at_ms: tooLate });
    // Sunday 25 October 2026 is the 25 hours from 22:00 to 23:00 UTC.
    const last = Date.UTC(2026, 9, 25, 22, 59);
    const autumn = { from: "2026-10-25", until: "2026-10-26" };
    expect(find(opening(0, last), autumn).doses[0]).toMatchObject({ status: "taken", at_ms: last });
  });

  test("are those of the home: the same events mean another weekday on the other side of the world", () => {
    const evening = Date.UTC(2026, 2, 1, 23);
    const there = { from: "2026-03-02", until: "2026-03-03", zone: "Pacific/Auckland" };
    expect(find(opening(1, evening), there).doses[0]).toMatchObject({ weekday: 1, status: "taken" });
    const here = { from: sunday, until: "2026-03-02", zone: "America/Los_Angeles" };
    expect(find(opening(1, evening), here).doses[0]).toMatchObject({ weekday: 0, status: "missed" });
  });
});

test("a door forgotten for more than an hour is told, with its end where there is one", () => {
  const findings = find([
    ...opening(0, at(sunday, 8), 61 * minute_ms),
    ...opening(1, at("2026-03-02", 8), 59 * minute_ms),
    { stamp_ms: at("2026-03-07", 8), event: 64 },
  ]);
  expect(findings.leftOpen).toEqual([
    { door: 0, from_ms: at(sunday, 8), to_ms: at(sunday, 9) + minute_ms },
    { door: 6, from_ms: at("2026-03-07", 8) },
  ]);
});

test("a box with one lid has a dose on every day that the lid moved", () => {
  const findings = find([1, 2, 4].flatMap((day) => opening(0, at(`2026-03-0${day}`, 8))));
  expect(findings.doors).toBe("one");
  expect(statuses(findings)).toEqual(["taken", "taken", "missed", "taken", "missed", "missed", "missed"]);
});

test("a box with one lid knows no late dose: what moves after midnight is the next day's", () => {
  const findings = find([1, 2, 4].flatMap((day) => opening(0, at(`2026-03-0${day}`, 1))));
  expect(findings.doors).toBe("one");
  expect(statuses(findings)).toEqual(["taken", "taken", "missed", "taken", "missed", "missed", "missed"]);
});
