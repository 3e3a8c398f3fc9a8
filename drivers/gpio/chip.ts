import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/errors.ts";

/** A GPIO controller as sysfs shows it. */
export interface Chip {
  readonly label: string;
  /** Number of the chip's first line in sysfs: its line n is GPIO base + n. */
  readonly base: number;
  readonly lines: number;
}

export const gpioDirectory = "/sys/class/gpio";

/**
 * The controller behind the header of a Raspberry Pi: pinctrl-bcm2835 (Pi 0 to 3), pinctrl-bcm2711 (Pi 4),
 * pinctrl-rp1 (Pi 5). The others on the board drive its own lamps and regulators.
 */
const headerLabels = /^pinctrl-(bcm2\d+|rp1)$/;

/**
 * The header's controller. Its base is 0 on Raspberry Pi kernels before 6.6 and 512 or more since, so that
 * a BCM number has to be added to it. Throws an OperatorError where there is none.
 */
export function headerChip(directory = gpioDirectory): Chip {
  const chips = existsSync(directory)
    ? readdirSync(directory).flatMap((name) => chipOf(directory, name))
    : [];
  const chip = chips.find(({ label }) => headerLabels.test(label));
  if (chip !== undefined) return chip;
  const others = chips.map(({ label }) => label).join(", ");
  throw new OperatorError(
    `this machine has no Raspberry Pi GPIO header${others === "" ? "" : ` (only ${others})`}`,
    "remove [gpio] from the configuration, or run on a Raspberry Pi whose kernel has sysfs GPIO",
  );
}

/** The sysfs number of a BCM number. Throws an OperatorError for one that the chip doesn't have. */
export function lineOf(chip: Chip, bcm: number): number {
  if (bcm < chip.lines) return chip.base + bcm;
  throw new OperatorError(
    `GPIO ${bcm} is not on ${chip.label}, which has ${chip.lines} lines`,
    "correct the number in [gpio]: BCM numbers of the header are 2 to 27",
  );
}

function chipOf(directory: string, name: string): Chip[] {
  if (!name.startsWith("gpiochip")) return [];
  const read = (file: string) => readFileSync(join(directory, name, file), "utf8").trim();
  const base = Number(read("base"));
  const lines = Number(read("ngpio"));
  return Number.isInteger(base) && Number.isInteger(lines) ? [{ label: read("label"), base, lines }] : [];
}
