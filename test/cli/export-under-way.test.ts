import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { eventually, Site } from "../../testbed/front-door.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";
import { events } from "../store/central-sample.ts";

test("an export that is under way when a home is restricted ends, and says what to remove", async () => {
  const site = new Site();
  try {
    const at = ["--data", site.data];
    const store = await openCentral(site.data);
    const gateway = new SimulatedGateway(12, "home 12").add(...events(1, 50_000));
    await store.receive(gateway.all(), gateway.sender);
    await store.close();
    const output = join(site.directory, "exported");
    const exporting = site.spawn(["export", "--format", "csv", "--output", output, ...at]);
    const isBegun = () => existsSync(output) && readdirSync(output).some((name) => name.endsWith(".part"));
    await eventually(() => isBegun() || undefined, "a file that is begun", { pause_ms: 1 });
    exporting.kill("SIGSTOP");
    const restricted = await site.lintel("restrict", "--home", "12", "--reason", "a letter", ...at);
    expect(restricted.code).toBe(0);
    exporting.kill("SIGCONT");
    expect(await exporting.exited).toBe(2);
    expect(await exporting.said()).toContain(`remove ${output}`);
    const again = await site.lintel("export", "--format", "csv", "--output", `${output}-2`, ...at);
    expect(again.code).toBe(0);
  } finally {
    await site.remove();
  }
});
