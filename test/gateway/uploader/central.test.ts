import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { OperatorError } from "../../../src/base/errors.ts";
import { decodingBounds } from "../../../src/base/json-decoder.ts";
import type { CentralClient } from "../../../src/transfer/central-client.ts";
import { jsonBody } from "../../../src/web/client/http-client.ts";
import { TryAgainLater } from "../../../src/web/client/http-request.ts";
import { answeringServers } from "../../fakes/answering-servers.ts";
import { centralAt } from "./central-at.ts";

const { answering, silent } = answeringServers();

const answer = decodingBounds.batchAnswer;
const anything = Type.Unknown();
const ask = (central: CentralClient) =>
  central.askJson({ method: "POST", path: "/report", answer }, anything, { a: 1 });
const faultOf = async (asked: Promise<unknown>): Promise<Error> =>
  (await asked.then(
    () => new Error("it was answered"),
    (fault) => fault,
  )) as Error;

test("a request goes below /sync/v1 with the token, and a large body is compressed", async () => {
  const seen: unknown[] = [];
  const url = answering(async (request) => {
    const bytes = await request.bytes();
    const coding = request.headers.get("content-encoding");
    const text = new TextDecoder().decode(coding === "zstd" ? Bun.zstdDecompressSync(bytes) : bytes);
    seen.push([
      request.method,
      new URL(request.url).pathname + new URL(request.url).search,
      request.headers.get("authorization"),
      coding,
      Number(request.headers.get("content-length")) === bytes.length,
      JSON.parse(text).length,
    ]);
    return Response.json({});
  });
  for (const at of [url, `${url}/`, `${url}/programme/`]) {
    const { central } = centralAt(at);
    await central.ask({
      method: "PUT",
      path: "/days",
      answer,
      query: { day: 3, itemid: undefined },
      body: jsonBody("x"),
    });
    await central.ask({ method: "POST", path: "/report", answer, body: jsonBody("x".repeat(5_000)) });
  }
  const [small, large] = [
    ["PUT", "/sync/v1/days?day=3", "bearer a.b", null, true, 1],
    ["POST", "/sync/v1/report", "bearer a.b", "zstd", true, 5_000],
  ];
  expect(seen.slice(0, 2)).toEqual([small, large]);
  expect(seen.slice(2, 4)).toEqual([small, large]);
  expect(seen.slice(4).map((one) => (one as string[])[1])).toEqual([
    "/programme/sync/v1/days?day=3",
    "/programme/sync/v1/report",
  ]);
});

test("what asking again cannot mend is said in one line with what to do", async () => {
  const refusals: [Response, string][] = [
    [
      Response.json({ code: 40103, message: "The access token is invalid" }, { status: 401 }),
      "refuses the token: The access token is invalid (code 40103): make one at central with lintel token create NAME --scope sync --home ID",
    ],
    [
      Response.json({ code: 40304, message: "Home 12 is restricted" }, { status: 403 }),
      "refuses this: Home 12 is restricted (code 40304): ask whoever keeps central",
    ],
    [new Response("<html>", { status: 403 }), "refuses the token: make one at central"],
    [
      new Response("<html>", { status: 404 }),
      "is not a Lintel central server (it answers 404): check [upload] url",
    ],
    [
      Response.redirect("http://192.0.2.1/login"),
      "sends this gateway elsewhere (302, http://192.0.2.1/login)",
    ],
    [
      Response.json({ code: 42204, message: "a batch of a later version" }, { status: 422 }),
      "does not take what this gateway sends (422: a batch of a later version (code 42204)): run the same version of Lintel on both",
    ],
    [
      Response.json(
        { code: 42206, message: "Home 12 would have more than 3 devices", remedy: "see at central who" },
        { status: 422 },
      ),
      "(422: Home 12 would have more than 3 devices (code 42206)): see at central who",
    ],
    [new Response("<html>log in here</html>"), "is not what a Lintel central server answers"],
    [
      Response.json(
        { code: 40902, message: "not of this home", reason: "foreign", held_seq: 0 },
        { status: 409 },
      ),
      "holds the readings of this box as another home's (not of this home): check that the token file holds the token of the home",
    ],
    [
      Response.json(
        { code: 40903, message: "another reading", reason: "diverged", held_seq: 7 },
        { status: 409 },
      ),
      "two boxes run on copies of one card (another reading): keep one of them as it is; on the other stop lintel",
    ],
  ];
  for (const [response, said] of refusals) {
    const { central, waits } = centralAt(answering(() => response));
    const fault = await faultOf(ask(central));
    expect(fault).toBeInstanceOf(OperatorError);
    expect(fault).not.toBeInstanceOf(TryAgainLater);
    expect(fault.message).toContain(said);
    expect(fault.message).not.toContain("\n");
    expect(waits).toEqual([]);
  }
});

