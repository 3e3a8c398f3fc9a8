import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OperatorError } from "../../../src/base/errors.ts";
import { lineLog } from "../../../src/base/log.ts";
import type { Store } from "../../../src/store/store.ts";
import { defaultBounds } from "../../../src/web/server/http-server.ts";
import { readTls } from "../../../src/web/server/listening.ts";
import { startApi } from "../../../testbed/api-server.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { append, now_ms, rawExchange, reading, type Serving, serve } from "../../../testbed/serving.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

const tlsFile = (name: string) => new URL(`../../golden/api-tls/${name}`, import.meta.url).pathname;
const tls = { certificate: tlsFile("certificate.pem"), key: tlsFile("key.pem") };

describe("where it listens", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["0.0.0.0", "127.0.0.1"],
    ["::", "127.0.0.1"],
    ["::1", "[::1]"],
    ["localhost", "localhost"],
  ])("on %s it says that it is reached at %s, and is", async (hostname, host) => {
    await using serving = await serve({ hostname });
    expect(serving.api.url).toBe(`http://${host}:${serving.api.port}/v0.9`);
    expect((await serving.ask("/items")).status).toBe(200);
  });

  test("over TLS it is reached by any name, however short", async () => {
    await using serving = await serve({ tls });
    expect(serving.api.url).toBe(`https://127.0.0.1:${serving.api.port}/v0.9`);
    const ca = await Bun.file(tls.certificate).text();
    const watches = ["00:01", "00:02"].map((address) =>
      reading({ kind: "watches", address }, "watch_epochs", now_ms, {
        duration: 60,
        distance: 0,
        steps: 0,
        walkState: 1,
        runState: 1,
        sleepState: 1,
      }),
    );
    await append(serving.store, watches);
    for (const Host of ["localhost", "pi", "x"]) {
      const headers = { Host, Accept: "application/json", Authorization: `bearer ${serving.tokens.read}` };
      const url = `${serving.api.url}/inventory/watches?limit=1`;
      const response = await fetch(url, { headers, tls: { ca } });
      expect(response.status).toBe(200);
      expect(response.headers.get("Link")).toStartWith(`<https://${Host}/v0.9/inventory/watches?skip=1&`);
    }
  });
});

