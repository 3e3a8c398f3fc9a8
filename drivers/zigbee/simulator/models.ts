/** A simulated device's answers to its interview. */
export interface SimulatedModel {
  readonly manufacturer: string;
  readonly manufacturer_code: number;
  /** Home Automation device id: 0x0402 IAS zone, 0x0100 on/off light. */
  readonly device_id: number;
  readonly inputClusters: readonly number[];
  /** IAS zone type; absent on what is not a sensor. */
  readonly zone_type?: number;
  /** The bit of the zone status that this device raises. */
  readonly alarm: number;
  /** Reports its battery as 0 to 100 instead of in half percent. */
  readonly unhalvedBattery?: boolean;
  /** A mains-powered device that relays for others. */
  readonly router?: boolean;
}

const sensorClusters = [0x0000, 0x0001, 0x0003, 0x0020, 0x0500];
const motion = 0x000d;
const contact = 0x0015;
const nyce = {
  manufacturer: "NYCE",
  manufacturer_code: 0x10b9,
  device_id: 0x0402,
  inputClusters: sensorClusters,
};
const generic = {
  manufacturer: "Acme",
  manufacturer_code: 0x1234,
  device_id: 0x0402,
  inputClusters: sensorClusters,
};

/** By the model identifier that the device reports. */
export const simulatedModels = {
  "3041": { ...nyce, zone_type: motion, alarm: 0x0002, unhalvedBattery: true },
  "3043": { ...nyce, zone_type: motion, alarm: 0x0002 },
  "3045": { ...nyce, zone_type: motion, alarm: 0x0002, unhalvedBattery: true },
  "3010": { ...nyce, zone_type: contact, alarm: 0x0001 },
  "3011": { ...nyce, zone_type: contact, alarm: 0x0001 },
  "3014": { ...nyce, zone_type: contact, alarm: 0x0001 },
  motion: { ...generic, zone_type: motion, alarm: 0x0001 },
  contact: { ...generic, zone_type: contact, alarm: 0x0001 },
  lamp: { ...generic, device_id: 0x0100, inputClusters: [0x0000, 0x0003, 0x0006], alarm: 0, router: true },
} as const satisfies Readonly<Record<string, SimulatedModel>>;

export type SimulatedModelName = keyof typeof simulatedModels;

export function isSimulatedModel(name: string): name is SimulatedModelName {
  return Object.hasOwn(simulatedModels, name);
}
