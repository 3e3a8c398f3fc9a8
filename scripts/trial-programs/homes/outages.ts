import { eventually, Site } from "../../../testbed/front-door.ts";
import { Cluster, nameOf, type Server } from "./cluster.ts";
import { UploadingHome } from "./outage-home.ts";
import { Pages } from "./outage-pages.ts";
import { type Outage, Trial } from "./workers-trial.ts";

/** An outage, with the lines of the log that name the server, and that say that it is over. */
export interface Told extends Outage {
  readonly named: number;
  readonly over: number;
}

export interface TrialOptions {
  readonly database: string;
  readonly stop: string;
  readonly start: string;
  /** How many of workers, each in turn, and then of the coordinator. */
  readonly outages: number;
  readonly coordinator: number;
  readonly homes: number;
  readonly tell: (line: string) => void;
}

/** Uploads and reads while servers of a cluster go away and come back, and then counts every reading. */
export async function tryOutages(options: TrialOptions): Promise<{ told: Told[]; faults: string[] }> {
  const { database, outages, coordinator, tell } = options;
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
    const trial = new Trial({ cluster, homes, pages, places: await cluster.places(options.homes) });
    const workers = Array.from({ length: outages }, (_, turn) => {
      return cluster.workers[turn % cluster.workers.length] as Server;
    });
    const servers = [...workers, ...Array.from({ length: coordinator }, () => cluster.coordinator)];
    const went = await trial.run(servers, ({ name, away_s, all_s }) =>
      tell(
        `${name} was away for ${away_s.toFixed(1)} s, and all its homes were back ${all_s.toFixed(1)} s later`,
      ),
    );
    const wrong = await account(homes, pages, tell);
    await eventually(async () => (await cluster.prepared()) === 0 || undefined, "no prepared transaction", {
      tries_max: 90,
      pause_ms: 1000,
    });
    await server.stop("SIGTERM");
    const log = (await server.process.said()).split("\n");
    tellOthers(log, tell);
    const told = toldIn(went, log);
    return { told, faults: [...wrong, ...told.flatMap(faultsOf)] };
  } finally {
    await site.remove();
  }
}

/** Readings that are lost, there twice or otherwise wrong. */
async function account(
  homes: readonly UploadingHome[],
  pages: Pages,
  tell: (line: string) => void,
): Promise<string[]> {
  const served = await pages.all(homes);
  let [lost, twice, wrong] = [0, 0, 0];
  for (const home of homes) {
    const events = (served.get(home.home) ?? []).map(({ stamp, event }) => `${stamp} ${event}`);
    const seen = new Set(events);
    twice += events.length - seen.size;
    for (let order = 1; order <= home.confirmed; order += 1) {
      const { stamp, event } = home.event(order);
      if (!seen.delete(`${stamp} ${event}`)) lost += 1;
    }
    wrong += seen.size;
  }
  const sum = (of: (home: UploadingHome) => number) => homes.reduce((all, home) => all + of(home), 0);
  tell(
    `${sum(({ confirmed }) => confirmed)} readings confirmed: ${lost} lost, ${twice} twice, ${wrong} that nobody confirmed`,
  );
  tell(
    `gateways were told to come later ${sum(({ later }) => later)} times, and to go back ${sum(({ back }) => back)} times; ${pages.refused} pages were refused`,
  );
  const faults = [...homes.flatMap((home) => home.faults), ...pages.faults];
  return lost + twice + wrong === 0
    ? faults
    : [...faults, `${lost} lost, ${twice} twice, ${wrong} that nobody confirmed`];
}

/** Lines of the log that do not name an outage of a worker. */
function tellOthers(log: readonly string[], tell: (line: string) => void): void {
  const others = log.filter((line) => / (warn|error) /.test(line) && !/ is away: /.test(line));
  for (const line of others.slice(0, lines_max)) tell(line);
  if (others.length > lines_max) tell(`and ${others.length - lines_max} lines more`);
}

function toldIn(went: readonly Outage[], log: readonly string[]): Told[] {
  const lines = log
    .filter((line) => / http: /.test(line))
    .map((line) => ({ at_ms: Date.parse(line.slice(0, 24)), line }));
  return went.map((outage, place) => {
    const until_ms = went[place + 1]?.began_ms ?? Number.POSITIVE_INFINITY;
    const own = lines.filter(({ at_ms }) => at_ms >= outage.began_ms && at_ms < until_ms);
    return {
      ...outage,
      named: own.filter(({ line }) => / error /.test(line) && line.includes(outage.name)).length,
      over: own.filter(({ line }) => line.includes("works again")).length,
    };
  });
}

function faultsOf(outage: Told): string[] {
  const { name, isWorker, away_s, all_s, named, over } = outage;
  const of = `${name}, away for ${away_s.toFixed(0)} s`;
  const faults: string[] = [];
  if (all_s > (isWorker ? back_s_max : back_coordinator_s_max))
    faults.push(`${of}: all its homes were back after ${all_s.toFixed(1)} s`);
  if (!isWorker) return faults;
  for (const what of ["readings", "pages"] as const) {
    const [before, meanwhile] = [outage[`${what}_before`], outage[`${what}_meanwhile`]];
    if (meanwhile < before * rate_least)
      faults.push(`${of}: others fell from ${before.toFixed(0)} to ${meanwhile.toFixed(0)} ${what} a second`);
  }
  if (named !== 1 || over !== 1) faults.push(`${of}: named ${named} times, over ${over} times`);
  return faults;
}

async function tokensOf(
  site: Site,
  { database, homes }: TrialOptions,
): Promise<{ sync: Map<number, string>; read: string }> {
  const token = async (...words: string[]): Promise<string> =>
    (await site.answer("token", "create", "trial", "--json", "--database", database, ...words)).token;
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

/** Lines of the log that are shown. */
const lines_max = 20;
const rate_least = 0.7;
const back_s_max = 10;
/** Who is refused because of the whole database comes back after 15 to 23 s. */
const back_coordinator_s_max = 30;
