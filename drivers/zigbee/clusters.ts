import type { Events, Models } from "zigbee-herdsman";
import type { Payload, Property } from "../wire/properties.ts";
import { batteryMillivolts, batteryPercent, type SensorModel } from "./models.ts";
import type { Translator } from "./translator.ts";
import { motionZone, zoneTypeOf } from "./zone-status.ts";

interface AttributeRow {
  readonly cluster: string;
  readonly attribute: string;
  readonly property: string;
  readonly unit?: string;
  /** The value of the property; undefined for "not known". */
  readonly value: (raw: number, endpoint: Models.Endpoint, model: SensorModel | undefined) => unknown;
  /** The change at which it is reported, in the attribute's own unit. */
  readonly change: number;
  /** It is reported at least this often, seconds; 3,600 where absent. */
  readonly interval_max_s?: number;
  /** Devices that have the cluster for another purpose. */
  readonly unless?: (device: Models.Device) => boolean;
}

/** Attributes of the Zigbee Cluster Library (075123) and the property that each is, for devices that no definition describes. A new quantity is one more row. */
export const attributeRows: readonly AttributeRow[] = [
  // 4.8: bit 0 of a bitmap.
  {
    cluster: "msOccupancySensing",
    attribute: "occupancy",
    property: "occupancy",
    value: (raw) => (raw & 1) === 1,
    change: 0,
    // Its zone tells each movement already.
    unless: (device) => zoneTypeOf(device) === motionZone,
  },
  // 4.4: hundredths of a degree.
  {
    cluster: "msTemperatureMeasurement",
    attribute: "measuredValue",
    property: "temperature",
    unit: "°C",
    value: (raw) => (raw === -0x8000 ? undefined : raw / 100),
    change: 10,
  },
  // 4.7: hundredths of a percent.
  {
    cluster: "msRelativeHumidity",
    attribute: "measuredValue",
    property: "humidity",
    unit: "%",
    value: (raw) => (raw === 0xffff ? undefined : raw / 100),
    change: 100,
  },
  // 4.2: 10,000 × log10(lx) + 1; 0 is too dark to be measured.
  {
    cluster: "msIlluminanceMeasurement",
    attribute: "measuredValue",
    property: "illuminance",
    unit: "lx",
    value: (raw) => (raw === 0xffff ? undefined : raw === 0 ? 0 : 10 ** ((raw - 1) / 10_000)),
    change: 1_000,
  },
  // 4.5: tenths of a kilopascal.
  {
    cluster: "msPressureMeasurement",
    attribute: "measuredValue",
    property: "pressure",
    unit: "hPa",
    value: (raw) => (raw === -0x8000 ? undefined : raw),
    change: 1,
  },
  // 4.9: watts, by a factor that the device states.
  {
    cluster: "haElectricalMeasurement",
    attribute: "activePower",
    property: "power",
    unit: "W",
    value: (raw, endpoint) => (raw === -0x8000 ? undefined : powerOf(raw, endpoint)),
    change: 5,
  },
  // 3.8: what sleeps and says "on" is a contact that opens; what is awake is switched.
  {
    cluster: "genOnOff",
    attribute: "onOff",
    property: "contact",
    // 255 is no boolean (2.6.2).
    value: (raw) => (raw > 1 ? undefined : raw === 0),
    change: 0,
    unless: (device) => device.type !== "EndDevice",
  },
  // 3.3
  {
    cluster: "genPowerCfg",
    attribute: "batteryPercentageRemaining",
    property: "battery",
    unit: "%",
    value: (raw, _endpoint, model) => batteryPercent(raw, model),
    change: 2,
    interval_max_s: 43_200,
  },
  {
    cluster: "genPowerCfg",
    attribute: "batteryVoltage",
    property: "voltage",
    unit: "mV",
    value: batteryMillivolts,
    change: 1,
    interval_max_s: 43_200,
  },
];

/** Commands that a button sends (3.8.2.3), and the action that each is. */
export const commandRows: Readonly<Record<string, string>> = {
  commandOn: "on",
  commandOff: "off",
  commandToggle: "toggle",
};
const buttonCluster = "genOnOff";

/** For requests that a device can do without: one try of 5 s, then it may sleep. */
export const patience = { timeout: 5_000, disableRecovery: true } as const;

