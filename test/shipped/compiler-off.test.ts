import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test.each(["run", "central", "demo", "doctor"])(
  "lintel %s under BUN_JSC_useJIT=0, where no port could be opened, says so in one line and makes nothing",
  async (command) => {
    site.configure({ sections: '[zigbee]\nport = "/dev/ttyUSB0"' });
    const place = {
      run: ["--config", site.config],
      central: ["--port", "0", "--data", site.data],
      demo: ["--port", "0", "--central-port", "0", "--data", site.data],
      doctor: ["--config", site.config],
    }[command];
    const started = site.spawn([command, ...(place ?? [])], { BUN_JSC_useJIT: "0" });
    const [out, said, code] = await Promise.all([started.rest(), started.said(), started.exited]);
    const told = command === "doctor" ? out : said;
    expect(told).toContain("Lintel cannot call the C library");
    expect(told).toContain("unset BUN_JSC_useJIT in the environment, which is 0");
    expect(told).not.toContain("need Linux");
    if (command === "doctor") expect(code).toBe(1);
    else expect([code, out, said.trimEnd().split("\n")]).toEqual([2, "", [said.trimEnd()]]);
    expect(existsSync(site.data)).toBe(false);
  },
);
