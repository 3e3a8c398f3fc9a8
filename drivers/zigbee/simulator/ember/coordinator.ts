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
import { answerOf, changedChannel, type OwnEndpoint, ownAnswer, zdo } from "../zdo.ts";
import { AshEnd } from "./ash.ts";
import { type ApsFrame, type EmberNetwork, encodeAps, ezsp, ezspCommands, status } from "./ezsp.ts";

/** A network co-processor of Silicon Labs with EmberZNet, as its serial port shows it: EZSP in frames of ASH. */
export class EmberSimulator extends StickSimulator {
  /** The version of EZSP that its firmware speaks: 13 is EmberZNet 7.4. */
  readonly version: number;
  readonly endpoints: OwnEndpoint[] = [];
  held: EmberNetwork | undefined;
  /** Whether the network in memory runs: a reset stops it. */
  up = false;
  manufacturer_code = 0x1049;
  /** The address that it has instead of its own from its next reset on, and whether its firmware lets it have one. */
  restoredAddress: Buffer | undefined;
  readonly setsAddress: boolean;
  #address: Buffer;
  /** The keys and the frame counter of the network to be formed. */
  readonly next = { key: Buffer.alloc(16), trustCentreKey: Buffer.alloc(16), frameCounter: 0 };
  readonly #ash: AshEnd;
  #sequence = 0;

