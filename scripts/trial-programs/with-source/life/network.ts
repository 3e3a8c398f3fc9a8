import type { Fetch } from "../../../../src/web/client/http-request.ts";
import { below } from "../../../../testbed/sample.ts";
import type { World } from "./world.ts";
import { never } from "./writer.ts";

/** Answers requests, where it runs. */
export interface Answering {
  readonly answer: ((request: Request) => Promise<Response>) | undefined;
  /** Resolves when what runs now has crashed. */
  readonly crashed: Promise<void>;
}

/**
 * The network between a process and a server. By the draws of `random` a connection is refused, cut at any byte of the request or the
 * answer, its request is delivered twice, also much later, or the answer is lost or never comes. What a process has sent before it was killed may still
 * arrive when the next one is at work.
 *
 * @param of.troubled share of requests that something happens to
 */
export function networkTo(
  server: Answering,
  of: {
    world: World;
    random: () => number;
    isUp: () => boolean;
    isAlive: () => boolean;
    isThere: () => boolean;
    troubled: () => number;
  },
): Fetch {
  const { world, random, isUp, isAlive, isThere, troubled } = of;
  const deliver = async (request: Request): Promise<Answer> => {
    const { answer, crashed } = server;
    if (answer === undefined) throw broken("ECONNREFUSED");
    const working = answer(request).then(async (response) => ({
      status: response.status,
      headers: response.headers,
      bytes: await response.bytes(),
    }));
    world.busy.add(working);
    const done = () => world.busy.delete(working);
    working.then(done, done);
    void crashed.then(done);
    const gone = crashed.then(() => Promise.reject(broken("ECONNRESET")));
    return Promise.race([working, gone]);
  };
  return async (url, init) => {
    const bytes = await bytesOf(init.body as ReadableStream<Uint8Array> | null | undefined);
    await world.pause(5 + below(random, 80));
    if (!isUp()) throw broken("ENETUNREACH");
    const fault = random() < troubled() ? faults[below(random, faults.length)] : undefined;
    const cut = below(random, bytes.length + 1);
    const requestOf = (body: BodyInit | undefined) =>
      new Request(url, {
        method: init.method,
        headers: init.headers,
        ...(body === undefined ? {} : { body }),
      });
    const whole = () => requestOf(init.method === "GET" ? undefined : bytes);
    const deliverLater = (most_ms: number) => {
      const again = whole();
      world.after(below(random, most_ms), () => {
        if (isThere()) deliver(again).catch(() => undefined);
      });
    };
    if (!isAlive()) {
      deliverLater(400);
      return aborted(init.signal);
    }
    if (fault === "refused") throw broken("ECONNREFUSED");
    if (fault === "request cut") {
      if (init.method !== "GET") await deliver(requestOf(cutStream(bytes, cut))).catch(() => undefined);
      throw broken("ECONNRESET");
    }
    if (fault === "twice") await deliver(whole()).catch(() => undefined);
    if (fault === "again later") deliverLater(7_200_000);
    const { status, headers, bytes: answered } = await deliver(whole());
    await world.pause(5 + below(random, 80));
    if (fault === "answer lost") throw broken("ECONNRESET");
    if (fault === "no answer") return aborted(init.signal);
    const body = fault === "answer cut" ? cutStream(answered, below(random, answered.length + 1)) : answered;
    return new Response(status === 204 || status === 304 ? null : body, { status, headers });
  };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const faults = [
  "refused",
  "request cut",
  "twice",
  "again later",
  "answer lost",
  "no answer",
  "answer cut",
] as const;

async function bytesOf(
  body: ReadableStream<Uint8Array> | null | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of body ?? []) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

function cutStream(bytes: Uint8Array, length: number): ReadableStream<Uint8Array> {
  let given = false;
  return new ReadableStream({
    pull(controller) {
      if (given || length === 0) controller.error(broken("ECONNRESET"));
      else controller.enqueue(bytes.slice(0, length));
      given = true;
    },
  });
}

function aborted(signal: AbortSignal | null | undefined): Promise<never> {
  if (signal === null || signal === undefined) return never();
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function broken(code: string): Error {
  return Object.assign(new Error(code), { code });
}
