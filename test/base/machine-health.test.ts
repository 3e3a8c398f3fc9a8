import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isHot, isPowerLow, isWorn, machineHealth, PowerWatch } from "../../src/base/machine-health.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";
import { SimulatedMachine } from "../../testbed/simulated-machine.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lintel-machine-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const sys = () => join(root, "sys");

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${text}\n`);
}

/** The second partition of an eMMC, as sysfs shows it, is the disk of the directory that the test is in. */
function putDisk(files: Readonly<Record<string, string>>): void {
  const disk = "sys/devices/platform/mmc0/block/mmcblk0";
  put(`${disk}/mmcblk0p2/partition`, "2");
  // Reads, merged, sectors, ms; writes, merged, sectors, ms; and so on: Documentation/block/stat.rst.
  put(
    `${disk}/stat`,
    "    1202      113    96034     1208     5011     3711  2000000     9001        0     8021    10209",
  );
  for (const [name, text] of Object.entries(files)) put(`${disk}/device/${name}`, text);
  const { dev } = statSync(root);
  mkdirSync(join(sys(), "dev/block"), { recursive: true });
  symlinkSync(join(root, disk, "mmcblk0p2"), join(sys(), "dev/block", `${dev >> 8}:${dev & 0xff}`));
}

const health = () => machineHealth(root, { sys: sys(), proc: join(root, "proc") });

test("a Raspberry Pi with an eMMC tells its disk, its temperature and its power supply", () => {
  putDisk({ life_time: "0x02 0x09", pre_eol_info: "0x02" });
  put("proc/uptime", "43200.50 100000.00");
  put("sys/class/thermal/thermal_zone0/temp", "48312");
  put("sys/class/thermal/thermal_zone1/temp", "81250");
  put("sys/class/hwmon/hwmon0/name", "cpu_thermal");
  put("sys/class/hwmon/hwmon1/name", "rpi_volt");
  put("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1");
  put("sys/devices/platform/soc/soc:firmware/get_throttled", "50004");
  const told = health();
  expect(told).toEqual({
    disk: "mmcblk0",
    written_bytes: 2_000_000 * 512,
    written_a_day_bytes: Math.round((2_000_000 * 512 * 86_400) / 43_200.5),
    life_used_percent: 90,
    spare_low: true,
    temperature_c: 81.25,
    power_low: true,
    slowed: true,
  });
  expect([isWorn(told), isHot(told), isPowerLow(told, 0)]).toEqual([true, true, true]);
});

test("a machine that tells nothing is said to tell nothing, and is neither worn nor hot nor weak", () => {
  expect(health()).toEqual({});
  expect([isWorn({}), isHot({}), isPowerLow({}, 0)]).toEqual([false, false, false]);
});

test("a memory card tells no life, a new machine no day, and what is no number is nothing", () => {
  putDisk({ life_time: "0x00 0x00", pre_eol_info: "0x00" });
  put("proc/uptime", "600.00 1.00");
  put("sys/class/thermal/thermal_zone0/temp", "");
  put("sys/devices/platform/soc/soc:firmware/get_throttled", "error");
  expect(health()).toEqual({ disk: "mmcblk0", written_bytes: 2_000_000 * 512 });
});

test("by the firmware's bits alone a supply is too weak now, and not because it once was", () => {
  const bits = (text: string) => {
    put("sys/devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled", text);
    return health();
  };
  expect(bits("0")).toEqual({ power_low: false, slowed: false });
  expect(bits("50000")).toEqual({ power_low: false, slowed: false });
  expect(bits("0x50005")).toEqual({ power_low: true, slowed: true });
});

test("a supply that was too weak for a moment is seen by who watches it, and told for a week", () => {
  const machine = new SimulatedMachine({ now_ms: 1_800_000_000_000 });
  machine.start(machine.now_ms, 0);
  const clock = machine.startProcess();
  put("sys/class/hwmon/hwmon0/name", "rpi_volt");
  put("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "0");
  const watch = new PowerWatch(clock, sys());
  expect(watch.seen()).toEqual({});
  put("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "1");
  machine.advance(10_000);
  const seen_ms = clock.now().unix_ms;
  put("sys/class/hwmon/hwmon0/in0_lcrit_alarm", "0");
  machine.advance(60_000);
  expect(watch.seen()).toEqual({ power_low_ms: seen_ms });
  expect([6, 8].map((days) => isPowerLow(watch.seen(), seen_ms + days * 86_400_000))).toEqual([true, false]);
  watch.stop();
});

test("a gateway tells of this machine what the kernel does, to whoever asks it and to central", async () => {
  const site = new Site({ commands: lintelHere });
  const central = join(site.directory, "central");
  const { origin } = await site.central("--data", central);
  const words = ["--scope", "sync", "--home", "12", "--json", "--data", central];
  const { token } = await site.answer("token", "create", "home", ...words);
  writeFileSync(join(site.directory, "token"), token);
  site.configure({ sections: `[home]\nid = 12\n[upload]\nurl = "${origin}"\ntoken_file = "token"` });
  await site.run();
  const { machine } = await site.answer("status", "--json", "--config", site.config);
  const written = writtenHere(site.data);
  expect(machine.written_bytes === undefined).toBe(written === undefined);
  expect(machine.written_bytes ?? 0).toBeLessThanOrEqual(written ?? 0);
  expect(machine.written_bytes ?? 0).toBeGreaterThan((written ?? 0) * 0.9 - 1);
  await site.answer("upload", "--json", "--config", site.config);
  const [home] = await site.answer("fleet", "--all", "--json", "--data", central);
  expect(home.disk_written_a_day_bytes === null).toBe(machine.written_a_day_bytes === undefined);
  expect(home.temperature_c === null).toBe(machine.temperature_c === undefined);
  expect(home.power_low).toBe(machine.power_low ?? null);
  await site.remove();
});

/** Bytes written to the disk of a directory by the kernel's list of all; undefined where the directory is on none of it. */
function writtenHere(directory: string): number | undefined {
  const { dev } = statSync(directory);
  const link = `/sys/dev/block/${dev >> 8}:${dev & 0xff}`;
  if (!existsSync(link)) return undefined;
  const partition = realpathSync(link).split("/");
  const name = existsSync(join(link, "partition")) ? partition.at(-2) : partition.at(-1);
  const row = readFileSync("/proc/diskstats", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .find(([, , called]) => called === name);
  return row === undefined ? undefined : Number(row[9]) * 512;
}
