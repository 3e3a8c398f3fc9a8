import { type Clock, SystemClock } from "../../../src/base/clock.ts";
import { LineSimulator } from "../../wire/line-simulator.ts";
import type { Transport, TransportKind } from "../../wire/simulated-line.ts";
import { type Air, type DeviceExport, idle_status, type Neighbour, SimulatedDevice } from "./device.ts";
import { isSimulatedModel, type SimulatedModel, type SimulatedModelName, simulatedModels } from "./models.ts";

/** All that a simulated stick and its devices must remember to go on after their process has ended. */
export interface SimulatorExport {
  readonly eui: string;
  /** The memory of the stick that survives its restarts, by name, in hex. */
  readonly nv: Readonly<Record<string, string>>;
  readonly devices: readonly DeviceExport[];
}

export interface SimulatorOptions {
  readonly transport: TransportKind | Transport;
  /** TCP port, 0 for a free one; or the symlink to make for a pty. */
  readonly port?: number;
  readonly link?: string;
  /** Random bytes; the simulation is the same for the same bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly saved?: SimulatorExport;
  /** Devices without the coordinator they knew: what is left when a stick is swapped. */
  readonly devices?: readonly DeviceExport[];
  readonly clock?: Clock;
}

/** A network that some host has set up before. Extended PAN id in printed order. */
export interface FormedNetwork {
  readonly pan_id: number;
  readonly extended_pan_id: Uint8Array;
  readonly channel: number;
  readonly key: Uint8Array;
}

/** A message on the air: its profile, cluster and endpoint, at which it starts or ends. */
export interface AirMessage {
  readonly profile: number;
  readonly cluster: number;
  readonly endpoint: number;
  readonly payload: Buffer;
}

export const homeAutomation = 0x0104;

/**
 * A Zigbee coordinator of any make, and any number of devices on the air around it. Its memory outlives connections, so
 * that a gateway can be restarted against it. A subclass speaks the bytes of its make.
 */
export abstract class StickSimulator extends LineSimulator {
  readonly devices: SimulatedDevice[] = [];
  /** While true nothing is answered: firmware that hangs. */
  hung = false;
  /** Energy on the channels 11 to 26, as the stick measures it. */
  readonly energies = Array.from({ length: 16 }, () => 50);
  /** Is told of each request of a host, by a number of its make, before it is answered. */
  onRequest: (command: number) => void = () => {};
  /** Is called when a host says its first words: what it hears from then on is not to be lost. */
  onHost: () => void = () => {};
  /** Requests that the simulator does not know. */
  readonly unanswered = new Set<string>();
  /** Address of the chip in printed order. */
  protected readonly chip: Buffer;
  protected readonly random: (bytes: number) => Uint8Array;
  readonly #clock: Clock;
  #joinUntil_ms = Number.NEGATIVE_INFINITY;

