import { type EventWord, eventBit, eventWords } from "../../src/domain/event-words.ts";

/** Words of the hubs for what is or is not so, each with its bit. A new one is one more row, here or in the table of all drivers. */
export const signWords: Readonly<Record<string, EventWord>> = {
  // Zigbee2MQTT: https://www.zigbee2mqtt.io/guide/usage/exposes.html and the pages of its devices.
  ...eventWords,
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
