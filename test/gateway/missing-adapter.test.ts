import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { ZnpSimulator } from "../../drivers/zigbee/simulator/coordinator.ts";
import { Random } from "../../src/demo/random.ts";
import { eventually, Site } from "../shipped/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("an adapter that is missing at the start is named in status and doctor, and used once it is plugged in", async () => {
  const stick = join(site.directory, "stick");
  site.configure({ sections: `[zigbee]\nport = "${stick}"` });
  const gateway = await site.run();
  const driver = async () => {
    const { out } = await site.lintel("status", "--json", "--config", site.config);
    return JSON.parse(out).drivers[0];
  };
  const missing = await eventually(async () => {
    const found = await driver();
    return found.problem === undefined ? undefined : found;
  }, "the problem");
  expect(missing.state).toBe("retrying");
  expect(missing.problem).toContain(stick);
  const doctor = await site.lintel("doctor", "--config", site.config);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain(`✗ [zigbee] there is no ${stick}`);
  const pair = await site.lintel("pair", "--config", site.config);
  expect(pair).toMatchObject({ code: 2, out: "" });
  expect(pair.said).toMatch(/^lintel: no driver could open joining \(zigbee .*\): see lintel status, .*\n$/);

  const random = new Random(5);
  const simulator = await ZnpSimulator.listen({
    transport: "pty",
    link: stick,
    random: (length) => random.bytes(length),
  });
  await eventually(async () => ((await driver()).state === "listening" ? true : undefined), "it listens");
  expect((await driver()).problem).toBeUndefined();
  expect(await gateway.stop()).toBe(0);
  await simulator.close();
}, 40_000);
