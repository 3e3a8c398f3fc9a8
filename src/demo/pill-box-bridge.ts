import { SimulatedBox } from "../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../drivers/pillbox/simulator/bridge.ts";
import { boxes } from "./devices.ts";
import type { Buffers } from "./history.ts";
import { type Peripherals, plugIn, save, saved } from "./peripherals.ts";
import { broadcast_every_s, broadcast_for_s, type Doors, offsetAt_ms } from "./pill-boxes.ts";

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
