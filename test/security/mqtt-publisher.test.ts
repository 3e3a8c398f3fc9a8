import { afterAll, expect, test } from "bun:test";
import mqtt from "mqtt";
import { startBroker } from "../../testbed/broker.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { eventually, Site } from "../../testbed/front-door.ts";

/** Somebody who may publish and subscribe to everything at the broker of a gateway. */

const site = new Site({ commands: lintelHere });
afterAll(() => site.remove());

test("a publisher at the broker is sent nothing of the home, whatever it asks for", async () => {
  const broker = await startBroker();
  const attacker = await mqtt.connectAsync(broker.url);
  const own = new Set<string>();
  const heard: { topic: string; text: string }[] = [];
  attacker.on("message", (topic, payload) => {
    const text = payload.toString();
    if (!own.has(`${topic} ${text}`)) heard.push({ topic, text });
  });
  await attacker.subscribeAsync("#");
  site.configure({
    sections: `[home]\nid = 12\ntimezone = "Europe/London"\n[mqtt]\nurl = "${broker.url}"`,
  });
  const token = await site.token();
  const gateway = await site.run();
  await site.listening("mqtt");
  const [mark] = await eventually(() => (heard.length > 0 ? heard : undefined), "the mark of the gateway");
  const publish = async (topic: string, payload: string | Buffer) => {
    own.add(`${topic} ${payload}`);
    await attacker.publishAsync(topic, payload, { qos: 1 });
  };
  const orders = [
    "status",
    "get",
    "joining",
    "read",
    '{"id":1,"transaction":"x"}',
    '{"state":"","read":{"attributes":["x"]}}',
  ];
  for (const order of orders) {
    for (const topic of [
      mark?.topic ?? "",
      "lintel",
      "lintel/get",
      "lintel/status/get",
      "homeassistant/status",
    ])
      await publish(topic, order);
    for (const name of ["devices", "permit_join", "backup", "info"])
      await publish(`zigbee2mqtt/bridge/request/${name}`, order);
    await publish("zigbee2mqtt/door/get", order);
    await publish("zwave/_CLIENTS/ZWAVE_GATEWAY-x/api/getNodes/set", order);
  }
  // Responses of MQTT 5 go where a message asks for them.
  await publish("zigbee2mqtt/door", '{"contact":false,"response_topic":"leak"}');
  await gateway.get("/items", token);
  // What a client says now comes behind all that the gateway could have answered.
  const last = `last-${crypto.randomUUID()}`;
  await attacker.publishAsync(last, "x", { qos: 1 });
  await eventually(() => heard.some(({ topic }) => topic === last) || undefined, "the last message");
  expect(await gateway.stop()).toBe(0);
  const said = heard.filter(({ topic }) => topic !== last);
  expect(said).toHaveLength(1);
  expect(said[0]?.topic).toMatch(/^lintel\/[\w-]+\/here$/);
  expect(said[0]?.text).toMatch(/^[0-9a-f-]{36}$/);
  expect(await site.answer("items", "--json", "--data", site.data)).toEqual([]);
  await attacker.endAsync();
  await broker.remove();
});
