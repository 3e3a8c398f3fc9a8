import { day_ms, hour_ms } from "../../../../src/base/time.ts";
import type { CentralStore } from "../../../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../../../src/store/inventory/record-store.ts";
import { item, sensor, sensorEvent } from "../../../../testbed/sample.ts";
import { SimulatedGateway, wellReport } from "../../../../testbed/simulated-gateway.ts";
import { deviceIn, simulated } from "./home-data.ts";

/**
 * Homes that have reported in each of the last 30 nights before `now_ms`, each with items of the inventory that have said one thing each. Of a hundred homes one has a silent
 * sensor, one an empty battery, and one has not uploaded for a week.
 */
export async function fillFleet(
  store: CentralStore,
  { homes, items, nights_of, now_ms }: FleetSize,
): Promise<void> {
  const numbers = Array.from({ length: homes }, (_, place) => place + 1);
  const records = numbers.flatMap((home) =>
    devicesOf(home, items).map(({ address }, place): ImportedRecord => {
      const itemid = home * 100 + place;
      const record = item(itemid, { macaddress: address, currenthomeid: home, currenthomestart: 1 });
      return { type: "items", record: { ...record, itemname: `sensor-${home}-${place}` } };
    }),
  );
  await store.importRecords([records]);
  let turn = 0;
  const line = async () => {
    for (let home = numbers[turn++]; home !== undefined; home = numbers[turn++])
      await sendHome(store, home, { items, now_ms, nights: home <= nights_of ? nights_max : 1 });
  };
  await Promise.all(Array.from({ length: lines }, line));
}

interface FleetSize {
  readonly homes: number;
  readonly items: number;
  /** Homes from 1 on whose earlier nights are made too: those that a page shows. */
  readonly nights_of: number;
  readonly now_ms: number;
}

async function sendHome(
  store: CentralStore,
  home: number,
  { items, nights, now_ms }: { items: number; nights: number; now_ms: number },
): Promise<void> {
  const late_ms = home % 100 === 3 ? 7 * day_ms : 0;
  const at_ms = now_ms - 6 * hour_ms - late_ms;
  const devices = devicesOf(home, items);
  const gateway = new SimulatedGateway(home, `home ${home}`);
  gateway.add(...devices.map((device, place) => simulated(sensorEvent(device, at_ms - hour_ms, place))));
  await store.receive(gateway.all(), { home, at_ms });
  const { last_seq } = gateway;
  const version = home % 10 === 0 ? "0.0.9" : "0.1.0";
  const report = wellReport({ version, now_ms: at_ms, timezone: "America/Los_Angeles", last_seq });
  const states = devices.map((_, device) => ({
    device,
    first_ms: at_ms - 30 * day_ms,
    heard_ms: home % 100 === 1 && device === 0 ? at_ms - 3 * day_ms : at_ms - hour_ms,
    listener: "zigbee",
    battery_percent: home % 100 === 2 && device === 1 ? 7 : 80,
    linkquality: 100,
  }));
  const listeners = [{ name: "zigbee", first_ms: at_ms - 30 * day_ms, last_ms: at_ms }];
  const ago = (days: number, hours: number) => {
    const start_ms = at_ms - days * day_ms - (home % 10) * day_ms;
    return { start_ms, stop_ms: start_ms + hours * hour_ms };
  };
  const outages = [{ listener: "zigbee", ...ago(12, 9) }];
  const silences = [1, 2, 3].map((device) => ({ device, ...ago(3 * device, 20 * device) }));
  const note = gateway.report({ devices, listeners, states, outages, silences, to_note: 4 }, report);
  for (let night = nights - 1; night > 0; night -= 1) {
    // Now and then one is missed.
    if ((night + home) % 11 === 0) continue;
    const told_ms = at_ms - night * day_ms;
    await store.noteReport({ ...gateway.report(), as_of: asOf(gateway, told_ms) }, { home, at_ms: told_ms });
  }
  await store.noteReport({ ...note, as_of: asOf(gateway, at_ms) }, { home, at_ms });
  if (home % 7 === 0) {
    const day = Math.floor(at_ms / day_ms) - 5;
    await store.noteCompared(new Map([[day, 2]]), { home, at_ms });
  }
}

function devicesOf(home: number, items: number) {
  return Array.from({ length: items }, (_, place) => deviceIn(home, sensor(place)));
}

function asOf({ last_seq }: SimulatedGateway, at_ms: number) {
  return { last_seq, day: Math.floor(at_ms / day_ms) };
}

const nights_max = 30;
/** Homes that are taken in at once. */
const lines = 4;
