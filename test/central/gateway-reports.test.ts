import { expect, test } from "bun:test";
import { settingIn } from "../../src/central/gateway-reports.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { temporaryCentral } from "../store/sqlite/temporary-central.ts";

test("homes that are asked for at once have each their own setting, and the one that none has reported is UTC", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  const zones = { 3: "Asia/Tokyo", 12: "America/Lima" };
  for (const [home, timezone] of Object.entries(zones))
    await store.noteReport(new SimulatedGateway(Number(home), timezone).report({}, { timezone }), {
      ...{ home: Number(home), at_ms: 100 },
    });
  const settingOf = settingIn(store);
  const asked = async () => (await Promise.all([12, 404, 3].map(settingOf))).map(({ timezone }) => timezone);
  expect(await asked()).toEqual(["America/Lima", "UTC", "Asia/Tokyo"]);
  await store.noteReport(new SimulatedGateway(404, "other").report({}, { timezone: "Asia/Tokyo" }), {
    ...{ home: 404, at_ms: 200 },
  });
  expect(await asked()).toEqual(["America/Lima", "Asia/Tokyo", "Asia/Tokyo"]);
});
