import { OperatorError } from "../../src/base/errors.ts";

/**
 * The controller behind the header of a Raspberry Pi: pinctrl-bcm2835 (Pi 0 to 3), pinctrl-bcm2711 (Pi 4),
 * pinctrl-rp1 (Pi 5). The others on the board drive its own lamps and regulators.
 */
const headerLabels = /^pinctrl-(bcm2\d+|rp1)$/;

/** A GPIO controller, however it is found. */
export interface Chip {
  readonly label: string;
  readonly lines: number;
}

/** Lines of the header in use; all are BCM numbers. */
export interface Pins {
  readonly lamp?: number | undefined;
  readonly buttons: readonly number[];
}

export interface Lines {
  /** The chip, and the way to it, in a few words. */
  readonly detail: string;
  /** Lights the lamp, or puts it out. Throws where the line is gone. */
  light(lit: boolean): void;
  /** Puts the lamp out, and gives the lines back. */
  close(): void;
}

/** The listeners of the lines. */
export interface Listener {
  /** A button was pressed: once however long it is held, and not where it was down from the start. */
  pressed(button: number): void;
  failed(fault: unknown): void;
}

/** A press must last longer than this, milliseconds: a button bounces for less. */
export const debounce_ms = 30;

/** The header's controller among all. */
export function headerOf<One extends Chip>(chips: readonly One[]): One | undefined {
  return chips.find(({ label }) => headerLabels.test(label));
}

export function noHeader(chips: readonly Chip[]): OperatorError {
  const others = chips.map(({ label }) => label).join(", ");
  return new OperatorError(
    `this machine has no Raspberry Pi GPIO header${others === "" ? "" : ` (only ${others})`}`,
    "remove [gpio] from the configuration, or run on a Raspberry Pi",
  );
}

/** Throws an OperatorError for a BCM number that the chip doesn't have. */
export function requireLine({ label, lines }: Chip, bcm: number): void {
  if (bcm < lines) return;
  throw new OperatorError(
    `GPIO ${bcm} is not on ${label}, which has ${lines} lines`,
    "correct the number in [gpio]: BCM numbers of the header are 2 to 27",
  );
}
