import { type SimulatorExport, ZnpSimulator } from "../../drivers/zigbee/simulator/coordinator.ts";
import { type SensorName, sensorNamed, sensors, unpacked, zonestatus } from "./devices.ts";
import { type Peripherals, plugIn, save, saved } from "./peripherals.ts";
import { type FlatPlace, walk } from "./walk.ts";

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
        const steps = walk(place, next, random);
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
