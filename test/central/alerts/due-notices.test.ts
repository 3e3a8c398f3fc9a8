import { describe, expect, test } from "bun:test";
import { hour_ms } from "../../../src/base/time.ts";
import type { AlertState } from "../../../src/central/alerts/alert-state.ts";
import {
  isQuiet,
  type NoticeContent,
  nextNotice,
  notice_interval_ms,
} from "../../../src/central/alerts/due-notices.ts";
import { mailText } from "../../../src/central/alerts/mail-text.ts";
import { forgetHomes } from "../../../src/central/alerts/outages.ts";
import type { AlertRecipient } from "../../../src/config/alert-settings.ts";
import { type NeedDuty, type NeedType, needLevels, needRules } from "../../../src/domain/fleet-home.ts";
import { centralItself, type Outage } from "../../../src/domain/outage.ts";

/** 10:00 in Berlin, in summer. */
const now_ms = Date.UTC(2026, 5, 1, 8);
const zoned = { timezone: "Europe/Berlin", quiet: { from: "20:00", to: "08:00" }, digest: "08:30" };
const recipient = (to: string, ...duties: NeedDuty[]): AlertRecipient => ({ to, duties, ...zoned });
const [field, lead] = [recipient("field", "field"), recipient("lead", "lead")];
const outage = (change: Partial<Outage> = {}): Outage => ({
  ...{ id: 1, home: 3, need: "upload_overdue", message: "so", told: {} },
  ...{ since_ms: now_ms, seen_ms: now_ms, ripe_ms: now_ms },
  ...change,
});
/** All have had today's digest, and nothing in the hour before. */
const had = { mailed_ms: now_ms - notice_interval_ms, digest: "2026-06-01", digest_ms: now_ms - 2 * hour_ms };

function notice(
  outages: readonly Outage[],
  {
    to = field,
    all = [field, lead],
    past = had,
    at_ms = now_ms,
  }: {
    to?: AlertRecipient;
    all?: readonly AlertRecipient[];
    past?: AlertState["recipients"][string];
    at_ms?: number;
  } = {},
): NoticeContent | undefined {
  const state = { next_id: 9, outages: [...outages], left_out: 0, undelivered: [] };
  return nextNotice({ ...state, recipients: { [to.to]: past } }, to, all, at_ms);
}
const ids = (outages: readonly Outage[] = []) => outages.map(({ id }) => id);

describe.each(Object.keys(needRules) as NeedType[])("%s", (need) => {
  const { level, duty } = needRules[need];
  const { escalate_h } = needLevels[level];
  const whose = recipient("whose", duty);
  const other = recipient("other", ...(["field", "data", "server"] as const).filter((one) => one !== duty));

  test("goes to whose duty it is, at once unless it is for the digest, and to nobody else", () => {
    const kind = level === "digest" ? undefined : "new";
    expect(notice([outage({ need })], { to: whose, all: [whose, other, lead] })?.kind).toBe(kind);
    for (const to of [other, lead])
      expect(notice([outage({ need })], { to, all: [whose, other, lead] })).toBeUndefined();
    const digest = notice([outage({ need })], { to: whose, past: { ...had, digest: "2026-05-31" } });
    expect([digest?.kind, ids(digest?.told)]).toEqual(["digest", [1]]);
  });

  test("that is nobody's duty is for lead", () => {
    const kind = level === "digest" ? undefined : "new";
    expect(notice([outage({ need })], { to: lead, all: [other, lead] })?.kind).toBe(kind);
    // Of this home it is nobody's.
    const all = [{ ...whose, homes: [4] }, lead];
    expect(notice([outage({ need })], { to: lead, all })?.kind).toBe(kind);
  });

  test("escalates to lead after its hours since the first was told, and not before", () => {
    const ask = (hours: number, change: Partial<Outage> = {}) => {
      const told = { whose: now_ms - hours * hour_ms, later: now_ms };
      return notice([outage({ need, told, ...change })], { to: lead, all: [whose, lead] })?.kind;
    };
    const kind = escalate_h === undefined ? undefined : "escalated";
    const after_h = escalate_h ?? 48;
    expect(ask(after_h)).toBe(kind as never);
    expect(ask(after_h - 0.01)).toBeUndefined();
    const spared: Partial<Outage>[] = [
      { acknowledged: { at_ms: now_ms, by: "Ann" } },
      { over_ms: now_ms },
      { ripe_ms: undefined as never },
      { told: {} },
      { told: { whose: 0, lead: now_ms } },
    ];
    for (const change of spared) expect(ask(after_h, change)).toBeUndefined();
  });
});

