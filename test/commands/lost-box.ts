import { Database } from "bun:sqlite";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LintelProcess, RunningGateway, Site } from "../gateway/processes.ts";

const boxProgram = join(import.meta.dir, "box-process.ts");

/** A box in home 12 and the central that it uploads to: real processes, all removed at the end. */
export class LostBox {
  readonly site = new Site();
  readonly #boxes = new Site([process.execPath, boxProgram]);
  readonly centralData = join(this.site.directory, "central");
  readonly tokenFile = join(this.site.directory, "upload-token");
  #central: { readonly process: LintelProcess; readonly served: RunningGateway } | undefined;
  #readToken = "";

  /** Starts central, and makes what the box needs to upload to it. */
  async start(): Promise<void> {
    const process = this.site.spawn(["central", "--data", this.centralData, "--port", "0", "--json"]);
    const line = await process.line();
    if (line === undefined) throw new Error(`central did not start: ${await process.said()}`);
    this.#central = { process, served: new RunningGateway(process, JSON.parse(line)) };
    writeFileSync(this.tokenFile, await this.#token("--scope", "sync", "--home", "12"), { mode: 0o600 });
    this.#readToken = await this.#token();
    this.site.configure({
      sections: `[home]\nid = 12\ntimezone = "Europe/London"\n[upload]\nurl = "${this.origin}"\ntoken_file = "${this.tokenFile}"`,
    });
  }

  get origin(): string {
    return new URL(this.#central?.served.url ?? "").origin;
  }

  /** Runs a box that takes in these readings, and pulls its plug. */
  async live(first: number, last: number): Promise<void> {
    const box = this.#boxes.spawn([this.site.data, String(first), String(last - first + 1)]);
    if ((await box.line()) !== "done") throw new Error(`the box failed: ${await box.said()}`);
    box.kill("SIGKILL");
    await box.exited;
  }

  async upload(): Promise<{ sent: number; confirmed_seq: number; differing_days: number }> {
    return JSON.parse((await this.run("upload", "--config", this.site.config, "--json")).out);
  }

  /** Runs a command that must go well. */
  async run(...words: string[]): Promise<{ out: string; said: string }> {
    const { code, out, said } = await this.site.lintel(...words);
    if (code !== 0) throw new Error(`lintel ${words[0]} ended with ${code}: ${said}`);
    return { out, said };
  }

  /** The card is gone. */
  lose(): void {
    rmSync(this.site.data, { recursive: true });
  }

  /** What central serves of all sensors, each reading by its event, in order of number. */
  async eventsAtCentral(): Promise<number[]> {
    if (this.#central === undefined) throw new Error("there is no central");
    const { served } = this.#central;
    const items = await served.get("/inventory/wirelesssensors", this.#readToken);
    const names = ((await items.json()) as { itemname: string }[]).map(({ itemname }) => itemname);
    const events = await Promise.all(names.map((name) => served.events(name, this.#readToken)));
    return events.flatMap((of) => of.map(({ event }) => event)).sort((one, other) => one - other);
  }

  /** What the box has on its card. */
  eventsHere(): number[] {
    return this.#query("SELECT event FROM wirelesssensor_events ORDER BY event").flat().map(Number);
  }

  /** How far the box has read the buffer of a device. */
  cursorHere(): unknown {
    return this.#query("SELECT value FROM cursors WHERE name = 'pillbox events'")[0]?.[0];
  }

  exists(): boolean {
    return existsSync(join(this.site.data, "lintel.db"));
  }

  async importAtCentral(document: object): Promise<void> {
    const file = join(this.site.directory, "programme.json");
    writeFileSync(file, JSON.stringify(document));
    await this.run("import", file, "--data", this.centralData);
  }

  async remove(): Promise<void> {
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

  async #token(...words: string[]): Promise<string> {
    const { out } = await this.run("token", "create", "test", "--json", "--data", this.centralData, ...words);
    return JSON.parse(out).token;
  }
}

export function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
