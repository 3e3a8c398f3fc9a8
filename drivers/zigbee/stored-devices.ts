import type { Controller } from "zigbee-herdsman";
import { whenSet } from "./field-watch.ts";

/**
 * Keeps readings out of zigbee-herdsman's file of devices, and out of all copies of it: it would write with each device when it was last heard, and the value of
 * each attribute that it has told. What people asked not to record, or to erase, must not stand there. In memory all stays. Checked against zigbee-herdsman
 * 10.9.5.
 */
export function storeNoReadings(controller: Controller): void {
  whenSet(controller, "database", (value) => {
    const database = value as Record<"insert" | "update", (device: StoredDevice, ...rest: unknown[]) => void>;
    for (const step of ["insert", "update"] as const) {
      const store = database[step].bind(database);
      database[step] = (device, ...rest) => store(withoutReadings(device), ...rest);
    }
  });
}

/** A line of the file, as far as it has readings. */
interface StoredDevice {
  readonly lastSeen?: number;
  readonly endpoints?: Readonly<Record<string, StoredEndpoint>>;
}

interface StoredEndpoint {
  readonly clusters: Readonly<Record<string, { readonly attributes?: Readonly<Record<string, unknown>> }>>;
}

/** A device without what it has told but how its values are to be read. */
function withoutReadings({ lastSeen: _, endpoints, ...device }: StoredDevice): StoredDevice {
  if (endpoints === undefined) return device;
  return { ...device, endpoints: mapped(endpoints, withoutValues) };
}

function withoutValues({ clusters, ...endpoint }: StoredEndpoint): StoredEndpoint {
  const isKept = ([name]: [string, unknown]) => kept.test(name);
  return {
    ...endpoint,
    clusters: mapped(clusters, ({ attributes = {} }) => ({
      attributes: Object.fromEntries(Object.entries(attributes).filter(isKept)),
    })),
  };
}

function mapped<From, To>(
  of: Readonly<Record<string, From>>,
  change: (from: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value)]));
}

/**
 * Attributes that this driver and the definitions of models ask for after a start, by their names in zigbee-herdsman: kinds, factors and bounds that a device has
 * from its maker or its settings.
 */
const kept =
  /^(zoneType|scale|\w*multiplier|\w*divisor|switchType|pulseLength|deviceMode|motorCoverType|windowCoveringType|colorCapabilities|colorTempPhysical(Min|Max)|currentZoneSensitivityLevel|ctrlSeqeOfOper|remoteSensing)$/i;