describe("a start that cannot succeed says why and what to do, and leaves nothing running", () => {
  async function fault(serving: Serving, changed: object): Promise<string> {
    const options = {
      store: serving.store,
      clock: serving.clock,
      log: lineLog({ write: () => {}, clock: serving.clock }),
      listen: { hostname: "127.0.0.1", port: 0 },
      realm: "lintel",
    };
    const outcome = await startApi({ ...options, ...changed }).then(
      (api) => api.stop().then(() => "it started"),
      (thrown: unknown) => thrown,
    );
    expect(outcome).toBeInstanceOf(OperatorError);
    return (outcome as OperatorError).message;
  }

  test("an address that cannot be had", async () => {
    await using serving = await serve();
    const { port } = serving.api;
    for (const hostname of ["127.0.0.1", "0.0.0.0"])
      expect(await fault(serving, { listen: { hostname, port } })).toMatch(
        /^cannot listen on [0-9.]+:\d+: another program has the port: stop that program, or set listen/,
      );
    expect((await serving.ask("/items")).status).toBe(200);
    expect(await fault(serving, { listen: { hostname: "203.0.113.9", port: 0 } })).toMatch(
      /this machine does not have that address: set listen/,
    );
    expect(await fault(serving, { listen: { hostname: "127.0.0.1", port: 65_536 } })).toMatch(
      /no such port: set listen/,
    );
  });

  test("TLS files that are missing, not what they should be, or not a pair", async () => {
    await using serving = await serve();
    const directory = await mkdtemp(join(tmpdir(), "lintel-api-tls-"));
    const garbage = join(directory, "garbage.pem");
    await writeFile(garbage, "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
    const missing = join(directory, "missing.pem");
    const cases = [
      [{ ...tls, certificate: missing }, `TLS certificate ${missing} cannot be read (ENOENT`],
      [{ ...tls, key: missing }, `TLS key ${missing} cannot be read (ENOENT`],
      [{ ...tls, key: directory }, `TLS key ${directory} cannot be read (EISDIR`],
      [{ ...tls, certificate: garbage }, `TLS certificate ${garbage} is not a PEM certificate`],
      [{ ...tls, certificate: tls.key }, `TLS certificate ${tls.key} is not a PEM certificate`],
      [{ ...tls, key: garbage }, `TLS key ${garbage} is not a PEM private key without passphrase`],
      [{ ...tls, key: tlsFile("other-key.pem") }, `TLS key ${tlsFile("other-key.pem")} does not belong to`],
    ] as const;
    for (const [files, message] of cases) expect(await fault(serving, { tls: files })).toStartWith(message);
    await rm(directory, { recursive: true });
  });

  test("a realm that would not stay within its header", async () => {
    await using serving = await serve();
    for (const realm of ["", "a\r\nX-Evil: 1", 'a"b', "a,b", "a=b", " a", "a ", "héllo", "x".repeat(65)])
      expect(await fault(serving, { realm })).toMatch(
        /^realm ".*" cannot stand in a header: set realm in \[api\]/,
      );
    expect(
      await startApi({ ...quiet(serving), realm: "Home 12.west_wing-B" }).then((api) => api.stop()),
    ).toBeUndefined();
  });

  test("a certificate that has expired is served with a warning", async () => {
    const lines: string[] = [];
    const clock = new SettableClock(Date.UTC(2200, 0, 1));
    await readTls(tls, { clock, log: lineLog({ write: (line) => void lines.push(line), clock }) });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("expired on");
  });
});

describe("the log", () => {
  test("has one line for each failed request, without query and tokens, and none for the others", async () => {
    await using serving = await serve({ least: "debug" });
    const { read } = serving.tokens;
    const good = { Authorization: `bearer ${read}`, Accept: "application/json" };
    expect((await serving.ask("/items")).status).toBe(200);
    expect(serving.lines).toEqual([]);
    const failing: [string, { method?: string; headers?: Record<string, string> }][] = [
      [`/nothing?access_token=${read}`, {}],
      ["/items", { method: "PUT" }],
      ["/items", { headers: { ...good, Authorization: `bearer ${read}x` } }],
      ["/items", { headers: { Authorization: `bearer ${read}`, Accept: "text/html" } }],
      ["/inventory/scales?limit=0", {}],
      [`/inventory/scales/${"long".repeat(200)}`, {}],
      ["/inventory/scales/a%0Ab", {}],
    ];
    for (const [index, [path, options]] of failing.entries()) {
      await (await serving.ask(path, options)).text();
      expect(serving.lines).toHaveLength(index + 1);
    }
    const text = serving.lines.join("");
    expect(text).not.toContain(read.split(".")[1] as string);
    expect(Math.max(...serving.lines.map((line) => line.length))).toBeLessThan(500);
    expect(text).toContain("info  api: PUT /v0.9/items from 127.0.0.1: 405, code 40501, Only GET and HEAD");
    expect(text).not.toContain("access_token");
  });
});

describe("what goes wrong inside", () => {
  test("is code 0 to the client, and one line with the cause in the log", async () => {
    const failing = (store: Store) =>
      gated(store, "itemTypes", () => Promise.reject(new Error("disk I/O error at\n/var/lib/secret")));
    await using serving = await serve({ through: failing });
    const response = await serving.ask("/items");
    expect(response.status).toBe(500);
    expect(await response.text()).toBe('{"code":0,"message":"Unknown error"}');
    expect(serving.lines).toHaveLength(1);
    expect(serving.lines[0]).toContain(
      "warn  api: GET /v0.9/items from 127.0.0.1: 500, code 0, Unknown error (disk I/O error at /var/lib/secret)",
    );
  });
});

describe("bounds", () => {
  test("a longer address is 414, one at the bound is read", async () => {
    await using serving = await serve({ url_length_max: 200 });
    const room = 200 - `${serving.api.url}/items?`.length;
    expect((await serving.ask(`/items?${"&".repeat(room)}`)).status).toBe(200);
    const response = await serving.ask(`/items?${"&".repeat(room + 1)}`);
    expect(response.status).toBe(414);
    expect(await response.json()).toEqual({
      code: 41401,
      message: "The address is longer than 200 characters",
    });
  });

  test("more requests at once than the bound are 503 until one is done", () =>
    refusedBeyond({
      ...{ requests_max: 1, held_count: 1, status: 503 },
      body: { code: 50301, message: "Too many requests at once: try again in 1 s" },
    }));

  test("one address has a quarter of the requests at once: more are 429 until one is done", () =>
    refusedBeyond({
      ...{ requests_max: 8, held_count: 2, status: 429 },
      body: {
        code: 42904,
        message: "This token or this address has too much under way: try again in 1 s",
      },
    }));

  async function refusedBeyond(bound: {
    requests_max: number;
    held_count: number;
    status: number;
    body: object;
  }): Promise<void> {
    const { requests_max, held_count, status, body } = bound;

    const gate = Promise.withResolvers<void>();
    const waiting = { count: 0, reached: Promise.withResolvers<void>() };
    const hold = async () => {
      waiting.count += 1;
      if (waiting.count === held_count) waiting.reached.resolve();
      await gate.promise;
    };
    await using serving = await serve({
      requests_max,
      through: (store) => gated(store, "itemTypes", hold),
    });
    const held = Array.from({ length: held_count }, () => serving.ask("/items"));
    await waiting.reached.promise;
    const answer = serving.ask("/inventory/scales");
    let isAnswered = false;
    void answer.finally(() => {
      isAnswered = true;
    });
    await eventually(() => {
      serving.clock.advance(100);
      return isAnswered || undefined;
    }, "the refusal, after its pause");
    const refused = await answer;
    expect(refused.status).toBe(status);
    expect(refused.headers.get("Retry-After")).toBe("1");
    expect(await refused.json()).toEqual(body);
    gate.resolve();
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([200]));
    expect((await serving.ask("/inventory/scales")).status).toBe(200);
  }

  test("wrong tokens beyond the bound are 429 for the rest of the minute; right and absent ones are as ever", async () => {
    await using serving = await serve();
    const headers = { Accept: "application/json", Authorization: "bearer wrong" };
    const attempt = async () => (await serving.ask("/items", { headers })).status;
    for (let sent = 0; sent < defaultBounds.attempts_max; sent += 1) expect(await attempt()).toBe(401);
    serving.clock.advance(18_000);
    const refused = await serving.ask("/items", { headers });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("Retry-After")).toBe("42");
    expect(((await refused.json()) as { code: number }).code).toBe(42901);
    expect((await serving.ask("/items")).status).toBe(200);
    expect((await serving.ask("/items", { headers: {} })).status).toBe(401);
    serving.clock.advance(42_000);
    expect(await attempt()).toBe(401);
  });
});

