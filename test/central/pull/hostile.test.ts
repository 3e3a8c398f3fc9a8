import { expect, test } from "bun:test";
import { zstdCompressSync } from "node:zlib";
import { fleetOf } from "../../../src/central/fleet/fleet.ts";
import { gatewayClient, Pull } from "../../../src/central/pull/pull.ts";
import { HomeAllowances, ReceivedCounts } from "../../../src/central/receiver/home-allowances.ts";
import type { ListedGateway } from "../../../src/config/gateway-list.ts";
import { backups_max } from "../../../src/store/central/central-store.ts";
import { defaultQuotas } from "../../../src/store/exchange.ts";
import { batchType } from "../../../src/transfer/protocol.ts";
import { TryAgainLater } from "../../../src/web/client/http-request.ts";
import { keptLog, seeded } from "../../../testbed/sample.ts";
import { answeringServers } from "../../fakes/answering-servers.ts";
import { Programme } from "../../gateway/uploader/programme.ts";
import { encoded, gatewayOf, reportBody } from "../receiver/receiving.ts";

const { answering, silent } = answeringServers();

const own = gatewayOf(12, 100);
const report = reportBody(own);
type Answers = Readonly<Record<string, (query: URLSearchParams) => Response>>;

/** A gateway that answers well but for what is given. */
function gatewayThat(answers: Answers): string {
  const well: Answers = {
    "/report": () => Response.json(report),
    "/backups": () => Response.json({ files: {} }),
    "/batches": (query) => batchAnswer(encoded(own.batch(Number(query.get("after")) + 1, 100))),
    "/digests": () => Response.json({ digests: [] }),
    ...answers,
  };
  return answering(({ url }) => {
    const { pathname, searchParams } = new URL(url);
    return well[pathname.slice("/sync/v1".length)]?.(searchParams) ?? new Response(null, { status: 404 });
  });
}

const batchAnswer = (bytes: Uint8Array<ArrayBuffer>) =>
  new Response(bytes, { headers: { "Content-Type": batchType } });

/** How a turn with a gateway ends. */
async function ended(programme: Programme, url: string): Promise<Error | undefined> {
  const gateway: ListedGateway = { home: 12, url, token_file: "", place: "gateways.toml line 3" };
  const { clock, store } = programme;
  const pull = new Pull({
    gateway,
    store,
    connect: (listed, stop) =>
      gatewayClient(listed, {
        token: "a.b",
        clock,
        random: seeded(1),
        stop,
        onRetry: (_, delay_ms) => void setTimeout(() => clock.travel(delay_ms), 0),
      }),
    clock,
    log: keptLog("error").log,
    allowances: new HomeAllowances({ quotas: defaultQuotas, clock }),
    counts: new ReceivedCounts(),
  });
  return pull.turn(new AbortController().signal).then(
    () => undefined,
    (thrown) => thrown as Error,
  );
}

const zeros = new Uint8Array(zstdCompressSync(new Uint8Array(1024 * 1024 * 1024)));
const compressed = { headers: { "content-encoding": "zstd" } };

test("a gateway that answers well is taken in, so that each fault below is the only one", async () => {
  await using programme = new Programme();
  await programme.start();
  expect(await ended(programme, gatewayThat({}))).toBeUndefined();
  expect((await programme.store.held([own.epoch]))[0]?.held_seq).toBe(100);
});

test("texts of a gateway that act on a terminal are plain lines when they are taken in", async () => {
  await using programme = new Programme();
  await programme.start();
  const { report: said } = report as { report: object };
  const words = { version: "1\u001b[2J\r\n2\u202e", failure: "\u009b31m", dropped: { "\u0007": 1 } };
  const answers = { "/report": () => Response.json({ ...report, report: { ...said, ...words } }) };
  expect(await ended(programme, gatewayThat(answers))).toBeUndefined();
  const [home] = await fleetOf(programme.store, programme.clock.now().unix_ms);
  expect(home).toMatchObject({ homeid: 12, version: "1[2J 2" });
});

