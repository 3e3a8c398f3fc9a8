import { expect, test } from "bun:test";
import type { BatchDevice } from "../../../src/store/batch.ts";
import { start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { receive, reportBody } from "./receiving.ts";

const hostile = "x\u001b[2J\r\ny\u009b\u202ez";
const plain = "x[2J yz";

function gatewayWith(device: BatchDevice): SimulatedGateway {
  return new SimulatedGateway(12, "hostile").add({
    device,
    series: "wirelesssensor_events",
    stamp_ms: start_ms,
    fields: [1],
  });
}

const device: BatchDevice = {
  kind: "wirelesssensors",
  address: "00:0d:6f:00:00:00:00:77",
  subtype: hostile,
  model: hostile,
  vendor: hostile,
};
const itemname = "wirelesssensor-000d6f0000000077";

test("the devices of a batch are taken with plain lines for what they tell", async () => {
  await using receiving = await receive();
  const answer = await receiving.send(12, gatewayWith(device).all());
  expect(await answer.json()).toEqual({ held_seq: 1, taken: 1 });
  expect((await receiving.store.item("wirelesssensors", itemname))?.record).toMatchObject({
    subtypename: plain,
    modelname: plain,
    vendorname: plain,
  });
});

test("a report is taken with plain lines for every text and name in it", async () => {
  await using receiving = await receive();
  const body = reportBody(gatewayWith(device)) as { report: object };
  const report = {
    ...body.report,
    version: hostile,
    timezone: hostile,
    failure: hostile,
    dropped: { "x\u001b[2J\u009b\u202e": 1 },
  };
  const answer = await receiving.ask(12, "POST", "/report", { body: JSON.stringify({ ...body, report }) });
  expect(answer.status).toBe(200);
  const token = await receiving.token("admin");
  const fleet = await fetch(`${receiving.url}/fleet`, { headers: { authorization: `bearer ${token}` } });
  const text = await fleet.text();
  expect(text).toContain(plain);
  expect(JSON.parse(text)).toMatchObject([{ homeid: 12, version: plain }]);
  expect(text).not.toMatch(/\\u|\\[rnt]|[\p{Cc}\u202e]/u);
});