test("numbers that are another's are for somebody to mend, and a central that holds less than a moment ago is not", async () => {
  const conflict = (reason: string) => {
    const body = { code: 40901, message: "as it says", reason, held_seq: 3 };
    return centralAt(answering(() => Response.json(body, { status: 409 }))).central;
  };
  const accepted = (central: CentralClient) =>
    central.ask({ method: "POST", path: "/batches", answer, accept: [409] });
  for (const reason of ["foreign", "diverged", "home"])
    for (const asking of [ask, accepted]) {
      const fault = await faultOf(asking(conflict(reason)));
      expect(fault).toBeInstanceOf(OperatorError);
      expect(fault).not.toBeInstanceOf(TryAgainLater);
      expect(fault.message).toContain("(as it says)");
    }
  const less = await faultOf(ask(conflict("gap")));
  expect(less).toBeInstanceOf(TryAgainLater);
  expect(less.message).toContain("holds less than it did a moment ago (as it says)");
  // To a batch it is an answer: where to go on.
  expect(await accepted(conflict("gap"))).toMatchObject({ status: 409 });
  const elsewhere = await faultOf(
    conflict("gap").ask({ method: "POST", path: "/batches", answer, accept: [404] }),
  );
  expect(elsewhere).toBeInstanceOf(TryAgainLater);
});

test("the home of the gateway goes with each request, where it is known", async () => {
  const seen: (string | null)[] = [];
  const url = answering(({ headers }) => {
    seen.push(headers.get("lintel-home"));
    return Response.json({});
  });
  await ask(centralAt(url, { home: 12 }).central);
  await ask(centralAt(url).central);
  expect(seen).toEqual(["12", null]);
});

test("only an http or https address without more than a path is taken", () => {
  for (const wrong of [
    "central",
    "ftp://central/",
    "http://c/?x=1",
    "http://me:pw@central/",
    "file:///etc/passwd",
  ])
    expect(() => centralAt(wrong)).toThrow("is not the address of a server");
});

test("a request that is cut is made again, and told how often it failed", async () => {
  let asked = 0;
  const url = answering(() => {
    asked += 1;
    return asked < 4 ? Response.json({ message: "cut" }, { status: 400 }) : Response.json({});
  });
  const { central, waits, reasons } = centralAt(url);
  const told: number[] = [];
  await central.ask(async (failures) => {
    told.push(failures);
    return { method: "GET", path: "/roster", answer };
  });
  expect(told).toEqual([0, 1, 2, 3]);
  expect(reasons[0]).toContain("it answers 400: cut");
  // Half a second, doubled each time, give or take half.
  for (const [index, wait_ms] of waits.entries()) {
    expect(wait_ms).toBeGreaterThanOrEqual(250 * 2 ** index);
    expect(wait_ms).toBeLessThanOrEqual(750 * 2 ** index);
  }
});

test("central that stays away is given up after eight attempts, as something that passes by itself", async () => {
  const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const url = `http://127.0.0.1:${free.port}`;
  free.stop(true);
  const { central, waits } = centralAt(url);
  const fault = await faultOf(ask(central));
  expect(fault).toBeInstanceOf(TryAgainLater);
  expect(fault.message).toStartWith(
    `central at ${new URL(url).host} cannot be reached (nobody listens there; 8 attempts): nothing is lost`,
  );
  expect(waits).toHaveLength(7);
});

test.each([
  ["a queue", 429],
  ["a database that is away", 503],
])("%s is waited for as long as it says, and is no failure", async (_what, status) => {
  let asked = 0;
  const url = answering(() => {
    asked += 1;
    return asked <= 30
      ? Response.json({ message: "later" }, { status, headers: { "retry-after": "60" } })
      : Response.json({});
  });
  const { central, waits } = centralAt(url);
  await ask(central);
  expect(waits).toHaveLength(30);
  for (const wait_ms of waits) expect(wait_ms).toBeWithin(60_000, 90_001);
});

test("a run that has taken six hours ends, however politely it is asked to wait", async () => {
  const later = { status: 429, headers: { "retry-after": "300" } };
  const { central, waits } = centralAt(answering(() => Response.json({ message: "later" }, later)));
  const fault = await faultOf(ask(central));
  expect(fault).toBeInstanceOf(TryAgainLater);
  expect(fault.message).toContain("for 6 h");
  expect(waits.reduce((sum, wait_ms) => sum + wait_ms, 0)).toBeLessThanOrEqual(6 * 3_600_000);
});

