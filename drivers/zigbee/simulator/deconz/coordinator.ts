import { openTransport, type Transport } from "../../../wire/simulated-line.ts";
import { type SimulatedDevice, u16 } from "../device.ts";
import { reversed } from "../nv.ts";
import {
  type AirMessage,
  type FormedNetwork,
  homeAutomation,
  type SimulatorExport,
  type SimulatorOptions,
  StickSimulator,
  someNetwork,
} from "../stick.ts";
import { answerOf, type OwnEndpoint, ownAnswer, zdo } from "../zdo.ts";
import { type DeconzFrame, DeconzReader, encodeDeconz } from "./slip.ts";

/** Commands of the firmware. Source: dresden elektronik, deCONZ serial protocol. */
const command = {
  confirm: 0x04,
  status: 0x07,
  changeNetworkState: 0x08,
  readParameter: 0x0a,
  writeParameter: 0x0b,
  firmwareVersion: 0x0d,
  statusChanged: 0x0e,
  request: 0x12,
  indication: 0x17,
} as const;

/** Parameters of the network. 64-bit numbers stand on the wire least significant byte first. */
const parameter = {
  macAddress: 0x01,
  panId: 0x05,
  channelMask: 0x0a,
  extendedPanId: 0x0b,
  trustCentre: 0x0e,
  endpoint: 0x13,
  predefinedPanId: 0x15,
  networkKey: 0x18,
  channel: 0x1c,
  permitJoin: 0x21,
  protocolVersion: 0x22,
  updateId: 0x24,
  watchdog: 0x26,
  frameCounter: 0x27,
} as const;

const commandStatus = { success: 0, failure: 1, unsupported: 4 } as const;
const networkState = { off: 0, connected: 2 } as const;
/** Bits of the device state: something to fetch, and room for a request. */
const deviceBit = { confirm: 0x04, indication: 0x08, freeSlots: 0x20 } as const;
/** Confirm status: MAC no acknowledgement, when nobody is there; transaction expired, when a sleeper does not ask. */
const confirmStatus = { success: 0x00, noAck: 0xe9, expired: 0xf0 } as const;
const addressMode = { group: 1, nwk: 2, ieee: 3 } as const;
/** 2.6.78, of a ConBee II. */
const firmware = 0x26780700;
/** Messages that wait for the host, those besides for which the stick has no room: their senders would try again. */
const queue_max = 4_096;
const broadcast_least = 0xfff8;

/** A ConBee with deCONZ firmware, as its serial port shows it. It runs its network by itself, whatever a host does. */
export class DeconzSimulator extends StickSimulator {
  /** Parameters by number, those with an index by `number/index`. */
  readonly #parameters: Map<string, Buffer>;
  #state: number = networkState.off;
  #reader = new DeconzReader();
  #confirms: Buffer[] = [];
  /** Messages that a host has not fetched yet. */
  #indications: Buffer[] = [];
  #sequence = 0;

