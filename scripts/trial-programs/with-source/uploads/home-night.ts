import { day_ms } from "../../../../src/base/time.ts";
import { midnightsOf, Telling } from "../../../../src/demo/history.ts";
import { outagesBefore } from "../../../../src/demo/outages.ts";
import type { DeviceHealth } from "../../../../src/store/exchange.ts";
import type { UploadState, UploadStore } from "../../../../src/store/gateway/upload-store.ts";
import type { StoredItem } from "../../../../src/store/store.ts";
import { SimulatedGateway } from "../../../../testbed/simulated-gateway.ts";
import { deviceIn, simulated } from "../../../benchmarks/with-source/central/home-data.ts";

/**
 * The readings that a home's gateway has to upload: 1,300 of days as the demo's, which is a day and a half. The same
 * for the same home.
 */
export function nightOf(home: number): SimulatedGateway {
  const gateway = new SimulatedGateway(home, `gateway of home ${home}`);
  const telling = new Telling(home * seeds_per_home, outagesBefore(first_ms + 90 * day_ms));
  const readings = midnightsOf(first_ms, first_ms + 2 * day_ms).flatMap(
    (midnight_ms) => telling.day(midnight_ms).readings,
  );
  for (const reading of readings.slice(0, night_readings))
    gateway.add({ ...simulated(reading), device: deviceIn(home, reading.device) });
  return gateway;
}

const night_readings = 1_300;
/** Each device has a seed of its own, beside that of the home. */
const seeds_per_home = 100;
const first_ms = Date.UTC(2026, 2, 10);

/** The store of a gateway that has uploaded before, all in memory: a thousand of them fit on one machine. It has what an upload asks for. */
export function nightStore(gateway: SimulatedGateway, now_ms: number): UploadStore {
  const { epoch, first_seq, last_seq } = gateway;
  // All days are compared once a week, and this is another night.
  let state: UploadState = { verified_all_ms: now_ms };
  const store: Pick<
    UploadStore,
    | "epochs"
    | "batchAfter"
    | "deviceHealthAfter"
    | "digests"
    | "readingsOfDay"
    | "uploadState"
    | "noteUpload"
    | "items"
    | "item"
    | "oldestFirst"
  > = {
    epochs: async () => [{ epoch, first_seq, last_seq, restored: false }],
    batchAfter: async ({ after_seq, readings_max }) => {
      const to_seq = Math.min(last_seq, after_seq + readings_max);
      return after_seq >= to_seq ? undefined : gateway.batch(after_seq + 1, to_seq);
    },
    deviceHealthAfter: async (after_note) => healthOf(gateway, after_note),
    digests: async (request) => gateway.digests(request),
    readingsOfDay: async (request) => gateway.day(request),
    // All sensors are one item here: only the next day with a reading is asked for.
    items: async (kind) => (kind === "wirelesssensors" ? [item.record] : []),
    item: async () => item,
    oldestFirst: async ({ series, from_ms }) => {
      const stamps = gateway.readings.flatMap((reading) =>
        reading.series === series && reading.stamp_ms >= from_ms ? [reading.stamp_ms] : [],
      );
      return { rows: stamps.length === 0 ? [] : [[Math.min(...stamps)]] };
    },
    uploadState: async () => state,
    noteUpload: async (changed) => {
      state = { ...state, ...changed };
    },
  };
  return store as UploadStore;
}

const item = { key: 1, record: { itemname: "every sensor" } } as StoredItem;

/** Everybody was heard until the last reading. */
function healthOf({ readings }: SimulatedGateway, after_note: number): DeviceHealth {
  const stamps = readings.map(({ stamp_ms }) => stamp_ms);
  const [first_ms, last_ms] = [Math.min(...stamps), Math.max(...stamps)];
  const devices = [...Map.groupBy(readings, ({ device }) => device.address).values()].flatMap(
    ([first]) => first?.device ?? [],
  );
  return {
    devices,
    listeners: ["gateway", "zigbee", "ble"].map((name) => ({ name, first_ms, last_ms })),
    states: devices.map((_, device) => ({ device, first_ms, heard_ms: last_ms, battery_percent: 80 })),
    after_note,
    to_note: after_note,
    outages: [],
    silences: [],
    gaps: [],
  };
}
