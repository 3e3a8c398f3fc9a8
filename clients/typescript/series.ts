// Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.

/** A type of item, as paths name it. */
export type Kind = "pillboxes" | "wirelesssensors" | "scales" | "watches" | "gateways";

/** A reading of each series, by the name of the series. Stamps are unix seconds unless asked for in ms. */
export interface Series {
  /** Pill-box status. */
  pillbox_status: {
    /** when the status was polled */
    stamp: number;
    /** time reported by the device (unix s) */
    devicestamp: number;
    /** device voltage (mV) */
    voltage: number;
    /** what powers the device */
    powersource: "external_power" | "battery";
    /** total door states recorded by the device (door states) */
    eventcount: number;
    /** seconds spent on battery power (s) */
    batteryseconds: string;
    /** firmware version */
    firmwarerevsion: string;
    /** MAC address reported by the device */
    macaddress: string;
    /** start of the next radio broadcast (unix s) */
    nextpanicstart: number;
    /** end of the next radio broadcast (unix s) */
    nextpanicstop: number;
  };
  /** Pill-box events. */
  pillbox_events: {
    /** when the event occurred */
    stamp: number;
    /** open doors: bit p is door p, 0 Sunday to 6 Saturday (bitmask) */
    event: number;
  };
  /** Wireless sensor events. */
  wirelesssensor_events: {
    /** when the event occurred */
    stamp: number;
    /** IAS zone status as received: bit 0 alarm 1 (proximity), bit 1 alarm 2 (presence) (bitmask) */
    event: number;
  };
  /** Wireless sensor measures. */
  wirelesssensor_measures: {
    /** when the sensor told it */
    stamp: number;
    /** what was measured: the list of quantities has the names that are known */
    quantity: string;
    /** the number, in the unit beside it */
    value: number;
    /** unit of the value, such as °C, %, lx, hPa or W; empty where it has none */
    unit: string;
  };
  /** Scale weights. */
  scale_weights: {
    /** start of the measurement period */
    stamp: number;
    /** total weight (g) */
    weight: number;
    /** fat weight (g) */
    fatMass: number | null;
    /** water weight (g) */
    waterMass: number | null;
    /** bone weight (g) */
    boneMass: number | null;
    /** muscle weight (g) */
    muscleMass: number | null;
    /** battery level (%) */
    batteryLevel: number | null;
  };
  /** Scale heart rates. */
  scale_heart: {
    /** start of the measurement period */
    stamp: number;
    /** heart rate measured through the foot (1/min) */
    heartRate: number;
  };
  /** Watch epochs. */
  watch_epochs: {
    /** start of the epoch */
    stamp: number;
    /** epoch length (s) */
    duration: number;
    /** distance travelled (m) */
    distance: number;
    /** steps in the epoch (steps) */
    steps: number;
    /** 1 not walking, 2 walking */
    walkState: number;
    /** 1 not running, 2 running */
    runState: number;
    /** 1 wake, 2 light, 3 deep, 4 REM */
    sleepState: number;
  };
}

/** Where each series is served: `/items/{kind}/{itemname}/{path}`. */
export const seriesPaths = {
  pillbox_status: { kind: "pillboxes", path: "status" },
  pillbox_events: { kind: "pillboxes", path: "events" },
  wirelesssensor_events: { kind: "wirelesssensors", path: "events" },
  wirelesssensor_measures: { kind: "wirelesssensors", path: "measures" },
  scale_weights: { kind: "scales", path: "weights" },
  scale_heart: { kind: "scales", path: "heart" },
  watch_epochs: { kind: "watches", path: "epochs" },
} as const satisfies Record<keyof Series, { kind: Kind; path: string }>;
