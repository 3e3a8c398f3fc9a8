import { HciSimulator } from "../../drivers/ble/simulator/controller.ts";
import { type BoxMemory, SimulatedPillBox } from "../../drivers/bthome/simulator/box.ts";
import { SimulatedScale } from "../../drivers/scale/simulator/scale.ts";
import { nordicUart, SimulatedWatch } from "../../drivers/watch/simulator/watch.ts";
import { batteryOn, blockNow, composedWeight, dayNumber } from "./daily-readings.ts";
import { boxes, scale, watch } from "./devices.ts";
import type { Buffers } from "./history.ts";
import { type Peripherals, plugIn, save, saved } from "./simulated-sticks.ts";

/** The simulated Bluetooth controller, and around it the evening's pill box, the scale and the watch. */
export async function plugInBleDevices(options: Peripherals & { readonly buffer: Buffers["watch"] }) {
  const { pauses, log } = options;
  const controller = await plugIn("the Bluetooth controller", log, (transport) =>
    HciSimulator.listen({ transport }),
  );
  const lives = [
    addPillBox(controller, options),
    addScale(controller, options),
    addWatch(controller, options),
  ];
  return {
    /** Settings for the gateway's `[ble]` section. */
    section: { port: controller.path, keys: { [boxes.supper.address]: key.toHex() } },

    /** Pills, weighings and a watch that is there to be read, more often than in life, until the demo stops. */
    live: async (): Promise<void> => {
      while (!controller.scanning && (await pauses.pause(scanning_poll_ms)));
      await Promise.all(lives.map((live) => live()));
    },

    unplug: () => controller.close(),
  };
}

/** The broadcasting box; somebody opens today's door now and then. Its counts go on with the next demo on the same data. */
function addPillBox(controller: HciSimulator, { clock, random, pauses, file }: Peripherals) {
  const { address } = boxes.supper;
  const radio = controller.addPeripheral({ address, addressType: "public" });
  const box: SimulatedPillBox = new SimulatedPillBox({
    address,
    key,
    clock_s: () => Math.floor(clock.now().unix_ms / 1000),
    battery_percent: 84,
    memory: saved<BoxMemory>(file),
    send: (serviceData) => {
      // Before anybody hears it: after a demo that was killed, a count that went back would be taken for another box.
      save(file, box.memory);
      radio.say({ serviceData: { fcd2: serviceData } });
      radio.advertise();
    },
  });
  return async (): Promise<void> => {
    // Heard before anything has happened, so that the first door is not taken for an old one.
    box.heartbeat();
    for (let wait_ms = first_dose_ms; await pauses.pause(wait_ms); wait_ms = random.between(25_000, 60_000)) {
      const today = new Date(clock.now().unix_ms).getDay();
      box.turn(today);
      // A door that is opened is closed again.
      if (await pauses.pause(random.between(4_000, 9_000))) box.turn(today);
    }
  };
}

/** The scale; somebody steps on it now and then, and it then wants to be heard. */
function addScale(controller: HciSimulator, { clock, random, pauses }: Peripherals) {
  const now_ms = () => clock.now().unix_ms;
  const simulated = new SimulatedScale({
    manufacturer: scale.vendor,
    model: scale.model,
    battery_percent: batteryOn(dayNumber(now_ms())),
    clock_ms: now_ms,
  });
  const radio = controller.addPeripheral({
    address: scale.address,
    advertisement: { services: ["181d", "181b"], name: scale.model },
    services: simulated.services,
    onDisconnected: () => simulated.disconnected(),
  });
  simulated.attach(radio);
  const weigh = () => {
    const { weight, fatMass, waterMass, boneMass, muscleMass } = composedWeight(dayNumber(now_ms()), random);
    const shown_ms = Math.floor(now_ms() / 1000) * 1000;
    const composition = {
      shown_ms,
      multiplePackets: false,
      fat_percent: (fatMass / weight) * 100,
      softLean_g: weight - fatMass - boneMass,
      muscle_g: muscleMass,
      water_g: waterMass,
    };
    simulated.weigh({
      weight: { weight_g: weight, shown_ms },
      compositions: [composition],
      heartRates: [Math.round(random.between(62, 76))],
    });
  };
  return async (): Promise<void> => {
    let wait_ms = first_weighing_ms;
    while (await pauses.pause(wait_ms)) {
      weigh();
      for (let tries = 0; tries < advertisements_max && simulated.stored.length > 0; tries++) {
        if (pauses.stopped) return;
        radio.advertise();
        await pauses.pause(advertising_ms);
      }
      wait_ms = random.between(60_000, 120_000);
    }
  };
}

/** The watch; it advertises, for the hourly fetch, and writes its log on. */
function addWatch(
  controller: HciSimulator,
  { clock, random, pauses, buffer }: Peripherals & { readonly buffer: Buffers["watch"] },
) {
  const simulated = new SimulatedWatch();
  simulated.battery_percent = 71;
  const { blocks } = simulated;
  blocks.push(...buffer);
  const radio = controller.addPeripheral({
    address: watch.address,
    advertisement: { name: `Bangle.js ${watch.serialnum}` },
    services: nordicUart(simulated, () => radio),
  });
  return async (): Promise<void> => {
    do {
      const block = blockNow(clock.now().unix_ms, random);
      if (block.end_ms > (blocks.at(-1)?.end_ms ?? 0)) blocks.push(block);
      if (blocks.length > blocks_max) blocks.shift();
      radio.advertise();
    } while (await pauses.pause(watch_advertises_ms));
  };
}

const key = Uint8Array.fromHex("7e1d0c5b92f34a6880a1c6d2e5479b13");
const first_dose_ms = 6_000;
const first_weighing_ms = 11_000;
const scanning_poll_ms = 100;
const advertising_ms = 500;
const watch_advertises_ms = 4_000;
/** A minute. */
const advertisements_max = 120;
/** Four weeks. */
const blocks_max = 4_032;
