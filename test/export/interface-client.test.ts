import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { SystemClock } from "../../src/base/clock.ts";
import { InterfaceClient, type InterfaceOptions, nextQuery } from "../../src/export/interface-client.ts";
import { retryAfter_ms, retryAfter_ms_max, retryDelay_ms } from "../../src/web/client/http-client.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { answeringServers } from "../fakes/answering-servers.ts";

const { answering } = answeringServers();

function clientAt(url: string, rest: Partial<InterfaceOptions> = {}): InterfaceClient {
  return new InterfaceClient({
    url,
    token: "a.b",
    clock: new SystemClock(),
    random: () => 0.5,
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
      await clientAt(address).get("/items", "", anything);
    expect(seen).toEqual(new Array(4).fill(["/v0.9/items", "bearer a.b", "application/json"]));
    for (const wrong of ["gateway", "ftp://gateway/", `${url}/v0.4`, `${url}/?x=1`, "http://me:pw@gateway/"])
      expect(() => clientAt(wrong)).toThrow("--url");
  });

  test("says in one line what a refusal means and what to do", async () => {
    const refusals: [Response, string][] = [
      [
        Response.json({ code: 40103, message: "The access token is invalid" }, { status: 401 }),
        "refuses the token: The access token is invalid (code 40103): ask whoever keeps that server for a read token: `lintel token create NAME` makes it",
      ],
      [
        new Response("<html>", { status: 400 }),
        "is not what a Lintel gateway or central server answers (400): check --url",
      ],
      [
        Response.redirect("http://192.0.2.1/elsewhere"),
        "sends this program elsewhere (302, http://192.0.2.1/elsewhere)",
      ],
      [new Response("<html>"), "is not what a Lintel gateway or central server answers"],
      [Response.json([{ stamp: "soon" }]), "(/0/stamp Expected integer)"],
    ];
    for (const [response, said] of refusals) {
      const asked = clientAt(answering(() => response)).get(
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
    const client = clientAt(url, {
      clock,
      onRetry: (reason, delay_ms) => {
        waits.push([reason, delay_ms]);
        queueMicrotask(() => clock.advance(delay_ms));
      },
    });
    const answer = await client.get<string[]>("/items", "", anything);
    expect(answer).toEqual({ body: ["here"], next: undefined });
    expect(waits).toEqual([
      [
        expect.stringMatching(/^127\.0\.0\.1:\d+: it answers 503: Too many requests at once \(code 50301\)$/),
        8_750,
      ],
      [expect.stringContaining("it answers 429: Too many requests at once (code 50301)"), 72_813],
    ]);
  });

  test("gives up after a bounded number of attempts, and says that the command can be repeated", async () => {
    const url = answering(() => new Response("", { status: 500 }));
    for (const address of [url, "http://127.0.0.1:9"]) {
      const clock = new SettableClock(0);
      const waits: number[] = [];
      const told: number[] = [];
      const client = clientAt(address, {
        clock,
        onRetry: (_, delay_ms, left_ms) => {
          waits.push(delay_ms);
          told.push(left_ms);
          queueMicrotask(() => clock.advance(delay_ms));
        },
      });
      await expect(client.get("/items", "", anything)).rejects.toThrow(
        /the server at 127\.0\.0\.1:\d+ cannot (answer now|be reached) \(.*; 10 attempts\): nothing is lost, and the next lintel fetch goes on from here; .* of --url/,
      );
      expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
      // Each time, how long it goes on.
      const after = (from: number) => waits.slice(from).reduce((sum, ms) => sum + ms, 0);
      expect(told).toEqual(waits.map((_, at) => after(at)));
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
      const client = clientAt(url, { stop: stop.signal, clock: new SettableClock(0) });
      const asked = client.get("/items", "", anything).catch((thrown) => thrown);
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
