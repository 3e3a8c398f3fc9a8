import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { type FleetNeedType, fleetNeeds } from "../../../src/domain/fleet-home.ts";
import { homeFigures, needsMetric } from "../../../src/web/metrics/home-figures.ts";
import { alertingRules, grafanaDashboard, prometheusRules } from "../../../src/web/metrics/prometheus.ts";
import { sensor, temporaryDirectory } from "../../../testbed/sample.ts";
import { gatewayOf, type Receiving, receive, reportBody } from "../../central/receiver/receiving.ts";
import { type ParsedFamily, parseOpenMetrics } from "./openmetrics-parser.ts";

const promtool = Bun.which("promtool");

let receiving: Receiving;
let families: ReadonlyMap<string, ParsedFamily>;

/** A home whose gateway reports all that one can be troubled by, and one that was never heard. */
beforeAll(async () => {
  receiving = await receive({ metrics: true });
  const now_ms = Date.now();
  await receiving.store.addToken({
    ...{ id: "waits", name: "home 13", scope: "sync", hash: new Uint8Array(32), home: 13 },
    created_ms: now_ms - 2 * day_ms,
  });
  const gateway = gatewayOf(12, 10);
  await receiving.send(12, gateway.batch(1, 10));
  const body = reportBody(gateway);
  const answer = await receiving.ask(12, "POST", "/report", {
    body: JSON.stringify({
      ...body,
      condition: {
        ...body.condition,
        devices: [sensor(1)],
        listeners: [{ name: "zigbee", first_ms: now_ms - 9 * day_ms, last_ms: now_ms }],
        states: [
          {
            ...{ device: 0, listener: "zigbee", battery_percent: 3 },
            ...{ first_ms: now_ms - 9 * day_ms, heard_ms: now_ms - 8 * day_ms },
          },
        ],
      },
      report: {
        ...body.report,
        ...{ now_ms: now_ms - hour_ms, upload_due_in_ms: hour_ms, differing_days: 1, restarts: 40 },
        ...{ disk_free_bytes: 1e6, memory_bytes: 3e8, machine_memory_bytes: 1e9, strangers: 2 },
        ...{ joining_since_ms: now_ms - 5 * hour_ms, deaf_minutes: 90, failure: "no route" },
        burn_in: { ended_ms: now_ms - day_ms, failed: ["disk"], skipped: [], changed: [] },
        acceptance: { number: 1, finished_ms: now_ms - day_ms, faults: ["Hall 2 sleeps."] },
        poor_links: [{ name: "TS011F (ab:cd)", item: false, fallen: true }],
        machine: { temperature_c: 90, power_low: true, life_used_percent: 99, written_a_day_bytes: 1e9 },
        update: {
          ring: 5,
          refusals: [{ version: "2", reason: "went_back", message: "deaf", at_ms: now_ms, times: 1 }],
        },
      },
    }),
  });
  expect(answer.status).toBe(200);
  const headers = { authorization: `bearer ${await receiving.token("admin")}` };
  families = parseOpenMetrics(await (await fetch(new URL("/metrics", receiving.url), { headers })).text());
});
afterAll(() => receiving[Symbol.asyncDispose]());

const samples = () => [...families.values()].flatMap((family) => family.samples);

test("central serves every figure of the fleet, and the needs of homes that were heard and of those that never were", () => {
  const served = new Set(samples().map(({ name }) => name));
  const missing = homeFigures
    .map(({ name, unit }) => (unit === undefined ? name : `${name}_${unit}`))
    .filter((name) => !served.has(name));
  expect(missing).toEqual([]);
  expect(families.get("lintel_homes")?.samples[0]?.value).toBe(2);
  const needs = (families.get(needsMetric)?.samples ?? []).map(({ labels, value }) => ({ ...labels, value }));
  expect(needs).toContainEqual({
    ...{ home: "13", need: "never_heard", level: "normal", duty: "field" },
    value: 1,
  });
  const ofHome = needs.filter(({ home }: Record<string, unknown>) => home === "12");
  expect(ofHome.map((one: Record<string, unknown>) => String(one["need"])).sort()).toEqual([
    "battery_low",
    "burn_in_due",
    "clock_wrong",
    "crash_loop",
    "data_differ",
    "disk_nearly_full",
    "disk_worn",
    "gateway_hot",
    "item_silent",
    "joining_open",
    "link_poor",
    "memory_high",
    "minutes_missing",
    "not_accepted",
    "power_low",
    "went_back",
  ]);
});

