import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { startGateway } from "../../../src/gateway/gateway.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { gatewayOf, type Receiving, receive, reportBody } from "../../central/receiver/receiving.ts";
import { type ParsedFamily, parseOpenMetrics } from "./openmetrics-parser.ts";

async function metricsOf(url: string, token: string): Promise<ReadonlyMap<string, ParsedFamily>> {
  const response = await fetch(new URL("/metrics", url), { headers: { authorization: `Bearer ${token}` } });
  expect([response.status, response.headers.get("Content-Type")]).toEqual([
    200,
    "application/openmetrics-text; version=1.0.0; charset=utf-8",
  ]);
  return parseOpenMetrics(await response.text());
}

const only = (families: ReadonlyMap<string, ParsedFamily>, name: string) =>
  families.get(name)?.samples[0]?.value;

describe("metrics of central", () => {
  let receiving: Receiving;
  beforeAll(async () => {
    receiving = await receive({ metrics: true });
  });
  afterAll(() => receiving[Symbol.asyncDispose]());

  test("count what was taken, repeated and refused, and what each home has left to send", async () => {
    const token = await receiving.token("admin");
    const gateway = gatewayOf(12, 100);
    await receiving.send(12, gateway.batch(1, 60));
    await receiving.send(12, gateway.batch(1, 60));
    await receiving.send(12, gateway.batch(62, 100));
    await receiving.ask(12, "POST", "/report", { body: JSON.stringify(reportBody(gateway)) });
    const families = await metricsOf(receiving.url, token);
    expect(only(families, "lintel_rows")).toBe(60);
    expect(only(families, "lintel_batches")).toBe(1);
    expect(only(families, "lintel_batches_repeated")).toBe(1);
    expect(only(families, "lintel_homes")).toBe(1);
    expect(families.get("lintel_refusals")?.samples).toContainEqual({
      name: "lintel_refusals_total",
      labels: { reason: "gap" },
      value: 1,
    });
    expect(families.get("lintel_home_backlog_readings")?.samples).toEqual([
      { name: "lintel_home_backlog_readings", labels: { home: "12" }, value: 40 },
    ]);
    expect(families.get("lintel_build")?.samples[0]?.labels["role"]).toBe("central");
  });

  test.each([
    ["read", 200],
    ["admin", 200],
    ["sync", 401],
  ] as const)("are served to a %s token with %i", async (scope, status) => {
    const headers = {
      authorization: `bearer ${await receiving.token(scope, scope === "sync" ? 12 : undefined)}`,
    };
    expect((await fetch(new URL("/metrics", receiving.url), { headers })).status).toBe(status);
    expect((await fetch(new URL("/metrics", receiving.url))).status).toBe(401);
    expect((await fetch(new URL("/metrics", receiving.url), { method: "POST", headers })).status).toBe(405);
  });

  test("are of all homes, and refused to a token that is bound to some", async () => {
    const headers = { authorization: `bearer ${await receiving.boundToken({ homes: [12] })}` };
    const refused = await fetch(new URL("/metrics", receiving.url), { headers });
    expect([refused.status, await refused.json()]).toEqual([401, expect.objectContaining({ code: 40106 })]);
  });

  test("are not there unless they are asked for", async () => {
    await using other = await receive();
    const headers = { authorization: `bearer ${await other.token("admin")}` };
    expect((await fetch(new URL("/metrics", other.url), { headers })).status).toBe(404);
  });
});

describe("metrics of a gateway", () => {
  test("say what was committed and how fast, who listens, and when each item was heard", async () => {
    using directory = temporaryDirectory();
    const clock = new SystemClock();
    const gateway = await startGateway({
      config: {
        file: "a test",
        data: directory.path,
        home: { timezone: "UTC" },
        api: { hostname: "127.0.0.1", port: 0, realm: "lintel", metrics: true },
        walking: [],
        drivers: new Map(),
        warnings: [],
      },
      clock,
      log: keptLog().log,
      drivers: [],
      onFailure: () => {},
    });
    try {
      const { token, text } = mintToken({ name: "monitor", scope: "read", clock });
      await gateway.store.addToken(token);
      await gateway.store.append([sensorEvent(sensor(1), start_ms, 1)], {
        states: [{ device: sensor(1), heard_ms: start_ms }],
        // A monitor that counts these would know when somebody was at home in a pause.
        dropped: new Map([
          ['frames with a "bad" checksum', 7],
          ["while recording was paused", 3],
          ["after consent was withdrawn", 3],
        ]),
      });
      const families = await metricsOf(gateway.url, text);
      expect(families.get("lintel_readings_stored")?.samples).toEqual([
        { name: "lintel_readings_stored", labels: { series: "wirelesssensor_events" }, value: 1 },
      ]);
      expect(families.get("lintel_dropped")?.samples).toEqual([
        { name: "lintel_dropped_total", labels: { what: 'frames with a "bad" checksum' }, value: 7 },
      ]);
      expect(families.get("lintel_commit_seconds")?.type).toBe("histogram");
      expect(families.get("lintel_item_heard_age_seconds")?.samples).toHaveLength(1);
      expect(only(families, "lintel_disk_free_bytes")).toBeGreaterThan(0);
    } finally {
      await gateway.stop();
    }
  });
});
