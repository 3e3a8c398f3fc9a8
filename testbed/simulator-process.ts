import { join } from "node:path";
import type { Subprocess } from "bun";
import { linesOf } from "./lines.ts";

/** Where the simulators are that tests start: of a driver, or what is in the air around a Bluetooth controller. */
function programOf(name: string): string {
  return name === "air"
    ? join(import.meta.dir, "air.ts")
    : join(import.meta.dir, "../drivers", name, "simulator/main.ts");
}

/** A simulator as a process of its own, which answers a line for each line. */
export class SimulatorProcess {
  readonly #child: Subprocess<"pipe", "pipe", "inherit">;
  readonly #answers: AsyncGenerator<string>;
  #path = "";
  #adapter: string | undefined;

  private constructor(child: Subprocess<"pipe", "pipe", "inherit">) {
    this.#child = child;
    this.#answers = linesOf(child.stdout);
  }

  /** Starts that of a driver, or `air`, with these options, and waits until it says where it is reached. */
  static async start(name: string, ...options: readonly string[]): Promise<SimulatorProcess> {
    const command = [process.execPath, programOf(name), ...options];
    const simulator = new SimulatorProcess(Bun.spawn(command, { stdin: "pipe", stderr: "inherit" }));
    const { path, adapter } = await simulator.#answer();
    simulator.#path = path;
    simulator.#adapter = adapter;
    return simulator;
  }

  /** The path for the gateway's configuration: the link to its pty, or `tcp://127.0.0.1:…`. */
  get path(): string {
    return this.#path;
  }

  /** The section of a Zigbee stick for the gateway's configuration. */
  get section(): string {
    return `[zigbee]\nport = "${this.#path}"\nadapter = "${this.#adapter}"`;
  }

  /** Its answer to a command: `{ ok: true, … }` or `{ error }`. `main.ts --help` lists the commands. */
  tell(command: object): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    this.#child.stdin.flush();
    return this.#answer();
  }

  /** Closes its input, at which it ends by itself: its exit code. */
  end(): Promise<number> {
    this.#child.stdin.end();
    return this.#child.exited;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async #answer(): Promise<Answer> {
    const { value, done } = await this.#answers.next();
    if (done) throw new Error("the simulator ended");
    return JSON.parse(value);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each command has an answer of its own
export type Answer = Record<string, any>;
