import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const units = new URL("../../../systemd", import.meta.url).pathname;
const names = ["lintel-upload.service", "lintel-upload.timer", "lintel.service", "lintel-central.service"];
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

test("a service may ask the kernel whether the clock is set, and has no right to set it", () => {
  for (const name of names.filter((one) => one.endsWith(".service"))) {
    const text = readFileSync(join(units, name), "utf8");
    const filter = /^SystemCallFilter=(.*)$/m.exec(text)?.[1]?.split(" ");
    expect([name, filter]).toEqual([name, expect.arrayContaining(["adjtimex", "clock_adjtime"])]);
    expect(text).not.toMatch(/^ProtectClock=yes$/m);
    expect(text).toMatch(/^CapabilityBoundingSet=$/m);
  }
});
