import { expect, test } from "bun:test";
import { OperatorError } from "../../src/base/errors.ts";
import { type Batch, batch_readings_max } from "../../src/store/batch.ts";
import { decodeBatch, decodeReadings } from "../../src/transfer/batch-codec.ts";
import { CentralTarget } from "../../src/transfer/central-target.ts";
import type { TransferReport } from "../../src/transfer/transfer-ends.ts";
import { keptLog, start_ms } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { encoded, gatewayOf, headerOf, reportBody } from "../central/receiver/receiving.ts";
import { answeringServers } from "../fakes/answering-servers.ts";
import { centralAt } from "../gateway/uploader/central-at.ts";
import { sensorDay } from "./sensor-day.ts";

const { answering } = answeringServers();

const { own, day, ofDay } = sensorDay(0);
const { epoch } = own;
const noted = { after_note: 3, to_note: 9, listeners: [{ name: "zigbee", first_ms: 1, last_ms: 2 }] };
const body = reportBody(own) as TransferReport;
const report: TransferReport = { ...body, condition: { ...body.condition, ...noted }, home: 12 };

/** A central that answers so; waits before it is asked again pass at once. */
function central(answer: (request: Request) => Response | Promise<Response>) {
  const { log, lines } = keptLog();
  const { central } = centralAt(answering(answer), { failures_max: 20 });
  return { target: new CentralTarget({ central, clock: new SettableClock(start_ms), log }), lines };
}

test("the first word asks how far central is, without the health of devices, and the last one has it", async () => {
  const bodies: unknown[] = [];
  const epochs = [{ epoch, held_seq: 7, held_note: 4 }];
  const { target, lines } = central(async (request) => {
    bodies.push([request.method, new URL(request.url).pathname, await request.json()]);
    return Response.json({ home: 12, now_ms: start_ms, version: "1", epochs });
  });
  expect(await target.held(report)).toEqual(epochs);
  expect(await target.note(report)).toEqual(epochs);
  const { home: _, ...told } = report;
  expect(bodies).toEqual([
    ["POST", "/sync/v1/report", { ...told, condition: body.condition }],
    ["POST", "/sync/v1/report", told],
  ]);
  expect(lines).toEqual([]);
});

test("a clock that is more than five minutes off central's is said, and the earlier of both counts", async () => {
  for (const [ahead_ms, said] of [
    [300_000, undefined],
    [-300_000, undefined],
    [300_001, "5 minutes ahead of central's"],
    [-3_600_000, "60 minutes behind central's"],
  ] as const) {
    const now_ms = start_ms - ahead_ms;
    const answer = { home: 12, now_ms, version: "1", epochs: [{ epoch, held_seq: 0, held_note: 0 }] };
    const { target, lines } = central(() => Response.json(answer));
    expect(target.now_ms).toBe(0);
    await target.held(report);
    expect(target.now_ms).toBe(Math.min(start_ms, now_ms));
    expect(lines).toEqual(
      said === undefined ? [] : [expect.stringContaining(`warn  the clock of this machine is ${said}: `)],
    );
  }
});

test("digests are sent with their span, and central's that differ come back", async () => {
  const digests = own.digests({ through_seq: 100, from_ms: 0, before_ms: start_ms * 2 });
  const request = { epoch, through_seq: 100, from_ms: 0, before_ms: 86_400_000 };
  const differing = digests.map((digest) => ({ ...digest, count: 0, hash: "0".repeat(16) }));
  let sent: unknown;
  const { target } = central(async (asked) => {
    sent = [asked.method, new URL(asked.url).pathname, await asked.json()];
    return Response.json({ differing });
  });
  expect(await target.differing(request, digests)).toEqual(differing);
  expect(sent).toEqual(["POST", "/sync/v1/verify", { ...request, digests }]);
});

test("a day is sent and asked for by its name, and another day or epoch than was asked for is refused", async () => {
  const readings = own.day(ofDay);
  let sent: unknown;
  const { target } = central(async ({ method, url, headers, body }) => {
    const { pathname, searchParams } = new URL(url);
    if (method === "GET") {
      sent = [method, pathname, searchParams.get("day"), searchParams.get("epoch")];
      return new Response(encoded(readings));
    }
    const { from_seq, to_seq } = decodeReadings(await new Response(body).bytes());
    sent = [method, pathname, searchParams.get("through"), headers.get("content-type"), from_seq, to_seq];
    return Response.json({ added: 1, corrected: 2, kept: 3 });
  });
  expect(await target.repairDay(ofDay, readings)).toEqual({ added: 1, corrected: 2, kept: 3 });
  expect(sent).toEqual(["PUT", "/sync/v1/days", "100", "application/vnd.lintel.batch", 1, 100]);
  expect((await target.readingsOfDay(ofDay)).to_seq).toBe(100);
  expect(sent).toEqual(["GET", "/sync/v1/days", String(day), epoch]);
  for (const other of [{ day: day + 1 }, { epoch: "e".repeat(32) }])
    expect(await target.readingsOfDay({ ...ofDay, ...other }).catch(String)).toContain(
      "OperatorError: central gives back readings of another day than was asked for",
    );
});

test("a day that does not go into a batch is a fault that names it", async () => {
  const { target } = central(() => Response.json({}));
  const large = gatewayOf(12, batch_readings_max + 1).all();
  const fault = await target.repairDay(ofDay, large).catch((thrown: unknown) => thrown);
  expect(fault).toBeInstanceOf(OperatorError);
  expect(String(fault)).toContain(`of wirelesssensors ${ofDay.address} on one day are too large to be sent`);
});

