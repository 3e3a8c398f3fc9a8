import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Command } from "commander";
import { drivers } from "../../drivers/index.ts";
import { type Clock, clockQuality } from "../base/clock.ts";
import { type Demo, type DemoTeller, startDemo } from "../demo/demo.ts";
import { sensors, unpacked } from "../demo/devices.ts";
import { ReadingTexts } from "../demo/reading-text.ts";
import type { Reading } from "../domain/reading.ts";
import { requireListenable } from "../web/server/listening.ts";
import { addHelp, type CommandContext, listenAddress, wholeNumber } from "./command.ts";
import { drawBar } from "./progress.ts";
import { serve, serverLog } from "./serving.ts";
import { opensHereAlone, originInNetwork, printQrCode, signInLink } from "./sign-in-link.ts";
import type { Terminal } from "./terminal.ts";

/** `lintel demo`: the whole job with nothing to plug in. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel demo": "then open the link, or paste the curl line, that it prints",
      "lintel demo --listen 0.0.0.0": "for a phone too, which reads the QR code of the link",
      "lintel demo --port 0 --days 365 --data demo": "a year, on a free port, kept",
    },
    notes: [
      "Real drivers and libraries, simulated radios: a Zigbee stick, a bridge of pill boxes and a Bluetooth",
      "controller on pseudo-terminals. A dozen sensors join, somebody walks through the flat, takes her",
      "pills, steps on the scale, and wears a watch. Every 15 seconds it uploads to a central server, which",
      "three more homes have uploaded to. One sensor is broken, and five wait to be let in.",
    ],
    exits: { 0: "stopped by a signal", 1: "ended by a fault of the program" },
  });
  command
    .option("--port <n>", "port of the API on this machine; 0 takes a free one", wholeNumber(0, 65_535), 8080)
    .option(
      "--central-port <n>",
      "port of the central copy on this machine; 0 takes a free one",
      wholeNumber(0, 65_535),
      8090,
    )
    .option(
      "--listen <address>",
      "address of this machine that both listen on, by plain HTTP",
      listenAddress,
      "127.0.0.1",
    )
    .option("--data <dir>", "keep the data in this directory (default: a fresh one, removed at the end)")
    .option("--days <n>", "days of history to begin with", wholeNumber(0, 365), 30)
    .option("--json", "print one line of JSON when ready: url, dashboard, token, central_url, admin_token")
    .action((options: DemoOptions) => demo(options, context));
}

interface DemoOptions {
  readonly listen: string;
  readonly port: number;
  readonly centralPort: number;
  readonly data?: string;
  readonly days: number;
  readonly json?: boolean;
}

async function demo(options: DemoOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const clock = believed(context.clock);
  await requireFree(options.listen, options.port, "--port");
  await requireFree(options.listen, options.centralPort, "--central-port");
  const log = serverLog(context, "warn");
  const stage = new Stage({ terminal, clock, json: options.json === true });
  let playing: Promise<void> | undefined;
  await serve({
    context: { ...context, clock },
    log,
    isStray: (fault) => drivers.some((driver) => driver.isStray?.(fault) === true),
    start: async (onFailure) => {
      stage.opening(options.days);
      const started = await startDemo({
        clock,
        log,
        drivers,
        teller: stage,
        days: options.days,
        hostname: options.listen,
        port: options.port,
        centralPort: options.centralPort,
        directory: options.data,
        onFailure,
      });
      await stage.ready(started, options.listen);
      playing = started.play();
      const { gateway } = started;
      return {
        url: gateway.url,
        alive: () => gateway.alive(),
        stop: async () => {
          await started.stop();
          await playing;
        },
      };
    },
  });
}

/** A clock that is taken for right: readings of the demo are made up, and should be served also where nobody set the time. */
function believed(clock: Clock): Clock {
  return {
    boot: clock.boot,
    now: () => ({ ...clock.now(), quality: clockQuality.synchronised }),
    after: (delay_ms, action) => clock.after(delay_ms, action),
  };
}

/** Reports a port that is taken before any work: the API would name the setting of a configuration. */
async function requireFree(hostname: string, port: number, option: string): Promise<void> {
  const settings = { address: "--listen", port: option, certificate: "", key: "" };
  await requireListenable({ hostname, port, settings });
}

/** The demo's output on the terminal; with --json one line and nothing else. */
class Stage implements DemoTeller {
  readonly #terminal: Terminal;
  readonly #clock: Clock;
  readonly #json: boolean;
  readonly #texts = new ReadingTexts();
  #joined = 0;
  #second = 0;
  #shown = 0;
  #unshown = 0;

  constructor({ terminal, clock, json }: { terminal: Terminal; clock: Clock; json: boolean }) {
    this.#terminal = terminal;
    this.#clock = clock;
    this.#json = json;
  }

