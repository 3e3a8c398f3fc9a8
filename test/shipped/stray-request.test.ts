import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, lintel, Site, stickMake } from "../../testbed/front-door.ts";

const directory = mkdtempSync(join(tmpdir(), "lintel-log-"));
const log = join(directory, "log");
const site = new Site({ program: ["/bin/sh", "-c", `exec ${lintel} "$@" 2>>"$0"`, log] });
afterAll(async () => {
  await site.remove();
  rmSync(directory, { recursive: true });
});

const failedRequest = /ZCL command 0x\w+\/1 manuSpecificTuya\.dataRequest.* failed/;

test("a request that a definition sends by itself, and that no device answers, does not end the gateway", async () => {
  const stick = await site.simulator("zigbee");
  site.configure({ sections: stick.section });
  const gateway = await site.run();
  await site.listening();
  const pairing = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  expect(JSON.parse((await pairing.line()) ?? "")).toMatchObject({ state: "open" });
  const { ieee } = (await stick.tell({ do: "add", model: "TS0601/_TZE284_8zizsafo" })) as { ieee: string };
  await stick.tell({ do: "join", ieee });
  expect(JSON.parse((await pairing.line()) ?? "")).toMatchObject({ state: "joined" });
  await stick.tell({ do: "fail", ieee, step: "unreachable" });
  await stick.tell({ do: "say", ieee, what: "closed" });
  // At a stick of Silicon Labs zigbee-herdsman does not wait for the fate of a request that nobody answers.
  const told = stickMake === "ember" ? /^/ : failedRequest;
  await eventually(
    () => (told.test(readFileSync(log, "utf8")) ? true : undefined),
    "the failed request in the log",
  );
  const token = await site.token();
  const measures = `/items/wirelesssensors/wirelesssensor-${ieee.replaceAll(":", "")}/measures`;
  const closed = await eventually(async () => {
    const found = await gateway.records<object[]>(measures, token);
    return found.length > 0 ? found : undefined;
  }, "the state of the valve");
  expect(closed).toMatchObject([{ quantity: "state_1_Closed", value: 1 }]);
  expect(await gateway.stop()).toBe(0);
});