/** Sends all of a gateway to a central that answers so, from where central says; what was read and sent is kept. */
async function sending(
  gateway: typeof own,
  { few = 10, answer }: { few?: number; answer: (batch: Batch, request: Request) => Response | undefined },
) {
  const read: string[] = [];
  const sent: string[] = [];
  const { target } = central(async (request) => {
    const batch = decodeBatch(await request.clone().bytes());
    sent.push(`${batch.from_seq}-${batch.to_seq}`);
    return answer(batch, request) ?? Response.json({ held_seq: batch.to_seq, taken: 1 });
  });
  const send = target.sender(async (after_seq, readings_max) => {
    read.push(`${after_seq} ${readings_max}`);
    if (after_seq >= gateway.last_seq) return undefined;
    const to_seq = Math.min(gateway.last_seq, after_seq + Math.min(few, readings_max));
    return { batch: gateway.batch(after_seq + 1, to_seq), bytes: 0 };
  });
  return { read, sent, send };
}

const broken = () => Response.json({ code: 50001, message: "broken" }, { status: 500 });

test("a batch is named by its header, and the next one is read while it is under way", async () => {
  const headers: unknown[] = [];
  let readMeanwhile: string[] = [];
  const { send, read, sent } = await sending(own, {
    few: 50,
    answer: (_, request) => {
      const { method, url } = request;
      headers.push([
        method,
        new URL(url).pathname,
        ...["lintel-batch", "content-type"].map((name) => request.headers.get(name)),
      ]);
      readMeanwhile = [...read];
      return undefined;
    },
  });
  const first = await send(0);
  expect([first?.held_seq, first?.batch?.to_seq]).toEqual([50, 50]);
  expect(readMeanwhile).toEqual([`0 ${batch_readings_max}`, `50 ${batch_readings_max}`]);
  expect(await send(50)).toMatchObject({ held_seq: 100 });
  expect(await send(100)).toBeUndefined();
  // Each was read once, the last two ahead.
  expect(read).toEqual([0, 50, 100].map((after) => `${after} ${batch_readings_max}`).concat(read.slice(3)));
  expect(sent).toEqual(["1-50", "51-100"]);
  const type = "application/vnd.lintel.batch";
  expect(headers).toEqual([
    ["POST", "/sync/v1/batches", headerOf(own.batch(1, 50)), type],
    ["POST", "/sync/v1/batches", headerOf(own.batch(51, 100)), type],
  ]);
});

test("where central lacks what was before, it says from where to go on, and what was read ahead is let go of", async () => {
  let held_seq = 20;
  const { send, sent } = await sending(own, {
    answer: ({ from_seq }) =>
      from_seq > held_seq + 1
        ? Response.json({ code: 40901, message: "a gap", reason: "gap", held_seq }, { status: 409 })
        : undefined,
  });
  expect(await send(40)).toEqual({ held_seq: 20 });
  expect((await send(20))?.batch?.from_seq).toBe(21);
  held_seq = 30;
  expect((await send(30))?.batch?.from_seq).toBe(31);
  expect(sent).toEqual(["41-50", "21-30", "31-40"]);
});

test("batches are halved with each failure, down to 256 readings, and grow again with each that gets through", async () => {
  let failing = 10;
  const { send, read, sent } = await sending(gatewayOf(12, 1_500), {
    few: 600,
    answer: () => (failing-- > 0 ? broken() : undefined),
  });
  expect(await send(0)).toMatchObject({ held_seq: 256 });
  expect(read.filter((asked) => asked.startsWith("0 "))).toEqual(
    [65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 1_024, 512, 256, 256, 256].map((most) => `0 ${most}`),
  );
  expect(sent).toEqual([...Array(7).fill("1-600"), "1-512", "1-256", "1-256", "1-256"]);
  // What was read ahead was small enough.
  expect(await send(256)).toMatchObject({ held_seq: 512 });
  expect(read.at(-1)).toBe("512 512");
  expect(await send(512)).toMatchObject({ held_seq: 1_024 });
  expect(read.at(-1)).toBe("1024 1024");
});

test("a batch that was read ahead and is larger than what gets through is made anew, and never larger than at first", async () => {
  let failing = 0;
  const { send, read, sent } = await sending(gatewayOf(12, 300), {
    few: 100,
    answer: () => (failing-- > 0 ? broken() : undefined),
  });
  await send(0);
  failing = 1;
  expect((await send(100))?.held_seq).toBe(200);
  expect(sent).toEqual(["1-100", "101-200", "101-200"]);
  expect(read.filter((asked) => asked.startsWith("100 "))).toEqual(["100 65536", "100 32768"]);
  expect((await send(200))?.held_seq).toBe(300);
  expect(read.at(-1)).toBe("300 65536");
});

test("reading ahead that fails is told when its batch is wanted, and not before", async () => {
  const { target } = central(async (request) => {
    const { to_seq } = decodeBatch(await request.bytes());
    return Response.json({ held_seq: to_seq, taken: 1 });
  });
  const send = target.sender(async (after_seq) => {
    if (after_seq > 0) throw new Error("the card is gone");
    return { batch: own.batch(1, 10), bytes: 0 };
  });
  expect(await send(0)).toMatchObject({ held_seq: 10 });
  expect(await send(10).catch(String)).toBe("Error: the card is gone");
});
