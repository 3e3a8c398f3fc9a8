import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { sensor } from "../../../testbed/sample.ts";
import { eventsOf, keyOf } from "../../store/central-sample.ts";
import { encoded, gatewayOf, headerOf, type Receiving, receive, reportBody } from "./receiving.ts";

let receiving: Receiving;
beforeAll(async () => {
  receiving = await receive();
});
afterAll(() => receiving[Symbol.asyncDispose]());

const nameOf = async (home: number) => {
  const { items } = await receiving.store.overview();
  return items.find(({ record }) => record.macaddress === sensor(home).address)?.record.itemname ?? "";
};
const stored = async (home: number) =>
  (await eventsOf(receiving.store, await keyOf(receiving.store, await nameOf(home)))).length;

describe("a batch", () => {
  test("is taken once, and a repeat is answered with what is held", async () => {
    const gateway = gatewayOf(20, 300);
    expect(await (await receiving.send(20, gateway.batch(1, 100))).json()).toEqual({
      held_seq: 100,
      taken: 100,
    });
    expect(await (await receiving.send(20, gateway.batch(1, 100))).json()).toEqual({
      held_seq: 100,
      taken: 0,
    });
    expect(await (await receiving.send(20, gateway.batch(1, 100), {})).json()).toEqual({
      held_seq: 100,
      taken: 0,
    });
    expect(await (await receiving.send(20, gateway.batch(51, 300))).json()).toEqual({
      held_seq: 300,
      taken: 200,
    });
    expect(await stored(20)).toBe(300);
  });

  test("that leaves readings out is 409 with where to go on, and nothing is taken", async () => {
    const gateway = gatewayOf(21, 300);
    await receiving.send(21, gateway.batch(1, 100));
    const refused = await receiving.send(21, gateway.batch(102, 300));
    expect(refused.status).toBe(409);
    expect(await refused.json()).toEqual({
      code: 40901,
      message: "This server lacks readings before these: continue after number 100",
      reason: "gap",
      held_seq: 100,
    });
    expect(await stored(21)).toBe(100);
    const [line] = receiving.lines.filter((one) => one.includes("40901"));
    expect(line).toMatch(/^info {2}sync: POST \/sync\/v1\/batches from 127\.0\.0\.1: 409, code 40901, /);
  });

  test("of a copied card, which numbers other readings with the same numbers, is 409", async () => {
    const gateway = gatewayOf(22, 100);
    await receiving.send(22, gateway.all());
    const copy = gatewayOf(22, 99);
    const device = sensor(22);
    for (const event of [9, 9])
      copy.add({ device, series: "wirelesssensor_events", stamp_ms: 1_900_000_000_000, fields: [event] });
    const refused = await receiving.send(22, copy.batch(101, 101));
    expect([refused.status, await refused.json()]).toEqual([
      409,
      {
        code: 40903,
        message: `This server has another reading under the number before these: two gateways use epoch ${gateway.epoch}`,
        reason: "diverged",
        held_seq: 100,
      },
    ]);
  });

  test("is answered by what its header says alone where that is held, whatever the body is", async () => {
    const gateway = gatewayOf(23, 100);
    await receiving.send(23, gateway.all());
    const headers = { "Lintel-Batch": headerOf(gateway.all()) };
    const sent = { body: new Uint8Array(1000), type: "application/vnd.lintel.batch" };
    const early = await receiving.ask(23, "POST", "/batches", { ...sent, headers });
    expect(await early.json()).toEqual({ held_seq: 100, taken: 0 });
    for (const header of [
      "",
      "x 1 2",
      `${gateway.epoch} 2 1`,
      `${gateway.epoch} 1 101`,
      `${gateway.epoch} 1 1e1`,
    ])
      expect(
        (await receiving.ask(23, "POST", "/batches", { ...sent, headers: { "Lintel-Batch": header } }))
          .status,
      ).toBe(422);
  });
});

test("two requests of one home at once follow each other; a third is told when to come back", async () => {
  const gateway = gatewayOf(25, 400);
  await receiving.homeToken(25);
  const sent = [gateway.batch(1, 100), gateway.batch(1, 200)].map((batch) => receiving.send(25, batch, {}));
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses).toEqual([200, 200]);
  expect(await stored(25)).toBe(200);
});

