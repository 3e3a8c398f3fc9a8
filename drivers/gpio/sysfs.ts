import { accessSync, constants, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Gpio } from "onoff";
import {
  type Chip,
  debounce_ms,
  headerOf,
  type Lines,
  type Listener,
  noHeader,
  type Pins,
  requireLine,
} from "./header.ts";

export const gpioDirectory = "/sys/class/gpio";

/** Whether the kernel shows its lines as files (`CONFIG_GPIO_SYSFS`), and they may be written. */
export function hasSysfs(directory = gpioDirectory): boolean {
  try {
    accessSync(join(directory, "export"), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The lines as files of sysfs, through onoff, which tells presses apart from bounces by a timer. */
export async function openSysfs(pins: Pins, listener: Listener): Promise<Lines> {
  const chip = headerChip();
  const lines = {
    lamp: pins.lamp === undefined ? undefined : lineOf(chip, pins.lamp),
    buttons: pins.buttons.map((number) => ({ number, line: lineOf(chip, number) })),
  };
  const { Gpio } = await import("onoff");
  const opened: Gpio[] = [];
  const close = () => {
    for (const line of opened.splice(0)) line.unexport();
  };
  let lamp: Gpio | undefined;
  try {
    if (lines.lamp !== undefined) {
      lamp = new Gpio(lines.lamp, "out");
      opened.push(lamp);
    }
    for (const { number, line } of lines.buttons) {
      const key = new Gpio(line, "in", "both", { debounceTimeout: debounce_ms, activeLow: true });
      opened.push(key);
      listen(key, number, listener);
    }
  } catch (thrown) {
    close();
    throw thrown;
  }
  return {
    detail: `${chip.label} (sysfs, base ${chip.base})`,
    light: (lit) => lamp?.writeSync(lit ? 1 : 0),
    close: () => {
      try {
        lamp?.writeSync(0);
      } finally {
        close();
      }
    },
  };
}

function listen(key: Gpio, number: number, listener: Listener): void {
  let down = key.readSync() === 1;
  key.watch((error, value) => {
    if (error) {
      listener.failed(error);
      return;
    }
    const pressed = value === 1 && !down;
    down = value === 1;
    if (pressed) listener.pressed(number);
  });
}

/** A controller as sysfs shows it. */
export interface SysfsChip extends Chip {
  /** Number of the chip's first line in sysfs: its line n is GPIO base + n. */
  readonly base: number;
}

/**
 * The header's controller. Its base is 0 on Raspberry Pi kernels before 6.6 and 512 or more since, so that
 * a BCM number has to be added to it. Throws an OperatorError where there is none.
 */
export function headerChip(directory = gpioDirectory): SysfsChip {
  const chips = existsSync(directory)
    ? readdirSync(directory).flatMap((name) => chipOf(directory, name))
    : [];
  const chip = headerOf(chips);
  if (chip === undefined) throw noHeader(chips);
  return chip;
}

/** The sysfs number of a BCM number. Throws an OperatorError for one that the chip doesn't have. */
export function lineOf(chip: SysfsChip, bcm: number): number {
  requireLine(chip, bcm);
  return chip.base + bcm;
}

function chipOf(directory: string, name: string): SysfsChip[] {
  if (!name.startsWith("gpiochip")) return [];
  const read = (file: string) => readFileSync(join(directory, name, file), "utf8").trim();
  const base = Number(read("base"));
  const lines = Number(read("ngpio"));
  return Number.isInteger(base) && Number.isInteger(lines) ? [{ label: read("label"), base, lines }] : [];
}
