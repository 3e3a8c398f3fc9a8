import { Database } from "bun:sqlite";
import { closeSync, cpSync, existsSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { storedEvents } from "../../../testbed/sqlite/stored-readings.ts";
import { inHome } from "../../../testbed/uploading.ts";
import { madeData, nameOf } from "../../benchmarks/api/data.ts";

/** Pages that are overwritten besides those that are hit at random: none, page 1, another one of the schema, all of a table that has no readings. */
export const aims = ["nothing", "page 1", "the schema", "a small table"] as const;
export type Aim = (typeof aims)[number];

/** The account of one damage and what became of it. */
export interface Damage {
  readonly seed: number;
  readonly aim: Aim;
  /** Pages that were overwritten, and readings that stood on them, at most. */
  readonly pages: number;
  readonly hit: number;
  /** Pages that were hit besides leaves of readings, as table and kind of page. */
  readonly others: readonly string[];
  /** From the first start to the first good answer from what was salvaged. */
  readonly seconds: number;
  /** By itself, or by the command for it where the gateway says that it can't. */
  readonly mended: "itself" | "command";
  /** Readings that stood on other pages and were served then. */
  readonly saved: number;
  readonly undamaged: number;
  readonly faults: readonly string[];
}

const items = 20;
const page_bytes = 4096;
/** As long as the unit waits before it starts a gateway again. */
const restart_ms = 10_000;

/** A home whose gateway has many events, all at central: its database is damaged again and again, each time from the same state. */
export class DamagedHome implements AsyncDisposable {
  readonly #office = new Site();
  readonly #made = new Site();
  readonly #events: number;
  #central: RunningServer | undefined;
  #sections = "";
  #token = "";
  #account = "";

  private constructor(events: number) {
    this.#events = events;
  }

  static async furnished(events: number): Promise<DamagedHome> {
    const home = new DamagedHome(events);
    await home.#furnish();
    return home;
  }

  async #furnish(): Promise<void> {
    const { store } = await madeData({ directory: this.#made.directory, events: this.#events, items });
    const central = await this.#office.central("--data", this.#office.data);
    this.#central = central;
    this.#sections = await inHome(12, this.#made, { site: this.#office, central });
    const site = new Site({ data: store });
    site.configure({ sections: this.#sections });
    const gateway = await site.run();
    await gateway.stop();
    await site.answer("upload", "--config", site.config, "--json");
    this.#token = await site.token();
    const started_ms = Date.now();
    const again = await site.run();
    this.#account = await accountOf(again, this.#token);
    const copy = join(store, "lintel.db-essentials");
    await eventually(
      () => (statSync(copy, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= started_ms || undefined,
      "the copy of what readings hang on",
    );
    const there = await accountOf(central, await this.#office.token());
    if (there !== this.#account) throw new Error("central has not what the gateway has before any damage");
    await again.stop();
    await site.remove();
  }

  /** Overwrites a share of the pages, and starts what people start until all is there again. */
  async damage(options: { share: number; aim: Aim; seed: number; random: () => number }): Promise<Damage> {
    const { seed, aim } = options;
    const site = new Site();
    try {
      cpSync(join(this.#made.directory, "store"), site.data, { recursive: true });
      site.configure({ sections: this.#sections });
      const path = join(site.data, "lintel.db");
      const whole = join(site.directory, "whole.db");
      cpSync(path, whole);
      const damaged = overwrite(path, options);
      const began = performance.now();
      const { gateway, mended } = await mendedGateway(site);
      await (await gateway.get(`/items/wirelesssensors/${nameOf(1)}/events`, this.#token)).arrayBuffer();
      const seconds = (performance.now() - began) / 1000;
      const saved = sameIn(path, whole);
      await site.answer("upload", "--config", site.config, "--json");
      const faults: string[] = [];
      const read = mended === "itself" ? this.#token : await site.token();
      if ((await accountOf(gateway, read)) !== this.#account)
        faults.push(`seed ${seed}: after the upload the gateway has not what it had`);
      if ((await accountOf(this.#central as RunningServer, await this.#office.token())) !== this.#account)
        faults.push(`seed ${seed}: after the upload central has not what it had`);
      await gateway.stop();
      const undamaged = this.#events - damaged.hit;
      return { seed, aim, ...damaged, seconds, mended, saved, undamaged, faults };
    } finally {
      await site.remove();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#office.remove();
    await this.#made.remove();
  }
}

/** A gateway that serves what is left: started again where it ends to be mended, as the service manager does. */
async function mendedGateway(site: Site): Promise<{ gateway: RunningServer; mended: Damage["mended"] }> {
  for (let starts = 0; starts < 3; starts += 1) {
    const gateway = await site.run().catch(() => undefined);
    if (gateway === undefined) break;
    if (existsSync(join(site.data, "set-aside-1"))) return { gateway, mended: "itself" };
    await gateway.process.exited;
    await Bun.sleep(restart_ms);
  }
  await site.answer(
    "restore",
    "--from-central",
    "--replace",
    "--days",
    "36500",
    "--config",
    site.config,
    "--json",
  );
  return { gateway: await site.run(), mended: "command" };
}

/** Overwrites a share of the pages of a database with random bytes, and those that are aimed at. */
function overwrite(
  path: string,
  { share, aim, random }: { share: number; aim: Aim; random: () => number },
): Pick<Damage, "pages" | "hit" | "others"> {
  const database = new Database(path, { readonly: true });
  const all = database
    .query("SELECT pageno, name, pagetype, ncell FROM dbstat ORDER BY pageno")
    .all() as Page[];
  const [[most_in_block = 0] = []] = database.query("SELECT max(count) FROM blocks").values() as number[][];
  database.close();
  const hit = new Set<Page>(aimedAt(all, aim, random));
  const most = Math.max(1, Math.round(all.length * share));
  while (hit.size < most) hit.add(all[Math.floor(random() * all.length)] as Page);
  const file = openSync(path, "r+");
  for (const { pageno } of hit) {
    const bytes = Uint8Array.from({ length: page_bytes }, () => random() * 256);
    writeSync(file, bytes, 0, page_bytes, (pageno - 1) * page_bytes);
  }
  closeSync(file);
  // A page has rows, or blocks, or what a block has beyond its own page.
  const readingsOn = ({ name, pagetype, ncell }: Page) => {
    if (name === "wirelesssensor_events") return ncell;
    const blocks = name !== "blocks" || pagetype === "internal" ? 0 : pagetype === "leaf" ? ncell : 1;
    return blocks * most_in_block;
  };
  return {
    pages: hit.size,
    hit: [...hit].reduce((sum, page) => sum + readingsOn(page), 0),
    others: [...hit]
      .filter(({ name, pagetype }) => !/^(wirelesssensor_events|blocks)$/.test(name) || pagetype !== "leaf")
      .map(({ name, pagetype }) => `${name} (${pagetype})`),
  };
}

function aimedAt(all: readonly Page[], aim: Aim, random: () => number): Page[] {
  if (aim === "nothing") return [];
  if (aim === "page 1") return all.filter(({ pageno }) => pageno === 1);
  const small = all.filter(({ name }) => !ofReadings.has(name) && name !== "sqlite_schema");
  const schema = all.filter(({ name, pageno }) => name === "sqlite_schema" && pageno !== 1);
  const from = aim === "the schema" ? schema : small;
  const one = from[Math.floor(random() * from.length)];
  return aim === "the schema"
    ? from.filter((page) => page === one)
    : from.filter(({ name }) => name === one?.name);
}

const ofReadings = new Set(["wirelesssensor_events", "blocks", "totals", "late"]);

interface Page {
  readonly pageno: number;
  readonly name: string;
  readonly pagetype: string;
  readonly ncell: number;
}

/** How many readings of the one database are in the other too. No two events of a sensor have one stamp. */
function sameIn(path: string, whole: string): number {
  const there = new Set(readingsIn(whole));
  return readingsIn(path).filter((reading) => there.has(reading)).length;
}

function readingsIn(path: string): string[] {
  const database = new Database(path, { readonly: true });
  const addresses = new Map(
    database.query("SELECT key, address FROM streams").values() as [number, string][],
  );
  const readings = storedEvents(database, "wirelesssensor_events");
  database.close();
  return readings.map(({ stream, stamp, event }) => `${addresses.get(stream)} ${stamp} ${event}`);
}

/** A digest of every event that a server serves, item by item, in its order. */
async function accountOf(server: RunningServer, token: string): Promise<string> {
  const digest = new Bun.CryptoHasher("sha256");
  for (let item = 1; item <= items; item += 1) {
    const events = await server.all(
      `/items/wirelesssensors/${nameOf(item)}/events?limit=1000&precision=ms`,
      token,
    );
    digest.update(`${item} ${events.length} ${JSON.stringify(events)}\n`);
  }
  return digest.digest("hex");
}