/** A device by the clusters that it has, whatever its model. */
export class ClusterTranslator implements Translator {
  readonly source = "attributes of Zigbee clusters";
  readonly never = [];
  readonly properties: ReadonlyMap<string, Property>;
  readonly #device: Models.Device;
  readonly #model: SensorModel | undefined;

  constructor(device: Models.Device, model: SensorModel | undefined) {
    this.#device = device;
    this.#model = model;
    this.properties = new Map(
      attributeRows
        .filter((row) => this.#endpointsOf(row).length > 0)
        .map(({ property, unit }) => [property, unit === undefined ? {} : { unit }]),
    );
  }

  get senses(): boolean {
    const readings = [...this.properties.keys()].filter((name) => name !== "battery" && name !== "voltage");
    return readings.length > 0 || this.#device.endpoints.some(isButton);
  }

  translate({ cluster, type, data, endpoint }: Events.MessagePayload): Payload {
    if (cluster === buttonCluster && Object.hasOwn(commandRows, type)) return { action: commandRows[type] };
    if (type !== "attributeReport" && type !== "readResponse") return {};
    const values = data as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      attributeRows.flatMap((row) => {
        const raw = row.cluster === cluster ? values[row.attribute] : undefined;
        if (typeof raw !== "number" || row.unless?.(this.#device)) return [];
        return [[row.property, row.value(raw, endpoint, this.#model)]];
      }),
    );
  }

  async configure(coordinator: Models.Endpoint): Promise<void> {
    const buttons = this.#device.endpoints.filter(isButton);
    const steps = [
      ...buttons.map((endpoint) => () => endpoint.bind(buttonCluster, coordinator)),
      ...[...Map.groupBy(attributeRows, (row) => row.cluster)].flatMap(([cluster, rows]) =>
        rows
          .slice(0, 1)
          .flatMap((row) => this.#endpointsOf(row))
          .map((endpoint) => () => report(endpoint, cluster, rows, coordinator)),
      ),
    ];
    // A cluster that refuses does not keep the others from being asked.
    const refused: unknown[] = [];
    for (const step of steps) await step().catch((thrown: unknown) => refused.push(thrown));
    if (refused.length > 0) throw refused[0];
  }

  async follow(): Promise<void> {}

  #endpointsOf(row: AttributeRow): Models.Endpoint[] {
    if (row.unless?.(this.#device)) return [];
    return this.#device.endpoints.filter((endpoint) => endpoint.supportsInputCluster(row.cluster));
  }
}

/** Binds a cluster, asks for reports of its attributes, and for their present values. */
async function report(
  endpoint: Models.Endpoint,
  cluster: string,
  rows: readonly AttributeRow[],
  coordinator: Models.Endpoint,
): Promise<void> {
  // zigbee-herdsman has types of the attributes of each cluster; a table has those of all.
  const asking = endpoint as unknown as {
    configureReporting(cluster: string, reports: readonly object[], options: object): Promise<void>;
    read(cluster: string, attributes: readonly string[], options: object): Promise<unknown>;
  };
  await endpoint.bind(cluster, coordinator);
  const reports = rows.map(({ attribute, change, interval_max_s = 3_600 }) => ({
    attribute,
    minimumReportInterval: interval_max_s === 3_600 ? 0 : 3_600,
    maximumReportInterval: interval_max_s,
    reportableChange: change,
  }));
  const asked = cluster === "genPowerCfg" ? reports.slice(0, 1) : reports;
  await asking.configureReporting(cluster, asked, patience);
  const attributes = rows.map(({ attribute }) => attribute);
  const factors = cluster === "haElectricalMeasurement" ? ["acPowerMultiplier", "acPowerDivisor"] : [];
  if (factors.length > 0) await asking.read(cluster, factors, patience);
  await asking.read(cluster, attributes, patience);
}

function isButton(endpoint: Models.Endpoint): boolean {
  return endpoint.supportsOutputCluster(buttonCluster);
}

/** Watts, by attributes 0x0604 and 0x0605 as they were read last. */
function powerOf(raw: number, endpoint: Models.Endpoint): number {
  const of = (name: string) => {
    const held = endpoint.getClusterAttributeValue("haElectricalMeasurement", name);
    return typeof held === "number" && held > 0 ? held : 1;
  };
  return (raw * of("acPowerMultiplier")) / of("acPowerDivisor");
}
