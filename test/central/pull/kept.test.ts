import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { sensor, sensorEvent } from "../../../testbed/sample.ts";
import { daysOfEvents, Programme } from "../../gateway/uploader/programme.ts";
import { drain, PulledHome } from "./pulled-home.ts";

const from_ms = Date.UTC(2026, 10, 1);

test("the files for a spare box are kept once a day, after the readings that they go with", async () => {
  await using programme = new Programme();
  await programme.start();
  const { clock, store } = programme;
  await using home = await PulledHome.start(12, clock);
  const pull = await home.pull(store);
  const readTo = async (value: string) => {
    const reading = sensorEvent(sensor(1), from_ms + Number(value) * 1_000, 48);
    await home.gateway.store.append([reading], { cursors: [{ name: "events", value }] });
    await drain(pull);
    const cursors = (await store.backups(12)).get("cursors.json");
    return JSON.stringify(JSON.parse(new TextDecoder().decode(cursors)));
  };
  expect(await readTo("1")).toContain('"1"');
  expect(await readTo("2")).toContain('"1"');
  clock.travel(day_ms - 60_000);
  expect(await readTo("3")).toContain('"1"');
  clock.travel(60_000);
  expect(await readTo("4")).toContain('"4"');
});

test("why a gateway cannot be read is kept beside its last report, and nothing of a home that was never heard", async () => {
  await using programme = new Programme();
  await programme.start();
  const { clock, store } = programme;
  await using home = await PulledHome.start(12, clock);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 10 }));
  const pull = await home.pull(store);
  await pull.noteFailure("nobody listens there");
  expect(await store.gateways()).toEqual([]);
  await drain(pull);
  const [before] = await store.gateways([12]);
  clock.travel(60_000);
  await pull.noteFailure("nobody listens there");
  const [after] = await store.gateways([12]);
  expect(after?.report).toEqual({ ...before?.report, failure: "nobody listens there" });
  // It was not heard since.
  expect(after?.reported_ms).toBe(before?.reported_ms);
});