  protected constructor(options: SimulatorOptions, transport: Transport, maker: string) {
    super(transport);
    this.random = options.random;
    this.#clock = options.clock ?? new SystemClock();
    this.chip = options.saved
      ? Buffer.from(options.saved.eui, "hex")
      : Buffer.concat([Buffer.from(maker, "hex"), options.random(4)]);
    for (const device of options.saved?.devices ?? options.devices ?? [])
      this.devices.push(new SimulatedDevice(this.#air, device));
  }

  /** The key of the network that runs now; undefined while none does. */
  abstract get runningKey(): Buffer | undefined;
  /** The network in memory, once there is one. */
  abstract get network():
    | { readonly pan_id: number; readonly channel: number; readonly extended_pan_id: Buffer }
    | undefined;
  /** Address of the stick in printed order, and the counter of the frames that it sends with the network's key. */
  abstract get eui(): Buffer;
  abstract get frameCounter(): number;
  /** Runs a network that a host has set up before: one with random identifiers, or the one that is given. */
  abstract runNetwork(network?: FormedNetwork): void;
  protected abstract memory(): SimulatorExport["nv"];
  /** Tells the host of a device that joined or came back; and of one that left. */
  protected abstract tellJoined(device: SimulatedDevice, rejoined: boolean): void;
  protected abstract tellLeft(device: SimulatedDevice): void;
  /** Hands a message of a device to the host. False where the stick has no room for it, so that the device would send it again. */
  protected abstract deliver(device: SimulatedDevice, message: AirMessage): boolean;

  export(): SimulatorExport {
    return {
      eui: this.chip.toString("hex"),
      nv: this.memory(),
      devices: this.devices.map((device) => device.export()),
    };
  }

  /** Puts a device on the air; it belongs to no network until it joins. */
  addDevice(options: {
    model: string;
    identifier?: string;
    ieee?: string;
    manufacturer?: string;
    zone_type?: number;
  }): SimulatedDevice {
    if (!isSimulatedModel(options.model)) throw new RangeError(`no simulated model ${options.model}`);
    const model: SimulatedModelName = options.model;
    const row: SimulatedModel = simulatedModels[model];
    const device = new SimulatedDevice(this.#air, {
      ieee: options.ieee ?? addressOf(Buffer.concat([Buffer.from("000d6f00", "hex"), this.random(4)])),
      model,
      identifier: options.identifier ?? row.identifier ?? model,
      manufacturer: options.manufacturer ?? row.manufacturer,
      zone_type: options.zone_type ?? row.zone?.type ?? null,
      nwk: this.#freeNwk(),
      network_key: null,
      zonestatus: idle_status,
      enrolled: false,
      cie: "0000000000000000",
    });
    this.devices.push(device);
    return device;
  }

  get joiningOpen(): boolean {
    return this.#clock.now().monotonic_ms < this.#joinUntil_ms;
  }

  openJoining(seconds: number): void {
    this.#joinUntil_ms = this.#clock.now().monotonic_ms + seconds * 1000;
  }

  deviceAt(nwk: number): SimulatedDevice | undefined {
    return this.devices.find((device) => device.nwk === nwk && this.hears(device));
  }

  /** A device is heard when the coordinator runs, both hold the same network key, and it is the coordinator that let the device in, or another one in its place. */
  protected hears(device: SimulatedDevice): boolean {
    const key = this.transport.plugged ? this.runningKey : undefined;
    if (key === undefined || device.network_key === undefined || !key.equals(device.network_key))
      return false;
    return device.home === undefined || device.home === this.#home;
  }

  /** Extended PAN id and address: by these a device finds its network again, and sends to its coordinator. */
  get #home(): string {
    return `${this.network?.extended_pan_id.toString("hex")} ${this.eui.toString("hex")}`;
  }

  /** The devices that one hears: what hangs on it, and a router what it hangs on itself. The stick without a name. */
  neighbours(of?: SimulatedDevice): readonly Neighbour[] {
    const hanging = this.devices
      .filter((device) => device.parent === of && this.hears(device))
      .map(({ wireAddress, nwk, model, linkquality }): Neighbour => {
        const kind = model.router ? "router" : "sleeper";
        const relation = model.router ? "sibling" : "child";
        return { wireAddress, nwk, kind, relation, quality: linkquality };
      });
    if (of === undefined) return hanging;
    const { parent, linkquality_back: quality } = of;
    const stick = { wireAddress: Buffer.from(this.eui).reverse(), nwk: 0, kind: "coordinator" } as const;
    const above =
      parent === undefined
        ? stick
        : ({ wireAddress: parent.wireAddress, nwk: parent.nwk, kind: "router" } as const);
    return [{ ...above, relation: "parent", quality }, ...hanging];
  }

  readonly #air: Air = {
    neighbours: (device) => this.neighbours(device),
    join: (device) => {
      const rejoined = this.hears(device);
      const key = this.transport.plugged ? this.runningKey : undefined;
      if (key === undefined || !(rejoined || this.joiningOpen)) return false;
      device.network_key = Buffer.from(key);
      device.home = this.#home;
      this.tellJoined(device, rejoined);
      return true;
    },
    leave: (device) => {
      if (!this.hears(device)) return false;
      this.tellLeft(device);
      return true;
    },
    send: (device, endpoint, cluster, payload) =>
      this.hears(device) && this.deliver(device, { profile: homeAutomation, cluster, endpoint, payload }),
  };

  #freeNwk(): number {
    for (let tries = 0; tries < 1000; tries += 1) {
      const nwk = Buffer.from(this.random(2)).readUInt16LE(0);
      if (nwk > 0 && nwk < 0xfff8 && !this.devices.some((device) => device.nwk === nwk)) return nwk;
    }
    throw new RangeError("no free network address");
  }
}

/** The settings of a network that some host has set up, where none are given. */
export function someNetwork(random: (bytes: number) => Uint8Array): FormedNetwork {
  return {
    pan_id: 1 + (Buffer.from(random(2)).readUInt16LE(0) % 0xfffd),
    extended_pan_id: random(8),
    channel: 15,
    key: random(16),
  };
}

/** `00:0d:6f:…` from bytes in printed order. */
export function addressOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}