describe("the course of an upload", () => {
  test("report, batches, report: central says what it holds, and by which clock", async () => {
    const gateway = gatewayOf(26, 100);
    const body = { body: JSON.stringify(reportBody(gateway)) };
    const first = await (await receiving.ask(26, "POST", "/report", body)).json();
    expect(first).toMatchObject({ home: 26, epochs: [{ epoch: gateway.epoch, held_seq: 0, held_note: 0 }] });
    await receiving.send(26, gateway.all());
    const last = await (await receiving.ask(26, "POST", "/report", body)).json();
    expect(last).toMatchObject({ home: 26, epochs: [{ epoch: gateway.epoch, held_seq: 100 }] });
    expect((last as { now_ms: number }).now_ms).toBeWithin(Date.now() - 60_000, Date.now() + 1);
  });

  test("verify names the days that differ, and days mends them", async () => {
    const gateway = gatewayOf(27, 50);
    await receiving.send(27, gateway.all());
    const other = gatewayOf(27, 49);
    other.add({
      device: sensor(27),
      series: "wirelesssensor_events",
      stamp_ms: gateway.readings[49]?.stamp_ms ?? 0,
      fields: [77],
    });
    const day = Math.floor((gateway.readings[0]?.stamp_ms ?? 0) / 86_400_000);
    const span = { from_ms: day * 86_400_000, before_ms: (day + 1) * 86_400_000 };
    const verify = async (digests: unknown) => {
      const body = JSON.stringify({ epoch: gateway.epoch, through_seq: 50, ...span, digests });
      return (await receiving.ask(27, "POST", "/verify", { body })).json();
    };
    const digests = other.digests({ through_seq: 50, ...span });
    expect(await verify(gateway.digests({ through_seq: 50, ...span }))).toEqual({ differing: [] });
    const [here] = gateway.digests({ through_seq: 50, ...span });
    expect(await verify(digests)).toMatchObject({ differing: [{ count: 50, hash: here?.hash, day }] });
    expect(await verify([])).toMatchObject({ differing: [{ count: 50, hash: here?.hash, day }] });

    const { address } = sensor(27);
    const query = `epoch=${gateway.epoch}&through=50&series=wirelesssensor_events&kind=wirelesssensors&address=${address}&day=${day}&after=0`;
    const of = {
      epoch: gateway.epoch,
      through_seq: 50,
      series: "wirelesssensor_events",
      kind: "wirelesssensors",
      address,
      day,
      after_seq: 0,
    } as const;
    const sent = { body: encoded(other.day(of)), type: "application/vnd.lintel.batch" };
    const repaired = await receiving.ask(27, "PUT", `/days?${query}`, sent);
    expect(await repaired.json()).toEqual({ added: 0, corrected: 1, kept: 0 });
    expect(await verify(digests)).toEqual({ differing: [] });
  });

  test("verify of more than 31 days, or of part of one, is 422", async () => {
    for (const [from_ms, before_ms] of [
      [0, 32 * day_ms],
      [1, day_ms + 1],
      [day_ms, day_ms],
      [day_ms, 0],
      [0, day_ms + 1],
    ]) {
      const body = JSON.stringify({
        epoch: gatewayOf(28, 0).epoch,
        through_seq: 1,
        from_ms,
        before_ms,
        digests: [],
      });
      const answer = await receiving.ask(28, "POST", "/verify", { body });
      expect([answer.status, ((await answer.json()) as { code: number }).code]).toEqual([422, 42204]);
    }
  });

  test("history hands back what a home has sent, piece by piece, and then ends", async () => {
    const gateway = gatewayOf(29, 30);
    await receiving.send(29, gateway.all());
    const first = await receiving.ask(29, "GET", "/history?from=0");
    expect([first.status, first.headers.get("Content-Type")]).toEqual([200, "application/vnd.lintel.batch"]);
    const [, seq, at] = /^(\d+) (.+)$/.exec(first.headers.get("Lintel-Position") ?? "") ?? [];
    const next = await receiving.ask(
      29,
      "GET",
      `/history?from=0&seq=${seq}&at=${encodeURIComponent(at ?? "")}`,
    );
    expect(next.status).toBe(204);
  });

  test("backups come back byte for byte, and are bounded in number and size", async () => {
    const content = crypto.getRandomValues(new Uint8Array(10_000)).toBase64();
    const put = async (files: Record<string, string>) =>
      (await receiving.ask(30, "PUT", "/backups", { body: JSON.stringify({ files }) })).status;
    expect(await put({ "zigbee.json": content })).toBe(204);
    expect(await (await receiving.ask(30, "GET", "/backups")).json()).toEqual({
      files: { "zigbee.json": content },
    });
    expect(await put({ "../evil": "" })).toBe(422);
    expect(await put({ "a.json": "%%%" })).toBe(422);
    expect(await put({ "large.bin": new Uint8Array(4 * 1024 * 1024 + 1).toBase64() })).toBe(422);
    expect(await put(Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`${index}`, ""])))).toBe(
      422,
    );
  });

  test("the home records are not sent again to who has it", async () => {
    const first = await receiving.ask(31, "GET", "/roster");
    const headers = { "If-None-Match": first.headers.get("ETag") ?? "" };
    expect((await receiving.ask(31, "GET", "/roster", { headers })).status).toBe(304);
  });
});
