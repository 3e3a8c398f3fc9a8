import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signedJson } from "../../src/base/signed-json.ts";
import type { BurnInHardware, BurnInRecord } from "../../src/domain/burn-in.ts";
import { burnInFile } from "../../src/domain/burn-in-file.ts";
import { boxKey } from "../../src/gateway/box-key.ts";
import { burnInReportOf, hardwareOf } from "../../src/gateway/burn-in-record.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-record-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A Raspberry Pi 5 as the kernel tells of it, with its card at the disk of the directory. */
function machine(): { sys: string; proc: string } {
  const [sys, proc] = [join(directory, "sys"), join(directory, "proc")];
  const { dev } = statSync(directory);
  const disk = join(sys, "devices/mmcblk0");
  mkdirSync(join(disk, "device"), { recursive: true });
  mkdirSync(join(sys, "dev/block"), { recursive: true });
  symlinkSync(
    disk,
    join(sys, "dev/block", `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`),
  );
  writeFileSync(join(disk, "device/cid"), "035344534331364780\n");
  mkdirSync(join(proc, "device-tree/chosen/power"), { recursive: true });
  writeFileSync(join(proc, "device-tree/serial-number"), "10000000abcdef01\0");
  writeFileSync(join(proc, "device-tree/chosen/power/max_current"), new Uint8Array([0, 0, 0x13, 0x88]));
  return { sys, proc };
}

test("computer, card and power supply are known by what they tell of themselves, and sticks by their lasting names", () => {
  const ports = ["/dev/serial/by-id/usb-Silicon_Labs-if00", "/dev/ttyUSB0", "hci0"];
  expect(hardwareOf({ directory, ports, ...machine() })).toEqual({
    machine: "10000000abcdef01",
    card: "035344534331364780",
    sticks: ["/dev/serial/by-id/usb-Silicon_Labs-if00"],
    supply: "5000 mA",
  });
});

test("a report says which checks failed, and which parts were changed since", () => {
  expect(burnInReportOf(directory)).toBeUndefined();
  const put = (hardware: BurnInHardware) => {
    const results = { disk: { outcome: "failed", at_ms: 2, found: "It forgot." } } as const;
    const of = { format: "lintel burn-in 1", version: "1", begun_ms: 1, ended_ms: 3 } as const;
    const record: BurnInRecord = { ...of, hardware, results };
    writeFileSync(join(directory, burnInFile), JSON.stringify(signedJson(record, boxKey(directory))));
  };
  put({ ...hardwareOf({ directory, ports: [] }), sticks: [] });
  expect(burnInReportOf(directory)).toEqual({ ended_ms: 3, failed: ["disk"], skipped: [], changed: [] });
  const here = hardwareOf({ directory, ports: [] });
  const sticks = [join(directory, "one"), join(directory, "other")];
  for (const path of sticks) writeFileSync(path, "");
  const changes: [Partial<BurnInHardware>, string[]][] = [
    [{ sticks }, []],
    [{ machine: "another" }, ["computer"]],
    [{ card: "another" }, ["card"]],
    [{ supply: "900 mA" }, ["power supply"]],
    [{ sticks: ["/dev/serial/by-id/gone"] }, ["stick"]],
    ...[0, 1].map((gone): [Partial<BurnInHardware>, string[]] => [
      { sticks: sticks.with(gone, "/dev/serial/by-id/gone") },
      ["stick"],
    ]),
  ];
  for (const [change, changed] of changes) {
    put({ ...here, sticks: [], ...change });
    expect(burnInReportOf(directory)?.changed).toEqual(changed);
  }
  put({ machine: "another", card: "another", sticks: ["/dev/serial/by-id/gone"], supply: "900 mA" });
  expect(burnInReportOf(directory)?.changed).toEqual(["computer", "card", "stick", "power supply"]);
});