  private constructor(options: SimulatorOptions, transport: Transport) {
    super(options, transport, "00212eff");
    const saved = Object.entries(options.saved?.nv ?? {});
    this.#parameters = new Map(saved.map(([name, hex]) => [name, Buffer.from(hex, "hex")]));
    if (saved.length === 0) this.#setDefaults();
    this.#power();
    transport.onOpen = () => this.#power();
    transport.onData = (chunk) => {
      for (const frame of this.#reader.read(chunk)) if (!this.hung) this.#answer(frame);
    };
  }

  static async listen(options: SimulatorOptions): Promise<DeconzSimulator> {
    return new DeconzSimulator(options, await openTransport(options));
  }

  get discarded_bytes(): number {
    return this.#reader.discarded_bytes;
  }

  override async unplug(): Promise<void> {
    this.#state = networkState.off;
    await super.unplug();
  }

  get runningKey(): Buffer | undefined {
    return this.#state === networkState.connected ? this.#key : undefined;
  }

  get network() {
    if (this.#key === undefined) return undefined;
    return {
      pan_id: this.#value(parameter.panId).readUInt16LE(0),
      channel: this.#value(parameter.channel).readUInt8(0),
      extended_pan_id: reversed(this.#value(parameter.extendedPanId)),
    };
  }

  get eui(): Buffer {
    return reversed(this.#value(parameter.macAddress));
  }

  get frameCounter(): number {
    return this.#value(parameter.frameCounter).readUInt32LE(0);
  }

  protected memory(): SimulatorExport["nv"] {
    return Object.fromEntries([...this.#parameters].map(([name, value]) => [name, value.toString("hex")]));
  }

  runNetwork({ pan_id, extended_pan_id, channel, key }: FormedNetwork = someNetwork(this.random)): void {
    this.#set(parameter.panId, u16(pan_id));
    this.#set(parameter.extendedPanId, reversed(extended_pan_id));
    this.#set(parameter.channel, Buffer.from([channel]));
    this.#parameters.set(`${parameter.networkKey}/0`, Buffer.from([0, ...key]));
    this.#state = networkState.connected;
  }

  protected tellJoined(device: SimulatedDevice): void {
    const capabilities = Buffer.from([device.capabilities]);
    const payload = Buffer.concat([Buffer.from([0]), u16(device.nwk), device.wireAddress, capabilities]);
    this.#indicate(device.nwk, device.linkquality, {
      profile: 0,
      cluster: zdo.announce,
      endpoint: 0,
      payload,
    });
  }

  /** The firmware tells nobody of a device that leaves. */
  protected tellLeft(): void {}

  protected deliver(device: SimulatedDevice, message: AirMessage): boolean {
    return this.#indicate(device.nwk, device.linkquality, { ...message, profile: homeAutomation });
  }

  #setDefaults(): void {
    this.#set(parameter.macAddress, reversed(this.chip));
    this.#set(parameter.trustCentre, reversed(this.chip));
    this.#set(parameter.panId, u16(0xffff));
    this.#set(parameter.extendedPanId, Buffer.alloc(8));
    this.#set(parameter.channel, Buffer.from([11]));
    this.#set(parameter.channelMask, Buffer.from("00080000", "hex"));
    this.#set(parameter.updateId, Buffer.alloc(1));
    this.#set(parameter.protocolVersion, u16(0x010c));
    this.#set(parameter.frameCounter, Buffer.alloc(4));
  }

  /** The stick has power: it runs the network that it has, if it has any. */
  #power(): void {
    this.#reader = new DeconzReader();
    this.#confirms = [];
    this.#indications = [];
    this.#state = this.#key === undefined ? networkState.off : networkState.connected;
  }

  get #key(): Buffer | undefined {
    return this.#parameters.get(`${parameter.networkKey}/0`)?.subarray(1);
  }

  #value(id: number): Buffer {
    return this.#parameters.get(String(id)) ?? Buffer.alloc(8);
  }

