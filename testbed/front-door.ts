import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import type { Subprocess } from "bun";
import { makes } from "../drivers/zigbee/simulator/makes.ts";
import { linesOf } from "./lines.ts";
import { SimulatorProcess } from "./simulator-process.ts";

/** The program as people start it: from a checkout, or `lintel` of the release that LINTEL_TEST_PROGRAM names. */
export const lintel =
  process.env["LINTEL_TEST_PROGRAM"] ?? normalize(join(import.meta.dir, "../scripts/lintel"));

/** The make of the simulated Zigbee sticks of tests: Z-Stack, or what LINTEL_TEST_STICK names. */
export const stickMake = makes.find((make) => make === process.env["LINTEL_TEST_STICK"]) ?? "zstack";

/** MemTotal of a Raspberry Pi with 1 GB and of one with 4 GB: gateways have a runtime for either (scripts/launch.sh). */
const machineMemory_kb = { small: 925_000, large: 3_880_000 } as const;
export type MachineSize = keyof typeof machineMemory_kb;
export const machineSizes = Object.keys(machineMemory_kb) as MachineSize[];

/** The end of a command: its exit code, what it printed and what it said. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

export interface SiteOptions {
  /** The command that starts `lintel`. */
  readonly program?: readonly string[];
  /** Runs a command in a directory to its end; absent: as a process; `lintelHere` for tests of other things than how a command starts. */
  readonly commands?: (words: readonly string[], directory: string) => Promise<Ended>;
  /** A data directory that is there already, and stays. */
  readonly data?: string;
  /** The machine that the programs take theirs for; absent: this one. */
  readonly machine?: MachineSize | undefined;
}

/**
 * A machine with Lintel on it: a data directory, a configuration and an empty home directory for real processes, which are
 * started as people start them, and all removed at the end. Nothing is in their environment but PATH and HOME.
 */
export class Site {
  readonly directory = mkdtempSync(join(tmpdir(), "lintel-site-"));
  readonly data: string;
  readonly config = join(this.directory, "lintel.toml");
  readonly home = join(this.directory, "home");
  readonly #processes: Subprocess[] = [];
  readonly #simulators: SimulatorProcess[] = [];

  /** The command that starts `lintel`. */
  readonly program: readonly string[];

  readonly #machine: MachineSize | undefined;
  readonly #commands: NonNullable<SiteOptions["commands"]>;

  constructor({
    program = [lintel],
    commands = (words) => this.#started(words),
    data,
    machine,
  }: SiteOptions = {}) {
    this.program = program;
    this.#commands = commands;
    this.#machine = machine;
    this.data = data ?? join(this.directory, "data");
    mkdirSync(this.home);
  }

  /** Writes the configuration: the data directory, a free port, and what is given. */
  configure(options: { listen?: string; api?: string; sections?: string; data?: string } = {}): void {
    const { listen = "127.0.0.1:0", api = "", sections = "", data = this.data } = options;
    writeFileSync(this.config, `data = "${data}"\n[api]\nlisten = "${listen}"\n${api}\n${sections}\n`);
  }

  /** Starts `lintel run` and waits until it serves. */
  run(env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
    return this.serve(["run", "--config", this.config, "--json"], env);
  }

  /** Starts `lintel central` at a free port, with these words besides, and waits until it serves. */
  central(...words: readonly string[]): Promise<RunningServer> {
    return this.serve(["central", "--listen", "127.0.0.1", "--port", "0", "--json", ...words]);
  }

