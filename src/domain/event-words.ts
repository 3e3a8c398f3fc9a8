/**
 * Bits of `event` of a wireless sensor, where a zone status of Zigbee has them (ZCL 8.2.2.2.1.3). Water, smoke and vibration are alarm 1 there,
 * presence is alarm 2.
 */
export const eventBit = { opened: 0, present: 1, tampered: 2, batteryLow: 3 } as const;

/** Either alarm: something happens, unlike a low battery or an open lid of the sensor. A sensor of movement raises one when somebody moves: many makes the first, NYCE's the second. */
export const alarmBits = (1 << eventBit.opened) | (1 << eventBit.present);

/** Whether a sensor is one of movement by its subtype. */
export function isMovement(subtype: string): boolean {
  return subtype === "wall" || subtype === "curtain";
}

export type EventBit = (typeof eventBit)[keyof typeof eventBit];

/** A word for something that is or is not so. */
export interface EventWord {
  readonly bit: EventBit;
  /** The bit is set where it is not so, as of `contact`. */
  readonly inverted?: true;
  /** Says that something happens, rather than how it is, of a sensor that tells no end of it: told twice it happened twice. */
  readonly happens?: true;
}

/**
 * Words that sensors tell events with, by the names that zigbee2mqtt's converters give them, each with its bit: one table for every driver. Where a device has
 * two words for one bit, the one that stands first here takes it. A new word is one more row.
 */
export const eventWords: Readonly<Record<string, EventWord>> = {
  presence: { bit: eventBit.present },
  occupancy: { bit: eventBit.present, happens: true },
  contact: { bit: eventBit.opened, inverted: true },
  water_leak: { bit: eventBit.opened },
  vibration: { bit: eventBit.opened, happens: true },
  smoke: { bit: eventBit.opened },
  gas: { bit: eventBit.opened },
  carbon_monoxide: { bit: eventBit.opened },
  tamper: { bit: eventBit.tampered },
  battery_low: { bit: eventBit.batteryLow },
};