  #set(id: number, value: Buffer): void {
    this.#parameters.set(String(id), Buffer.from(value));
  }

  get #deviceState(): number {
    return (
      this.#state |
      (this.#confirms.length > 0 ? deviceBit.confirm : 0) |
      (this.#indications.length > 0 ? deviceBit.indication : 0) |
      deviceBit.freeSlots
    );
  }

  #answer(frame: DeconzFrame): void {
    this.onRequest(frame.command);
    switch (frame.command) {
      case command.status:
        this.#respond(frame, Buffer.from([this.#deviceState, 0, 0]));
        break;
      case command.firmwareVersion: {
        const version = Buffer.alloc(4);
        version.writeUInt32LE(firmware);
        this.#respond(frame, version);
        break;
      }
      case command.changeNetworkState:
        this.#changeState(frame);
        break;
      case command.readParameter:
        this.#readParameter(frame);
        break;
      case command.writeParameter:
        this.#writeParameter(frame);
        break;
      case command.request:
        this.#takeRequest(frame);
        break;
      case command.confirm:
        this.#fetch(frame, this.#confirms);
        break;
      case command.indication:
        this.#fetch(frame, this.#indications);
        break;
      default:
        this.unanswered.add(frame.command.toString(16));
        this.#respond(frame, Buffer.alloc(0), commandStatus.unsupported);
    }
  }

  #respond(to: DeconzFrame, data: Buffer, status: number = commandStatus.success): void {
    this.transport.write(encodeDeconz({ command: to.command, sequence: to.sequence, status, data }));
  }

  /** An answer with a length of its own before its payload. */
  #respondPayload(to: DeconzFrame, payload: Buffer, status?: number): void {
    this.#respond(to, Buffer.concat([u16(payload.length), payload]), status);
  }

  #changeState(frame: DeconzFrame): void {
    this.#state = frame.data.readUInt8(0);
    const mask = this.#value(parameter.channelMask).readUInt32LE(0);
    const channel = Array.from({ length: 16 }, (_, index) => index + 11).find((one) => (mask >>> one) & 1);
    if (this.#state === networkState.connected) this.#set(parameter.channel, Buffer.from([channel ?? 11]));
    this.#respond(frame, Buffer.from([this.#state]));
    this.#tellState();
  }

  /** payload length u16, parameter u8, index u8 for those that have one. */
  #readParameter(frame: DeconzFrame): void {
    const id = frame.data.readUInt8(2);
    const value = this.#parameters.get(nameOf(id, frame.data.subarray(3)));
    const zeroKey = id === parameter.networkKey ? Buffer.alloc(17) : undefined;
    const found = value ?? zeroKey;
    const payload = Buffer.concat([Buffer.from([id]), found ?? Buffer.alloc(0)]);
    this.#respondPayload(frame, payload, found === undefined ? commandStatus.unsupported : undefined);
  }

  #writeParameter(frame: DeconzFrame): void {
    const id = frame.data.readUInt8(2);
    const value = Buffer.from(frame.data.subarray(3));
    // Every host begins with the watchdog.
    if (id === parameter.watchdog) this.onHost();
    else if (id === parameter.permitJoin) this.openJoining(value.readUInt8(0));
    else this.#parameters.set(nameOf(id, value), value);
    this.#respondPayload(frame, Buffer.from([id]));
  }

  /**
   * length u16, request id, flags, address mode, address, endpoint, profile u16, cluster u16, source endpoint, length u16, payload,
   * options, radius.
   */
  #takeRequest(frame: DeconzFrame): void {
    const { data } = frame;
    const id = data.readUInt8(2);
    const mode = data.readUInt8(4);
    const size = mode === addressMode.ieee ? 9 : mode === addressMode.nwk ? 3 : 2;
    const place = data.subarray(5, 5 + size);
    const rest = data.subarray(5 + size);
    const nwk = place.readUInt16LE(0);
    const endpoint = mode === addressMode.nwk ? place.readUInt8(2) : 0xff;
    const message = {
      profile: rest.readUInt16LE(0),
      cluster: rest.readUInt16LE(2),
      endpoint,
      payload: rest.subarray(7, 7 + rest.readUInt16LE(5)),
    };
    const from = rest.readUInt8(4);
    this.#respondPayload(frame, Buffer.from([this.#deviceState, id]));
    const toMany = mode === addressMode.group || nwk >= broadcast_least;
    const one = () => (message.profile === 0 ? this.#takeZdo(nwk, message) : this.#takeMessage(nwk, message));
    const status = toMany ? confirmStatus.success : one();
    this.#confirms.push(
      Buffer.concat([Buffer.from([id, mode]), place, Buffer.from([from, status]), Buffer.alloc(4)]),
    );
    this.#tellState();
  }

  #takeMessage(nwk: number, { cluster, endpoint, payload }: AirMessage): number {
    const device = this.deviceAt(nwk);
    if (device === undefined || device.fault === "unreachable") return confirmStatus.noAck;
    return device.receive(endpoint, cluster, payload) ? confirmStatus.success : confirmStatus.expired;
  }

  #takeZdo(nwk: number, { cluster, payload }: AirMessage): number {
    const fields = payload.subarray(1);
    const tell = (from: number, answer: Buffer | undefined) =>
      answer &&
      this.#indicate(from, 255, {
        profile: 0,
        cluster: cluster | zdo.answer,
        endpoint: 0,
        payload: Buffer.concat([payload.subarray(0, 1), answer]),
      });
    if (nwk === 0) {
      tell(
        0,
        ownAnswer(cluster, fields, {
          wireAddress: this.#value(parameter.macAddress),
          manufacturer_code: 0x1135,
          endpoints: this.#endpoints,
          neighbours: this.neighbours(),
          energies: this.energies,
        }),
      );
      return confirmStatus.success;
    }
    const device = this.deviceAt(nwk);
    if (device === undefined || device.fault === "unreachable") return confirmStatus.noAck;
    tell(nwk, answerOf(device, cluster, fields));
    if (cluster === zdo.leave) device.leave();
    return device.fault === "silent" ? confirmStatus.expired : confirmStatus.success;
  }

  /** index, endpoint, profile u16, device u16, version, count of clusters in, these, count of clusters out, these. */
  get #endpoints(): OwnEndpoint[] {
    return [0, 1].flatMap((index) => {
      const set = this.#parameters.get(`${parameter.endpoint}/${index}`);
      if (set === undefined) return [];
      const inputs = set.readUInt8(7);
      const clusters = (at: number, count: number) =>
        Array.from({ length: count }, (_, number) => set.readUInt16LE(at + number * 2));
      const outputs_at = 8 + inputs * 2;
      return [
        {
          id: set.readUInt8(1),
          profile: set.readUInt16LE(2),
          device_id: set.readUInt16LE(4),
          input: clusters(8, inputs),
          output: clusters(outputs_at + 1, set.readUInt8(outputs_at)),
        },
      ];
    });
  }

  /** Keeps a message for the host. False where it fetches none. */
  #indicate(from: number, linkquality: number, message: AirMessage): boolean {
    if (this.#indications.length >= queue_max) return false;
    const { profile, cluster, endpoint, payload } = message;
    this.#indications.push(
      Buffer.concat([
        Buffer.from([addressMode.nwk]),
        u16(0),
        Buffer.from([profile === 0 ? 0 : 1, addressMode.nwk]),
        u16(from),
        Buffer.from([endpoint]),
        u16(profile),
        u16(cluster),
        u16(payload.length),
        payload,
        Buffer.from([0, 0, linkquality, 0xd0]),
      ]),
    );
    this.#tellState();
    return true;
  }

  /** Answers with the oldest of a queue, which is then gone. */
  #fetch(frame: DeconzFrame, queue: Buffer[]): void {
    const oldest = queue.shift();
    const state = Buffer.from([this.#deviceState]);
    this.#respondPayload(
      frame,
      Buffer.concat([state, oldest ?? Buffer.alloc(0)]),
      oldest === undefined ? commandStatus.failure : undefined,
    );
  }

  #tellState(): void {
    this.#sequence = (this.#sequence + 1) & 0xff;
    const data = Buffer.from([this.#deviceState, 0]);
    this.transport.write(
      encodeDeconz({ command: command.statusChanged, sequence: this.#sequence, status: 0, data }),
    );
  }
}

/** Endpoints and network keys have an index before their value. */
function nameOf(id: number, value: Buffer): string {
  const indexed = id === parameter.endpoint || id === parameter.networkKey;
  return indexed ? `${id}/${value[0] ?? 0}` : String(id);
}
