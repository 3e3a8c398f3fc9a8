import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type ClockQuality, clockQuality, kernelSynchronised, SystemClock } from "../../src/base/clock.ts";

/** The files of a machine that a clock looks at. */
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "lintel-clock-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function file(path: string, text: string): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const now_s = () => Math.floor(Date.now() / 1000);
const unset = () => false;

function qualityOf(kernel: () => boolean): ClockQuality {
  return new SystemClock({ root, kernel }).now().quality;
}

test("a machine that nothing has told the time does not know it, whatever the date", () => {
  expect(qualityOf(unset)).toBe(clockQuality.unsynchronised);
});

test("the kernel's word is enough, and once it was heard it counts until the process ends", () => {
  const words = [false, true, false];
  const clock = new SystemClock({ root, kernel: () => words.shift() ?? false });
  const qualities = [clock.now(), clock.now(), clock.now(), clock.now()].map(({ quality }) => quality);
  const { synchronised, unsynchronised } = clockQuality;
  expect(qualities).toEqual([unsynchronised, synchronised, synchronised, synchronised]);
  expect(clock.cautions()).toEqual([]);
});

test("what systemd-timesyncd has set since boot stays set when the kernel has forgotten it", () => {
  file("run/systemd/timesync/other", "");
  expect(qualityOf(unset)).toBe(clockQuality.unsynchronised);
  file("run/systemd/timesync/synchronized", "");
  expect(qualityOf(unset)).toBe(clockQuality.synchronised);
});

test("a clock chip that set the system clock is believed where no time service is, and that is said", () => {
  file("sys/class/rtc/rtc0/hctosys", "0\n");
  file("sys/class/rtc/rtc0/since_epoch", `${now_s()}\n`);
  expect(qualityOf(unset)).toBe(clockQuality.unsynchronised);
  file("sys/class/rtc/rtc1/hctosys", "1\n");
  file("sys/class/rtc/rtc1/since_epoch", `${now_s()}\n`);
  const clock = new SystemClock({ root, kernel: unset });
  expect(clock.now().quality).toBe(clockQuality.synchronised);
  expect(clock.cautions()).toEqual([expect.stringContaining("install systemd-timesyncd or chrony")]);
});

test("a clock chip that has lost its battery, and with it the date, is not believed", () => {
  file("sys/class/rtc/rtc0/hctosys", "1\n");
  file("sys/class/rtc/rtc0/since_epoch", "120\n");
  expect(qualityOf(unset)).toBe(clockQuality.unsynchronised);
});

test.each([
  ["a virtual machine", "flags\t\t: fpu vme hypervisor lahf_lm\n", clockQuality.synchronised],
  ["a real one", "flags\t\t: fpu vme lahf_lm\n", clockQuality.unsynchronised],
  ["a Raspberry Pi", "Features\t: fp asimd\nModel\t\t: hypervisor\n", clockQuality.unsynchronised],
])("without a chip and a service, %s has clock quality as its processor says", (_, text, quality) => {
  file("proc/cpuinfo", `processor\t: 0\n${text}`);
  expect(qualityOf(unset)).toBe(quality);
});

test("a kernel that may not be asked is asked once, and the rest decides", () => {
  let asked = 0;
  const clock = new SystemClock({
    root,
    kernel: () => {
      asked += 1;
      throw new Error("adjtimex is not permitted");
    },
  });
  expect(clock.now().quality).toBe(clockQuality.unsynchronised);
  expect(clock.cautions()).toEqual([
    expect.stringMatching(/cannot be asked .*adjtimex is not permitted.*lintel-clock\.service/),
  ]);
  file("run/lintel-clock/synchronized", "");
  expect(clock.now().quality).toBe(clockQuality.synchronised);
  expect(asked).toBe(1);
  expect(clock.cautions()).toEqual([]);
});

test("the kernel of this machine says what another program hears from it", () => {
  const number = process.arch === "arm64" ? 171 : 159;
  const script = `my $timex = "\\0" x 208; syscall(${number}, $timex) >= 0 or die $!; print unpack("x40 l", $timex) & 0x40`;
  const perl = Bun.spawnSync(["perl", "-e", script]).stdout.toString();
  expect(kernelSynchronised()).toBe(perl === "0");
  expect(perl).not.toBe("");
});

test("processes of one boot share its name and, to a hundredth of a second, its monotonic time", () => {
  const clock = new SystemClock();
  const source = `
    import { readFileSync } from "node:fs";
import { SystemClock } from ${JSON.stringify(Bun.resolveSync("../../src/base/clock.ts", import.meta.dir))};
    const clock = new SystemClock();
    console.log(JSON.stringify({ boot: clock.boot, monotonic_ms: clock.now().monotonic_ms }));
  `;
  const before_ms = clock.now().monotonic_ms;
  const uptime_ms = Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000;
  expect(before_ms - uptime_ms).toBeLessThanOrEqual(10);
  const child = Bun.spawnSync([process.execPath, "-e", source]);
  expect(clock.now().monotonic_ms).toBeGreaterThanOrEqual(uptime_ms - 10);
  const after_ms = clock.now().monotonic_ms;
  const other = JSON.parse(child.stdout.toString());
  expect(other.boot).toBe(clock.boot);
  expect(other.monotonic_ms).toBeGreaterThanOrEqual(before_ms - 10);
  expect(other.monotonic_ms).toBeLessThanOrEqual(after_ms + 10);
});
