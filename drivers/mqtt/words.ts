/**
 * Bits of `event`, where an IAS zone status has them (ZCL 8.2.2.2.1.3). Water, smoke and vibration are alarm 1 there, presence is alarm 2.
 */
export const eventBit = { opened: 0, present: 1, tampered: 2, batteryLow: 3 } as const;

export type EventBit = (typeof eventBit)[keyof typeof eventBit];

/** A word for something that is or is not so. */
export interface SignWord {
  readonly bit: EventBit;
  /** True stands for the bit that is not set, as `contact` does. */
  readonly inverted?: true;
}

/** Words of the hubs for what is or is not so, each with its bit. A new one is one more row. */
export const signWords: Readonly<Record<string, SignWord>> = {
  // Zigbee2MQTT: https://www.zigbee2mqtt.io/guide/usage/exposes.html and the pages of its devices.
  occupancy: { bit: eventBit.present },
  presence: { bit: eventBit.present },
  contact: { bit: eventBit.opened, inverted: true },
  water_leak: { bit: eventBit.opened },
  vibration: { bit: eventBit.opened },
  smoke: { bit: eventBit.opened },
  gas: { bit: eventBit.opened },
  carbon_monoxide: { bit: eventBit.opened },
  tamper: { bit: eventBit.tampered },
  battery_low: { bit: eventBit.batteryLow },
  // Theengs decoder, which OpenMQTTGateway publishes: https://decoder.theengs.io/devices/devices.html
  open: { bit: eventBit.opened },
  motion: { bit: eventBit.present },
  // Device classes of Home Assistant, by which ESPHome describes itself: https://www.home-assistant.io/integrations/binary_sensor/#device-class
  moving: { bit: eventBit.present },
  door: { bit: eventBit.opened },
  window: { bit: eventBit.opened },
  opening: { bit: eventBit.opened },
  garage_door: { bit: eventBit.opened },
  moisture: { bit: eventBit.opened },
  battery: { bit: eventBit.batteryLow },
};