test("the dashboard asks for metrics alone that central serves", () => {
  const served = new Set(samples().map(({ name }) => name));
  const asked = grafanaDashboard().panels.flatMap(({ targets }) =>
    targets.flatMap(({ expr }) => expr.match(/lintel_\w+/g) ?? []),
  );
  expect(asked.length).toBeGreaterThan(homeFigures.length);
  expect(asked.filter((name) => !served.has(name))).toEqual([]);
});

describe.skipIf(promtool === null)(
  promtool === null ? "promtool (not installed: apt-get install prometheus)" : "promtool",
  () => {
    const directory = temporaryDirectory();
    afterAll(() => directory[Symbol.dispose]());
    const rules = join(directory.path, "rules.json");
    const run = (...command: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? "", ...command]);
      return { code: exitCode, said: `${stdout}${stderr}` };
    };

    test("accepts the rules", () => {
      writeFileSync(rules, JSON.stringify(prometheusRules()));
      expect(run("check", "rules", rules)).toMatchObject({
        code: 0,
        said: expect.stringContaining(`${alertingRules().length} rules found`),
      });
    });

    test("fires each for what central serves, after the time of its row and not before, and stops after its end", () => {
      writeFileSync(rules, JSON.stringify(prometheusRules()));
      const tests = join(directory.path, "tests.json");
      writeFileSync(tests, JSON.stringify(unitTests(rules)));
      expect(run("test", "rules", tests)).toEqual({
        code: 0,
        said: expect.stringContaining("SUCCESS"),
      });
    });
  },
);

const step_min = 15;
const lasting_h = 60;

/** A test of promtool: the samples that central served, for 60 hours, then none; and two troubles of a server. */
function unitTests(rules: string) {
  const steps = (lasting_h * 60) / step_min;
  const series = samples().map(({ name, labels, value }) => ({
    series: `${name}${labelText(labels)}`,
    values: `${value}+0x${steps} stale`,
  }));
  const firing = (rule: string, home?: string) => {
    const { labels, annotations } = alertingRules().find(({ alert }) => alert === rule) as never as {
      labels: Record<string, string>;
      annotations: { summary: string };
    };
    const given = { home: home ?? "", instance: "central:8090" };
    return {
      exp_labels: {
        ...labels,
        ...(home === undefined ? { job: "lintel", instance: given.instance } : { home }),
      },
      exp_annotations: {
        summary: annotations.summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) =>
          label === "home" ? given.home : given.instance,
        ),
      },
    };
  };
  const served = families.get(needsMetric)?.samples ?? [];
  const ofNeed = (Object.keys(fleetNeeds) as FleetNeedType[]).flatMap((need) => {
    const alertname = `Lintel${need.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
    const homes = served.filter(({ labels }) => labels["need"] === need).map(({ labels }) => labels["home"]);
    const { after_h, over_h } = fleetNeeds[need];
    const alerts = homes.map((home) => firing(alertname, home));
    const at = (eval_min: number, exp_alerts: readonly unknown[]) => ({
      ...{ eval_time: `${eval_min}m`, alertname },
      exp_alerts,
    });
    return [
      ...(after_h === 0 ? [] : [at(after_h * 60 - step_min, [])]),
      at(after_h * 60, alerts),
      at((lasting_h + over_h) * 60 - step_min, alerts),
      at((lasting_h + over_h) * 60 + 2 * step_min, []),
    ];
  });
  const grown = 'lintel_home_memory_resident_bytes{home="14"}';
  const grown_h = 24;
  return {
    rule_files: [rules],
    evaluation_interval: `${step_min}m`,
    tests: [
      {
        interval: `${step_min}m`,
        input_series: [
          ...series,
          { series: 'up{job="lintel",instance="central:8090"}', values: `0+0x${steps}` },
          { series: grown, values: `100+0x${(grown_h * 60) / step_min} 200+0x${steps}` },
        ],
        alert_rule_test: [
          ...ofNeed,
          { eval_time: "0m", alertname: "LintelNotServing", exp_alerts: [] },
          { eval_time: "15m", alertname: "LintelNotServing", exp_alerts: [firing("LintelNotServing")] },
          { eval_time: `${grown_h + 48}h`, alertname: "LintelMemoryGrows", exp_alerts: [] },
          {
            eval_time: `${grown_h + 49}h`,
            alertname: "LintelMemoryGrows",
            exp_alerts: [firing("LintelMemoryGrows", "14")],
          },
          { eval_time: "1h", alertname: "LintelServerDiskNearlyFull", exp_alerts: [] },
        ],
      },
    ],
  };
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const written = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return written.length === 0 ? "" : `{${written.join(",")}}`;
}
