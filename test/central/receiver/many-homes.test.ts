import { expect, test } from "bun:test";
import { batchHeader, batchType, syncPath } from "../../../src/transfer/protocol.ts";
import { encoded, gatewayOf, headerOf, type Receiving, receive } from "./receiving.ts";

test("200 homes that post at once are each taken exactly once", async () => {
  await using receiving = await receive();
  const homes = Array.from({ length: 200 }, (_, index) => 1_000 + index);
  for (const home of homes) await receiving.homeToken(home);
  const answers = await Promise.all(
    homes.map(async (home) => (await receiving.send(home, gatewayOf(home, 50).all())).json()),
  );
  expect(answers).toEqual(homes.map(() => ({ held_seq: 50, taken: 50 })));
  const { items } = await receiving.store.overview();
  const counts = items
    .filter(({ record }) => homes.includes(record.currenthomeid ?? 0))
    .map(({ series }) => series[0]?.count);
  expect(counts).toEqual(homes.map(() => 50));
});

test("a central that is full tells homes when to come back, before their bodies are read, and takes them all", async () => {
  await using full = await receive({ admission: { under_way_max: 1, tickets_max: 8 } });
  const homes = Array.from({ length: 24 }, (_, index) => 1 + index);
  // Bodies that do not come keep central full for as long as the test wants.
  const uploads = await Promise.all(homes.map((home) => begin(full, home)));
  const refused = new Set<number>();
  while (refused.size < homes.length - 8) {
    const { home, answer } = await Promise.race(
      uploads
        .filter(({ home }) => !refused.has(home))
        .map(async ({ home, answer }) => ({ home, answer: await answer })),
    );
    expect(answer).toMatchObject({ status: 429, code: 42902 });
    expect(answer.retry_s).toBeWithin(1, 241);
    refused.add(home);
  }
  const admitted = uploads.filter(({ home }) => !refused.has(home));
  for (const { finish } of admitted) finish();
  for (const { answer } of admitted) expect(await answer).toMatchObject({ status: 200 });
  await Promise.all(
    [...refused].map(async (home) => {
      for (let attempt = 1; attempt < 20; attempt += 1) {
        const answer = await full.send(home, gatewayOf(home, 50).all());
        if (answer.status === 200) return;
        expect(answer.status).toBe(429);
        await Bun.sleep(Number(answer.headers.get("Retry-After")) * 1_000);
      }
      throw new Error(`home ${home} has starved`);
    }),
  );
  const { items } = await full.store.overview();
  expect(items.map(({ series }) => series[0]?.count)).toEqual(homes.map(() => 50));
});

interface Upload {
  readonly home: number;
  readonly answer: Promise<{ status: number; retry_s: number; code?: number }>;
  /** Sends the body. */
  finish(): void;
}

/** Begins to send a batch of a home: all but its body. */
async function begin({ port, homeToken }: Receiving, home: number): Promise<Upload> {
  const batch = gatewayOf(home, 50).all();
  const body = encoded(batch);
  const { promise: answer, resolve, reject } = Promise.withResolvers<Awaited<Upload["answer"]>>();
  let text = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, bytes) => {
        text += bytes.toString("latin1");
        const [head = "", content] = text.split("\r\n\r\n");
        const length = /^content-length: (\d+)/im.exec(head)?.[1];
        if (content === undefined || content.length < Number(length)) return;
        const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
        const retry_s = Number(/^retry-after: (\d+)/im.exec(head)?.[1]);
        resolve({ status, retry_s, ...(JSON.parse(content) as { code?: number }) });
      },
      close: () => reject(new Error(`home ${home} had no answer: ${text}`)),
    },
  });
  const lines = [
    `POST ${syncPath}/batches HTTP/1.1`,
    "Host: central",
    `Authorization: bearer ${await homeToken(home)}`,
    `Content-Type: ${batchType}`,
    `${batchHeader}: ${headerOf(batch)}`,
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return { home, answer, finish: () => void socket.write(body) };
}
