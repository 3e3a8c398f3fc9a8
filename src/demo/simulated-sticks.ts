import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { SimulatedBox } from "../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../drivers/pillbox/simulator/bridge.ts";
import type { TransportKind } from "../../drivers/wire/simulated-line.ts";
import { ZnpSimulator } from "../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatorExport } from "../../drivers/zigbee/simulator/stick.ts";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { broadcast_every_s, broadcast_for_s, type Doors, offsetAt_ms } from "./daily-readings.ts";
import { boxes, type SensorName, sensorNamed, sensors, unpacked, zonestatus } from "./devices.ts";
import type { Buffers } from "./history.ts";
import { type FlatPlace, walk } from "./household.ts";
import type { Random } from "./random.ts";

/** Needs of every simulated device that is plugged in. */
export interface Peripherals {
  readonly clock: Clock;
  readonly random: Random;
  /** Stopped before anything is unplugged. */
  readonly pauses: Pauses;
  readonly log: Log;
  /** Keeps their memory between demos on the same data. */
  readonly file: string;
}

/** A simulator on a pty as its device would be, or, where there is none to be had, on a TCP port of this machine. */
export async function plugIn<Simulator>(
  what: string,
  log: Log,
  listen: (transport: TransportKind) => Promise<Simulator>,
): Promise<Simulator> {
  try {
    return await listen("pty");
  } catch (error) {
    log.warn(`no pseudo-terminal to be had (${messageOf(error)}): ${what} is on TCP instead`);
    return await listen("tcp");
  }
}

/** The memory that an earlier demo kept in a file. */
export function saved<Memory>(file: string): Memory | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

export function save(file: string, memory: unknown): void {
  writeFileSync(file, JSON.stringify(memory), { mode: 0o600 });
}

