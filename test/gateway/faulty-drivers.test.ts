import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { LintelProcess, Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("a driver that cannot be made leaves the others running; a fault that nothing catches ends in a clean stop and exit 1", async () => {
  const server = new LintelProcess(
    Bun.spawn([process.execPath, join(import.meta.dir, "faulty-server.ts"), site.data], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: { ...process.env, NO_COLOR: "1", JOURNAL_STREAM: "1:1" },
    }),
  );
  expect(await server.line()).toBe('[["broken","stopped"],["fragile","listening"]]');
  expect(await server.exited).toBe(1);
  const lines = (await server.said()).trimEnd().split("\n");
  // Under systemd a line begins with its priority: 3 is an error.
  expect(lines.filter((line) => line.startsWith("<3>"))).toEqual([
    "<3>broken: could not be set up (made of glass): the other drivers go on; restart the gateway to try again",
    "<3>unexpected: a wire came loose: stopping; LINTEL_DEBUG=1 shows where",
  ]);
  expect(existsSync(join(site.data, "control.sock"))).toBe(false);
});
