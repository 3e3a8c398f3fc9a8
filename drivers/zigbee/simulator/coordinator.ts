import { type Clock, SystemClock } from "../../../src/base/clock.ts";
import { LineSimulator } from "../../wire/line-simulator.ts";
import { openTransport, type Transport, type TransportKind } from "../../wire/simulated-line.ts";
import { commandTable, type Reply } from "./commands.ts";
import { type DeviceExport, idle_status, SimulatedDevice, u16 } from "./device.ts";
import { encodeFrame, type Frame, FrameReader, frameType } from "./frame.ts";
import { isSimulatedModel, type SimulatedModel, type SimulatedModelName, simulatedModels } from "./models.ts";
import {
  decodeNib,
  encodeNib,
  type Network,
  type NvExport,
  NvMemory,
  nvItem,
  nvTable,
  reversed,
} from "./nv.ts";

/** All that a simulated coordinator and its devices must remember to go on after their process has ended. */
export interface SimulatorExport {
  readonly eui: string;
  readonly nv: NvExport;
  readonly devices: readonly DeviceExport[];
}

export interface SimulatorOptions {
  readonly transport: TransportKind;
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

/** Device states of Z-Stack (`ZDApp.h`): not started; running as coordinator. */
export const deviceState = { hold: 0, coordinator: 9 } as const;

/**
 * A Zigbee coordinator with Z-Stack 3.x firmware as its serial port shows it, and any number of devices on
 * the air around it. Its memory outlives connections, so that a gateway can be restarted against it.
 */
export class ZnpSimulator extends LineSimulator {
  readonly nv: NvMemory;
  readonly devices: SimulatedDevice[] = [];
  readonly endpoints = new Set<number>();
  state: number = deviceState.hold;
  channels = 0;
  /** While true nothing is answered: firmware that hangs. */
  hung = false;
  /** Is told of each request of a host, as `subsystem << 8 | id`, before it is answered. */
  onRequest: (command: number) => void = () => {};
  /** Requests that no row of the command table answers, as `type subsystem id`. */
  readonly unanswered = new Set<string>();
  readonly #eui: Buffer;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #clock: Clock;
  #reader = new FrameReader();
  #joinUntil_ms = Number.NEGATIVE_INFINITY;