  /** Starts a server with these words, `--json` among them, and waits until it serves. */
  async serve(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningServer> {
    const process = this.spawn(words, env);
    const line = await process.line();
    if (line === undefined) throw new Error(`lintel ${words[0]} did not start: ${await process.said()}`);
    return new RunningServer(process, JSON.parse(line));
  }

  /**
   * Starts the simulator of a driver, or `air`, as a process of its own, on a pty that is linked at `<directory>/<name>`. A Zigbee
   * stick is of the make that `stickMake` names, unless the options name one.
   */
  async simulator(name: string, ...options: readonly string[]): Promise<SimulatorProcess> {
    const link = join(this.directory, name);
    const make = name === "zigbee" ? ["--adapter", stickMake] : [];
    const line = ["--transport", "pty", "--link", link];
    const simulator = await SimulatorProcess.start(name, ...make, ...line, ...options);
    this.#simulators.push(simulator);
    return simulator;
  }

  /** Starts `lintel` with these words and returns at once. `env` is what it has besides PATH and HOME. */
  spawn(words: readonly string[], env: Readonly<Record<string, string>> = {}): LintelProcess {
    const child = Bun.spawn([...this.program, ...words], {
      cwd: this.directory,
      env: {
        ...{ PATH: "/usr/bin:/bin", HOME: this.home },
        ...(this.#machine && { LINTEL_MEMORY_KB: String(machineMemory_kb[this.#machine]) }),
        ...env,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#processes.push(child);
    return new LintelProcess(child);
  }

  /** Runs `lintel` with these words to its end. */
  lintel(...words: string[]): Promise<Ended> {
    return this.#commands(words, this.directory);
  }

  async #started(words: readonly string[]): Promise<Ended> {
    const process = this.spawn(words);
    const [out, said, code] = await Promise.all([process.rest(), process.said(), process.exited]);
    return { code, out, said };
  }

  /** Runs `lintel` with these words, `--json` among them, to its good end: what it printed. */
  async answer(...words: string[]) {
    const { code, out, said } = await this.lintel(...words);
    if (code !== 0) throw new Error(`lintel ${words[0]} ended with ${code}: ${said}`);
    return JSON.parse(out);
  }

  /** The text of a new read token, or of what the words ask for, of a store that is made where it is missing. */
  async token(...words: string[]): Promise<string> {
    return (await this.answer("token", "create", "test", "--new", "--json", "--data", this.data, ...words))
      .token;
  }

  /**
   * Waits until every driver of the gateway here hears its device, or those that are named. Asks the socket that `lintel status`
   * asks: the command again and again would keep a core busy.
   */
  async listening(...names: string[]): Promise<void> {
    const unix = join(this.data, "control.sock");
    await eventually(
      async () => {
        const answer = await fetch("http://gateway/status", { unix }).catch(() => undefined);
        const status = (await answer?.json()) as
          | { drivers: readonly { name: string; state: string }[] }
          | undefined;
        const asked = status?.drivers.filter(({ name }) => names.length === 0 || names.includes(name)) ?? [];
        return asked.length > 0 && asked.every(({ state }) => state === "listening") ? true : undefined;
      },
      `listening: ${names.join(", ") || "every driver"}`,
    );
  }

  async remove(): Promise<void> {
    for (const process of this.#processes) process.kill("SIGKILL");
    await Promise.all(this.#processes.map((process) => process.exited));
    await Promise.all(this.#simulators.map((simulator) => simulator.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A child process whose standard output is read line by line. */
export class LintelProcess {
  readonly #child: Subprocess<"ignore", "pipe", "pipe">;
  readonly #lines: AsyncGenerator<string>;
  readonly #said: Promise<string>;
  #saidByNow = "";

  constructor(child: Subprocess<"ignore", "pipe", "pipe">) {
    this.#child = child;
    this.#lines = linesOf(child.stdout);
    this.#said = this.#listen(child.stderr);
  }

  async #listen(stream: ReadableStream<Uint8Array>): Promise<string> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) this.#saidByNow += decoder.decode(chunk, { stream: true });
    return this.#saidByNow;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get exited(): Promise<number> {
    return this.#child.exited;
  }

  /** Seconds of processor that it has taken, with those of its children that it waited for: other programs on the machine change them little. Of one that has ended. */
  get processor_s(): number {
    return Number(this.#child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The next line of standard output; undefined once there is no more. */
  async line(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next();
    return done ? undefined : value;
  }

  /** Whatever else comes on standard output. */
  async rest(): Promise<string> {
    const lines: string[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) lines.push(line);
    return lines.join("\n");
  }

  /** All of standard error; waits for the end. */
  said(): Promise<string> {
    return this.#said;
  }

  /** Standard error until now. */
  get saidByNow(): string {
    return this.#saidByNow;
  }
}

/** A server's message when it is ready; the demo's has more. */
export interface Ready {
  /** Of the API, with its version. */
  readonly url: string;
  readonly dashboard: string;
}

/** A gateway or a central that serves. */
export class RunningServer {
  readonly url: string;

  constructor(
    readonly process: LintelProcess,
    readonly ready: Ready,
  ) {
    this.url = ready.url;
  }

  get origin(): string {
    return new URL(this.url).origin;
  }

  /** Asks the API; the path begins after the version. */
  get(path: string, token: string): Promise<Response> {
    return fetch(path.startsWith("http") ? path : this.url + path, {
      headers: { authorization: `bearer ${token}`, accept: "application/json" },
    });
  }

  /** The records that the API answers. */
  async records<Record>(path: string, token: string): Promise<Record> {
    const response = await this.get(path, token);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record;
  }

  /** Events of an item, newest first, from as many pages as there are. */
  events(item: string, token: string): Promise<{ stamp: number; event: number }[]> {
    return this.all(`/items/wirelesssensors/${item}/events`, token);
  }

  /** Records from a page on, and from all that follow it. */
  async all<Record>(first: string, token: string): Promise<Record[]> {
    const records: Record[] = [];
    let path: string | undefined = first;
    while (path !== undefined) {
      const response: Response = await this.get(path, token);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      records.push(...((await response.json()) as Record[]));
      const next: string | undefined = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      path = next === undefined ? undefined : new URL(next, response.url).href;
    }
    return records;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
    this.process.kill(signal);
    return await this.process.exited;
  }
}

/** Asks again and again, `tries_max` times at most, until there is an answer. */
export async function eventually<Answer>(
  ask: () => Promise<Answer | undefined> | Answer | undefined,
  what: string,
  { tries_max = 2_400, pause_ms = 25 } = {},
): Promise<Answer> {
  for (let tries = 0; tries < tries_max; tries++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await Bun.sleep(pause_ms);
  }
  throw new Error(`it never came: ${what}`);
}

/** How `eventually` asks where each time a command is started: forty a second would keep a core busy. */
export const byCommand = { tries_max: 240, pause_ms: 250 } as const;

/** All that a command has said but how much it will receive, and how far it is: a download tells that once it has taken some seconds. */
export function withoutProgress(said: string): string {
  return said.replace(/^(To receive: |\s*\d+ of \d+ series ).*$\n?/gm, "").trim();
}
