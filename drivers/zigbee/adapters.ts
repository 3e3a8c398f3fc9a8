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