test("nobody is told twice, of what is not ripe, is over, or was acknowledged", () => {
  const changes: Partial<Outage>[] = [
    { told: { field: now_ms } },
    { ripe_ms: undefined as never },
    { over_ms: now_ms },
    { acknowledged: { at_ms: now_ms, by: "Ann" } },
  ];
  for (const change of changes) expect(notice([outage(change)])).toBeUndefined();
  expect(ids(notice([outage({ id: 1, told: { field: now_ms } }), outage({ id: 2 })])?.told)).toEqual([2]);
});

test.each([
  ["new", "of just now", 60_000],
  ["new", "that has waited for hours", 5 * hour_ms],
  ["digest", "of just now", 60_000],
  ["digest", "that has waited for an hour", hour_ms],
] as const)("a %s notice %s is written anew at once without a home that is restricted", (kind, _, age_ms) => {
  const made_ms = now_ms - age_ms;
  const waiting = {
    ...{ message_id: "a", subject: "", text: "", made_ms, tries: 3 },
    next_ms: now_ms + hour_ms,
  };
  const digest_ms = kind === "digest" ? made_ms : had.digest_ms;
  const state: AlertState = {
    ...{ next_id: 9, left_out: 0, undelivered: [] },
    outages: [
      outage({ id: 1, home: 3, told: { field: made_ms } }),
      outage({ id: 2, home: 4, told: { field: made_ms, lead: made_ms - 1 } }),
      outage({ id: 3, home: 3, need: "retention_due" }),
      outage({ id: 4, home: 5, told: { field: made_ms - 1 } }),
    ],
    recipients: {
      field: { waiting, mailed_ms: made_ms, digest: had.digest, digest_ms },
      lead: { ...had, mailed_ms: made_ms },
    },
  };
  expect(nextNotice(state, field, [field, lead], now_ms)).toBeUndefined();
  expect(forgetHomes(state, new Set([3]))).toBe(true);
  const next = nextNotice(state, field, [field, lead], now_ms);
  expect([next?.kind, ids(next?.told), ids(state.outages)]).toEqual([kind, [2], [2, 3, 4]]);
  expect([state.recipients["field"]?.waiting, state.recipients["lead"]]).toEqual([
    undefined,
    { ...had, mailed_ms: made_ms },
  ]);
  expect(forgetHomes(state, new Set([3]))).toBe(false);
});

test("homes and needs that a recipient has not chosen are not told to it", () => {
  for (const [change, isTold] of [
    [{ homes: [3] }, true],
    [{ homes: [4] }, false],
    [{ needs: ["upload_overdue"] }, true],
    [{ needs: ["disk_worn"] }, false],
  ] as const)
    expect(notice([outage()], { to: { ...field, ...change } }) !== undefined).toBe(isTold);
});

test("a notice is an hour after the one before, and not sooner; a digest does not wait", () => {
  const past = { ...had, mailed_ms: now_ms - notice_interval_ms + 1 };
  expect(notice([outage()], { past })).toBeUndefined();
  expect(notice([outage()], { past: had })?.kind).toBe("new");
  expect(notice([outage()], { past: { ...past, digest: "2026-05-31" } })?.kind).toBe("digest");
});

test("a digest comes at its time by the clocks of the recipient, once a day", () => {
  const past = { ...had, digest: "2026-05-31", mailed_ms: now_ms };
  const kindAt = (minutes: number, digest = "2026-05-31") =>
    notice([], { past: { ...past, digest }, at_ms: now_ms + minutes * 60_000 })?.kind;
  expect(kindAt(-91)).toBeUndefined();
  expect(kindAt(-90)).toBe("digest");
  expect(kindAt(-90, "2026-06-01")).toBeUndefined();
});

test("a digest names what was over since the last one and what is open, of what its reader has heard of", () => {
  const told = { field: 1 };
  const digest = notice(
    [
      outage({ id: 1 }),
      outage({ id: 2, told }),
      outage({ id: 3, told, over_ms: had.digest_ms + 1 }),
      outage({ id: 4, told, over_ms: had.digest_ms }),
      outage({ id: 5, over_ms: had.digest_ms + 1 }),
      outage({ id: 6, need: "data_differ" }),
      outage({ id: 7, need: "data_differ", told: { lead: 1 } }),
      outage({ id: 8, acknowledged: { at_ms: 1, by: "Ann" } }),
    ],
    { past: { ...had, digest: "" }, all: [field, lead, recipient("data", "data")] },
  );
  expect([ids(digest?.told), ids(digest?.over), ids(digest?.open)]).toEqual([[1, 8], [3], [2]]);
});