  opening(days: number): void {
    const { bold, dim } = this.#terminal.colours;
    this.#print(
      bold(`Lintel demo: a flat with ${sensors.length} sensors, two pill boxes, a scale and a watch,`),
    );
    this.#print(bold("and somebody living in it."));
    this.#print(
      dim("Simulated are only the devices and their radios; drivers, database and API are the real ones."),
    );
    this.#print(dim("It uploads to a central server, here on the same machine, every 15 seconds."));
    if (days > 0) this.#print(`Writing ${days} days of history …`);
  }

  readonly history = (done: number, days: number): void => {
    if (done === days) this.#terminal.progress("");
    else drawBar(this.#terminal, { done, total: days, words: `${done} of ${days} days` });
  };

  async ready({ gateway, directory, token, central_url, admin_token }: Demo, listen: string): Promise<void> {
    const { url, dashboard } = gateway;
    if (this.#json) {
      this.#terminal.printJson({ url, dashboard, token, central_url, admin_token });
      return;
    }
    const { bold, cyan, dim } = this.#terminal.colours;
    const ask = (path: string) =>
      cyan(`  curl -H "Authorization: bearer ${token}" -H "Accept: application/json" "${url}${path}"`);
    this.#print("", bold(`Serving ${url}`), bold(`and the central copy ${central_url}`), "");
    const linkTo = (at: string) => signInLink(originInNetwork(at, listen), admin_token);
    const [home, central] = [linkTo(url), linkTo(central_url)];
    const who = opensHereAlone(home) ? "in a browser on this machine" : "in a browser or with a phone";
    this.#print(`Look at the home, ${who}:`, cyan(`  ${home}`));
    await printQrCode(this.#terminal, home, rows_below_code);
    this.#print("and at the programme's four homes, by its central copy:", cyan(`  ${central}`), "");
    const fetchAll = `fetch --url ${new URL(url).origin} --token ${token} --output demo-data`;
    this.#print(
      `${unpacked.length} new sensors wait to join. Let them join at /walk of the home, or by`,
      cyan(`  ${launcher()} pair --data ${directory}`),
      "",
      "Ask it, in another terminal:",
      ask("/items/wirelesssensors/kitchen-wall/events?limit=5"),
      ask("/items/pillboxes/pillbox-evening/events?limit=5"),
      ask("/items/scales/scale-bathroom/weights?limit=5"),
      ask("/items/watches/watch-1/epochs?limit=5"),
      "",
      "or take all of it as files that explain themselves:",
      cyan(`  ${launcher()} ${fetchAll}`),
      `What there is to ask: ${url}/docs`,
      `R, Python and TypeScript: docs/quickstart, with LINTEL_URL=${url} and LINTEL_TOKEN=${token}`,
      "",
      bold("Live"),
      dim("  (each line is on disk and in the API; Ctrl-C ends the demo)"),
    );
  }

  joined(name: string): void {
    this.#joined++;
    const { green, dim } = this.#terminal.colours;
    this.#print(
      `  ${green("✓")} ${name} joined the radio network ${dim(`(${this.#joined} of ${sensors.length})`)}`,
    );
  }

  live(reading: Reading): void {
    // Also for a reading that is not shown: the text of the next one depends on it.
    const { name, text, detail, quiet } = this.#texts.of(reading);
    const now_ms = this.#clock.now().unix_ms;
    if (!this.#mayShow(Math.floor(now_ms / 1000))) return;
    const { dim, yellow } = this.#terminal.colours;
    const { stamp_ms } = reading;
    const time = new Date(stamp_ms).toTimeString().slice(0, 8);
    const kept =
      now_ms - stamp_ms > buffered_least_ms ? `, from its memory${dayBefore(stamp_ms, now_ms)}` : "";
    const paint = quiet ? dim : yellow;
    const told = `${detail}${kept}`.replace(/^, /, "");
    this.#print(`  ${dim(time)}  ${name.padEnd(16)} ${paint(text.padEnd(24))} ${dim(told)}`.trimEnd());
  }

  uploaded(sent: number): void {
    if (sent === 0) return;
    const { cyan, dim } = this.#terminal.colours;
    const time = new Date(this.#clock.now().unix_ms).toTimeString().slice(0, 8);
    this.#print(`  ${dim(time)}  ${cyan(`↑ ${sent} readings are at central too`)}`);
  }

  /** Whether this second has room for one more line. Lines without room are counted, and the next second shows the count. */
  #mayShow(second: number): boolean {
    if (second !== this.#second) {
      if (this.#unshown > 0) this.#print(this.#terminal.colours.dim(`  … and ${this.#unshown} more`));
      [this.#second, this.#shown, this.#unshown] = [second, 0, 0];
    }
    if (this.#shown === lines_per_second_max) {
      this.#unshown++;
      return false;
    }
    this.#shown++;
    return true;
  }

  #print(...lines: string[]): void {
    if (!this.#json) for (const line of lines) this.#terminal.print(line);
  }
}

/** The command by which this program was started, as it is typed here. */
function launcher(): string {
  const script = join(import.meta.dir, "../../scripts/lintel");
  return existsSync(script)
    ? `../commands/${relative(process.cwd(), script)}`.replace("./../", "../")
    : "lintel";
}

const lines_per_second_max = 8;
/** Lines of the terminal below the code: the other link, how to pair, the five to paste, most of them folded, where more is to be found, and the first that is live. */
const rows_below_code = 30;
/** Older readings come from the memory of a device. */
const buffered_least_ms = 60_000;

function dayBefore(stamp_ms: number, now_ms: number): string {
  return new Date(stamp_ms).getDate() === new Date(now_ms).getDate() ? "" : " of yesterday";
}
