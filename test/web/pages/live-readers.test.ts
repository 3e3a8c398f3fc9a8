import { afterEach, expect, test } from "bun:test";
import { applied } from "../../../src/web/pages/live-difference.ts";
import { Live } from "../../../src/web/pages/live-pages.ts";
import { HttpError } from "../../../src/web/server/http-errors.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

/** Pages on a port, of one store: `page` is what there is to see, and each change of it changes the store. */
class Pages {
  readonly clock = new SettableClock(1_000_000);
  readonly live: Live;
  page: object = { text: "first" };
  changes = 1;
  /** How often the data was looked for. */
  found = 0;
  fault: Error | undefined;
  readonly #server: Bun.Server<undefined>;

  constructor() {
    const { clock } = this;
    this.live = new Live({ clock, changes: () => this.changes });
    const find = async () => {
      this.found += 1;
      if (this.fault !== undefined) throw this.fault;
      return { now_ms: clock.now().unix_ms, ...this.page };
    };
    const fetch = (request: Request) =>
      this.live.stream(request, { name: new URL(request.url).pathname, first: find, find });
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
    open.push(this);
  }

  change(page: object): void {
    this.page = page;
    this.changes += 1;
  }

  async follow(name = "home", headers = { "Accept-Encoding": "gzip" }): Promise<Follower> {
    const leaving = new AbortController();
    const asked = { signal: leaving.signal, headers, decompress: false };
    const response = await fetch(new URL(name, this.#server.url), asked as RequestInit);
    return new Follower(this, response, leaving);
  }

  /** Opens a stream and takes nothing of it. */
  async stall(): Promise<{ takeRest(): Promise<string> }> {
    let text = "";
    let takes = false;
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: this.#server.port ?? 0,
      socket: {
        data: (own, bytes) => {
          text += bytes.toString("latin1");
          if (!takes) own.pause();
        },
        close: () => close(),
      },
    });
    socket.write("GET /home HTTP/1.1\r\nHost: home\r\nConnection: close\r\n\r\n");
    const takeRest = async () => {
      takes = true;
      socket.resume();
      await closed;
      return text;
    };
    return { takeRest };
  }

  close(): Promise<void> {
    return this.#server.stop(true);
  }
}

const open: Pages[] = [];
afterEach(async () => {
  for (const pages of open.splice(0)) await pages.close();
});

/** A browser, as far as it takes messages. */
class Follower {
  /** Messages without their ends, comments among them. */
  readonly messages: string[] = [];
  ended = false;
  /** As they came, compressed or not. */
  bytes = 0;
  readonly #pages: Pages;
  readonly #leaving: AbortController;

  constructor(pages: Pages, { body, headers }: Response, leaving: AbortController) {
    this.#pages = pages;
    this.#leaving = leaving;
    const counted = (body as ReadableStream<Uint8Array<ArrayBuffer>>).pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform: (bytes, to) => {
          this.bytes += bytes.length;
          to.enqueue(bytes);
        },
      }),
    );
    const isPacked = headers.get("Content-Encoding") === "gzip";
    void this.#read(isPacked ? counted.pipeThrough(new DecompressionStream("gzip")) : counted).catch(() => {
      this.ended = true;
    });
  }

  /** The data as it is by the message after `after` others with data, letting the time pass that it takes. */
  data(after: number): Promise<unknown> {
    return eventually(async () => {
      this.#pages.clock.advance(300);
      const told = this.messages.map((text) => /^(event: changed\n)?data: (.*)$/.exec(text) ?? []);
      const texts = told.filter(([text]) => text !== undefined);
      if (texts.length <= after) return undefined;
      return texts
        .slice(0, after + 1)
        .reduce<unknown>(
          (data, [, change, text = ""]) => (change ? applied(data, JSON.parse(text)) : JSON.parse(text)),
          undefined,
        );
    }, `message ${after}`);
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of body) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      this.messages.push(...parts);
    }
    this.ended = true;
  }
}

test("everybody at a page is sent its data, and again with each change, at one look for all", async () => {
  const pages = new Pages();
  const [one, other] = [await pages.follow(), await pages.follow()];
  expect(await one.data(0)).toMatchObject({ text: "first" });
  await other.data(0);
  const before = pages.found;
  pages.change({ text: "second" });
  expect(await one.data(1)).toMatchObject({ text: "second" });
  expect(await other.data(1)).toMatchObject({ text: "second" });
  expect(pages.found - before).toBe(1);
});

test("of a large page in which one row changes, what has changed is sent, compressed for who takes that", async () => {
  const row = (place: number) => ({
    name: `sensor-${place}`,
    marks: Array.from({ length: 500 }, (_, at) => 3 * at + place),
  });
  const rows = Array.from({ length: 40 }, (_, place) => row(place));
  const pages = new Pages();
  pages.page = { rows };
  const [reader, plain] = [
    await pages.follow(),
    await pages.follow("home", { "Accept-Encoding": "identity" }),
  ];
  expect(await reader.data(0)).toMatchObject({ rows });
  await plain.data(0);
  const bytes = plain.bytes;
  const changed = rows.with(7, { name: "sensor-7", marks: [...row(7).marks, 1_600] });
  pages.change({ rows: changed });
  expect(await reader.data(1)).toMatchObject({ rows: changed });
  expect(await plain.data(1)).toMatchObject({ rows: changed });
  expect(bytes).toBeGreaterThan(80_000);
  expect(plain.bytes - bytes).toBeLessThan(200);
  expect(reader.bytes).toBeLessThan(0.5 * plain.bytes);
  for (const one of [reader, plain]) one.leave();
});

