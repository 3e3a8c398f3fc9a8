import type { HciSimulator } from "../../../../../drivers/ble/simulator/controller.ts";
import { SimulatedPillBox } from "../../../../../drivers/bthome/simulator/box.ts";
import type { World } from "../world.ts";
import type { Fact } from "./truth.ts";

/** A broadcasting pill box on the air. */
export class AirBox {
  readonly address: string;
  /** How far its clock is ahead. */
  readonly ahead_s: number;
  /** Of its last change. */
  fact: Fact | undefined;
  readonly #box: SimulatedPillBox;
  #heard = false;

  constructor(
    controller: HciSimulator,
    of: { address: string; world: World; ahead_s: number; key?: Uint8Array },
  ) {
    const { address, world, ahead_s, key } = of;
    this.address = address;
    this.ahead_s = ahead_s;
    const onAir = controller.addPeripheral({ address });
    this.#box = new SimulatedPillBox({
      address,
      clock_s: () => Math.floor(world.now_ms / 1_000) + ahead_s,
      send: (bytes) => {
        onAir.say({ serviceData: { fcd2: bytes } });
        this.#heard = onAir.advertise() || this.#heard;
      },
      ...(key === undefined ? {} : { key }),
    });
  }

  get doors(): number {
    return this.#box.doors;
  }

  /** Answers whether somebody scanned. */
  turn(door: number): boolean {
    this.#heard = false;
    this.#box.turn(door);
    return this.#heard;
  }

  heartbeat(): boolean {
    this.#heard = false;
    this.#box.heartbeat();
    return this.#heard;
  }
}
