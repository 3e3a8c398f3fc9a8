import { expect, test } from "bun:test";
import { GatewayReport } from "../../../src/transfer/protocol.ts";
import { gatewayOf, receive, reportBody } from "./receiving.ts";

const far = 253_402_300_799_999;
const largest = Number.MAX_SAFE_INTEGER;
const refusal = { reason: "damaged", message: "\u2067x", at_ms: far, times: 1 } as const;

/** Reports of a gateway about itself, each as far from the usual as the form of a report allows. */
const reports: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    ["Mars/Olympus", "PST", "banana", "../../etc/passwd", "", " ", "UTC\0", "+25:00", "x".repeat(200)].map(
      (timezone) => [`the time zone ${JSON.stringify(timezone).slice(0, 20)}`, { timezone }],
    ),
  ),
  "a version that is none": { version: "\u001b[2J../<script>" },
  "the end of time": {
    now_ms: far,
    doubts: [
      { from_ms: 0, to_ms: far },
      { from_ms: far, to_ms: 0 },
    ],
    erasures: [{ at_ms: far, subject: largest }],
    machine: { power_low: true, power_low_ms: far },
  },
  "numbers without end": {
    last_seq: largest,
    waiting: largest,
    disk_free_bytes: largest,
    bytes_on_disk: largest,
    strangers: largest,
    differing_days: largest,
    dropped: { constructor: largest, "": 0, "\0": 1 },
    machine: {
      disk: "\u202e",
      written_bytes: largest,
      written_a_day_bytes: largest,
      life_used_percent: largest,
      temperature_c: 1_000,
    },
  },
  "a conflict that nobody could have": {
    conflicts: Array.from({ length: 64 }, (_, number) => ({
      address: `\u202e<script>${number}`,
      known: "\0",
      claimed: "",
      why: "\u001b[2J".padEnd(200, "x"),
      first_ms: far,
      last_ms: 0,
      count: largest,
    })),
  },
  "an update that nobody published": {
    update: {
      ring: largest,
      confirmed: "\u0000",
      trying: "__proto__",
      waiting: { version: "", message: "" },
      refusals: [refusal, { ...refusal, version: "v".repeat(40), sha256: "/" }],
    },
  },
};

test.each(Object.entries(reports))(
  "a report with %s leaves every page of the home readable",
  async (_, said) => {
    await using receiving = await receive();
    const gateway = gatewayOf(12, 20);
    expect((await receiving.send(12, gateway.batch(1, 20))).status).toBe(200);
    const body = reportBody(gateway) as { report: object };
    const report = { ...body.report, ...said };
    expect(Object.keys(report).filter((key) => !(key in GatewayReport.properties))).toEqual([]);
    const answer = await receiving.ask(12, "POST", "/report", { body: JSON.stringify({ ...body, report }) });
    expect([200, 422]).toContain(answer.status);
    const token = await receiving.token("admin");
    const cookie = `lintel-${receiving.port}=${token}`;
    const [{ itemname = "" } = {}] = (await receiving.store.itemOverviews()).map(({ record }) => record);
    const device = `/devices/wirelesssensors/${encodeURIComponent(itemname)}`;
    const paths = [
      ...["/", "/?view=missing", "/?view=silent", "/?view=batteries", "/?view=versions"],
      ...["/homes/12", "/homes/12?span=week", "/homes/12?span=year", "/homes/12/recorded", device],
    ];
    const answers = paths.map(async (path) => {
      const { status } = await fetch(`${receiving.central.origin}${path}`, {
        headers: { accept: "text/html", cookie },
      });
      return [path, status];
    });
    const headers = { accept: "application/json", authorization: `bearer ${token}` };
    const fleet = await fetch(`${receiving.url}/fleet`, { headers });
    expect(
      [...(await Promise.all(answers)), ["fleet", fleet.status]].filter(([, status]) => status !== 200),
    ).toEqual([]);
  },
);

test("a time past the year 9999 is no time: the report is refused", async () => {
  await using receiving = await receive();
  const body = reportBody(gatewayOf(12, 1)) as { report: object };
  for (const said of [
    { now_ms: far + 1 },
    { doubts: [{ from_ms: 0, to_ms: 8.64e15 }] },
    { update: { ring: 1, refusals: [{ ...refusal, at_ms: 1e300 }] } },
  ]) {
    const sent = JSON.stringify({ ...body, report: { ...body.report, ...said } });
    expect((await receiving.ask(12, "POST", "/report", { body: sent })).status).toBe(422);
  }
});

test("the page of a home whose gateway names a time zone that does not exist says so, and shows days of UTC", async () => {
  await using receiving = await receive();
  const gateway = gatewayOf(12, 20);
  await receiving.send(12, gateway.batch(1, 20));
  const body = reportBody(gateway) as { report: object };
  const report = { ...body.report, timezone: "America/Los_Angelos" };
  await receiving.ask(12, "POST", "/report", { body: JSON.stringify({ ...body, report }) });
  const page = await fetch(`${receiving.central.origin}/homes/12`, {
    headers: { accept: "text/html", cookie: `lintel-${receiving.port}=${await receiving.token("admin")}` },
  });
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("there is none of that name: days here are those of UTC.");
});
