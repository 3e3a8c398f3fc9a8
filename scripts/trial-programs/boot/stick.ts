import { type Box, until } from "./box.ts";

const answer_ms_max = 20_000;
export const stickPath = "/dev/ttyUSB0";
/** Where the box sees this checkout and the Bun that runs this: the simulator is no part of the package. */
export const checkoutPath = "/mnt/checkout";
export const bunPath = "/mnt/bun/bun";
const ieee = "00:0d:6f:00:0a:0b:0c:0d";

/**
 * A simulated Zigbee stick with a sensor or two, on a pty of the box that has the name of a USB serial port. As a real one it
 * keeps its network while the box is off. DevicePolicy=closed, which the gateway's unit has, leaves ptys open.
 */
export class SimulatedStick {
  readonly #box: Box;
  readonly #path: string;
  readonly #adapter: string;
  readonly #state: string;
  #process: Bun.Subprocess<"pipe", "pipe", "pipe"> | undefined;
  #lines: AsyncIterator<string> | undefined;

  constructor(box: Box, { path = stickPath, adapter = "zstack" } = {}) {
    this.#box = box;
    this.#path = path;
    this.#adapter = adapter;
    this.#state = `/root/stick-${adapter}.json`;
  }

  async plugIn(): Promise<void> {
    const saved = `$(test -f ${this.#state} && echo --state ${this.#state})`;
    const simulator = `${checkoutPath}/drivers/zigbee/simulator/main.ts --transport pty`;
    await this.#box.must(`mkdir -p $(dirname ${this.#path})`, { as: "root" });
    const line = `exec ${bunPath} ${simulator} --adapter ${this.#adapter} --link ${this.#path} ${saved}`;
    this.#process = this.#box.start(line, { as: "root" });
    this.#lines = linesOf(this.#process.stdout);
    await this.#answer();
    // As udev gives a serial port to its group.
    const port = `$(readlink ${this.#path})`;
    await this.#box.must(`chgrp dialout ${port} && chmod 660 ${port}`, { as: "root" });
  }

  /** Before the box goes off. */
  async unplug(): Promise<void> {
    await this.keep();
    void this.#process?.stdin.end();
    await this.#process?.exited;
  }

  /** Keeps its network, and what has joined it, for the next time. */
  async keep(): Promise<void> {
    const { state: kept } = await this.tell({ do: "export" });
    await this.#box.write(this.#state, JSON.stringify(kept));
  }

  /** Somebody puts a sensor into its pairing mode, until it is let in. */
  async pairSensor(address = ieee): Promise<void> {
    await this.tell({ do: "add", model: "3041", ieee: address });
    await until("the sensor is let in", answer_ms_max, async () => {
      const { joined } = await this.tell({ do: "join", ieee: address });
      return joined === true ? true : undefined;
    });
  }

  /** A sensor says a number. Whether that was written to an open port. */
  async say(status: number, address = ieee): Promise<boolean> {
    return (await this.tell({ do: "notify", ieee: address, status }))["heard"] === true;
  }

  /** Somebody walks by. Whether the message was written to an open port. */
  async walkBy(): Promise<boolean> {
    return (await this.tell({ do: "alarm", ieee }))["heard"] === true;
  }

  async tell(command: object): Promise<Readonly<Record<string, unknown>>> {
    this.#process?.stdin.write(`${JSON.stringify(command)}\n`);
    void this.#process?.stdin.flush();
    const answer = await this.#answer();
    if (answer["error"] !== undefined) throw new Error(`the simulated stick: ${answer["error"]}`);
    return answer;
  }

  async #answer(): Promise<Readonly<Record<string, unknown>>> {
    const line = await this.#lines?.next();
    if (line === undefined || line.done) {
      const said = this.#process === undefined ? "" : await new Response(this.#process.stderr).text();
      throw new Error(`the simulated stick has ended: ${said}`);
    }
    return JSON.parse(line.value);
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
