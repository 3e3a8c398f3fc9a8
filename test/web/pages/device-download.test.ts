import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { daysAfter } from "../../../src/base/time.ts";
import { shownStore } from "../../../src/store/visible-store.ts";
import { downloadOf } from "../../../src/web/pages/device/device-download.ts";
import type { Asked } from "../../../src/web/pages/site.ts";
import { start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { openCentral } from "../../../testbed/sqlite/opening.ts";
import { events } from "../../store/central-sample.ts";

test("a file that is being sent when its home is restricted ends there, and not as a whole one", async () => {
  using directory = temporaryDirectory();
  const store = await openCentral(directory.path);
  const gateway = new SimulatedGateway(12, "home 12").add(...events(1, 20_000));
  await store.receive(gateway.all(), gateway.sender);
  const [item] = await store.items("wirelesssensors", { skip: 0, limit: 1 });
  const day = new Date(start_ms).toISOString().slice(0, 10);
  const ask = async () =>
    ({
      store: await shownStore(store),
      site: { zoneOf: async () => "UTC" },
      params: { kind: "wirelesssensors", name: item?.itemname, file: "events.csv" },
      query: new URLSearchParams({ from: day, until: daysAfter(day, 2) }),
      now_ms: new SystemClock().now().unix_ms,
    }) as unknown as Asked;
  const reader = (await downloadOf(await ask(), ask)).body?.getReader();
  await reader?.read();
  expect((await reader?.read())?.value?.length).toBeGreaterThan(10_000);
  await store.restrict({ target: { home: 12 }, at_ms: start_ms, who: "lea", reason: "a letter" });
  const rest = async () => {
    // What was read ahead may still come.
    for (let pieces = 0; pieces < 3; pieces += 1) await reader?.read();
  };
  expect(await rest().catch((thrown: Error) => thrown.message)).toContain("item");
  await store.close();
});
