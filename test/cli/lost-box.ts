import { Database } from "bun:sqlite";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LintelProcess, RunningServer, Site, type SiteOptions } from "../../testbed/front-door.ts";
import { storedEvents } from "../../testbed/sqlite/stored-readings.ts";

const boxProgram = join(import.meta.dir, "box-process.ts");

/** A central server as a process. */
export class CentralProcess {
  readonly #site: Site;
  readonly data: string;
  #process: LintelProcess | undefined;
  #served: RunningServer | undefined;
  #readToken = "";

  constructor(site: Site) {
    this.#site = site;
    this.data = join(site.directory, "central");
  }

  async start(): Promise<void> {
    const process = this.#site.spawn(["central", "--data", this.data, "--port", "0", "--json"]);
    const line = await process.line();
    if (line === undefined) throw new Error(`central did not start: ${await process.said()}`);
    this.#process = process;
    this.#served = new RunningServer(process, JSON.parse(line));
    this.#readToken = await this.token();
  }

  get started(): boolean {
    return this.#served !== undefined;
  }

  get origin(): string {
    return new URL(this.#served?.url ?? "").origin;
  }

  /** The text of a new token, to read with unless the words say otherwise. */
  async token(...words: string[]): Promise<string> {
    const { out } = await ran(this.#site, [
      "token",
      "create",
      "test",
      "--json",
      "--data",
      this.data,
      ...words,
    ]);
    return JSON.parse(out).token;
  }

  /** An answer of the API; the path begins after the version. */
  async get<Body>(path: string): Promise<Body> {
    const response = await this.#served?.get(path, this.#readToken);
    if (response?.ok !== true) throw new Error(`${path}: ${response?.status} ${await response?.text()}`);
    return (await response.json()) as Body;
  }

  /** Every reading of every sensor by its event, in order of number. */
  async events(): Promise<number[]> {
    const items = await this.get<{ itemname: string }[]>("/inventory/wirelesssensors");
    const events = await Promise.all(
      items.map(({ itemname }) => this.#served?.events(itemname, this.#readToken)),
    );
    return events.flatMap((of) => of?.map(({ event }) => event) ?? []).sort((one, other) => one - other);
  }

  async import(document: object): Promise<void> {
    const file = join(this.#site.directory, "programme.json");
    writeFileSync(file, JSON.stringify(document));
    await ran(this.#site, ["import", file, "--data", this.data]);
  }

  async stop(): Promise<number | undefined> {
    this.#process?.kill("SIGTERM");
    return await this.#process?.exited;
  }
}

/** A box in a home, and the central that it uploads to: real processes, all removed at the end. */
export class LostBox implements AsyncDisposable {
  readonly site: Site;
  readonly home: number;
  readonly central: CentralProcess;
  readonly tokenFile: string;
  readonly #boxes = new Site({ program: [process.execPath, boxProgram] });
  readonly #ownCentral: boolean;

  /**
   * @param options.central one that runs already; absent: it has one of its own
   * @param options.commands as of a `Site`
   */
  constructor({
    home = 12,
    central,
    ...site
  }: { home?: number; central?: CentralProcess } & Pick<SiteOptions, "commands"> = {}) {
    this.home = home;
    this.site = new Site(site);
    this.tokenFile = join(this.site.directory, "upload-token");
    this.central = central ?? new CentralProcess(this.site);
    this.#ownCentral = central === undefined;
  }

  /** Makes what the box needs to upload. */
  async start(): Promise<void> {
    if (this.#ownCentral) await this.central.start();
    const token = await this.central.token("--scope", "sync", "--home", String(this.home));
    writeFileSync(this.tokenFile, token, { mode: 0o600 });
    this.configure();
  }

  /** Writes the configuration, with sections of drivers, and of central where it has started. */
  configure(drivers = ""): void {
    const home = `[home]\nid = ${this.home}\ntimezone = "Europe/London"`;
    const upload = () => `[upload]\nurl = "${this.central.origin}"\ntoken_file = "${this.tokenFile}"`;
    this.site.configure({ sections: [home, this.central.started ? upload() : "", drivers].join("\n") });
  }

  /** Runs a box that takes in these readings, and pulls its plug. */
  async live(first: number, last: number): Promise<void> {
    const box = this.#boxes.spawn([this.site.data, String(this.home), String(first), String(last)]);
    if ((await box.line()) !== "done") throw new Error(`the box failed: ${await box.said()}`);
    box.kill("SIGKILL");
    await box.exited;
  }

  async upload(): Promise<{ sent: number; confirmed_seq: number; differing_days: number }> {
    return JSON.parse((await this.run("upload", "--config", this.site.config, "--json")).out);
  }

  /** Runs a command that must go well. */
  run(...words: string[]): Promise<{ out: string; said: string }> {
    return ran(this.site, words);
  }

  /** The card is gone. */
  lose(): void {
    rmSync(this.site.data, { recursive: true });
  }

  /** The events on the box's card. */
  eventsHere(): number[] {
    using database = new Database(join(this.site.data, "lintel.db"), { readonly: true });
    return storedEvents(database, "wirelesssensor_events")
      .map(({ event }) => event)
      .sort((one, other) => one - other);
  }

  /** How far the box has read the buffer of a device. */
  cursorHere(): unknown {
    return this.#query("SELECT value FROM cursors WHERE name = 'pillbox events'")[0]?.[0];
  }

  /** The counter below which the box takes what its device says for a repetition. */
  counterHere(): unknown {
    return this.#query("SELECT identity ->> '$.counter' FROM identities")[0]?.[0];
  }

  exists(): boolean {
    return existsSync(join(this.site.data, "lintel.db"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boxes.remove();
    await this.site.remove();
  }

  #query(sql: string): unknown[][] {
    const database = new Database(join(this.site.data, "lintel.db"), { readonly: true });
    try {
      return database.query(sql).values() as unknown[][];
    } finally {
      database.close();
    }
  }
}

async function ran(site: Site, words: readonly string[]): Promise<{ out: string; said: string }> {
  const { code, out, said } = await site.lintel(...words);
  if (code !== 0) throw new Error(`lintel ${words[0]} ended with ${code}: ${said}`);
  return { out, said };
}

export function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
