import { eventually, Site } from "../../../test/shipped/front-door.ts";
import { Cluster, nameOf, type Server } from "./cluster.ts";
import { UploadingHome } from "./home.ts";
import { Pages } from "./pages.ts";
import { Rates } from "./rates.ts";

/** How one outage went. Rates are readings or pages a second. */
export interface Outage {
  readonly name: string;
  readonly away_s: number;
  readonly before: number;
  readonly others_before: number;
  readonly others_meanwhile: number;
  readonly pages_before: number;
  readonly pages_meanwhile: number;
  /** From when the server answered again to the first upload that was taken there, and until they came as fast as before. */
  readonly first_s: number;
  readonly recovered_s: number;
  /** Lines of the log that name it, and that say it is over. */
  readonly named: number;
  readonly over: number;
}

export interface SoakOptions {
  readonly database: string;
  readonly stop: string;
  readonly start: string;
  readonly outages: number;
  readonly coordinator: number;
  readonly homes: number;
  readonly tell: (line: string) => void;
}

/** Uploads and reads without a pause while servers of a cluster go away and come back, and then counts every reading. */
export async function soak(options: SoakOptions): Promise<{ told: Outage[]; faults: string[] }> {
  const { database, tell } = options;
  const cluster = await Cluster.of(database, options);
  const site = new Site();
  try {
    const server = await site.central("--database", database);
    tell(`central at ${server.origin}, workers ${cluster.workers.map(nameOf).join(", ")}`);
    const tokens = await tokensOf(site, options);
    const homes = [...tokens.sync].map(
      ([home, token]) => new UploadingHome({ home, token, origin: server.origin }),
    );
    const pages = new Pages({ origin: server.origin, token: tokens.read });
    const run = new Run({ ...options, cluster, homes, pages, places: await cluster.places(options.homes) });
    const went = await run.outages();
    const wrong = await run.account();
    await server.stop("SIGTERM");
    const log = await server.process.said();
    const told = linesOf(went, log);
    const others = log.split("\n").filter((line) => / (warn|error) /.test(line) && !/ is away: /.test(line));
    for (const line of others.slice(0, lines_max)) tell(line);
    if (others.length > lines_max) tell(`and ${others.length - lines_max} lines more`);
    return { told, faults: [...wrong, ...told.flatMap(faultsOf)] };
  } finally {
    await site.remove();
  }
}

type Went = Omit<Outage, "named" | "over"> & { readonly began_ms: number };

interface RunOptions extends Omit<SoakOptions, "homes"> {
  readonly cluster: Cluster;
  readonly homes: readonly UploadingHome[];
  readonly pages: Pages;
  /** The name of the worker that has the rows of each home. */
  readonly places: ReadonlyMap<number, string>;
}

