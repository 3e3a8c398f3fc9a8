import { afterAll, beforeAll, expect, test } from "bun:test";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
  const listener = "radio";
  for (const hour of [0, 2, 9, 11]) {
    const heard_ms = start_ms - (24 - hour) * 3_600_000;
    await serving.store.append([], {
      listening: [{ listener, from_ms: start_ms - 24 * 3_600_000, to_ms: heard_ms }],
      states: [{ device: sensor(1), heard_ms, listener }],
    });
  }
});
afterAll(() => serving[Symbol.asyncDispose]());

const path = "/v0.9/items/wirelesssensors/wirelesssensor-000d6f0005a10001/coverage";

async function ask(address: string): Promise<Response> {
  return fetch(new URL(address, serving.api.url), {
    headers: { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" },
  });
}

function at(hour: number): number {
  return start_ms / 1000 - (24 - hour) * 3_600;
}

const records = [
  { start: at(9), stop: at(11), state: "covered", reason: null, lost: null },
  { start: at(2), stop: at(9), state: "silent", reason: "device_silent", lost: null },
  { start: at(0), stop: at(2), state: "covered", reason: null, lost: null },
];

test("coverage tells when an item was heard and when it was silent, newest first", async () => {
  expect(await (await ask(path)).json()).toEqual(records);
});

test("coverage has skip, limit and before, and links to the page that follows", async () => {
  const first = await ask(`${path}?limit=1`);
  expect(await first.json()).toEqual(records.slice(0, 1));
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("Link") ?? "")?.[1] ?? "";
  expect(await (await ask(next)).json()).toEqual(records.slice(1, 2));
  expect(await (await ask(`${path}?before=${at(9)}`)).json()).toEqual(records.slice(1));
});

test("coverage after a time is what reaches beyond it, also by links", async () => {
  expect(await (await ask(`${path}?after=${at(9)}`)).json()).toEqual(records.slice(0, 1));
  expect(await (await ask(`${path}?after=${at(5)}&before=${at(9)}`)).json()).toEqual(records.slice(1, 2));
  const first = await ask(`${path}?limit=1&after=${at(2)}`);
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("Link") ?? "")?.[1] ?? "";
  const second = await ask(next);
  expect(await second.json()).toEqual(records.slice(1, 2));
  expect(second.headers.get("Link")).toBeNull();
});

test("coverage of an unknown item is 404, and so is coverage before 0.9", async () => {
  expect((await ask("/v0.9/items/wirelesssensors/nobody/coverage")).status).toBe(404);
  expect((await ask(path.replace("0.9", "0.8"))).status).toBe(404);
});