  private constructor(options: EmberOptions, transport: Transport) {
    super(options, transport, "b4e3f900");
    this.version = options.version ?? 13;
    const { network, address } = options.saved?.nv ?? {};
    if (network !== undefined) this.held = networkOf(network);
    this.setsAddress = options.setsAddress ?? true;
    this.restoredAddress = address === undefined ? undefined : Buffer.from(address, "hex");
    this.#address = this.restoredAddress ?? this.chip;
    this.#ash = new AshEnd({
      write: (bytes) => transport.write(bytes),
      onReset: () => {
        this.up = false;
        this.endpoints.length = 0;
        this.#address = this.restoredAddress ?? this.chip;
        this.#hostResets();
      },
      onData: (data) => this.#answer(data),
    });
    transport.onOpen = () => this.#ash.disconnect();
    transport.onData = (chunk) => {
      if (!this.hung) this.#ash.receive(chunk);
    };
  }

  static async listen(options: EmberOptions): Promise<EmberSimulator> {
    return new EmberSimulator(options, await openTransport(options));
  }

  get discarded_bytes(): number {
    return this.#ash.discarded_bytes;
  }

  get eui(): Buffer {
    return this.#address;
  }

  get frameCounter(): number {
    return this.held?.frameCounter ?? 0;
  }

  override async unplug(): Promise<void> {
    this.up = false;
    this.#ash.disconnect();
    await super.unplug();
  }

  get runningKey(): Buffer | undefined {
    return this.up ? this.held?.key : undefined;
  }

  get network() {
    return this.held && { ...this.held, extended_pan_id: reversed(this.held.extended_pan_id) };
  }

  protected memory(): SimulatorExport["nv"] {
    return {
      ...(this.held && { network: textOf(this.held) }),
      ...(this.restoredAddress && { address: this.restoredAddress.toString("hex") }),
    };
  }

  runNetwork({ pan_id, extended_pan_id, channel, key }: FormedNetwork = someNetwork(this.random)): void {
    this.held = {
      pan_id,
      extended_pan_id: reversed(extended_pan_id),
      channel,
      key: Buffer.from(key),
      trustCentreKey: Buffer.from(this.random(16)),
      frameCounter: 1000,
    };
  }

  /** Sends what no request asked for. False where the host is not there, or does not keep up. */
  callback(id: number, parameters: Uint8Array): boolean {
    return this.#send(asynchronous, id, parameters);
  }

  /** Takes a message of the host to everybody, to one device, or to the stick itself. Whether somebody is there to take it. */
  takeMessage(destination: number, aps: ApsFrame, payload: Buffer): boolean {
    if (aps.profile === 0) return this.#takeZdo(destination, aps, payload);
    const device = this.deviceAt(destination);
    if (device === undefined || device.fault === "unreachable") return false;
    return device.receive(aps.to, aps.cluster, payload);
  }

  protected tellJoined(device: SimulatedDevice, rejoined: boolean): void {
    const update = rejoined ? 0 : 1;
    this.callback(
      ezsp.trustCentreJoin,
      Buffer.concat([u16(device.nwk), device.wireAddress, Buffer.from([update, 0]), u16(0)]),
    );
    const announcement = Buffer.concat([
      Buffer.from([0]),
      u16(device.nwk),
      device.wireAddress,
      Buffer.from([device.capabilities]),
    ]);
    this.#tell(device, { profile: 0, cluster: zdo.announce, from: 0, to: 0 }, announcement);
  }

  protected tellLeft(device: SimulatedDevice): void {
    const left = Buffer.from([2, 3]);
    this.callback(ezsp.trustCentreJoin, Buffer.concat([u16(device.nwk), device.wireAddress, left, u16(0)]));
  }

  protected deliver(device: SimulatedDevice, { cluster, endpoint, payload }: AirMessage): boolean {
    return this.#tell(device, { profile: homeAutomation, cluster, from: endpoint, to: 1 }, payload);
  }

  #hostResets(): void {
    this.onRequest(ezsp.reset);
    this.onHost();
  }

  #tell(device: SimulatedDevice, aps: ApsFrame, payload: Buffer): boolean {
    return this.#tellFrom(device.nwk, device.linkquality, aps, payload);
  }

  /** Incoming message handler: type unicast, APS frame, link quality, signal, sender, no binding, no address, length, payload. */
  #tellFrom(nwk: number, linkquality: number, aps: ApsFrame, payload: Buffer): boolean {
    return this.callback(
      ezsp.incomingMessage,
      Buffer.concat([
        Buffer.from([0]),
        encodeAps(aps),
        Buffer.from([linkquality, 0xd0]),
        u16(nwk),
        Buffer.from([0xff, 0xff, payload.length]),
        payload,
      ]),
    );
  }

  #takeZdo(destination: number, aps: ApsFrame, payload: Buffer): boolean {
    const sequence = payload.subarray(0, 1);
    const fields = payload.subarray(1);
    const back = { ...aps, cluster: aps.cluster | zdo.answer };
    if (aps.cluster === zdo.permitJoining && destination >= broadcast_least) return true;
    const channel = aps.cluster === zdo.networkUpdate ? changedChannel(fields) : undefined;
    if (channel !== undefined) {
      this.held = this.held && { ...this.held, channel };
      return true;
    }
    if (destination === 0) {
      const wireAddress = reversed(this.eui);
      const { endpoints, manufacturer_code, energies } = this;
      const own = { wireAddress, manufacturer_code, endpoints, neighbours: this.neighbours(), energies };
      const answer = ownAnswer(aps.cluster, fields, own);
      if (answer !== undefined) this.#tellFrom(0, 255, back, Buffer.concat([sequence, answer]));
      return true;
    }
    const asked =
      destination >= broadcast_least
        ? this.devices.find((one) => this.hears(one) && one.wireAddress.equals(fields.subarray(0, 8)))
        : this.deviceAt(destination);
    if (asked === undefined || asked.fault === "unreachable") return destination >= broadcast_least;
    const answer = answerOf(asked, aps.cluster, fields);
    if (answer !== undefined) this.#tell(asked, back, Buffer.concat([sequence, answer]));
    if (aps.cluster === zdo.leave) asked.leave();
    return asked.fault !== "silent";
  }

  /** Sequence, frame control, and, but for the first question for the version, the format and the frame's number in 16 bits. */
  #answer(frame: Buffer): void {
    this.#sequence = frame.readUInt8(0);
    const legacy = frame.length === 4 && frame.readUInt8(2) === ezsp.version;
    const id = legacy ? ezsp.version : frame.readUInt16LE(3);
    this.onRequest(id);
    const command = ezspCommands[id];
    if (command === undefined) {
      this.unanswered.add(id.toString(16));
      this.#send(response, ezsp.invalidCommand, Buffer.from([status.invalidCommand]));
      return;
    }
    const { answer, after } = command(this, frame.subarray(legacy ? 3 : 5));
    if (legacy) this.#ash.send(Buffer.concat([Buffer.from([this.#sequence, response, id]), answer]));
    else this.#send(response, id, answer);
    after?.();
  }

  #send(control: number, id: number, parameters: Uint8Array): boolean {
    return this.#ash.send(
      Buffer.concat([Buffer.from([this.#sequence, control, extendedFormat]), u16(id), parameters]),
    );
  }
}

export interface EmberOptions extends SimulatorOptions {
  /** The version of EZSP that its firmware speaks. */
  readonly version?: number;
  /** Whether it can take over the address of another stick; absent: yes. */
  readonly setsAddress?: boolean;
}

/** Frame control of an answer, and of what no request asked for. */
const response = 0x80;
const asynchronous = 0x90;
const extendedFormat = 0x01;
const broadcast_least = 0xfff8;

/** A network as hex: PAN id, extended PAN id, channel, both keys, frame counter. */
function textOf(network: EmberNetwork): string {
  const counter = Buffer.alloc(4);
  counter.writeUInt32LE(network.frameCounter);
  const { pan_id, extended_pan_id, channel, key, trustCentreKey } = network;
  return Buffer.concat([
    u16(pan_id),
    extended_pan_id,
    Buffer.from([channel]),
    key,
    trustCentreKey,
    counter,
  ]).toString("hex");
}

function networkOf(hex: string): EmberNetwork {
  const bytes = Buffer.from(hex, "hex");
  return {
    pan_id: bytes.readUInt16LE(0),
    extended_pan_id: bytes.subarray(2, 10),
    channel: bytes.readUInt8(10),
    key: bytes.subarray(11, 27),
    trustCentreKey: bytes.subarray(27, 43),
    frameCounter: bytes.readUInt32LE(43),
  };
}
