import { expect, test } from "bun:test";
import { OperatorError } from "../../src/base/errors.ts";
import { day_ms } from "../../src/base/time.ts";
import { gatewayClient } from "../../src/central/pull/pull.ts";
import { batch_bytes_max } from "../../src/store/batch.ts";
import { GatewaySource } from "../../src/transfer/transfer-ends.ts";
import { sensor } from "../../testbed/sample.ts";
import { encoded, gatewayOf, reportBody } from "../central/receiver/receiving.ts";
import { TravellingClock } from "../drivers/travelling-clock.ts";
import { answeringServers } from "../fakes/answering-servers.ts";
import { sensorDay } from "./sensor-day.ts";

const { answering } = answeringServers();

const { own, day, ofDay } = sensorDay(7);
const { epoch } = own;
const span = { epoch, through_seq: 100, from_ms: day * day_ms, before_ms: (day + 1) * day_ms };

/** A gateway that is asked, which answers so; what was asked is kept. */
function asked(answer: () => Response): { source: GatewaySource; requests: string[] } {
  const requests: string[] = [];
  const url = answering(({ method, url }) => {
    const { pathname, searchParams } = new URL(url);
    requests.push(`${method} ${pathname} ${JSON.stringify(Object.fromEntries(searchParams))}`);
    return answer();
  });
  const client = gatewayClient(
    { home: 12, url, token_file: "", place: "gateways.toml line 3" },
    {
      token: "a.b",
      clock: new TravellingClock(),
      random: () => 0,
      stop: new AbortController().signal,
      onRetry: () => {},
    },
  );
  return { source: new GatewaySource(client), requests };
}

const faultOf = async (asking: Promise<unknown>): Promise<string> => {
  const fault = await asking.then(
    () => "it was taken",
    (thrown: unknown) => thrown,
  );
  expect(fault).toBeInstanceOf(OperatorError);
  return String(fault);
};

test("a report is asked for from a note and a device on, and its texts are plain lines", async () => {
  const body = reportBody(own) as { report: object };
  const said = { ...body, report: { ...body.report, version: "1\u001b[2J" }, pruned_before_ms: 0 };
  const { source, requests } = asked(() => Response.json(said));
  expect(await source.report(5)).toMatchObject({ report: { version: "1[2J" }, pruned_before_ms: 0 });
  await source.report(5, 9);
  expect(requests).toEqual([
    'GET /sync/v1/report {"after_note":"5","after_device":"0"}',
    'GET /sync/v1/report {"after_note":"5","after_device":"9"}',
  ]);
});

test("a batch is asked for from a number on, and counts as the bytes that it came in", async () => {
  const batch = own.batch(8, 100);
  const { source, requests } = asked(() => new Response(encoded(batch)));
  const taken = await source.batchAfter({ epoch, after_seq: 7, readings_max: 1 });
  expect([taken?.batch.from_seq, taken?.batch.to_seq, taken?.bytes]).toEqual([8, 100, encoded(batch).length]);
  expect(requests).toEqual([`GET /sync/v1/batches {"epoch":"${epoch}","after":"7"}`]);
  const none = asked(() => new Response(null, { status: 204 }));
  expect(await none.source.batchAfter({ epoch, after_seq: 7, readings_max: 1 })).toBeUndefined();
});

test("what is no batch of the epoch, or larger than one, is refused in a line that says so", async () => {
  const other = asked(() => new Response(encoded(gatewayOf(13, 5).all())));
  expect(await faultOf(other.source.batchAfter({ epoch, after_seq: 7, readings_max: 1 }))).toContain(
    "a batch of another epoch than was asked for",
  );
  const garbage = asked(() => new Response("a batch"));
  const large = asked(() => new Response(new Uint8Array(batch_bytes_max + 1)));
  for (const [{ source }, says] of [
    [garbage, "is not what a Lintel gateway answers (it cannot be read"],
    [large, `has more than ${batch_bytes_max} bytes`],
  ] as const) {
    expect(await faultOf(source.batchAfter({ epoch, after_seq: 7, readings_max: 1 }))).toContain(says);
    expect(await faultOf(source.readingsOfDay(ofDay))).toContain(says);
  }
});

test("digests are asked for by their span, and others than of its days are refused", async () => {
  const digest = (of: number) => ({
    series: "wirelesssensor_events",
    kind: "wirelesssensors",
    address: sensor(12).address,
    day: of,
    count: 1,
    hash: "0123456789abcdef",
  });
  const answer = { digests: [digest(day), digest(day + 1)], next_ms: span.before_ms + day_ms };
  const { source, requests } = asked(() => Response.json(answer));
  const two = { ...span, before_ms: span.before_ms + day_ms };
  expect(await source.digests(two)).toEqual(answer as Awaited<ReturnType<typeof source.digests>>);
  expect(requests).toEqual([
    `GET /sync/v1/digests {"epoch":"${epoch}","through":"100","from":"${two.from_ms}","before":"${two.before_ms}"}`,
  ]);
  for (const [digests, next_ms, says] of [
    [[digest(day), digest(day + 1)], undefined, "digests of another day than was asked for"],
    [[digest(day - 1), digest(day)], undefined, "digests of another day than was asked for"],
    [[digest(day)], span.before_ms - day_ms, "a next day that is none"],
    [[digest(day)], span.before_ms + 1, "a next day that is none"],
  ] as const) {
    const wrong = asked(() => Response.json({ digests, next_ms }));
    expect(await faultOf(wrong.source.digests(span))).toContain(says);
  }
  const last = asked(() => Response.json({ digests: [] }));
  expect(await last.source.digests(span)).toEqual({ digests: [] });
});

test("readings of a day are asked for by its name, and those of another day or epoch are refused", async () => {
  const { source, requests } = asked(() => new Response(encoded(own.day(ofDay))));
  expect((await source.readingsOfDay(ofDay)).to_seq).toBe(100);
  expect(requests).toEqual([
    `GET /sync/v1/days ${JSON.stringify({
      epoch,
      series: ofDay.series,
      kind: ofDay.kind,
      address: ofDay.address,
      day: String(day),
      through: "100",
      after: "7",
    })}`,
  ]);
  expect(await faultOf(source.readingsOfDay({ ...ofDay, day: day + 1 }))).toContain(
    "readings of another day than was asked for",
  );
  expect(await faultOf(source.readingsOfDay({ ...ofDay, epoch: "e".repeat(32) }))).toContain(
    "a batch of another epoch than was asked for",
  );
});
