import type { Command } from "commander";
import { drivers } from "../../drivers/index.ts";
import { type Demo, type DemoTeller, startDemo } from "../demo/demo.ts";
import { flat, meaningOf } from "../demo/flat.ts";
import { OperatorError } from "../errors.ts";
import type { Reading } from "../reading.ts";
import { type CommandContext, helpAfter, wholeNumber } from "./command.ts";
import { serve, serverLog } from "./serving.ts";
import type { Terminal } from "./terminal.ts";

/** `lintel demo`: the whole job with nothing to plug in. */
export function define(command: Command, context: CommandContext): void {
  command
    .option("--port <n>", "port of the API on this machine; 0 takes a free one", wholeNumber(0, 65_535), 8080)
    .option(
      "--central-port <n>",
      "port of the central copy (not part of this version: taken and not used)",
      wholeNumber(0, 65_535),
      8090,
    )
    .option("--data <dir>", "keep the data in this directory (default: a fresh one, removed at the end)")
    .option("--days <n>", "days of history to begin with", wholeNumber(0, 365), 30)
    .option("--json", "print one line of JSON when ready: url, dashboard, token, admin_token")
    .addHelpText(
      "after",
      helpAfter({
        examples: [
          ["lintel demo", "then paste the curl line that it prints"],
          ["lintel demo --port 0 --days 365 --data demo", "a year, on a free port, kept"],
        ],
        notes: [
          "Real drivers and libraries, a simulated radio: a Zigbee stick on a pseudo-terminal, with a dozen",
          "sensors around it that join, and somebody walking through the flat.",
        ],
        exits: { 0: "stopped by a signal", 1: "ended by a fault of the program" },
      }),
    )
    .action((options: DemoOptions) => demo(options, context));
}

interface DemoOptions {
  readonly port: number;
  readonly centralPort: number;
  readonly data?: string;
  readonly days: number;
  readonly json?: boolean;
}

async function demo(options: DemoOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  requireFree(options.port);
  const log = serverLog(context, "warn");
  const stage = new Stage(terminal, options.json === true);
  stage.opening(options.days);
  let playing: Promise<void> | undefined;
  await serve({
    context,
    log,
    start: async (onFailure) => {
      const started = await startDemo({
        clock,
        log,
        drivers: drivers.filter(({ name }) => name === "zigbee"),
        teller: stage,
        days: options.days,
        port: options.port,
        ...(options.data === undefined ? {} : { directory: options.data }),
        onFailure,
      });
      stage.ready(started);
      playing = started.play();
      return {
        gateway: started.gateway,
        stop: async () => {
          await started.stop();
          await playing;
        },
      };
    },
  });
}

/** Says before any work that the port is taken: the API would say it in the words of a configuration. */
function requireFree(port: number): void {
  if (port === 0) return;
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => {} } }).stop(true);
  } catch (error) {
    throw new OperatorError(
      `cannot listen on port ${port}: another program has it, or it needs more rights`,
      "give another with --port, 0 takes a free one",
      { cause: error },
    );
  }
}

/** What the audience sees; with --json one line and nothing else. */
class Stage implements DemoTeller {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  #joined = 0;
  #second = 0;
  #shown = 0;
  #unshown = 0;

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  opening(days: number): void {
    const { bold, dim } = this.#terminal.colours;
    this.#print(bold(`Lintel demo: a flat with ${flat.length} sensors and somebody living in it.`));
    this.#print(dim("Simulated is only the radio; drivers, database and API are the real ones."));
    this.#print(dim("The central copy is not part of this version."));
    if (days > 0) this.#print(`Writing ${days} days of history …`);
  }

  readonly history = (done: number, days: number): void => {
    const width = 30;
    const filled = days === 0 ? width : Math.round((done / days) * width);
    const bar = `${"█".repeat(filled)}${"░".repeat(width - filled)} ${done} of ${days} days`;
    this.#terminal.progress(done === days ? "" : bar);
  };

  ready({ gateway, token, admin_token }: Demo): void {
    const { url, dashboard } = gateway;
    if (this.#json) {
      this.#terminal.printJson({ url, dashboard, token, admin_token });
      return;
    }
    const { bold, cyan, dim } = this.#terminal.colours;
    const ask = (path: string) =>
      cyan(`  curl -H "Authorization: bearer ${token}" -H "Accept: application/json" "${url}${path}"`);
    this.#print("");
    this.#print(bold(`Serving ${url}`), "");
    this.#print("Ask it, in another terminal:");
    this.#print(ask("/items/wirelesssensors/kitchen-wall/events?limit=5"));
    this.#print(ask("/inventory/wirelesssensors"));
    this.#print("", bold("Live"), dim("  (each line is on disk and in the API; Ctrl-C ends the demo)"));
  }

  joined(name: string): void {
    this.#joined++;
    const { green, dim } = this.#terminal.colours;
    this.#print(
      `  ${green("✓")} ${name} joined the radio network ${dim(`(${this.#joined} of ${flat.length})`)}`,
    );
  }

  live({ device, stamp_ms, values }: Reading): void {
    const sensor = flat.find(({ address }) => address === device.address);
    const second = Math.floor(stamp_ms / 1000);
    if (second !== this.#second) {
      if (this.#unshown > 0) this.#print(this.#terminal.colours.dim(`  … and ${this.#unshown} more`));
      [this.#second, this.#shown, this.#unshown] = [second, 0, 0];
    }
    if (this.#shown === lines_per_second_max) {
      this.#unshown++;
      return;
    }
    this.#shown++;
    const event = Number(values["event"]);
    const { dim, yellow } = this.#terminal.colours;
    const time = new Date(stamp_ms).toTimeString().slice(0, 8);
    const name = (sensor?.name ?? device.address).padEnd(16);
    const meaning = meaningOf(sensor?.subtype ?? device.subtype ?? "", event);
    const paint = (event & 3) === 0 ? dim : yellow;
    this.#print(`  ${dim(time)}  ${name} ${paint(meaning.padEnd(16))} ${dim(`event ${event}`)}`);
  }

  #print(...lines: string[]): void {
    if (!this.#json) for (const line of lines) this.#terminal.print(line);
  }
}

const lines_per_second_max = 8;