test.each([
  ["20:00", "08:00", ["19:59", "08:00", "12:00"], ["20:00", "00:00", "07:59"]],
  ["12:00", "14:00", ["11:59", "14:00", "23:00"], ["12:00", "13:59"]],
  ["00:00", "00:00", ["00:00", "12:00"], []],
])("from %s to %s it is not quiet at %j, and is at %j", (from, to, loud, quiet) => {
  const at = (time: string) => Date.parse(`2026-06-01T${time}:00+02:00`);
  const is = (time: string) => isQuiet({ ...field, quiet: { from, to } }, at(time));
  expect([loud.map(is), quiet.map(is)]).toEqual([loud.map(() => false), quiet.map(() => true)]);
  if (quiet.length > 0)
    expect(
      notice([outage()], { to: { ...field, quiet: { from, to } }, at_ms: at(quiet[0] ?? "") }),
    ).toBeUndefined();
});

describe("a mail", () => {
  const url = "https://central.example";
  const of = (change: Partial<NoticeContent>) =>
    mailText({ kind: "new", told: [], over: [], open: [], ...change }, url);
  const day = (date: number) => Date.UTC(2026, 4, date, 23, 59);

  test("of what nobody has acknowledged says since which day, that of the first who was told", () => {
    const told = [
      outage({ told: { field: day(4), data: day(5) } }),
      outage({ id: 2, told: { field: day(3), data: day(6) } }),
    ];
    const { subject, text } = of({ kind: "escalated", told });
    expect(subject).toBe("Lintel: not acknowledged: home 3: 2 needs");
    expect(text).toStartWith("Nobody has acknowledged this since 2026-05-03:\n");
    expect(of({ told }).text).not.toContain("Nobody has acknowledged");
  });

  test.each<[Partial<NoticeContent>, string]>([
    [{ told: [outage()] }, "home 3: Upload overdue"],
    [{ told: [outage(), outage({ need: "disk_worn" })] }, "home 3: 2 needs"],
    [{ told: [outage(), outage({ home: 4 })] }, "2 homes need somebody"],
    [{ told: [outage({ home: centralItself, need: "backup_old" })] }, "central: No backup of central"],
    [{ kind: "digest", over: [outage()], open: [outage(), outage()] }, "daily digest: 1 over, 2 open"],
  ])("with %j has that subject", (content, subject) => {
    expect(of(content).subject).toBe(`Lintel: ${subject}`);
  });

  test("asks to acknowledge what nobody has, by its numbers in short", () => {
    const told = [7, 3, 4, 5, 9].map((id) => outage({ id }));
    const known = outage({ id: 8, acknowledged: { at_ms: 1, by: "Ann" } });
    const { text } = of({ told: [...told, known] });
    expect(text).toContain("lintel alerts acknowledge 3-5 7 9\n");
    expect(text).toContain("  8  Upload overdue: so (acknowledged by Ann)\n");
    expect(of({ told: [known] }).text).not.toContain("lintel alerts acknowledge");
  });

  test("names homes one by one up to ten that have the same need, and more in one line", () => {
    const homes = (count: number) =>
      of({ told: Array.from({ length: count }, (_, at) => outage({ id: at, home: at + 1 })) }).text;
    expect(homes(10)).toContain(`Home 10  ${url}/homes/10\n`);
    expect(homes(10)).not.toContain("in 10 homes");
    expect(homes(11)).toStartWith(
      "Upload overdue in 11 homes: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1 more. Look for one cause first.\n",
    );
    expect(homes(11)).not.toContain("/homes/11");
  });

  test("is no longer than 200 parts, and says how many are left out", () => {
    // Of each need ten homes, so that each home is a part of its own.
    const needs = Object.keys(needRules) as NeedType[];
    const parts = (count: number) =>
      of({
        told: Array.from({ length: count }, (_, at) =>
          outage({ id: at, home: at + 1, need: needs[Math.floor(at / 10)] as NeedType }),
        ),
      }).text;
    expect(parts(200)).not.toContain("more homes");
    expect(parts(201)).toContain("and 1 more homes: see lintel alerts list");
    expect(parts(201)).toContain("Home 200 ");
    expect(parts(201)).not.toContain("Home 201 ");
  });
});