test("who comes with newer data than the others have is sent all of it again, and then differences", async () => {
  const pages = new Pages();
  const reader = await pages.follow();
  await reader.data(0);
  pages.page = { text: "second" };
  const late = await pages.follow();
  for (const place of [0, 1]) expect(await late.data(place)).toMatchObject({ text: "second" });
  expect(await reader.data(1)).toMatchObject({ text: "second" });
  pages.change({ text: "third" });
  for (const one of [reader, late]) expect(await one.data(2)).toMatchObject({ text: "third" });
  const changes = ({ messages }: Follower) => messages.filter((text) => text.startsWith("event: changed"));
  expect([changes(reader).length, changes(late).length]).toEqual([2, 1]);
});

test("a change that changes nothing here, and time alone, are no news", async () => {
  const pages = new Pages();
  const reader = await pages.follow();
  await reader.data(0);
  pages.change({ text: "first" });
  await eventually(() => {
    pages.clock.advance(300);
    return pages.found >= 2 || undefined;
  }, "a look");
  pages.change({ text: "second" });
  expect(await reader.data(1)).toMatchObject({ text: "second" });
});

test("without any change the data is looked for again each minute, and a line keeps the connection meanwhile", async () => {
  const pages = new Pages();
  const reader = await pages.follow();
  await reader.data(0);
  // The first look finds what was sent already.
  await eventually(() => {
    if (pages.found < 2) pages.clock.advance(300);
    return (pages.found >= 2 && pages.clock.waiting > 0) || undefined;
  }, "the next look");
  const { found } = pages;
  pages.clock.advance(15_000);
  await eventually(() => (reader.messages.at(-1) === ": " ? true : undefined), "a comment");
  expect(pages.found).toBe(found);
  // Without a change of the store, as where a device becomes overdue.
  pages.page = { text: "later" };
  await eventually(() => (pages.clock.waiting > 0 ? true : undefined), "the next look");
  pages.clock.advance(45_000);
  expect(await reader.data(1)).toMatchObject({ text: "later" });
});

test("who leaves is forgotten at once, and the others are still told", async () => {
  const pages = new Pages();
  const [one, other] = [await pages.follow(), await pages.follow()];
  await one.data(0);
  await other.data(0);
  one.leave();
  await eventually(() => (pages.live.readers === 1 ? true : undefined), "one reader");
  pages.change({ text: "second" });
  expect(await other.data(1)).toMatchObject({ text: "second" });
  other.leave();
  await eventually(() => (pages.live.readers === 0 ? true : undefined), "no reader");
  await eventually(() => {
    pages.clock.advance(300);
    return pages.clock.waiting === 0 || undefined;
  }, "no more looks");
});

test("who comes while the last reader leaves is told like any other", async () => {
  const pages = new Pages();
  for (let round = 0; round < 10; round++) {
    const gone = await pages.follow();
    await gone.data(0);
    gone.leave();
    const come = await pages.follow();
    expect(await come.data(0)).toMatchObject({ text: "first" });
    come.leave();
  }
  await eventually(() => (pages.live.readers === 0 ? true : undefined), "no reader");
});

test("where the data can no longer be had the streams end and say so; the next page is not hurt", async () => {
  const pages = new Pages();
  const reader = await pages.follow();
  await reader.data(0);
  pages.fault = new HttpError("path_unknown", {});
  pages.changes += 1;
  await eventually(() => {
    pages.clock.advance(300);
    return reader.ended || undefined;
  }, "the end");
  expect(reader.messages.at(-1)).toBe("event: ended\ndata: ");
  expect(pages.live.readers).toBe(0);
  pages.fault = undefined;
  expect(await (await pages.follow()).data(0)).toMatchObject({ text: "first" });
});

test("for a reader who takes nothing one message waits, not all of them, and then it is let go", async () => {
  const pages = new Pages();
  const socket = await pages.stall();
  await eventually(() => (pages.live.readers === 1 ? true : undefined), "a reader");
  for (let round = 0; round < 150; round++) {
    pages.change({ text: `round ${round} `.repeat(100_000) });
    const { found } = pages;
    await eventually(() => {
      pages.clock.advance(300);
      return pages.found > found || pages.live.readers === 0 || undefined;
    }, "a look");
  }
  await eventually(() => {
    pages.clock.advance(15_000);
    return pages.live.readers === 0 || undefined;
  }, "that it is let go");
  // What the kernel had taken for it comes all the same, some megabytes.
  const told = (await socket.takeRest()).match(/data: /g) ?? [];
  expect(told.length).toBeLessThan(30);
});
