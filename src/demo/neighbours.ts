import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { day_ms, hour_ms, type TimeSpan } from "../base/time.ts";
import { openGatewayStore } from "../store/sqlite/open-store.ts";
import type { DemoCentral, PastClock } from "./demo-central.ts";
import {
  type DemoDevice,
  type DemoSensor,
  inventoryFields,
  type SensorName,
  sensorNamed,
} from "./devices.ts";
import { Telling } from "./history.ts";
import { during, type HomeOutages, sensorBeats } from "./outages.ts";
import { assignedFields, type DemoHomeRecords, homeFields } from "./programme.ts";

/** A home of the programme that nobody looks at from within: what its gateway heard, and which nights it could send it. Days are counted back from the start of the demo. */
export interface Neighbour {
  readonly home: number;
  readonly address: string;
  /** Nights in which nothing could be sent. */
  readonly missed: readonly number[];
  /** Days since a sensor fell silent. */
  readonly silent?: { readonly sensor: SensorName; readonly days: number };
  readonly empty?: SensorName;
}

/** One in which something is to be done, one whose gateway is away, and one in which all is well. */
export const neighbours: readonly Neighbour[] = [
  {
    home: 2,
    address: "3 Heron Street",
    missed: [3],
    silent: { sensor: "front-door", days: 4 },
    empty: "bathroom-wall",
  },
  { home: 3, address: "27 Mill Road", missed: [0, 1, 2, 3, 4] },
  { home: 4, address: "8 Orchard Close", missed: [] },
];

const furniture: readonly SensorName[] = ["bedroom-wall", "bathroom-wall", "kitchen-wall", "front-door"];

/** A sensor of the first home as another home has it. */
function sensorIn(home: number, name: SensorName): DemoDevice & Pick<DemoSensor, "subtype"> {
  const { itemid, address, serialnum, ...sensor } = sensorNamed(name);
  return {
    ...sensor,
    itemid: home * 1_000 + itemid,
    name: `${name}-${home}`,
    address: address.replace(/:50:/, `:5${home}:`),
    serialnum: `${serialnum}-${home}`,
  };
}

/** Records that the programme has of these homes. */
export function neighbourRecords(of: { installed_ms: number; timezone: string }): DemoHomeRecords {
  const { installed_ms, timezone } = of;
  const start = Math.floor(installed_ms / 1000);
  return {
    homes: neighbours.map(({ home, address }) => homeFields({ home, address, timezone })),
    items: neighbours.flatMap(({ home }) =>
      furniture
        .map((name) => sensorIn(home, name))
        .map((device) => ({
          ...inventoryFields(device, installed_ms),
          ...assignedFields(device, { home, installed_ms }),
        })),
    ),
    home_inventory: neighbours.flatMap(({ home }) =>
      furniture.map((name) => ({ homeid: home, item: sensorIn(home, name).itemid, start })),
    ),
  };
}

/** The gateway of such a home: a store, and what somebody's days leave in it. */
interface NeighbourGateway {
  readonly directory: string;
  readonly neighbour: Neighbour;
  /** Puts on disk what was heard in a day, from midnight on. */
  live(day: TimeSpan): Promise<void>;
  close(): Promise<void>;
}

/** Opens it below `directory`, the demo's; `until_ms` is when the demo starts. */
async function openNeighbour(options: {
  neighbour: Neighbour;
  directory: string;
  until_ms: number;
  clock: Clock;
  log: Log;
}): Promise<NeighbourGateway> {
  const { neighbour, clock, log, until_ms } = options;
  const { home, silent, empty } = neighbour;
  const directory = join(options.directory, "homes", String(home));
  const store = await openGatewayStore({ directory, clock, log, home });
  const telling = new Telling(home * seeds_apart, uneventful);
  const silent_ms = silent === undefined ? Infinity : until_ms - silent.days * day_ms;
  const live = async (span: TimeSpan) => {
    const { from_ms, to_ms } = span;
    const told = telling.day(from_ms).readings;
    const heard = furniture.map((name, index) => {
      const { address } = sensorIn(home, name);
      const lived = { from_ms, to_ms: name === silent?.sensor ? Math.min(to_ms, silent_ms) : to_ms };
      const nearlyEmpty = (at_ms: number) => 9 + Math.max(0, Math.floor((until_ms - at_ms) / day_ms));
      return {
        states: sensorBeats({ address }, lived, {
          index: index + home,
          chargeAt: name === empty ? nearlyEmpty : () => 92 - ((index * 13) % 30),
        }),
        readings: told.flatMap((reading) =>
          reading.device.address === sensorNamed(name).address && during(reading.stamp_ms, lived)
            ? [{ ...reading, device: { ...reading.device, address } }]
            : [],
        ),
      };
    });
    const byTime = heard
      .flatMap(({ readings }) => readings)
      .sort((one, other) => one.stamp_ms - other.stamp_ms);
    await store.append(byTime, {
      listening: ["gateway", "zigbee"].map((listener) => ({ listener, ...span })),
      states: heard.flatMap(({ states }) => states).sort((one, other) => one.heard_ms - other.heard_ms),
    });
  };
  return { directory, neighbour, live, close: () => store.close() };
}

const uneventful: HomeOutages = {
  powerCut: { from_ms: Infinity, to_ms: Infinity },
  deadBattery: { from_ms: Infinity, to_ms: Infinity, sensor: "fridge-door" },
  broken_ms: Infinity,
};
const seeds_apart = 1_000;

/**
 * The nights before the demo began, lived through as each evening is on disk: the home and its neighbours upload to central,
 * whose clock tells the time of that night.
 */
export async function openPastNights(options: {
  central: DemoCentral;
  past: PastClock;
  until_ms: number;
  /** The demo's data directory. */
  directory: string;
  clock: Clock;
  log: Log;
}): Promise<PastNights> {
  const { central, past, until_ms } = options;
  const gateways: NeighbourGateway[] = [];
  for (const neighbour of neighbours) {
    const gateway = await openNeighbour({ ...options, neighbour });
    gateways.push(gateway);
    await central.admit(neighbour.home, gateway.directory);
  }
  const evening = async (midnight_ms: number) => {
    const night_ms = midnight_ms + upload_hour * hour_ms;
    if (midnight_ms < until_ms - nights_max * day_ms || night_ms > until_ms) return;
    past.set(night_ms);
    const ago = Math.floor((until_ms - night_ms) / day_ms);
    const from_ms = new Date(midnight_ms - 12 * hour_ms).setHours(0, 0, 0, 0);
    await Promise.all([
      central.upload(),
      ...gateways.map(async (gateway) => {
        await gateway.live({ from_ms, to_ms: midnight_ms });
        if (!gateway.neighbour.missed.includes(ago)) await central.upload(gateway.directory);
      }),
    ]);
  };
  const end = async () => {
    past.putRight();
    for (const gateway of gateways) await gateway.close();
  };
  return { evening, [Symbol.asyncDispose]: end };
}

interface PastNights extends AsyncDisposable {
  /** The night that begins at this midnight, as far as it is one of the last. */
  evening(midnight_ms: number): Promise<void>;
}

/** Each takes a tenth of a second before the demo is ready. */
const nights_max = 8;
/** When the gateways of the demo upload: soon after midnight, when a day of theirs is on disk. */
const upload_hour = 0.2;
