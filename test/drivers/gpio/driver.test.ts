import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Blinker, patterns } from "../../../drivers/gpio/blinker.ts";
import { GpioDriver } from "../../../drivers/gpio/driver.ts";
import { headerChip, lineOf } from "../../../drivers/gpio/sysfs.ts";
import { type Clock, clockQuality } from "../../../src/base/clock.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";

const directory = temporaryDirectory();
afterAll(directory.remove);

function sysfs(name: string, chips: readonly [number, string, number][]): string {
  const path = join(directory.path, name);
  for (const [base, label, ngpio] of chips) {
    const chip = join(path, `gpiochip${base}`);
    mkdirSync(chip, { recursive: true });
    writeFileSync(join(chip, "base"), `${base}\n`);
    writeFileSync(join(chip, "label"), `${label}\n`);
    writeFileSync(join(chip, "ngpio"), `${ngpio}\n`);
  }
  return path;
}

test("BCM numbers start at the base of the header's chip, wherever the kernel put it", () => {
  const kernel6_6 = sysfs("pi4", [
    [504, "raspberrypi-exp-gpio", 8],
    [512, "pinctrl-bcm2711", 58],
  ]);
  expect(lineOf(headerChip(kernel6_6), 17)).toBe(529);
  expect(lineOf(headerChip(sysfs("pi3", [[0, "pinctrl-bcm2835", 54]])), 17)).toBe(17);
  const pi5 = sysfs("pi5", [
    [512, "gpio-brcmstb@107d508500", 32],
    [571, "pinctrl-rp1", 54],
  ]);
  expect(lineOf(headerChip(pi5), 27)).toBe(598);
});

test("a machine without a header, or a number that it lacks, is one line with a remedy", () => {
  expect(() => headerChip(join(directory.path, "none"))).toThrow(
    /no Raspberry Pi GPIO header: remove \[gpio\]/,
  );
  const other = sysfs("other", [[0, "INT3450:00", 320]]);
  expect(() => headerChip(other)).toThrow(/only INT3450:00/);
  expect(() => lineOf({ label: "pinctrl-rp1", base: 571, lines: 54 }, 54)).toThrow(/GPIO 54 is not on/);
});

/** A clock that stands still until it is told how long to run. */
class SteppedClock implements Clock {
  readonly boot = "one";
  #now_ms = 0;
  #timers: { due_ms: number; action: () => void }[] = [];

  now() {
    return { unix_ms: this.#now_ms, monotonic_ms: this.#now_ms, quality: clockQuality.synchronised };
  }

  after(delay_ms: number, action: () => void): () => void {
    const timer = { due_ms: this.#now_ms + delay_ms, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  run(for_ms: number): void {
    const end_ms = this.#now_ms + for_ms;
    for (;;) {
      const next = this.#timers
        .filter(({ due_ms }) => due_ms <= end_ms)
        .sort((a, b) => a.due_ms - b.due_ms)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.#now_ms = next.due_ms;
      next.action();
    }
    this.#now_ms = end_ms;
  }
}

test("every state of the lamp can be told from the others, and a new one starts at once", () => {
  const clock = new SteppedClock();
  const changes: string[] = [];
  const blinker = new Blinker({
    clock,
    write: (lit) => changes.push(`${clock.now().unix_ms} ${lit ? "on" : "off"}`),
  });
  blinker.show("fault");
  clock.run(2_000);
  expect(changes).toEqual(["0 on", "150 off", "300 on", "450 off", "1950 on"]);
  blinker.show("joining");
  clock.run(500);
  expect(changes.slice(5)).toEqual(["2000 on", "2200 off", "2400 on"]);
  blinker.show("off");
  blinker.stop();
  clock.run(600_000);
  expect(changes.slice(8)).toEqual(["2500 off"]);
  const looks = Object.values(patterns).map((pattern) => JSON.stringify(pattern));
  expect(new Set(looks).size).toBe(looks.length);
});

test("a gateway on a machine without GPIO says so once and goes on", async () => {
  const host = new RecordingHost({ directory: join(directory.path, "driver") });
  const driver = new GpioDriver({ config: { led: 17, button: 27 }, host });
  driver.show("ready");
  driver.start();
  await host.until("the driver to find none", () => driver.status().state === "retrying");
  expect(driver.status().problem).toMatch(/no Raspberry Pi GPIO header/);
  await driver.stop();
  expect(driver.status().state).toBe("stopped");
});

const namespaces = ["unshare", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--mount", "--uts"];
const layout = join(import.meta.dir, "fake-sysfs.sh");
const mountable = Bun.spawnSync([...namespaces, layout, "true"]).exitCode === 0;
if (!mountable) console.error("NOT TESTED: lamp and button on a fake /sys/class/gpio, for want of mounts");

test.skipIf(!mountable)(
  "a press asks for joining or for a pause once, by its button, and the lamp shows what it is told",
  async () => {
    const program = join(import.meta.dir, "button-and-lamp.ts");
    const child = Bun.spawn([...namespaces, layout, process.execPath, program, directory.path], {
      stderr: "inherit",
    });
    expect(JSON.parse(await new Response(child.stdout).text())).toEqual({
      ready: true,
      requests: 2,
      pauses: 1,
      detail: "led on GPIO 17, button on GPIO 27, pause on GPIO 22 of pinctrl-bcm2711 (sysfs, base 512)",
      litAfterwards: false,
    });
    expect(await child.exited).toBe(0);
  },
);
