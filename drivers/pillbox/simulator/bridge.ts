import { encodeFrame, FrameReader } from "../../wire/hdlc.ts";
import { LineSimulator } from "../../wire/line-simulator.ts";
import { openTransport, type Transport, type TransportKind } from "../../wire/simulated-line.ts";
import {
  decodeRequest,
  encodeReply,
  payload_max_bytes,
  type Reply,
  type Request,
  requestType,
  result,
} from "../protocol.ts";
import type { SimulatedBox } from "./box.ts";
import { type Noise, spoil } from "./noise.ts";

export interface BridgeSimulatorOptions {
  readonly transport: TransportKind | Transport;
  readonly port?: number;
  readonly link?: string;
  readonly random?: () => number;
}

/** The radio bridge with its boxes, at the other end of a line that may be noisy. */
export class BridgeSimulator extends LineSimulator {
  readonly boxes: SimulatedBox[] = [];
  noise: Noise = {};
  /** Says nothing to anybody. */
  silent = false;
  /** Boxes that are out of reach: the bridge does not answer for them. */
  readonly unreachable = new Set<string>();
  /** Everything that was asked and understood. */
  readonly requests: Request[] = [];
  /** Called before each reply that is sent; the reply is lost where it answers false. */
  onReply: (reply: Reply) => boolean = () => true;
  readonly #random: () => number;
  readonly #reader: FrameReader;

  private constructor(transport: Transport, random: () => number) {
    super(transport);
    this.#random = random;
    this.#reader = new FrameReader({
      payload_max: payload_max_bytes,
      onPayload: (payload) => this.#answer(payload),
      onDiscarded: () => {},
    });
    transport.onData = (chunk) => this.#reader.push(spoil(chunk, this.noise, this.#random));
  }

  static async listen(options: BridgeSimulatorOptions): Promise<BridgeSimulator> {
    return new BridgeSimulator(await openTransport(options), options.random ?? Math.random);
  }

  #answer(payload: Uint8Array): void {
    const decoded = decodeRequest(payload);
    if (decoded === undefined || this.silent) return;
    this.requests.push(decoded.request);
    const reply = this.#replyTo(decoded.request);
    if (reply === undefined || !this.onReply(reply)) return;
    this.transport.write(spoil(encodeFrame(encodeReply(reply, decoded.tag)), this.noise, this.#random));
  }

  /** Undefined when the box does not answer. */
  #replyTo(request: Request): Reply | undefined {
    if (request.type === requestType.list) {
      return { type: "list", boxes: this.boxes.map(({ mac, rssi_dbm }) => ({ mac, rssi_dbm })) };
    }
    const { mac } = request;
    if (this.unreachable.has(mac)) return undefined;
    const box = this.boxes.find((one) => one.mac === mac);
    const refused = (code: number): Reply => ({ type: replyTypes[request.type], mac, result: code }) as Reply;
    if (box === undefined) return refused(result.unknownBox);
    if (!box.radioOn) {
      if (request.type !== requestType.status) return refused(result.radioOff);
      return { type: "status", mac, result: result.radioOff, window: box.nextWindow };
    }
    switch (request.type) {
      case requestType.status:
        return { type: "status", mac, result: result.ok, status: box.status() };
      case requestType.events:
        return { type: "events", mac, result: result.ok, events: box.events(request.after, request.max) };
      case requestType.setClock:
        box.setClock(request.unix_s);
        return { type: "setClock", mac, result: result.ok };
    }
  }
}

const replyTypes = {
  [requestType.status]: "status",
  [requestType.events]: "events",
  [requestType.setClock]: "setClock",
} as const;
