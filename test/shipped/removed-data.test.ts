import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Site } from "../../testbed/front-door.ts";

let site: Site;
beforeEach(() => {
  site = new Site();
});
afterEach(() => site.remove());

test.each(["removed", "moved away"])(
  "a gateway whose data is %s under it says so and ends with 1, and the next one makes new data",
  async (way) => {
    site.configure();
    const { process } = await site.run();
    if (way === "removed") rmSync(site.data, { recursive: true });
    else renameSync(site.data, `${site.data}.old`);
    expect(await process.exited).toBe(1);
    const errors = (await process.said()).split("\n").filter((line) => / error /.test(line));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`${site.data}/lintel.db was removed or replaced under the running server`);
    await site.run();
    expect(existsSync(join(site.data, "lintel.db"))).toBe(true);
  },
);
