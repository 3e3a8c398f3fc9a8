import { describe, expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { defaultQuotas } from "../../../src/store/exchange.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { centrals } from "./centrals.ts";
import { gatewayOf, receive, reportBody } from "./receiving.ts";

/** A gateway that has heard each of some devices once. */
function hearing(home: number, name: string, numbers: readonly number[]): SimulatedGateway {
  const gateway = new SimulatedGateway(home, name);
  for (const number of numbers)
    gateway.add({ device: sensor(number), series: "wirelesssensor_events", stamp_ms: start_ms, fields: [1] });
  return gateway;
}

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);
const said = async (answer: Response) => [answer.status, await answer.json()];

for (const [name, open] of centrals)
  describe(`on ${name}, a home`, () => {
    test("has so many devices and no more, and what it has goes on", async () => {
      await using receiving = await open({ quotas: { devices: 20 } });
      const gateway = hearing(12, "of 12", [...upTo(20), ...upTo(20), ...upTo(20, 5), 3]);
      expect((await receiving.send(12, gateway.batch(1, 20))).status).toBe(200);
      expect(await said(await receiving.send(12, gateway.batch(21, 60)))).toEqual([
        422,
        {
          code: 42206,
          message: "Home 12 may have at most 20 devices here, and would have more",
          remedy:
            "see at central who uses the token of home 12; where all is right, start central with --quota devices=N",
        },
      ]);
      expect((await receiving.send(12, gateway.batch(21, 40))).status).toBe(200);
      const { items } = await receiving.store.overview();
      expect(items).toHaveLength(20);
      // Another home has its own twenty, and an administrator gives more.
      expect((await receiving.send(13, hearing(13, "of 13", upTo(20, 100)).all())).status).toBe(200);
      await receiving.store.setQuotas({ ...defaultQuotas, devices: 30 });
      expect(await (await receiving.send(12, gateway.batch(41, 61))).json()).toMatchObject({ held_seq: 61 });
    });

    test("has so many epochs and listeners, by batches and by reports", async () => {
      await using receiving = await open({ quotas: { epochs: 3, listeners: 5 } });
      for (const epoch of ["a", "b", "c"])
        expect((await receiving.send(12, hearing(12, epoch, [12]).all())).status).toBe(200);
      const fourth = hearing(12, "d", [12]);
      expect(await said(await receiving.send(12, fourth.all()))).toMatchObject([422, { code: 42206 }]);
      const sent = { body: JSON.stringify(reportBody(fourth)) };
      expect(await said(await receiving.ask(12, "POST", "/report", sent))).toMatchObject([
        422,
        { message: "Home 12 may have at most 3 epochs here, and would have more" },
      ]);
      const known = reportBody(hearing(12, "a", [12])) as { condition: object };
      const listening = (names: readonly string[]) => {
        const listeners = names.map((one) => ({ name: one, first_ms: start_ms, last_ms: start_ms }));
        const body = JSON.stringify({ ...known, condition: { ...known.condition, listeners } });
        return receiving.ask(12, "POST", "/report", { body });
      };
      const drivers = ["gateway", "zigbee", "ble", "pillbox", "watch"];
      expect((await listening(drivers)).status).toBe(200);
      expect((await listening(drivers)).status).toBe(200);
      expect(await said(await listening(["one more"]))).toMatchObject([422, { code: 42206 }]);
    });
  });

describe("a day of a home", () => {
  const clock = () => new SettableClock(Date.UTC(2026, 10, 20));

  test("has so many readings, lost ones included, after five days' worth at once; the next day there are more", async () => {
    const settable = clock();
    await using receiving = await receive({ clock: settable, quotas: { readings: 100 } });
    const gateway = gatewayOf(12, 1_000);
    gateway.lost.add(450);
    expect((await receiving.send(12, gateway.batch(1, 500))).status).toBe(200);
    // What is held already costs nothing.
    expect((await receiving.send(12, gateway.batch(1, 500))).status).toBe(200);
    const refused = await receiving.send(12, gateway.batch(501, 550));
    expect([refused.headers.get("Retry-After"), ...(await said(refused))]).toEqual([
      "43200",
      429,
      { code: 42903, message: "Home 12 has sent more readings than 100 a day: try again in 43200 s" },
    ]);
    expect((await receiving.send(13, gatewayOf(13, 500).all())).status).toBe(200);
    settable.advance(day_ms / 2);
    expect((await receiving.send(12, gateway.batch(501, 550))).status).toBe(200);
    expect((await receiving.send(12, gateway.batch(551, 552))).status).toBe(429);
    expect((await receiving.store.held([gateway.epoch]))[0]?.held_seq).toBe(550);
  });

  test("has so many notes of the health of its devices", async () => {
    await using receiving = await receive({ clock: clock(), quotas: { notes: 10 } });
    const gateway = gatewayOf(12, 1);
    const body = reportBody(gateway) as { condition: object };
    const noting = (after_note: number, count: number) => {
      const outages = upTo(count).map((minute) => ({
        listener: "zigbee",
        start_ms: start_ms + (after_note + minute) * 60_000,
        stop_ms: start_ms + (after_note + minute) * 60_000 + 1,
      }));
      const condition = { ...body.condition, after_note, to_note: after_note + count, outages };
      return receiving.ask(12, "POST", "/report", { body: JSON.stringify({ ...body, condition }) });
    };
    expect((await noting(0, 50)).status).toBe(200);
    expect(await said(await noting(50, 1))).toMatchObject([429, { code: 42903 }]);
    // A report that asks where central stands is always answered.
    expect((await noting(50, 0)).status).toBe(200);
  });

  test("is counted in the metrics by what was too much", async () => {
    await using receiving = await receive({ metrics: true, quotas: { devices: 1 } });
    await receiving.send(12, hearing(12, "of 12", [1, 2]).all());
    const headers = { authorization: `bearer ${await receiving.token("read")}` };
    const text = await (await fetch(`${receiving.central.origin}/metrics`, { headers })).text();
    expect(text).toContain('lintel_quotas_exceeded_total{quota="devices"} 1');
  });
});
