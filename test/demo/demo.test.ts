import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { flat } from "../../src/demo/flat.ts";
import { eventually, RunningGateway, Site } from "../gateway/processes.ts";

const site = new Site();
afterAll(() => site.remove());

test("the demo serves a furnished flat with history, then live events, and leaves nothing behind", async () => {
  const temporary = join(site.directory, "tmp");
  mkdirSync(temporary);
  const demo = site.spawn(["demo", "--port", "0", "--days", "3", "--json"], { TMPDIR: temporary });
  const ready = JSON.parse((await demo.line()) ?? "");
  expect(Object.keys(ready)).toEqual(["url", "dashboard", "token", "admin_token"]);
  const gateway = new RunningGateway(demo, ready);

  const inventory = await gateway.get("/inventory/wirelesssensors", ready.token);
  const items = (await inventory.json()) as { itemname: string }[];
  expect(items.map(({ itemname }) => itemname)).toEqual(flat.map(({ name }) => name));

  const history = await gateway.events("kitchen-wall", ready.token);
  expect(history.length).toBeGreaterThan(100);
  const stamps = history.map(({ stamp }) => stamp);
  expect(stamps).toEqual(stamps.toSorted((one, other) => other - one));

  const counts = async () => {
    const each = flat.map(async ({ name }) => (await gateway.events(name, ready.token)).length);
    return (await Promise.all(each)).reduce((sum, count) => sum + count, 0);
  };
  const before = await counts();
  await eventually(async () => ((await counts()) > before ? true : undefined), "a live event", {
    pause_ms: 100,
  });

  expect(await gateway.stop("SIGINT")).toBe(0);
  expect(await demo.rest()).toBe("");
  expect(readdirSync(temporary)).toEqual([]);
}, 60_000);

test("on a terminal's pipe it says how to ask, with a line that works when pasted", async () => {
  const demo = site.spawn(["demo", "--port", "0", "--days", "1", "--data", join(site.directory, "kept")]);
  const line = await eventually(async () => {
    const text = await demo.line();
    return text?.includes("curl ") ? text : undefined;
  }, "a curl line");
  const pasted = Bun.spawnSync(["sh", "-c", line.replace("curl ", "curl --silent --fail ")]);
  // A machine without curl has Bun all the same, and the tests above.
  if (Bun.which("curl") !== null) expect(JSON.parse(pasted.stdout.toString())).toHaveLength(5);
  demo.kill("SIGTERM");
  expect(await demo.exited).toBe(0);
}, 30_000);

test("a port that is taken is said in the words of the demo", async () => {
  const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { code, said } = await site.lintel("demo", "--port", String(other.port));
  other.stop(true);
  expect({ code, said }).toEqual({
    code: 2,
    said: `lintel: cannot listen on port ${other.port}: another program has it, or it needs more rights: give another with --port, 0 takes a free one\n`,
  });
});