test("what a gateway should not answer is one line that names it, and nothing of it is kept", async () => {
  await using programme = new Programme();
  await programme.start();
  const before = process.memoryUsage.rss();
  const strange: readonly [Answers, string][] = [
    [{ "/report": () => new Response("<html>log in here</html>") }, "is not what a Lintel gateway answers"],
    [
      { "/report": () => Response.json({ ...report, epochs: [] }) },
      "is not what a Lintel gateway answers (/epochs",
    ],
    [{ "/report": () => new Response(zeros, compressed) }, "has more than 8388608 bytes"],
    [{ "/backups": () => new Response(zeros, compressed) }, "has more than 8388608 bytes"],
    [{ "/backups": () => Response.json({ files: { a: "%" } }) }, "(a is not base64)"],
    [{ "/batches": () => batchAnswer(zeros) }, "is not what a Lintel gateway answers"],
    [{ "/batches": () => new Response("batch") }, "is not what a Lintel gateway answers"],
    [
      { "/batches": () => batchAnswer(encoded(gatewayOf(99, 10).all())) },
      "a batch of another epoch than was asked for",
    ],
    [
      { "/batches": () => new Response(null, { status: 404 }) },
      "is not a Lintel gateway (it answers 404): check url (gateways.toml line 3)",
    ],
    [{ "/batches": () => Response.redirect("http://192.0.2.1/") }, "sends central elsewhere"],
  ];
  for (const [answers, said] of strange) {
    const fault = await ended(programme, gatewayThat(answers));
    expect(fault?.message).toContain(said);
    expect(fault?.message).not.toContain("\n");
  }
  expect(await programme.store.held([own.epoch])).toMatchObject([{ held_seq: 0 }]);
  expect(process.memoryUsage.rss() - before).toBeLessThan(400 * 1024 * 1024);
});

test("what a gateway has more of than a home keeps is told once its readings are there", async () => {
  await using programme = new Programme();
  await programme.start();
  const files = Object.fromEntries(Array.from({ length: backups_max + 1 }, (_, n) => [`file${n}`, "AA=="]));
  const fault = await ended(programme, gatewayThat({ "/backups": () => Response.json({ files }) }));
  expect(fault?.message).toContain(`a home keeps ${backups_max} files`);
  expect(await programme.store.held([own.epoch])).toMatchObject([{ held_seq: 100 }]);
  expect((await programme.store.backups(12)).size).toBe(0);
});

test("an answer without end is not read to its end, and one that stalls is given up", async () => {
  await using programme = new Programme();
  await programme.start();
  const endless = () =>
    new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(64 * 1024)) }));
  expect((await ended(programme, gatewayThat({ "/batches": endless })))?.message).toContain(
    "has more than 1048576 bytes",
  );
  const travelling = setInterval(() => {
    const { idle_ms = 0 } = programme.clock;
    if (idle_ms > 0) programme.clock.travel(Math.min(idle_ms, 30_000));
  }, 5);
  const fault = await ended(programme, silent()).finally(() => clearInterval(travelling));
  expect(fault).toBeInstanceOf(TryAgainLater);
  expect(fault?.message).toContain("cannot be reached (nothing has moved for 20 s; 3 attempts)");
});

test("batches that go on in circles, and days that never end, are given up", async () => {
  await using programme = new Programme();
  await programme.start();
  const first = encoded(own.batch(1, 10));
  const circling = await ended(programme, gatewayThat({ "/batches": () => batchAnswer(first) }));
  expect(circling).toBeInstanceOf(TryAgainLater);
  expect(circling?.message).toContain("central stays at reading 10, whatever the gateway");
  const backwards = () => Response.json({ digests: [], next_ms: 0 });
  expect((await ended(programme, gatewayThat({ "/digests": backwards })))?.message).toContain(
    "(a next day that is none)",
  );
  // A day later with each answer, until a turn has lasted as long as one may.
  const onwards = (query: URLSearchParams) => {
    programme.clock.travel(15_000);
    return Response.json({ digests: [], next_ms: Number(query.get("before")) });
  };
  expect((await ended(programme, gatewayThat({ "/digests": onwards })))?.message).toContain(
    "this pull has taken 1 h",
  );
});