  private constructor(options: SimulatorOptions, transport: Transport) {
    super(transport);
    const devices = options.saved?.devices ?? options.devices ?? [];
    this.#random = options.random;
    this.#clock = options.clock ?? new SystemClock();
    this.#eui = options.saved
      ? Buffer.from(options.saved.eui, "hex")
      : Buffer.concat([Buffer.from("00124b00", "hex"), options.random(4)]);
    this.nv = new NvMemory(options.saved?.nv);
    for (const device of devices) this.devices.push(new SimulatedDevice(this.#air, device));
    transport.onOpen = () => {
      this.#reader = new FrameReader();
    };
    transport.onData = (chunk) => {
      for (const frame of this.#reader.read(chunk)) this.#answer(frame);
    };
  }

  /** Starts a coordinator on a TCP port of the loopback, or on a pty. */
  static async listen(options: SimulatorOptions): Promise<ZnpSimulator> {
    return new ZnpSimulator(options, await openTransport(options));
  }

  get discarded_bytes(): number {
    return this.#reader.discarded_bytes;
  }

  export(): SimulatorExport {
    return {
      eui: this.#eui.toString("hex"),
      nv: this.nv.export(),
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
      ieee: options.ieee ?? addressOf(Buffer.concat([Buffer.from("000d6f00", "hex"), this.#random(4)])),
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

  /** Takes the stick out: the connection breaks and the port is gone. Memory and network stay. */
  override async unplug(): Promise<void> {
    this.state = deviceState.hold;
    this.endpoints.clear();
    await super.unplug();
  }

  get joiningOpen(): boolean {
    return this.#clock.now().monotonic_ms < this.#joinUntil_ms;
  }

  openJoining(seconds: number): void {
    this.#joinUntil_ms = this.#clock.now().monotonic_ms + seconds * 1000;
  }

  /** The network in memory, once there is one. */
  get network(): Network | undefined {
    const nib = this.nv.get(nvItem.nib);
    return nib === undefined ? undefined : decodeNib(nib);
  }

  /** Address of the coordinator in printed order: the one in memory wins over the one burnt in. */
  get eui(): Buffer {
    const kept = this.nv.get(nvItem.extendedAddress);
    return kept === undefined ? this.#eui : reversed(kept);
  }

  /** Runs a network that a host has set up before: one with random identifiers, or the one that is given. */
  runNetwork(network?: {
    pan_id: number;
    extended_pan_id: Uint8Array;
    channel: number;
    key: Uint8Array;
  }): void {
    const {
      pan_id = 1 + (Buffer.from(this.#random(2)).readUInt16LE(0) % 0xfffd),
      extended_pan_id = this.#random(8),
      channel = 15,
      key = this.#random(16),
    } = network ?? {};
    this.nv.set(nvItem.configured, Buffer.from([0x55]));
    this.nv.set(nvItem.panId, u16(pan_id));
    this.nv.set(nvItem.extendedPanId, reversed(extended_pan_id));
    this.nv.set(nvItem.preconfiguredKey, Buffer.from(key));
    this.channels = (1 << channel) >>> 0;
    this.form();
  }

  /** Makes the network that the settings in memory ask for. */
  form(): void {
    const key = this.nv.get(nvItem.preconfiguredKey) ?? Buffer.from(this.#random(16));
    const extended_pan_id = reversed(this.nv.get(nvItem.extendedPanId) ?? this.#random(8));
    const channel =
      [...Array(16).keys()].map((n) => n + 11).find((n) => ((this.channels >>> n) & 1) === 1) ?? 11;
    const pan_id = this.nv.get(nvItem.panId)?.readUInt16LE(0) ?? 0x1a62;
    this.nv.set(nvItem.nib, encodeNib({ pan_id, extended_pan_id, channel, eui: this.eui }));
    const descriptor = Buffer.concat([Buffer.alloc(1), key]);
    this.nv.set(nvItem.activeKey, descriptor);
    this.nv.set(nvItem.alternateKey, descriptor);
    const counter = Buffer.alloc(4);
    counter.writeUInt32LE(1000);
    this.nv.setEntry(nvTable.networkSecurity.id, 0, Buffer.concat([counter, reversed(extended_pan_id)]));
    this.state = deviceState.coordinator;
  }

  deviceAt(nwk: number): SimulatedDevice | undefined {
    return this.devices.find((device) => device.nwk === nwk && this.#hears(device));
  }

  /** Sends an event (AREQ) to the host. */
  event(command: number, data: Uint8Array): void {
    this.transport.write(encodeFrame(frameType.event, command, data));
  }

  #answer(frame: Frame): void {
    if (this.hung) return;
    const command = (frame.subsystem << 8) | frame.id;
    this.onRequest(command);
    const handler = commandTable[command];
    if (handler === undefined) {
      this.unanswered.add(`${frame.type} ${command.toString(16)}`);
      // RPC error (MT API 3.3): 0x02, no such command.
      if (frame.type === frameType.request)
        this.#respond(0x0000, Buffer.from([0x02, (1 << 5) | frame.subsystem, frame.id]));
      return;
    }
    const reply: Reply = {
      respond: (data) => this.#respond(command, data),
      event: (id, data) => this.event(id, data),
    };
    handler(this, frame.data, reply);
  }

  #respond(command: number, data: Uint8Array): void {
    this.transport.write(encodeFrame(frameType.response, command, data));
  }

  /** A device is heard when the coordinator runs and both hold the same network key. */
  #hears(device: SimulatedDevice): boolean {
    const key = this.nv.get(nvItem.activeKey)?.subarray(1);
    return (
      this.state === deviceState.coordinator &&
      this.transport.plugged &&
      key !== undefined &&
      device.network_key !== undefined &&
      key.equals(device.network_key)
    );
  }

  readonly #air = {
    join: (device: SimulatedDevice): boolean => {
      const rejoins = this.#hears(device);
      if (!rejoins && !(this.state === deviceState.coordinator && this.joiningOpen)) return false;
      device.network_key = Buffer.from(this.nv.get(nvItem.activeKey)?.subarray(1) ?? Buffer.alloc(16));
      this.#remember(device);
      const nwk = u16(device.nwk);
      this.event(0x45ca, Buffer.concat([nwk, device.wireAddress, u16(0)]));
      const capabilities = device.model.router ? 0x8e : 0x80;
      this.event(0x45c1, Buffer.concat([nwk, nwk, device.wireAddress, Buffer.from([capabilities])]));
      return true;
    },
    leave: (device: SimulatedDevice): boolean => {
      if (!this.#hears(device)) return false;
      this.event(0x45c9, Buffer.concat([u16(device.nwk), device.wireAddress, Buffer.from([0, 0, 0])]));
      return true;
    },
    send: (device: SimulatedDevice, endpoint: number, clusterId: number, zcl: Buffer): boolean => {
      if (!this.#hears(device)) return false;
      this.event(0x4481, encodeIncoming(device, endpoint, clusterId, zcl));
      return true;
    },
  };

  /** Notes a child in the address manager, which is what a coordinator backup lists. */
  #remember(device: SimulatedDevice): void {
    const entry = Buffer.concat([Buffer.from([1]), u16(device.nwk), device.wireAddress]);
    let free = -1;
    for (let index = 0; index < nvTable.addresses.entries; index += 1) {
      const held = this.nv.entry(nvTable.addresses.id, index);
      if (held?.subarray(3).equals(device.wireAddress)) free = index;
      else if (free < 0 && held?.[0] === 0) free = index;
    }
    if (free >= 0) this.nv.setEntry(nvTable.addresses.id, free, entry);
  }

  #freeNwk(): number {
    for (let tries = 0; tries < 1000; tries += 1) {
      const nwk = Buffer.from(this.#random(2)).readUInt16LE(0);
      if (nwk > 0 && nwk < 0xfff8 && !this.devices.some((device) => device.nwk === nwk)) return nwk;
    }
    throw new RangeError("no free network address");
  }
}

/** AF_INCOMING_MSG (MT API 3.2.2.3), unicast to endpoint 1. */
function encodeIncoming(device: SimulatedDevice, endpoint: number, clusterId: number, zcl: Buffer): Buffer {
  const head = Buffer.alloc(17);
  head.writeUInt16LE(clusterId, 2);
  head.writeUInt16LE(device.nwk, 4);
  head.writeUInt8(endpoint, 6);
  head.writeUInt8(1, 7);
  head.writeUInt8(device.linkquality, 9);
  head.writeUInt8(zcl.length, 16);
  return Buffer.concat([head, zcl]);
}

/** `00:0d:6f:…` from bytes in printed order. */
export function addressOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}
