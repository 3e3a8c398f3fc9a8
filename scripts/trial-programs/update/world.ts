import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { storedEvents } from "../../../testbed/sqlite/stored-readings.ts";
import { wentBackReport } from "../../../testbed/updates/went-back.ts";
import { until } from "../boot/box.ts";
import { run } from "../boot/root.ts";

const port = { central: 8090, releases: 8099 } as const;
const start_ms_max = 60_000;

/** Everything that a box reaches over its network, and that no power cut of the box touches: central, and a web server with releases. */
export class World {
  /** The network namespace that the box is in too. */
  readonly network: string;
  /** The folder that the web server serves. */
  readonly releases: string;
  readonly #lintel: string;
  readonly #checkout: string;
  readonly #data: string;
  readonly #holder: Subprocess;
  readonly #processes: Subprocess[] = [];
  readonly #tokens = new Map<number, string>();

  constructor(options: { checkout: string; directory: string }) {
    this.#checkout = options.checkout;
    this.#lintel = join(options.checkout, "scripts/lintel");
    this.releases = join(options.directory, "served");
    this.#data = join(options.directory, "central");
    mkdirSync(this.releases);
    this.#holder = Bun.spawn(["unshare", "--net", "sleep", "infinity"], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    this.network = `/proc/${this.#holder.pid}/ns/net`;
  }

  async start(): Promise<void> {
    const own = (await Bun.$`readlink /proc/self/ns/net`.text()).trim();
    await until("there is a network", start_ms_max, async () => {
      const theirs = (await Bun.$`readlink ${this.network}`.nothrow().quiet().text()).trim();
      return theirs !== "" && theirs !== own ? true : undefined;
    });
    run(["nsenter", `--net=${this.network}`, "ip", "link", "set", "lo", "up"]);
    const web = join(import.meta.dir, "web.ts");
    this.#within(process.execPath, web, this.releases, String(port.releases));
    const central = [
      "central",
      "--data",
      this.#data,
      "--listen",
      "127.0.0.1",
      "--port",
      String(port.central),
    ];
    this.#within(this.#lintel, ...central);
    await until("central is there", start_ms_max, () => {
      const { exitCode } = Bun.spawnSync([
        "nsenter",
        `--net=${this.network}`,
        "curl",
        "--silent",
        `http://127.0.0.1:${port.central}/`,
      ]);
      return exitCode === 0 ? true : undefined;
    });
  }

  #within(...words: readonly string[]): void {
    this.#processes.push(
      Bun.spawn(["nsenter", `--net=${this.network}`, ...words], { stdio: ["ignore", "ignore", "ignore"] }),
    );
  }

  readonly centralUrl = `http://127.0.0.1:${port.central}`;
  readonly manifestUrl = `http://127.0.0.1:${port.releases}`;

  /** The sync token of a home. */
  syncToken(home: number): string {
    const known = this.#tokens.get(home);
    if (known !== undefined) return known;
    const words = ["token", "create", `box-${home}`, "--scope", "sync", "--home", String(home)];
    const out = run([this.#lintel, ...words, "--data", this.#data, "--json"], { cwd: this.#checkout });
    const { token } = JSON.parse(out);
    this.#tokens.set(home, token);
    return token;
  }

  /** A home, as central knows it. */
  // biome-ignore lint/suspicious/noExplicitAny: as JSON
  fleet(home: number): any {
    const out = run([this.#lintel, "fleet", "--all", "--json", "--data", this.#data], {
      cwd: this.#checkout,
    });
    return JSON.parse(out).find((one: { homeid: number }) => one.homeid === home);
  }

  /** The box of another home reports that it went back from a release. */
  reportBack(home: number, release: { version: string; sha256: string }): void {
    const curl = ["nsenter", `--net=${this.network}`, "curl", "--silent", "--show-error", "--fail-with-body"];
    const headers = [`authorization: bearer ${this.syncToken(home)}`, "content-type: application/json"];
    run([
      ...[...curl, ...headers.flatMap((header) => ["--header", header])],
      ...["--data", JSON.stringify(wentBackReport(home, release)), `${this.centralUrl}/sync/v1/report`],
    ]);
  }

  /** Every event at central, in no order: one that is there twice is in it twice. */
  events(): number[] {
    return eventsIn(join(this.#data, "lintel.db"), 0).map(([, event]) => event);
  }

  close(): void {
    for (const process of [...this.#processes, this.#holder]) process.kill("SIGKILL");
  }
}

/** Events of sensors in a database that somebody writes, with numbers above `after`. */
export function eventsIn(path: string, after: number): [seq: number, event: number][] {
  const database = new Database(path, { readonly: true });
  try {
    database.run("PRAGMA busy_timeout = 5000");
    return storedEvents(database, "wirelesssensor_events")
      .filter(({ seq }) => seq > after)
      .map(({ seq, event }): [number, number] => [seq, event])
      .sort(([one], [other]) => one - other);
  } finally {
    database.close();
  }
}
