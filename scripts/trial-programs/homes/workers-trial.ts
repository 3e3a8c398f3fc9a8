import { eventually } from "../../../testbed/front-door.ts";
import { type Cluster, nameOf, type Server } from "./cluster.ts";
import type { UploadingHome } from "./outage-home.ts";
import type { Pages } from "./outage-pages.ts";

/** How one outage went. Rates are readings or pages a second of the homes on other workers. */
export interface Outage {
  /** Host and port of the server. */
  readonly name: string;
  readonly isWorker: boolean;
  readonly began_ms: number;
  readonly away_s: number;
  readonly readings_before: number;
  readonly readings_meanwhile: number;
  readonly pages_before: number;
  readonly pages_meanwhile: number;
  /** From when the server answered again until one of its homes was taken in, and until all were. */
  readonly first_s: number;
  readonly all_s: number;
}

/** Homes that upload, and readers who read them, while servers of their cluster go away and come back. */
export class Trial {
  readonly #cluster: Cluster;
  readonly #homes: readonly UploadingHome[];
  readonly #pages: Pages;
  /** The name of the worker that has the rows of each home. */
  readonly #places: ReadonlyMap<number, string>;
  readonly #rates = new Rates();
  #ended = false;

  constructor(options: {
    cluster: Cluster;
    homes: readonly UploadingHome[];
    pages: Pages;
    places: ReadonlyMap<number, string>;
  }) {
    this.#cluster = options.cluster;
    this.#homes = options.homes;
    this.#pages = options.pages;
    this.#places = options.places;
  }

  /** Outages of some servers, one after the other, for 2, 10 and 60 s in turn. */
  async run(servers: readonly Server[], tell: (outage: Outage) => void): Promise<Outage[]> {
    const loops = Promise.all([...this.#uploads(), ...this.#readers()]);
    await eventually(() => this.#homes.every(({ confirmed }) => confirmed > 0) || undefined, "a first batch");
    const went: Outage[] = [];
    for (const [turn, server] of servers.entries()) {
      await Bun.sleep(before_s * 1000);
      const outage = await this.#outage(server, lengths_s[turn % lengths_s.length] as number);
      tell(outage);
      went.push(outage);
    }
    // The log says that it is over once it has been quiet for a while.
    await Bun.sleep(before_s * 1000);
    this.#ended = true;
    await loops;
    return went;
  }

  #uploads(): Promise<void>[] {
    return this.#homes.map((one) =>
      one.upload(
        () => this.#ended,
        (amount) => this.#rates.add({ what: "readings", ...this.#placeOf(one), amount }),
      ),
    );
  }

  /** One reader for each worker: whoever is refused one home's page does not ask for another's meanwhile. */
  #readers(): Promise<void>[] {
    return [...Map.groupBy(this.#homes, ({ home }) => this.#places.get(home)).values()].map((homes) =>
      this.#pages.read(
        () => this.#ended,
        homes,
        (one) => this.#rates.add({ what: "pages", ...this.#placeOf(one), amount: 1 }),
      ),
    );
  }

  #placeOf({ home }: UploadingHome): { worker: string; home: number } {
    return { worker: this.#places.get(home) ?? "", home };
  }

  async #outage(server: Server, length_s: number): Promise<Outage> {
    const name = nameOf(server);
    const isWorker = name !== nameOf(this.#cluster.coordinator);
    const others = (what: Done["what"]) => (done: Done) => done.what === what && done.worker !== name;
    const rates = (from_s: number) =>
      [others("readings"), others("pages")].map((of) => this.#rates.rate(of, from_s, now_s()));
    const [readings_before = 0, pages_before = 0] = rates(now_s() - measured_s);
    const [began_ms, began_s] = [Date.now(), now_s()];
    await this.#cluster.stop(server);
    await Bun.sleep(length_s * 1000);
    await this.#cluster.start(server);
    const [readings_meanwhile = 0, pages_meanwhile = 0] = rates(began_s);
    const back_s = now_s();
    const own = this.#homes
      .map(({ home }) => home)
      .filter((home) => !isWorker || this.#places.get(home) === name);
    const { first_s, last_s } = await eventually(
      () => this.#rates.confirmed(own, back_s),
      `every home of ${name}`,
      { tries_max: 3000, pause_ms: 100 },
    );
    return {
      ...{ name, isWorker, began_ms, away_s: back_s - began_s },
      ...{ readings_before, readings_meanwhile, pages_before, pages_meanwhile },
      ...{ first_s: first_s - back_s, all_s: last_s - back_s },
    };
  }
}

const lengths_s = [2, 10, 60];
/** Before each outage, and how much of it is measured. */
const before_s = 25;
const measured_s = 10;

/** Something that was done: readings that were confirmed, or a page that was served, of a home that is on a worker. */
export interface Done {
  readonly what: "readings" | "pages";
  readonly worker: string;
  readonly home: number;
  readonly amount: number;
}

/** How much was done, of what and when. */
export class Rates {
  readonly #done: (Done & { readonly at_s: number })[] = [];

  add(done: Done): void {
    this.#done.push({ ...done, at_s: now_s() });
  }

  /** Amount a second of what `matches`, from one time to another. */
  rate(matches: (done: Done) => boolean, from_s: number, until_s: number): number {
    const since = this.#since(from_s).filter((done) => done.at_s < until_s && matches(done));
    return since.reduce((sum, { amount }) => sum + amount, 0) / (until_s - from_s);
  }

  /** When the first, and the last, of some homes had readings confirmed after a time; undefined while one of them has none. */
  confirmed(homes: readonly number[], from_s: number): { first_s: number; last_s: number } | undefined {
    const first = new Map<number, number>();
    for (const { what, home, at_s } of this.#since(from_s))
      if (what === "readings" && !first.has(home)) first.set(home, at_s);
    const times = homes.map((home) => first.get(home) ?? Number.POSITIVE_INFINITY);
    const [first_s, last_s] = [Math.min(...times), Math.max(...times)];
    return Number.isFinite(last_s) ? { first_s, last_s } : undefined;
  }

  #since(from_s: number): (Done & { readonly at_s: number })[] {
    return this.#done.slice(this.#done.findLastIndex(({ at_s }) => at_s < from_s) + 1);
  }
}

export const now_s = () => performance.now() / 1000;
