import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { SystemClock } from "../../../src/base/clock.ts";
import { openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { BatchFault, decodeBatch } from "../../../src/transfer/batch-codec.ts";
import { batchType } from "../../../src/transfer/protocol.ts";
import { bytesWith, textOf } from "../../../testbed/batch-sample.ts";
import { plainOf } from "../../../testbed/plain-batch.ts";
import { keptLog, seeded } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { encoded, gatewayOf, type Receiving, receive, reportBody } from "./receiving.ts";

const clock = new SettableClock(Date.UTC(2026, 10, 20));
let receiving: Receiving;
let token = "";
beforeAll(async () => {
  // The store has the machine's clock: its thread must not wait for a test's.
  const open = (directory: string) =>
    openCentralStore({ directory, clock: new SystemClock(), log: keptLog().log, ...writerOfTests() });
  receiving = await receive({ clock, open });
  token = await receiving.homeToken(12);
});
afterAll(() => receiving[Symbol.asyncDispose]());

const gateway = gatewayOf(12, 100);
const good = encoded(gateway.all());

/** Nothing was taken, nothing is worked on, and a good batch of another home is taken at once. */
let probe = 5_000;
async function isWell(): Promise<void> {
  probe += 1;
  expect((await receiving.store.held([gateway.epoch]))[0]?.held_seq).toBe(0);
  expect(await (await receiving.send(probe, gatewayOf(probe, 1).all())).json()).toEqual({
    held_seq: 1,
    taken: 1,
  });
}

/** Some bits of a frame mean nothing, such as one that is not used. */
function saysTheSame(bytes: Uint8Array): boolean {
  try {
    expect(plainOf(decodeBatch(bytes))).toEqual(plainOf(decodeBatch(good)));
    return true;
  } catch (thrown) {
    if (thrown instanceof BatchFault) return false;
    throw thrown;
  }
}

async function answerTo(
  path: string,
  sent: { body: Uint8Array<ArrayBuffer> | string; type?: string; headers?: Record<string, string> },
): Promise<[status: number, code: number]> {
  const response = await receiving.ask(12, "POST", path, sent);
  return [response.status, ((await response.json()) as { code: number }).code];
}

/** A zstd frame of `bytes` zeros, by runs of one byte (RFC 8878 §3.1.1.2): 4 bytes for each 128 KiB. */
function zeros(bytes: number): Uint8Array<ArrayBuffer> {
  const run = 128 * 1024;
  const blocks = bytes / run;
  const frame = new Uint8Array(6 + 4 * blocks);
  // Magic, a descriptor without sizes, a window of 128 KiB.
  frame.set([0x28, 0xb5, 0x2f, 0xfd, 0x00, 7 << 3]);
  for (let block = 0; block < blocks; block += 1) {
    const header = (run << 3) | (1 << 1) | (block === blocks - 1 ? 1 : 0);
    frame.set([header & 0xff, (header >> 8) & 0xff, (header >> 16) & 0xff, 0], 6 + 4 * block);
  }
  return frame;
}

describe("a body that expands", () => {
  const bomb = zeros(1024 * 1024 * 1024);

  test("is 1 GiB of zeros in 32 KiB, or in 1 KiB where it is compressed once more", () => {
    expect(bomb.length).toBeLessThan(33_000);
    expect(Bun.zstdCompressSync(bomb, { level: 19 }).length).toBeLessThan(1_024);
    expect(Bun.zstdDecompressSync(zeros(1024 * 1024))).toEqual(Buffer.alloc(1024 * 1024));
  });

  test("is refused without being expanded: as a batch, as JSON by zstd, and by gzip", async () => {
    const before_bytes = process.memoryUsage.rss();
    for (const body of [bomb, Bun.zstdCompressSync(bomb, { level: 19 })])
      expect(await answerTo("/batches", { body: new Uint8Array(body), type: batchType })).toEqual([
        422, 42204,
      ]);
    const zstd = { "content-encoding": "zstd" };
    expect(await answerTo("/report", { body: bomb, headers: zstd })).toEqual([413, 41302]);
    const zipped = new Uint8Array(gzipSync(new Uint8Array(200 * 1024 * 1024)));
    const gzip = { "content-encoding": "gzip" };
    expect(await answerTo("/report", { body: zipped, headers: gzip })).toEqual([413, 41302]);
    expect(await answerTo("/verify", { body: bomb, headers: zstd })).toEqual([413, 41302]);
    Bun.gc(true);
    // The 200 MiB are this test's own.
    expect(process.memoryUsage.rss() - before_bytes).toBeLessThan(512 * 1024 * 1024);
    await isWell();
  });
});

describe("a body of more values than any has", () => {
  const mebibyte = 1024 * 1024;

  test("is refused before they are made: 16 MiB of empty lists would be 500 MB", async () => {
    const lists = (bytes: number) => `[${"[],".repeat(bytes / 3 - 1)}[]]`;
    const zstd = { "content-encoding": "zstd" };
    Bun.gc(true);
    const before_bytes = process.memoryUsage.rss();
    const packed = (bytes: number) => Bun.zstdCompressSync(lists(bytes));
    for (const [path, bytes] of [
      ["/report", 8 * mebibyte],
      ["/verify", 8 * mebibyte],
    ] as const)
      expect(await answerTo(path, { body: new Uint8Array(packed(bytes)), headers: zstd })).toEqual([
        422, 42204,
      ]);
    const batch = bytesWith(lists(16 * mebibyte));
    expect(await answerTo("/batches", { body: batch, type: batchType })).toEqual([422, 42204]);
    expect(process.memoryUsage.rss() - before_bytes).toBeLessThan(400 * mebibyte);
    await isWell();
  });

  test("is a report with names without end", async () => {
    const body = reportBody(gateway) as { report: object };
    const names = (count: number, length: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`.padEnd(length, "x"), 1]));
    for (const dropped of [names(301, 5), names(1, 201)]) {
      const report = { body: JSON.stringify({ ...body, report: { ...body.report, dropped } }) };
      expect(await answerTo("/report", report)).toEqual([422, 42204]);
    }
    await isWell();
  });
});

describe("a body that is not what is expected", () => {
  test("by its type or coding is 415 before it is read", async () => {
    expect(await answerTo("/batches", { body: good, type: "application/json" })).toEqual([415, 41501]);
    expect(await answerTo("/batches", { body: good, type: "application/octet-stream" })).toEqual([
      415, 41501,
    ]);
    const zstd = { "content-encoding": "zstd" };
    expect(await answerTo("/batches", { body: good, type: batchType, headers: zstd })).toEqual([415, 41502]);
    expect(await answerTo("/report", { body: "{}", type: "text/plain" })).toEqual([415, 41501]);
    const br = { "content-encoding": "br" };
    expect(await answerTo("/report", { body: "{}", headers: br })).toEqual([415, 41502]);
    await isWell();
  });

  test("is cut short, garbage, or empty: 422, whatever the cut", async () => {
    const random = seeded(7);
    for (let round = 0; round < 60; round += 1) {
      const cut = good.slice(0, Math.floor(random() * good.length));
      expect(await answerTo("/batches", { body: cut, type: batchType })).toEqual([422, 42204]);
      const noise = Uint8Array.from({ length: 1 + Math.floor(random() * 3_000) }, () => random() * 256);
      expect(await answerTo("/batches", { body: noise, type: batchType })).toEqual([422, 42204]);
      expect(await answerTo("/report", { body: noise })).toEqual([400, 40005]);
    }
    const whole = Bun.zstdCompressSync(JSON.stringify(reportBody(gateway)));
    const headers = { "content-encoding": "zstd" };
    for (let length = 0; length < whole.length; length += 7)
      expect(await answerTo("/report", { body: new Uint8Array(whole.slice(0, length)), headers })).toEqual([
        400, 40005,
      ]);
    await isWell();
  });

  test("with any bit turned is refused, but where the bit says nothing", async () => {
    const random = seeded(8);
    let refused = 0;
    for (let round = 0; round < 100; round += 1) {
      const bent = good.slice();
      const at = Math.floor(random() * bent.length);
      bent[at] = (bent[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      if (saysTheSame(bent)) continue;
      expect(await answerTo("/batches", { body: bent, type: batchType })).toEqual([422, 42204]);
      refused += 1;
    }
    expect(refused).toBeGreaterThan(90);
    await isWell();
  });

  test("is JSON of another shape: 422 that names the field", async () => {
    const report = reportBody(gateway) as { epochs: unknown };
    for (const body of ["[]", "1", "null", '"x"', "{}", JSON.stringify({ ...report, epochs: [] })])
      expect(await answerTo("/report", { body })).toEqual([422, 42204]);
    const response = await receiving.ask(12, "POST", "/report", {
      body: JSON.stringify({ ...report, epochs: [{ epoch: "x", first_seq: 1, last_seq: 1 }] }),
    });
    expect(((await response.json()) as { message: string }).message).toContain("/epochs/0/epoch");
    await isWell();
  });

  test("is of a later version: 422 that says to update", async () => {
    const later = bytesWith(JSON.stringify({ ...JSON.parse(textOf(good)), version: 2 }));
    const response = await receiving.ask(12, "POST", "/batches", { body: later, type: batchType });
    expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([
      422,
      expect.stringContaining("update this side first"),
    ]);
  });
});

test("a position in a history that no answer has named is 422", async () => {
  for (const at of ["", "x", "1", "a b", "9".repeat(200)]) {
    const path = `/history?from=0&seq=1&at=${encodeURIComponent(at)}`;
    expect([at, (await receiving.ask(12, "GET", path)).status]).toEqual([at, 422]);
  }
});

describe("a body without end", () => {
  /** Sends a head and then what `more` makes until the server closes or answers; what came back. */
  async function stream(head: string, more: (sent: number) => string | undefined): Promise<string> {
    let received = "";
    let sent = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const push = (socket: { write(text: string): number }) => {
      for (;;) {
        const piece = more(sent);
        if (piece === undefined) return;
        if (socket.write(piece) < piece.length) return;
        sent += 1;
      }
    };
    await Bun.connect({
      hostname: "127.0.0.1",
      port: receiving.port,
      socket: {
        open: (socket) => {
          socket.write(head);
          push(socket);
        },
        drain: push,
        data: (_, bytes) => {
          received += bytes.toString("latin1");
        },
        close: () => resolve(),
        error: () => resolve(),
      },
    });
    await promise;
    return received;
  }
  const head = (...lines: string[]) =>
    [
      "POST /sync/v1/batches HTTP/1.1",
      "Host: x",
      `Authorization: bearer ${token}`,
      `Content-Type: ${batchType}`,
      ...lines,
      "",
      "",
    ].join("\r\n");

  test("is 413 by its Content-Length before any of it is sent", async () => {
    expect(await stream(head("Content-Length: 1048577"), () => undefined)).toMatch(
      /^HTTP\/1\.1 413 .*41301/s,
    );
    await isWell();
  });

  test("is 413 once its chunks are more than a batch may be, and the connection is closed", async () => {
    const chunk = `10000\r\n${"x".repeat(0x1_0000)}\r\n`;
    const answer = await stream(head("Transfer-Encoding: chunked"), (sent) =>
      sent < 10_000 ? chunk : undefined,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*41301/s);
    await isWell();
  });

  test("that stalls is 408 after its time, holds nobody up meanwhile, and the connection is closed", async () => {
    await isWell();
    const waiting = clock.waiting;
    const answer = stream(head("Content-Length: 1000"), (sent) => (sent === 0 ? "a little" : undefined));
    // The server waits for the rest.
    while (clock.waiting === waiting) await new Promise((resolve) => setImmediate(resolve));
    await isWell();
    clock.advance(299_000);
    await isWell();
    clock.advance(1_000);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 .*40801/s);
    await isWell();
  });

  test("whose sender goes away is forgotten", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { promise: open, resolve } = Promise.withResolvers<void>();
      const socket = await Bun.connect({
        hostname: "127.0.0.1",
        port: receiving.port,
        socket: { open: () => resolve(), data: () => {} },
      });
      await open;
      socket.write(`${head("Content-Length: 100000")}part`);
      socket.flush();
      socket.terminate();
    }
    // Two at once would be all that a home may have.
    for (;;) {
      const response = await receiving.ask(12, "POST", "/batches", { body: "x", type: batchType });
      await response.arrayBuffer();
      if (response.status === 422) break;
      expect(response.status).toBe(429);
    }
    await isWell();
  });
});
