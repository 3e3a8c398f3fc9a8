import { afterEach, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { Server } from "bun";
import { SystemClock } from "../../src/clock.ts";
import { Gateway, nextQuery } from "../../src/download/gateway.ts";
import { retryAfter_ms, retryAfter_ms_max, retryDelay_ms } from "../../src/retry.ts";
import { SettableClock } from "../api/settable-clock.ts";

const servers: Server<undefined>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

/** A server that answers as a faulty or foreign one would. */
function answering(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

function gatewayAt(url: string, rest: Partial<ConstructorParameters<typeof Gateway>[0]> = {}): Gateway {
  return new Gateway({
    url,
    token: "a.b",
    clock: new SystemClock(),
    stop: new AbortController().signal,
    onRetry: () => {},
    ...rest,
  });
}

const anything = Type.Unknown();

describe("a client of the interface", () => {
  test("sends token and Accept to the newest version, with or without it in the address", async () => {
    const seen: unknown[] = [];
    const url = answering((request) => {
      const { pathname } = new URL(request.url);
      seen.push([pathname, request.headers.get("authorization"), request.headers.get("accept")]);
      return Response.json([]);
    });
    for (const address of [url, `${url}/`, `${url}/v0.9`, `${url}/v0.9/`])
      await gatewayAt(address).get("/items", "", anything);
    expect(seen).toEqual(new Array(4).fill(["/v0.9/items", "bearer a.b", "application/json"]));
    for (const wrong of ["gateway", "ftp://gateway/", `${url}/v0.4`, `${url}/?x=1`, "http://me:pw@gateway/"])
      expect(() => gatewayAt(wrong)).toThrow("--url");
  });

  test("says in one line what a refusal means and what to do", async () => {
    const refusals: [Response, string][] = [
      [
        Response.json({ code: 40103, message: "The access token is invalid" }, { status: 401 }),
        "refuses the token (The access token is invalid, code 40103): ask whoever keeps that server for a read token: `lintel token create NAME` makes it",
      ],
      [new Response("<html>", { status: 400 }), "is answered 400: check that --url is the address"],
      [Response.redirect("http://192.0.2.1/elsewhere"), "is answered 302: check that --url is the address"],
      [new Response("<html>"), "is not what version 0.9 answers"],
      [Response.json([{ stamp: "soon" }]), "(/0/stamp Expected integer)"],
    ];
    for (const [response, said] of refusals) {
      const asked = gatewayAt(answering(() => response)).get(
        "/items",
        "",
        Type.Array(Type.Object({ stamp: Type.Integer() })),
      );
      await expect(asked).rejects.toThrow(said);
    }
  });

  test("waits as long as Retry-After says, and asks again", async () => {
    let asked = 0;
    const clock = new SettableClock(Date.UTC(2026, 10, 20));
    const waits: unknown[] = [];
    const url = answering(() => {
      asked += 1;
      if (asked === 3) return Response.json(["here"]);
      const body = { code: 50301, message: "Too many requests at once" };
      return Response.json(body, {
        status: asked === 1 ? 503 : 429,
        headers: {
          "Retry-After": asked === 1 ? "7" : new Date(Date.UTC(2026, 10, 20, 0, 1, 7)).toUTCString(),
        },
      });
    });
    const gateway = gatewayAt(url, {
      clock,
      onRetry: (reason, delay_ms) => {
        waits.push([reason, delay_ms]);
        queueMicrotask(() => clock.advance(delay_ms));
      },
    });
    const answer = await gateway.get<string[]>("/items", "", anything);
    expect(answer?.body).toEqual(["here"]);
    expect(waits).toEqual([
      ["it answers 503 (Too many requests at once, code 50301)", 7_000],
      ["it answers 429 (Too many requests at once, code 50301)", 60_000],
    ]);
  });

  test("gives up after a bounded number of attempts, and says that the command can be repeated", async () => {
    const url = answering(() => new Response("", { status: 500 }));
    for (const address of [url, "http://127.0.0.1:9"]) {
      const clock = new SettableClock(0);
      const waits: number[] = [];
      const gateway = gatewayAt(address, {
        clock,
        onRetry: (_, delay_ms) => {
          waits.push(delay_ms);
          queueMicrotask(() => clock.advance(delay_ms));
        },
      });
      await expect(gateway.get("/items", "", anything)).rejects.toThrow(
        /does not answer \(.*; 10 attempts\): check .*; the same command goes on where this one ended/,
      );
      expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    }
  });

  test("ends at once when it is stopped, while asking and while waiting", async () => {
    for (const answer of [() => new Promise<Response>(() => {}), () => new Response("", { status: 500 })]) {
      const stop = new AbortController();
      let arrived = () => {};
      const here = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const url = answering(() => {
        arrived();
        return answer();
      });
      const gateway = gatewayAt(url, { stop: stop.signal, clock: new SettableClock(0) });
      const asked = gateway.get("/items", "", anything).catch((thrown) => thrown);
      await here;
      const reason = new Error("enough");
      stop.abort(reason);
      expect(await asked).toBe(reason);
    }
  });
});

describe("the next page", () => {
  const page = "http://pi:8080/v0.9/items/scales/s/heart?limit=2";
  test("is what the Link header names", () => {
    expect(nextQuery(null, page)).toBeUndefined();
    expect(nextQuery('<http://pi:8080/>; rel="prev"', page)).toBeUndefined();
    const link = '<http://pi:8080/v0.9/items/scales/s/heart?before=5&skip=1>; rel="next"';
    expect(nextQuery(link, page)).toBe("?before=5&skip=1");
    expect(nextQuery(`<http://pi:8080/x>; rel="first", ${link}`, page)).toBe("?before=5&skip=1");
  });

  test("is never elsewhere, nor the same page again", () => {
    for (const target of [
      "http://evil.example/v0.9/items/scales/s/heart?before=5",
      "https://pi:8080/v0.9/items/scales/s/heart?before=5",
      "http://pi:8081/v0.9/items/scales/s/heart?before=5",
      "//evil.example/v0.9/items/scales/s/heart?before=5",
      "http://pi:8080/v0.9/items/scales/other/heart?before=5",
      page,
    ])
      expect(() => nextQuery(`<${target}>; rel="next"`, page)).toThrow("as its next page");
  });
});

test("waits between attempts double up to a bound, and Retry-After is bounded too", () => {
  expect([1, 2, 6, 7, 8, 50].map(retryDelay_ms)).toEqual([500, 1_000, 16_000, 30_000, 30_000, 30_000]);
  expect(retryAfter_ms(null, 0)).toBeUndefined();
  expect(retryAfter_ms("soon", 0)).toBeUndefined();
  expect(retryAfter_ms("0", 0)).toBe(0);
  expect(retryAfter_ms("999999", 0)).toBe(retryAfter_ms_max);
  expect(retryAfter_ms("Thu, 01 Jan 1970 00:00:09 GMT", 4_000)).toBe(5_000);
  expect(retryAfter_ms("Thu, 01 Jan 1970 00:00:09 GMT", 14_000)).toBe(0);
});
