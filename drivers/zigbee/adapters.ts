import { stickAt } from "../wire/sticks.ts";

/** The adapters that zigbee-herdsman has, by the name that configuration uses. */
export const adapters = {
  zstack: "Texas Instruments CC2652, CC1352, CC2538, CC2531",
  ember: "Silicon Labs EFR32 with EZSP 13 or later",
  deconz: "ConBee and RaspBee",
  zigate: "ZiGate",
  zboss: "Nordic nRF52840 with ZBOSS NCP",
  zoh: "ZigBee on Host",
  ezsp: "Silicon Labs EFR32 with older EZSP",
} as const;

export type AdapterName = keyof typeof adapters;

export const adapterNames = Object.keys(adapters) as AdapterName[];

/** The line to an adapter, as the configuration has it. */
export interface AdapterLine {
  readonly port: string;
  readonly adapter: AdapterName;
  readonly baudrate?: number;
  readonly rtscts?: boolean;
}

/**
 * Settings of the line in zigbee-herdsman's words: those of the configuration, else those of the stick that is plugged in. What neither
 * says is absent, and zigbee-herdsman decides.
 */
export function lineSettings({ port, baudrate, rtscts }: AdapterLine): {
  baudRate?: number;
  rtscts?: boolean;
} {
  const stick = stickAt(port);
  const rate = baudrate ?? stick?.baudrate;
  const flow = rtscts ?? stick?.rtscts;
  return {
    ...(rate === undefined ? {} : { baudRate: rate }),
    ...(flow === undefined ? {} : { rtscts: flow }),
  };
}