class Run {
  readonly #options: RunOptions;
  readonly #rates = new Rates();
  #ended = false;
  #loops: Promise<unknown> | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** All outages, one after the other. */
  async outages(): Promise<Went[]> {
    const { cluster, homes, pages, places, outages, coordinator } = this.#options;
    const ended = () => this.#ended;
    const placeOf = (home: number) => places.get(home) ?? "";
    this.#loops = Promise.all([
      ...homes.map((one) =>
        one.upload(ended, (readings) => this.#rates.add(`readings ${placeOf(one.home)}`, readings)),
      ),
      // Whoever is refused one home's page does not ask for another's meanwhile.
      ...[...Map.groupBy(homes, ({ home }) => placeOf(home))].map(([place, own]) =>
        pages.read(ended, own, () => this.#rates.add(`pages ${place}`, 1)),
      ),
    ]);
    await eventually(
      () => (homes.every(({ confirmed }) => confirmed > 0) ? true : undefined),
      "a first batch of each home",
    );
    const servers = [
      ...Array.from(
        { length: outages },
        (_, turn) => cluster.workers[turn % cluster.workers.length] as Server,
      ),
      ...Array.from({ length: coordinator }, () => cluster.coordinator),
    ];
    const went: Went[] = [];
    for (const [turn, server] of servers.entries())
      went.push(await this.#outage(server, lengths_s[turn % lengths_s.length] as number));
    await Bun.sleep(before_s * 1000);
    this.#ended = true;
    await this.#loops;
    return went;
  }

  async #outage(server: Server, length_s: number): Promise<Went> {
    const { cluster, tell } = this.#options;
    const [name, rates] = [nameOf(server), this.#rates];
    const [own, others] = [
      (kind: string) => (of: string) => of === `${kind} ${name}`,
      (kind: string) => (of: string) => of.startsWith(kind) && of !== `${kind} ${name}`,
    ];
    await Bun.sleep(before_s * 1000);
    const [before, others_before, pages_before] = [own("readings"), others("readings"), others("pages")].map(
      (of) => rates.rate(of, now_s() - measured_s, now_s()),
    ) as [number, number, number];
    const [began_ms, began_s] = [Date.now(), now_s()];
    await cluster.stop(server);
    await Bun.sleep(length_s * 1000);
    const [others_meanwhile, pages_meanwhile] = [others("readings"), others("pages")].map((of) =>
      rates.rate(of, began_s, now_s()),
    ) as [number, number];
    await cluster.start(server);
    const back_s = now_s();
    // Whoever needs the coordinator is all homes.
    const mine =
      name === nameOf(cluster.coordinator) ? (of: string) => of.startsWith("readings") : own("readings");
    const rate_before = name === nameOf(cluster.coordinator) ? others_before : before;
    const recovered_s = await eventually(
      () => rates.reached(mine, back_s, rate_before * rate_least),
      `the rate of ${name}`,
      { tries_max: 1200, pause_ms: 100 },
    );
    const first_s = (rates.first(mine, back_s) ?? Number.NaN) - back_s;
    const away_s = back_s - began_s;
    tell(
      `${name} was away for ${away_s.toFixed(1)} s: others ${others_before.toFixed(0)} readings/s before, ${others_meanwhile.toFixed(0)} meanwhile; first back after ${first_s.toFixed(1)} s, recovered after ${recovered_s.toFixed(1)} s`,
    );
    return {
      name,
      away_s,
      before,
      others_before,
      others_meanwhile,
      pages_before,
      pages_meanwhile,
      first_s,
      recovered_s,
      began_ms,
    };
  }

  /** What is lost, there twice or otherwise wrong, at the end. */
  async account(): Promise<string[]> {
    const { cluster, homes, pages, tell } = this.#options;
    const faults = homes.flatMap((home) => home.faults);
    const confirmed = homes.reduce((sum, home) => sum + home.confirmed, 0);
    const served = await pages.all(homes);
    let [lost, twice, wrong] = [0, 0, 0];
    for (const home of homes) {
      const events = served.get(home.home) ?? [];
      const seen = new Set(events.map(({ stamp, event }) => `${stamp} ${event}`));
      twice += events.length - seen.size;
      for (let order = 1; order <= home.confirmed; order += 1) {
        const { stamp, event } = home.event(order);
        if (!seen.delete(`${stamp} ${event}`)) lost += 1;
      }
      wrong += seen.size;
    }
    tell(
      `${confirmed} readings confirmed: ${lost} lost, ${twice} twice, ${wrong} that nobody confirmed; told to come later ${homes.reduce((sum, { later }) => sum + later, 0)} times; pages that failed: ${pages.refused}`,
    );
    if (lost + twice + wrong > 0) faults.push(`${lost} lost, ${twice} twice, ${wrong} that nobody confirmed`);
    const prepared = await eventually(
      async () => ((await cluster.prepared()) === 0 ? 0 : undefined),
      "no prepared transaction",
      { tries_max: 90, pause_ms: 1000 },
    );
    tell(`${prepared} transactions left prepared`);
    return [...faults, ...pages.faults];
  }
}

/** Lines of central's log that name each outage. */
function linesOf(went: readonly Went[], log: string): Outage[] {
  const lines = log.split("\n").map((line) => ({ at_ms: Date.parse(line.slice(0, 24)), line }));
  return went.map(({ began_ms, ...outage }, place) => {
    const until_ms = went[place + 1]?.began_ms ?? Number.POSITIVE_INFINITY;
    const own = lines.filter(
      ({ at_ms, line }) => at_ms >= began_ms && at_ms < until_ms && / http: /.test(line),
    );
    const named = own.filter(({ line }) => / error /.test(line) && line.includes(outage.name));
    const over = own.filter(({ line }) => line.includes("works again"));
    return { ...outage, named: named.length, over: over.length };
  });
}

function faultsOf({
  name,
  away_s,
  others_before,
  others_meanwhile,
  recovered_s,
  named,
  over,
  before,
}: Outage): string[] {
  const faults: string[] = [];
  const of = `${name}, away for ${away_s.toFixed(0)} s`;
  const isWorker = before > 0;
  if (isWorker && others_meanwhile < others_before * rate_least)
    faults.push(
      `${of}: others fell from ${others_before.toFixed(0)} to ${others_meanwhile.toFixed(0)} readings a second`,
    );
  if (!(recovered_s <= recovered_s_max))
    faults.push(`${of}: its homes came back after ${recovered_s.toFixed(1)} s`);
  if (isWorker && (named !== 1 || over !== 1)) faults.push(`${of}: named ${named} times, over ${over} times`);
  return faults;
}

async function tokensOf(
  site: Site,
  { database, homes }: SoakOptions,
): Promise<{ sync: Map<number, string>; read: string }> {
  const token = async (...words: string[]): Promise<string> =>
    (await site.answer("token", "create", "soak", "--json", "--database", database, ...words)).token;
  const sync = new Map<number, string>();
  let next = 1;
  const make = async () => {
    while (next <= homes) {
      const home = next++;
      sync.set(home, await token("--scope", "sync", "--home", String(home)));
    }
  };
  await Promise.all(Array.from({ length: 3 }, make));
  return { sync, read: await token() };
}

const now_s = () => performance.now() / 1000;
const lengths_s = [2, 10, 60];
/** Between the end of an outage and the next, and how much of it is measured. */
const before_s = 25;
const measured_s = 10;
/** Lines of the log that are shown. */
const lines_max = 20;
const rate_least = 0.7;
const recovered_s_max = 10;
