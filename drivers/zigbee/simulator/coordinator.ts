import { openTransport, type Transport } from "../../wire/simulated-line.ts";
import { commandTable, type Reply } from "./commands.ts";
import { type SimulatedDevice, u16 } from "./device.ts";
import { encodeFrame, type Frame, FrameReader, frameType } from "./frame.ts";
import { decodeNib, encodeNib, type Network, NvMemory, nvItem, nvTable, reversed } from "./nv.ts";
import {
  type AirMessage,
  type FormedNetwork,
  type SimulatorOptions,
  StickSimulator,
  someNetwork,
} from "./stick.ts";

/** Device states of Z-Stack (`ZDApp.h`): not started; running as coordinator. */
export const deviceState = { hold: 0, coordinator: 9 } as const;

/** SYS_PING, which every host says first. */
const ping = 0x0101;

/** A coordinator with Z-Stack 3.x firmware, as its serial port shows it. */
export class ZnpSimulator extends StickSimulator {
  readonly nv: NvMemory;
  readonly endpoints = new Set<number>();
  state: number = deviceState.hold;
  channels = 0;
  #reader = new FrameReader();

  private constructor(options: SimulatorOptions, transport: Transport) {
    super(options, transport, "00124b00");
    this.nv = new NvMemory(options.saved?.nv);
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

  protected memory() {
    return this.nv.export();
  }

  /** Takes the stick out: the connection breaks and the port is gone. Memory and network stay. */
  override async unplug(): Promise<void> {
    this.state = deviceState.hold;
    this.endpoints.clear();
    await super.unplug();
  }

  get network(): Network | undefined {
    const nib = this.nv.get(nvItem.nib);
    return nib === undefined ? undefined : decodeNib(nib);
  }

  get runningKey(): Buffer | undefined {
    return this.state === deviceState.coordinator ? this.nv.get(nvItem.activeKey)?.subarray(1) : undefined;
  }

  /** Address of the coordinator in printed order: the one in memory wins over the one burnt in. */
  get eui(): Buffer {
    const kept = this.nv.get(nvItem.extendedAddress);
    return kept === undefined ? this.chip : reversed(kept);
  }

  get frameCounter(): number {
    return this.nv.entry(nvTable.networkSecurity.id, 0)?.readUInt32LE(0) ?? 0;
  }

  runNetwork({ pan_id, extended_pan_id, channel, key }: FormedNetwork = someNetwork(this.random)): void {
    this.nv.set(nvItem.configured, Buffer.from([0x55]));
    this.nv.set(nvItem.panId, u16(pan_id));
    this.nv.set(nvItem.extendedPanId, reversed(extended_pan_id));
    this.nv.set(nvItem.preconfiguredKey, Buffer.from(key));
    this.channels = (1 << channel) >>> 0;
    this.form();
  }

  /** Makes the network that the settings in memory ask for. */
  form(): void {
    const key = this.nv.get(nvItem.preconfiguredKey) ?? Buffer.from(this.random(16));
    const extended_pan_id = reversed(this.nv.get(nvItem.extendedPanId) ?? this.random(8));
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

  changeChannel(channel: number): void {
    if (this.network !== undefined)
      this.nv.set(nvItem.nib, encodeNib({ ...this.network, channel, eui: this.eui }));
  }

  /** Sends an event (AREQ) to the host. */
  event(command: number, data: Uint8Array): void {
    this.transport.write(encodeFrame(frameType.event, command, data));
  }

  #answer(frame: Frame): void {
    if (this.hung) return;
    const command = (frame.subsystem << 8) | frame.id;
    this.onRequest(command);
    if (command === ping) this.onHost();
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

  protected tellJoined(device: SimulatedDevice): void {
    this.#remember(device);
    const nwk = u16(device.nwk);
    this.event(0x45ca, Buffer.concat([nwk, device.wireAddress, u16(0)]));
    this.event(0x45c1, Buffer.concat([nwk, nwk, device.wireAddress, Buffer.from([device.capabilities])]));
  }

  protected tellLeft(device: SimulatedDevice): void {
    this.event(0x45c9, Buffer.concat([u16(device.nwk), device.wireAddress, Buffer.from([0, 0, 0])]));
  }

  protected deliver(device: SimulatedDevice, { endpoint, cluster, payload }: AirMessage): boolean {
    this.event(0x4481, encodeIncoming(device, endpoint, cluster, payload));
    return true;
  }

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