describe("when tokens were last used", () => {
  const lastUse = async (serving: Serving) =>
    (await serving.store.tokens()).find(({ name }) => name === "reader")?.last_used_ms;

  test("is kept a minute after a use at the latest", async () => {
    const written = Promise.withResolvers<void>();
    const announce = (store: Store) => gated(store, "noteTokenUse", async () => {}, written.resolve);
    await using serving = await serve({ through: announce });
    await serving.ask("/items");
    serving.clock.advance(59_999);
    expect(await lastUse(serving)).toBeUndefined();
    serving.clock.advance(1);
    await written.promise;
    expect(await lastUse(serving)).toBe(now_ms);
    // The next look at the connections alone.
    expect(serving.clock.waiting).toBe(1);
  });

  test("is kept when it stops, and is of tokens that were accepted alone", async () => {
    await using serving = await serve();
    await serving.ask("/items");
    for (const token of [serving.tokens.sync, serving.tokens.expired])
      await serving.ask("/items", { headers: { Authorization: `bearer ${token}` } });
    await serving.api.stop();
    const used = (await serving.store.tokens()).filter(({ last_used_ms }) => last_used_ms !== undefined);
    expect(used.map(({ name, last_used_ms }) => [name, last_used_ms])).toEqual([["reader", now_ms]]);
  });

  test("is tried again where it could not be written", async () => {
    const failed = Promise.withResolvers<void>();
    let failures = 1;
    const flaky = (store: Store) =>
      gated(store, "noteTokenUse", async () => {
        if (failures === 0) return;
        failures -= 1;
        failed.resolve();
        throw new Error("the disk is full");
      });
    await using serving = await serve({ through: flaky });
    await serving.ask("/items");
    serving.clock.advance(60_000);
    await failed.promise;
    await serving.api.stop();
    expect(await lastUse(serving)).toBe(now_ms);
    expect(serving.lines.join("")).toContain("could not be kept: the disk is full");
  });
});

describe("a stop", () => {
  test("lets requests under way finish, takes no new ones, and may be asked for twice", async () => {
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const hold = () => {
      entered.resolve();
      return gate.promise;
    };
    await using serving = await serve({ through: (store) => gated(store, "itemTypes", hold) });
    const held = serving.ask("/items");
    await entered.promise;
    const stopped = serving.api.stop();
    expect(serving.api.stop()).toBe(stopped);
    await expect(rawExchange(serving.api.port, "")).rejects.toThrow();
    gate.resolve();
    expect((await held).status).toBe(200);
    await stopped;
    expect(serving.clock.waiting).toBe(0);
  });

  test("waits no longer than its bound", async () => {
    const entered = Promise.withResolvers<void>();
    const forever = () => {
      entered.resolve();
      return new Promise<void>(() => {});
    };
    await using serving = await serve({ through: (store) => gated(store, "itemTypes", forever) });
    const held = serving.ask("/items").then(
      () => "answered",
      () => "cut off",
    );
    await entered.promise;
    const stopped = serving.api.stop();
    serving.clock.advance(defaultBounds.stop_ms);
    await stopped;
    expect(await held).toBe("cut off");
  });
});

function quiet({ store, clock }: Serving) {
  const log = lineLog({ write: () => {}, clock });
  return { store, clock, log, listen: { hostname: "127.0.0.1", port: 0 } };
}

/** The real store, with `first` before one of its methods and `after` once that has succeeded. */
function gated<Method extends "itemTypes" | "noteTokenUse">(
  store: Store,
  method: Method,
  first: () => Promise<void>,
  after: () => void = () => {},
): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const original: unknown = Reflect.get(target, name);
      if (typeof original !== "function") return original;
      if (name !== method) return original.bind(target);
      return async (...values: unknown[]) => {
        await first();
        const result: unknown = await original.apply(target, values);
        after();
        return result;
      };
    },
  });
}
