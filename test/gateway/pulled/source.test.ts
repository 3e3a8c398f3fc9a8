import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { SystemClock } from "../../../src/base/clock.ts";
import { mintToken, type Scope } from "../../../src/domain/token.ts";
import { type RunningGateway, startGateway } from "../../../src/gateway/gateway.ts";
import { decodeBatch, decodeReadings } from "../../../src/transfer/batch-codec.ts";
import { BackupsBody, DigestsAnswer, SourceReport } from "../../../src/transfer/protocol.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";

const clock = new SystemClock();
const directory = temporaryDirectory();
let gateway: RunningGateway;
let epoch = "";
beforeAll(async () => {
  gateway = await startGateway({
    config: {
      file: "a test",
      data: directory.path,
      home: { id: 12, timezone: "Europe/London" },
      api: { hostname: "127.0.0.1", port: 0, realm: "lintel" },
      walking: [],
      drivers: new Map(),
      warnings: [],
    },
    clock,
    log: keptLog().log,
    drivers: [],
    onFailure: () => {},
  });
  epoch = gateway.store.epoch;
  await gateway.store.append(
    Array.from({ length: readings }, (_, index) =>
      sensorEvent(sensor(1), start_ms + index * 1000, index % 4),
    ),
  );
});
afterAll(async () => {
  await gateway.stop();
  directory[Symbol.dispose]();
});

const readings = 10_000;
const day = Math.floor(start_ms / 86_400_000);
const dayQuery = `through=${readings}&series=wirelesssensor_events&kind=wirelesssensors&address=${sensor(1).address}&day=${day}&after=0`;

async function ask(path: string, scope: Scope = "sync", home?: number, method = "GET"): Promise<Response> {
  const { token, text } = mintToken({
    name: "central",
    scope,
    clock,
    ...(home === undefined ? {} : { home }),
  });
  await gateway.store.addToken(token);
  return fetch(new URL(`/sync/v1${path}`, gateway.url), {
    method,
    headers: { authorization: `bearer ${text}` },
  });
}

const paths = () => [
  "/report?after_note=0",
  `/batches?epoch=${epoch}&after=0`,
  `/digests?epoch=${epoch}&through=${readings}&from=${day * 86_400_000}&before=${(day + 1) * 86_400_000}`,
  `/days?epoch=${epoch}&${dayQuery}`,
  "/backups",
];

describe("central at a gateway", () => {
  test.each([
    ["sync", undefined, 200],
    ["sync", 12, 200],
    ["sync", 13, 401],
    ["admin", undefined, 200],
    ["read", undefined, 401],
  ] as const)("is answered on every path by a token %s of home %p with %i", async (scope, home, status) => {
    for (const path of paths()) expect([path, (await ask(path, scope, home)).status]).toEqual([path, status]);
  });

  test("can write nothing", async () => {
    for (const method of ["POST", "PUT", "DELETE"])
      for (const path of paths()) expect((await ask(path, "admin", undefined, method)).status).toBe(405);
    expect((await ask("/roster", "admin")).status).toBe(404);
  });

  test("hears the report that an upload would begin with", async () => {
    const body = await (await ask(paths()[0] as string)).json();
    expect([...Value.Errors(SourceReport, body)]).toEqual([]);
    expect(body).toMatchObject({
      epochs: [{ epoch, first_seq: 1, last_seq: readings }],
      report: {
        ...{ timezone: "Europe/London", last_seq: readings, deaf_minutes: 0 },
        ...{ memory_bytes: expect.any(Number), machine_memory_bytes: expect.any(Number) },
      },
      home: 12,
    });
  });

  test("gets every reading, batch by batch, and then nothing", async () => {
    let after = 0;
    const counts: number[] = [];
    for (;;) {
      const response = await ask(`/batches?epoch=${epoch}&after=${after}`);
      if (response.status === 204) break;
      expect(response.headers.get("Content-Type")).toBe("application/vnd.lintel.batch");
      const batch = decodeBatch(await response.bytes());
      expect([batch.epoch, batch.from_seq]).toEqual([epoch, after + 1]);
      counts.push(batch.series.wirelesssensor_events?.seq.length ?? 0);
      after = batch.to_seq;
    }
    expect(after).toBe(readings);
    expect(counts.reduce((sum, count) => sum + count)).toBe(readings);
    // The thread that answers also stamps: no answer is a long one.
    expect(Math.max(...counts)).toBeLessThanOrEqual(4_096);
  });

  test("compares days, and gets the readings of one", async () => {
    const answer = await (await ask(paths()[2] as string)).json();
    expect([...Value.Errors(DigestsAnswer, answer)]).toEqual([]);
    const { digests } = answer as DigestsAnswer;
    expect(digests).toMatchObject([{ series: "wirelesssensor_events", day, count: readings }]);
    const batch = decodeReadings(await (await ask(paths()[3] as string)).bytes());
    expect(batch.series.wirelesssensor_events?.seq).toHaveLength(readings);
  });

  test.each([
    ["/batches?after=0", "epoch must be 32 lower-case hex digits"],
    ["/batches?epoch=x&after=0", "epoch must be 32 lower-case hex digits"],
    [`/batches?epoch=${"0".repeat(32)}&after=-1`, "after must be an integer from 0 to"],
    [`/batches?epoch=${"0".repeat(32)}&after=1e1`, "after must be an integer from 0 to"],
    [`/batches?epoch=${"0".repeat(32)}&after=1&after=2`, "after is given more than once"],
    [`/digests?epoch=${"0".repeat(32)}&through=1&from=0&before=86400001`, "before must be at most one day"],
    [`/digests?epoch=${"0".repeat(32)}&through=1&from=9&before=9`, "before must be at most one day"],
    [`/digests?epoch=${"0".repeat(32)}&through=x&from=0&before=9`, "through must be an integer"],
    [`/days?epoch=${"0".repeat(32)}&${dayQuery.replace("wirelesssensors", "cats")}`, "kind must be"],
  ])("is told what is wrong with %s", async (path, message) => {
    const response = await ask(path);
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      422,
      expect.stringContaining(message),
    ]);
  });

  test("gets the files that a spare gateway would need", async () => {
    const body = await (await ask("/backups")).json();
    expect([...Value.Errors(BackupsBody, body)]).toEqual([]);
    expect(Object.keys((body as BackupsBody).files)).toContain("cursors.json");
  });

  test("gets nothing of an epoch that is not here", async () => {
    expect((await ask(`/batches?epoch=${"0".repeat(32)}&after=0`)).status).toBe(204);
  });
});
