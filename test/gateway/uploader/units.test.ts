import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const units = new URL("../../../systemd", import.meta.url).pathname;
const names = [
  "lintel-upload.service",
  "lintel-upload.timer",
  "lintel.service",
  "lintel-central.service",
  "lintel-clock.service",
];
const directory = mkdtempSync(join(tmpdir(), "lintel-units-"));
afterAll(() => rmSync(directory, { recursive: true }));
const analyze = Bun.which("systemd-analyze");

test.skipIf(analyze === null)(
  "systemd takes the units without a word, and the timer rings at two each night",
  () => {
    const program = join(directory, "lintel");
    writeFileSync(program, "#!/bin/sh\n");
    chmodSync(program, 0o755);
    for (const name of names) {
      const text = readFileSync(join(units, name), "utf8").replaceAll("/opt/lintel/scripts/lintel", program);
      writeFileSync(join(directory, name), text);
    }
    const paths = names.map((name) => join(directory, name));
    const verified = Bun.spawnSync([analyze ?? "", "verify", "--man=no", ...paths]);
    // Other units of the machine that run this may have their own faults.
    const own = verified.stderr
      .toString()
      .split("\n")
      .filter((line) => line.includes("lintel"));
    expect(own).toEqual([]);
    const calendar =
      /^OnCalendar=(.+)$/m.exec(readFileSync(join(units, "lintel-upload.timer"), "utf8"))?.[1] ?? "";
    const read = Bun.spawnSync([analyze ?? "", "calendar", calendar]);
    expect(read.stdout.toString()).toContain("Normalized form: *-*-* 02:00:00");
  },
);

test("every line of the units is explained", () => {
  for (const name of names) {
    const lines = readFileSync(join(units, name), "utf8").split("\n");
    for (const [index, line] of lines.entries()) {
      const setting = /^[A-Z]\w+=/.test(line);
      if (!setting || /^(Description|Documentation|WantedBy|ExecStart|User|Group)=/.test(line)) continue;
      // A comment stands above it, or above the block that it belongs to.
      const block = lines.slice(0, index).findLastIndex((one) => one === "" || one.startsWith("["));
      const explained = lines.slice(block + 1, index).some((one) => one.startsWith("#"));
      expect([name, line, explained]).toEqual([name, line, true]);
    }
  }
});

test("a service has no right to set the clock, and one that asks the kernel for the others is started with it", () => {
  for (const name of names.filter((one) => one.endsWith(".service"))) {
    const text = readFileSync(join(units, name), "utf8");
    expect([name, text]).toEqual([name, expect.stringMatching(/^ProtectClock=yes$/m)]);
    expect([name, text]).toEqual([name, expect.stringMatching(/^CapabilityBoundingSet=$/m)]);
    if (name !== "lintel-clock.service")
      expect([name, text]).toEqual([name, expect.stringMatching(/^Wants=lintel-clock\.service$/m)]);
  }
});

/** The most that `systemd-analyze security` may say, of 10; what remains is the network, and at the gateway its devices. */
const exposures_max = { lintel: 1.6, "lintel-central": 1.2, "lintel-upload": 1.2, "lintel-clock": 0.4 };

test.skipIf(analyze === null)(
  `systemd takes the units for closed${analyze === null ? " (skipped: no systemd-analyze here)" : ""}`,
  () => {
    for (const [name, exposure_max] of Object.entries(exposures_max)) {
      const path = join(units, `${name}.service`);
      const words = [analyze ?? "", "security", "--offline=true", "--no-pager", path];
      const said = Bun.spawnSync(words).stdout.toString();
      const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(said)?.[1]);
      expect([name, exposure <= exposure_max, said]).toEqual([name, true, said]);
    }
  },
);
