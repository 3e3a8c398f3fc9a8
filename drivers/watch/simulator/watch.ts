import { LineSimulator } from "../../wire/line-simulator.ts";
import { LineReader } from "../../wire/lines.ts";
import { openTransport, type Transport, type TransportKind } from "../../wire/simulated-line.ts";
import { type Block, encodeBlock } from "../health-log.ts";

/** A Bangle.js as its Nordic UART speaks: lines of JavaScript in, messages out. What carries the bytes is not its matter. */
export class SimulatedWatch {
  readonly blocks: Block[] = [];
  battery_percent = 80;
  /** The time that the gateway last set its clock to, unix seconds. */
  time_s: number | undefined;
  /** Asked for blocks from these times on. */
  readonly fetches: number[] = [];
  /** May put the lines of an answer in another order, spoil them or leave some out. */
  onAnswer: (lines: string[]) => string[] = (lines) => lines;
  #send: (text: string) => void = () => {};
  readonly #lines = new LineReader({
    line_max_bytes: 4_096,
    onLine: (line) => this.#obey(line),
    onOverlong: () => {},
  });

  /** Ties the watch to what carries its bytes: `send` gets text for the gateway. */
  connect(send: (text: string) => void): void {
    this.#send = send;
  }

  receive(bytes: Uint8Array): void {
    this.#lines.push(bytes);
  }

  /** A value of this moment, as a watch sends them while somebody looks. */
  live(steps: number): void {
    this.#send(`${JSON.stringify({ t: "act", rt: 1, stp: steps, hrm: 70, mov: 12 })}\n`);
  }

  #obey(line: string): void {
    const set = /setTime\((\d+(?:\.\d+)?)\)/.exec(line);
    if (set !== null) {
      this.time_s = Number(set[1]);
      this.#send(`\r\n${JSON.stringify({ t: "status", bat: this.battery_percent, chg: 0 })}\r\n`);
    }
    const asked = /GB\((\{.*\})\)/.exec(line);
    if (asked !== null) this.#answer(JSON.parse(asked[1] ?? "{}"));
  }

  #answer({ t, ts }: { t?: string; ts?: number }): void {
    if (t !== "actfetch" || ts === undefined) return;
    this.fetches.push(ts);
    const blocks = this.blocks.filter(({ end_ms }) => end_ms >= ts);
    const lines = [
      '{"t":"actfetch","state":"start"}',
      ...blocks.map((block) => encodeBlock(block, { hrm: 60 + (block.steps % 40), mov: block.steps })),
      JSON.stringify({ t: "actfetch", state: "end", count: blocks.length }),
    ];
    for (const line of this.onAnswer(lines)) this.#send(`${line}\r\n`);
  }
}

/** A simulated watch at the end of a wire. */
export class WatchSimulator extends LineSimulator {
  readonly watch: SimulatedWatch;

  private constructor(watch: SimulatedWatch, transport: Transport) {
    super(transport);
    this.watch = watch;
    watch.connect((text) => transport.write(new TextEncoder().encode(text)));
    transport.onData = (chunk) => watch.receive(chunk);
  }

  static async listen(options: {
    transport: TransportKind | Transport;
    port?: number;
    link?: string;
    watch?: SimulatedWatch;
  }): Promise<WatchSimulator> {
    return new WatchSimulator(options.watch ?? new SimulatedWatch(), await openTransport(options));
  }
}

/** A simulated Bluetooth device, as far as a UART needs it. */
export interface Notifying {
  notify(service: string, uuid: string, value: Uint8Array): boolean;
}

/**
 * A watch's Nordic UART as services of a simulated Bluetooth device; `device` is asked for when there is something to
 * send. What nobody has subscribed to is lost, as on the real one.
 */
export function nordicUart(watch: SimulatedWatch, device: () => Notifying | undefined) {
  watch.connect((text) => {
    const bytes = new TextEncoder().encode(text);
    for (let from = 0; from < bytes.length; from += piece_bytes) {
      device()?.notify(service, notify, bytes.subarray(from, from + piece_bytes));
    }
  });
  return [
    {
      uuid: service,
      characteristics: [
        {
          uuid: write,
          properties: ["write", "writeWithoutResponse"],
          onWrite: (value: Uint8Array) => watch.receive(value),
        },
        { uuid: notify, properties: ["notify"] },
      ],
    },
  ] as const;
}

const service = "6e400001-b5a3-f393-e0a9-e50e24dcca9e";
const write = "6e400002-b5a3-f393-e0a9-e50e24dcca9e";
const notify = "6e400003-b5a3-f393-e0a9-e50e24dcca9e";

/** Bytes of a notification on the smallest connection. */
const piece_bytes = 20;