test("a full disk at central is said as it is, after a bounded wait", async () => {
  const full = { status: 507, headers: { "retry-after": "60" } };
  const url = answering(() => Response.json({ message: "The disk is full, nothing was changed" }, full));
  const { central, waits } = centralAt(url);
  const fault = await faultOf(ask(central));
  expect(fault).toBeInstanceOf(TryAgainLater);
  expect(fault.message).toContain("it answers 507: The disk is full, nothing was changed; 8 attempts");
  expect(waits).toHaveLength(7);
});

test("a line that has gone dead without a word is noticed within two minutes of it", async () => {
  const { central, clock, reasons } = centralAt(silent());
  const stop = setInterval(() => {
    const idle_ms = clock.idle_ms;
    if (idle_ms !== undefined && idle_ms > 0) clock.travel(Math.min(idle_ms, 200_000));
  }, 5);
  const fault = await faultOf(ask(central)).finally(() => clearInterval(stop));
  expect(fault).toBeInstanceOf(TryAgainLater);
  // A busy machine may not have sent the request yet, for which less time is given.
  expect(reasons[0]).toMatch(/nothing has moved for (60|120) s/);
});

test("a certificate that no authority vouches for is refused, and taken when it is named", async () => {
  const file = (name: string) => Bun.file(new URL(`../../golden/api-tls/${name}`, import.meta.url));
  const certificate = await file("certificate.pem").text();
  const key = await file("key.pem").text();
  const { port } = new URL(answering(() => Response.json({}), { cert: certificate, key }));
  const url = `https://localhost:${port}`;
  const { central, waits } = centralAt(url);
  const fault = await faultOf(ask(central));
  expect(fault.message).toContain("has a certificate that no authority vouches for");
  expect(fault.message).toContain("[upload] certificate");
  expect(waits).toEqual([]);
  await ask(centralAt(url, { certificate }).central);
});

test("Bun leaves an answer compressed, over TLS too: it is expanded here, within bounds", async () => {
  const file = (name: string) => Bun.file(new URL(`../../golden/api-tls/${name}`, import.meta.url));
  const certificate = await file("certificate.pem").text();
  const tls = { cert: certificate, key: await file("key.pem").text() };
  const compressed = (bytes: number) => () =>
    new Response(new Uint8Array(Bun.zstdCompressSync(JSON.stringify("x".repeat(bytes)))), {
      headers: { "content-encoding": "zstd" },
    });
  for (const over of [undefined, tls]) {
    const askFor = (bytes: number) => {
      const { port } = new URL(answering(compressed(bytes), over));
      const url = `${over === undefined ? "http" : "https"}://localhost:${port}`;
      return ask(centralAt(url, { certificate }).central);
    };
    expect(await askFor(60_000)).toBe("x".repeat(60_000));
    expect((await faultOf(askFor(256 * 1024 * 1024))).message).toContain("has more than 65536 bytes");
  }
});

test("a stop ends what is under way with its reason", async () => {
  const stop = new AbortController();
  const { central } = centralAt(silent(), { stop: stop.signal });
  const asked = faultOf(ask(central));
  stop.abort(new Error("interrupted"));
  expect((await asked).message).toBe("interrupted");
});

test("an answer without end is not read to its end", async () => {
  const endless = () =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024)),
      }),
    );
  const fault = await faultOf(ask(centralAt(answering(endless)).central));
  expect(fault.message).toContain("has more than 65536 bytes");
});

test("the body of a request leaves at the rate that was asked for, and with what a minute carries", async () => {
  const url = answering(async (request) => Response.json({ bytes: (await request.bytes()).length }));
  const { central, clock } = centralAt(url, { bytes_per_s: 10_000 });
  // A piece of the body takes 1.6 s; the minute after which a line counts as dead is not to pass while the answer is under way.
  const stop = setInterval(() => {
    const next_ms = clock.idle_ms ?? 0;
    if (next_ms > 0 && next_ms < 10_000) clock.travel(next_ms);
  }, 1);
  const started_ms = clock.now().monotonic_ms;
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  const answered = await central
    .ask({ method: "POST", path: "/batches", answer, body: { bytes, type: "application/vnd.lintel.batch" } })
    .finally(() => clearInterval(stop));
  expect(central.read(answered, Type.Object({ bytes: Type.Integer() }))).toEqual({ bytes: 60_000 });
  // All but the last piece has had its time on the line when that goes.
  expect(clock.now().monotonic_ms - started_ms).toBeGreaterThanOrEqual((60_000 - 16_384) / 10);
  expect(central.readings_max).toBe(37_500);
  expect(centralAt(url, { bytes_per_s: 1e9 }).central.readings_max).toBe(65_536);
});
