/** Facts of a sensor model that the sensor itself does not tell. */
export interface SensorModel {
  readonly vendor: string;
  /** `wall`, `door` or `curtain`: the subtype of its item. */
  readonly subtype: Subtype;
  /** The alarm bit of the zone status that it raises: 1 (proximity) or 2 (presence). */
  readonly alarm: 1 | 2;
  /** Unit of its battery reports: `percent` where it deviates from the half percent of the specification. */
  readonly battery?: "percent";
  readonly title: string;
}

export type Subtype = "wall" | "door" | "curtain";

/**
 * By model identifier (attribute 5 of the Basic cluster). A new model is one more row; one that isn't here
 * is told by its zone type. Sources: NYCE data sheets of the NCZ series, and the quirks that
 * zigbee-herdsman-converters records for them.
 */
export const sensorModels = {
  "3041": { vendor: "NYCE", subtype: "wall", alarm: 2, battery: "percent", title: "wall motion sensor" },
  "3043": { vendor: "NYCE", subtype: "wall", alarm: 2, title: "ceiling motion sensor" },
  "3045": {
    vendor: "NYCE",
    subtype: "curtain",
    alarm: 2,
    battery: "percent",
    title: "curtain motion sensor",
  },
  "3010": { vendor: "NYCE", subtype: "door", alarm: 1, title: "door hinge sensor" },
  "3011": { vendor: "NYCE", subtype: "door", alarm: 1, title: "door and window sensor" },
  "3014": { vendor: "NYCE", subtype: "door", alarm: 1, title: "tilt sensor" },
} as const satisfies Readonly<Record<string, SensorModel>>;

/**
 * For how long a sensor sees nothing after an event, seconds, by model identifier. Source: zigbee2mqtt's pages of these devices ("ignores any movements
 * for exactly 1 minute").
 */
export const blindAfter_s: Readonly<Record<string, number>> = {
  "lumi.sensor_motion": 60,
  "lumi.sensor_motion.aq2": 60,
};

export function sensorModel(identifier: string): SensorModel | undefined {
  return Object.hasOwn(sensorModels, identifier)
    ? sensorModels[identifier as keyof typeof sensorModels]
    : undefined;
}

/** IAS zone types (ZCL 8.2.2.2.1.3) that tell the subtype of a sensor whose model is not listed. */
export const zoneSubtypes: ReadonlyMap<number, Subtype> = new Map([
  [0x000d, "wall"],
  [0x0015, "door"],
]);

/**
 * Charge in percent from attribute 0x21 of the Power Configuration cluster, which counts half percents
 * (ZCL 3.3.2.2.3.2) unless the model says otherwise. Undefined for 255, "not known".
 */
export function batteryPercent(raw: number, model: SensorModel | undefined): number | undefined {
  if (!Number.isInteger(raw) || raw < 0 || raw >= 0xff) return undefined;
  return Math.min(100, Math.round(model?.battery === "percent" ? raw : raw / 2));
}

/** Voltage in millivolts from attribute 0x20, which counts 100 mV. Undefined for 0 and 255, "not known". */
export function batteryMillivolts(raw: number): number | undefined {
  return Number.isInteger(raw) && raw > 0 && raw < 0xff ? raw * 100 : undefined;
}
