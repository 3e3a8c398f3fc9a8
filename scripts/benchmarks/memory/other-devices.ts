import { join } from "node:path";
import { HciSimulator } from "../../../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheral } from "../../../drivers/ble/simulator/peripheral.ts";
import { SimulatedPillBox } from "../../../drivers/bthome/simulator/box.ts";
import { SimulatedBox } from "../../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../../drivers/pillbox/simulator/bridge.ts";
import { xiaomiWeighing } from "../../../drivers/scale/simulator/scale.ts";
import { WatchSimulator } from "../../../drivers/watch/simulator/watch.ts";

const blocks_a_day = 144;
const block_ms = 600_000;
const doors_a_day = 8;
const days_a_connection = 5;
/** Broadcasts of the neighbours' devices that nobody asked for, and how many of these there are. */
const strangers_a_day = 400;
const strangers_count = 40;

/** The other devices of a flat: a polled pill box, a watch on a wire, and over radio a pill box, scales and strangers. */
export class OtherDevices {
  readonly #bridge: BridgeSimulator;
  readonly #polled = new SimulatedBox({
    mac: "c0:ff:ee:00:00:02",
    now_ms: Date.now,
    power: "external_power",
  });
  readonly #watch: WatchSimulator;
  readonly #controller: HciSimulator;
  readonly #box: SimulatedPillBox;
  readonly #scale: SimulatedPeripheral;
  readonly #strangers: readonly SimulatedPeripheral[];
  readonly #days: number;
  #day = 0;

  private constructor(options: {
    bridge: BridgeSimulator;
    watch: WatchSimulator;
    controller: HciSimulator;
    days: number;
  }) {
    const { bridge, watch, controller, days } = options;
    this.#bridge = bridge;
    this.#watch = watch;
    this.#controller = controller;
    this.#days = days;
    bridge.boxes.push(this.#polled);
    const address = "54:48:e6:8f:80:a5";
    const broadcasting = controller.addPeripheral({ address });
    this.#box = new SimulatedPillBox({
      address,
      clock_s: () => Math.floor(Date.now() / 1000),
      send: (data) => serve(broadcasting, "d2fc", data),
    });
    this.#scale = controller.addPeripheral({ address: "84:46:93:64:a5:e6" });
    this.#strangers = Array.from({ length: strangers_count }, (_, index) =>
      controller.addPeripheral({ address: `c4:64:00:00:00:${index.toString(16).padStart(2, "0")}` }),
    );
  }

  /** Each at the end of a pty, which is linked in this directory. */
  static async listen(days: number, directory: string): Promise<OtherDevices> {
    const at = (name: string) => ({ transport: "pty", link: join(directory, name) }) as const;
    return new OtherDevices({
      bridge: await BridgeSimulator.listen(at("bridge")),
      watch: await WatchSimulator.listen(at("watch")),
      controller: await HciSimulator.listen(at("controller")),
      days,
    });
  }

  /** Their sections of a gateway's configuration. */
  get sections(): string {
    return Object.entries({ pillbox: this.#bridge, watch: this.#watch, ble: this.#controller })
      .map(([name, { path }]) => `[${name}]\nport = "${path}"`)
      .concat('admit = "all"')
      .join("\n");
  }

  /** Their traffic of a day. Polls and fetches come with new connections, since hours are too long to wait. */
  async day(): Promise<void> {
    const from_ms = Date.now() - (this.#days - this.#day) * blocks_a_day * block_ms;
    this.#day += 1;
    for (let index = 0; index < blocks_a_day; index++) {
      this.#watch.watch.blocks.push({
        end_ms: from_ms + index * block_ms,
        steps: (index * 37) % 900,
        activity: "WALKING",
      });
    }
    for (let count = 0; count < doors_a_day; count++) {
      this.#polled.doors(count % 2 === 0 ? 1 << (this.#day % 7) : 0);
      this.#box.turn(this.#day % 7);
    }
    this.#box.heartbeat();
    const weight_g = 70_000 + this.#day * 10;
    for (const packet of xiaomiWeighing({ weight_g, shown_ms: Date.now() }))
      serve(this.#scale, "1b18", packet);
    for (let count = 0; count < strangers_a_day; count++) {
      const stranger = this.#strangers[count % strangers_count];
      if (stranger !== undefined) serve(stranger, "6ffd", new Uint8Array(20).fill(count));
    }
    if (this.#day % days_a_connection !== 0) return;
    await Promise.all([this.#bridge.unplug(), this.#watch.unplug()]);
    await Promise.all([this.#bridge.replug(), this.#watch.replug()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#bridge.close(), this.#watch.close(), this.#controller.close()]);
  }
}

/** Broadcasts service data under a 16-bit UUID, given as it stands on the wire. */
function serve(device: SimulatedPeripheral, uuid: string, data: Uint8Array): void {
  device.say(Uint8Array.from([data.length + 3, 0x16, ...Uint8Array.fromHex(uuid), ...data]));
  device.advertise();
}