/** Pauses of whatever happens at the same time in the demo; once stopped none lasts. */
export class Pauses {
  readonly #clock: Clock;
  readonly #ends = new Set<() => void>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves after the delay, or once all are stopped; with whether to go on. */
  pause(delay_ms: number): Promise<boolean> {
    if (this.#stopped || delay_ms <= 0) return Promise.resolve(!this.#stopped);
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#ends.delete(end);
        resolve(!this.#stopped);
      };
      const cancel = this.#clock.after(delay_ms, end);
      this.#ends.add(end);
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const end of [...this.#ends]) end();
  }
}

export type DemoZigbeeRadio = Awaited<ReturnType<typeof plugInZigbeeRadio>>;

/**
 * The simulated stick with the flat's sensors around it, on a pty as a real one would be. The file keeps the stick's memory
 * from one demo on the same data to the next.
 */
export async function plugInZigbeeRadio({ clock, random, pauses, log, file }: Peripherals) {
  const memory = saved<SimulatorExport>(file);
  const simulator = await plugIn("the Zigbee radio", log, (transport) =>
    ZnpSimulator.listen({ transport, random: (length) => random.bytes(length), saved: memory }),
  );
  const devices = sensors.map(({ name, model, address }) => {
    const known = simulator.devices.find(({ ieee }) => ieee === address);
    return { name, device: known ?? simulator.addDevice({ model, ieee: address }) };
  });
  const boxed = unpacked.map((sensor) => {
    const { address: ieee, model } = sensor;
    const known = simulator.devices.find((device) => device.ieee === ieee);
    return { sensor, device: known ?? simulator.addDevice({ model, ieee }) };
  });
  const notify = (sensor: SensorName, status: number) => {
    if (!pauses.stopped) devices.find(({ name }) => name === sensor)?.device.notify(status);
  };
  return {
    /** The path for the gateway's zigbee port setting. */
    port: simulator.path,

    /** How many sensors belong to no network yet. */
    missing: () => devices.filter(({ device }) => device.network_key === undefined).length,

    /** Those ask to join it, one after the other; call while joining is open. `joined` is waited for before the next one asks. */
    joinAll: async (joined: (address: string) => Promise<void>): Promise<void> => {
      for (const { device } of devices) {
        if (device.network_key !== undefined || pauses.stopped) continue;
        const done = joined(device.ieee);
        device.join();
        await done;
      }
    },

    /** Somebody walks through the flat, a little livelier than people do, until the demo stops. */
    live: async (): Promise<void> => {
      let place: FlatPlace = "living";
      while (!pauses.stopped) {
        const next = random.pick(places.filter((one) => one !== place));
        const started_ms = clock.now().monotonic_ms;
        const { steps } = walk(place, next, random);
        const alarms = steps.filter(({ sensor, zonestatus: status }) => status === alarmOf(sensor));
        const arrived_ms = Math.max(...alarms.map(({ after_ms }) => after_ms), 0);
        for (const { after_ms, sensor, zonestatus: status } of steps) {
          const due_ms = started_ms + Math.min(after_ms, arrived_ms + quiet_ms);
          await pauses.pause(due_ms - clock.now().monotonic_ms);
          notify(sensor, status);
        }
        place = next;
        for (const sensor of seenIn[place]) {
          await pauses.pause(random.between(1_500, 4_500));
          notify(sensor, alarmOf(sensor));
          await pauses.pause(random.between(2_500, 6_000));
          notify(sensor, zonestatus.wall.idle);
        }
      }
    },

    /** Those that lie unpacked ask to join, one after the other, when somebody lets devices in; then somebody comes by them now and then. */
    unpack: async (): Promise<void> => {
      let passed_ms = Number.NEGATIVE_INFINITY;
      while (await pauses.pause(table_look_ms)) {
        for (const { device } of boxed) {
          if (device.network_key !== undefined || !simulator.joiningOpen) continue;
          await pauses.pause(unpacking_ms);
          if (!pauses.stopped) device.join();
        }
        if (clock.now().monotonic_ms - passed_ms < passing_ms) continue;
        for (const { sensor, device } of boxed) {
          if (device.network_key === undefined) continue;
          const { alarm, idle } = zonestatus[sensor.subtype];
          if (await pauses.pause(step_ms)) device.notify(alarm);
          if (await pauses.pause(step_ms)) device.notify(idle);
        }
        passed_ms = clock.now().monotonic_ms;
      }
    },

    unplug: async (): Promise<void> => {
      save(file, simulator.export());
      await simulator.close();
    },
  };
}

const places: readonly FlatPlace[] = ["bedroom", "bathroom", "kitchen", "living", "away"];

/** Sensors that are triggered by a person who stays in a place for a moment. */
const seenIn: Readonly<Record<FlatPlace, readonly SensorName[]>> = {
  bedroom: ["bedroom-wall"],
  bathroom: ["bathroom-wall"],
  kitchen: ["kitchen-wall", "fridge-door", "medicine-door"],
  living: ["living-wall", "living-wall"],
  away: [],
};

/** Time after which a sensor becomes quiet again; short, because an audience waits. */
const quiet_ms = 2_500;

const table_look_ms = 500;
/** Between two sensors: somebody pulls out the strip of the battery of the next. */
const unpacking_ms = 1_500;
/** Between two times that somebody comes by: longer than the slowest walker takes from one curtain sensor to the next. */
const passing_ms = 9_000;
/** Half of the way from one curtain sensor to the next, which hang 75 cm apart, at 0.83 m/s. */
const step_ms = 450;

function alarmOf(sensor: SensorName): number {
  return zonestatus[sensorNamed(sensor).subtype].alarm;
}

/** State of the box kept between demos on the same data. */
interface Memory {
  /** Events before `doors`, of which nothing but the number is known. */
  readonly before: number;
  readonly doors: readonly Doors[];
}

/** The simulated radio bridge with the polled pill box, which has kept some events for the first poll. */
export async function plugInPillBoxBridge(options: Peripherals & { readonly buffer: Buffers["box"] }) {
  const { clock, random, pauses, log, file, buffer } = options;
  const now_ms = () => clock.now().unix_ms;
  const box = new SimulatedBox({
    mac: boxes.breakfast.address,
    now_ms,
    ahead_ms: -offsetAt_ms(now_ms()),
    window: { every_s: broadcast_every_s, length_s: broadcast_for_s },
  });
  box.voltage_mv = 5_008;
  const { before, doors } = saved<Memory>(file) ?? { before: buffer.told, doors: [] };
  for (let seq = 0; seq < before; seq++) box.doors(0, 0);
  for (const { at_ms, doors: open } of [...doors, ...buffer.doors]) box.doors(open, at_ms);
  /** After each door, so that the box counts on after a demo that was killed. */
  const remember = () => {
    const all = box.history.slice(before).map(({ at_ms, doors: open }) => ({ at_ms, doors: open }));
    const kept = all.slice(-kept_max);
    const memory: Memory = { before: before + all.length - kept.length, doors: kept };
    save(file, memory);
  };
  const simulator = await plugIn("the pill box bridge", log, (transport) =>
    BridgeSimulator.listen({ transport, random: () => random.next() }),
  );
  simulator.boxes.push(box);
  remember();
  return {
    port: simulator.path,

    /** Somebody opens today's door now and then; the hourly polls tell of it. */
    live: async (): Promise<void> => {
      while (await pauses.pause(random.between(300_000, 900_000))) {
        const today = new Date(now_ms()).getDay();
        box.door(today, true);
        await pauses.pause(random.between(6_000, 20_000));
        box.door(today, false);
        remember();
      }
    },

    unplug: async (): Promise<void> => {
      remember();
      await simulator.close();
    },
  };
}

/** As many as the box itself holds. */
const kept_max = 1_440;
