import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { eventually, Site, stickMake } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("an adapter that is missing at the start is named in status and doctor, and used once it is plugged in", async () => {
  const stick = join(site.directory, "zigbee");
  site.configure({ sections: `[zigbee]\nport = "${stick}"\nadapter = "${stickMake}"` });
  const gateway = await site.run();
  const driver = async () => (await site.answer("status", "--json", "--config", site.config)).drivers[0];
  const missing = await eventually(async () => {
    const found = await driver();
    return found.problem === undefined ? undefined : found;
  }, "the problem");
  expect(missing.state).toBe("retrying");
  expect(missing.problem).toContain(stick);
  const doctor = await site.lintel("doctor", "--config", site.config);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toMatch(
    /^✗ \[zigbee\] retrying for .* in the running gateway: the Zigbee adapter \S+ is not there/m,
  );
  expect(doctor.out).toContain(`✗ [zigbee] there is no ${stick}`);
  const pair = await site.lintel("pair", "--config", site.config);
  expect(pair).toMatchObject({ code: 2, out: "" });
  expect(pair.said).toMatch(/^lintel: no driver could open joining \(zigbee .*\): see lintel status, .*\n$/);

  expect((await site.simulator("zigbee")).path).toBe(stick);
  await site.listening();
  expect((await driver()).problem).toBeUndefined();
  expect(await gateway.stop()).toBe(0);
});
