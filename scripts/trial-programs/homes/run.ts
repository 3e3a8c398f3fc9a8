import { account } from "./account.ts";
import { type Follower, follow } from "./arrivals.ts";
import { type Caller, type Kept, TriedCentral } from "./central.ts";
import { Gateway } from "./gateway.ts";
import * as lies from "./lies.ts";
import { type Device, Model } from "./model.ts";
import { readCoverage, readPage, timeHeard } from "./pages.ts";
import { Programme } from "./programme.ts";
import { Random } from "./random.ts";
import { readFleet, readHomes, readInventory, readNight, readSubjects } from "./records.ts";
import { type FaultKind, Trial } from "./trial.ts";
import * as gateways from "./uploads.ts";
import { walkLinks } from "./walks.ts";

export interface TrialOptions {
  readonly calls: number;
  readonly homes: number;
  readonly seed: number;
  readonly database: Kept;
  /** Calls under way at once. */
  readonly in_flight: number;
  /** Called now and then with a line. */
  readonly onProgress: (line: string) => void;
  /** Ends the calls early: the account is made all the same. */
  readonly stop?: AbortSignal;
}

export interface Outcome {
  readonly calls: number;
  readonly imports: number;
  readonly sent: number;
  readonly shown: number;
  readonly faults: Readonly<Record<FaultKind, number>>;
  /** The first of them, in words. */
  readonly said: readonly string[];
  readonly uncertain: number;
  readonly later: number;
  readonly cut: number;
}

/** Makes so many random calls of gateways and readers to one central, while items move, and then the account of every reading. */
export async function tryHomes(options: TrialOptions): Promise<Outcome> {
  const { calls, seed, onProgress, stop } = options;
  await using central = await TriedCentral.start(options.database);
  const trial = await prepare(central, options);
  const followers: Follower[] = [];
  const began_ms = performance.now();
  const faults = () => trial.faults.foreign + trial.faults.lost + trial.faults.wrong;
  const goesOn = () => central.calls < calls && faults() < faults_max && stop?.aborted !== true;
  let number = 0;
  const worker = async () => {
    while (goesOn()) {
      number += 1;
      const random = new Random(seed * 0x9e_37_79_b1 + number);
      const call = pickCall(random);
      if ("reader" in call) await call.reader(trial, random, followers);
      else await withGateway(trial, random, (gateway) => call.gateway(trial, gateway, random));
    }
  };
  const importer = async () => {
    const random = new Random(seed + 1);
    for (let at = 0; goesOn(); ) {
      if (central.calls < at) await Bun.sleep(50);
      else {
        at = central.calls + Math.min(calls_per_import, calls / imports_least);
        const timeOf = (home: number, device: Device) => timeHeard(trial, random, home, device);
        await central.import(trial.programme.moving(random, timeOf));
        trial.programme.ended = trial.programme.begun;
      }
    }
  };
  let told = 0;
  const tell = () => {
    for (; told < trial.said.length; told += 1) onProgress(trial.said[told] ?? "");
    const { foreign, lost, wrong } = trial.faults;
    const rate = (central.calls / (performance.now() - began_ms)) * 1000;
    const done = `${central.calls} calls, ${rate.toFixed(0)}/s, ${trial.programme.ended} imports`;
    onProgress(`${done}; faults: ${foreign} foreign, ${lost} lost, ${wrong} wrong`);
  };
  const teller = setInterval(tell, told_every_ms);
  try {
    await Promise.all([importer(), ...Array.from({ length: options.in_flight }, worker)]);
    const { sent, shown } = await account(trial);
    tell();
    const { said, uncertain, programme } = trial;
    const { later, cut } = central;
    return {
      calls: central.calls,
      imports: programme.ended,
      sent,
      shown,
      faults: trial.faults,
      said,
      uncertain,
      later,
      cut,
    };
  } finally {
    clearInterval(teller);
  }
}

/** The programme with its first records, the gateways, and everybody's tokens. */
async function prepare(central: TriedCentral, { homes, seed, onProgress }: TrialOptions): Promise<Trial> {
  const random = new Random(seed);
  const programme = new Programme(homes);
  const sync = new Map<number, Caller>();
  const rest = programme.homes.values();
  const make = async () => {
    for (const home of rest)
      sync.set(home, { token: (await central.token("--scope", "sync", "--home", String(home))) ?? "" });
  };
  await Promise.all([make(), make()]);
  const readers: Caller[] = [{ token: (await central.token()) ?? "" }];
  for (let bound = 0; bound < bound_readers; bound += 1) {
    const of = new Set([1, 2, 3].slice(bound % 3).map(() => random.pick(programme.homes)));
    const token = await central.token(...[...of].flatMap((home) => ["--home", String(home)]));
    if (token === undefined) {
      onProgress(
        "lintel token create --home makes no read token here: readers that are bound to homes are left out",
      );
      break;
    }
    readers.push({ token, homes: of });
  }
  const admin = { token: (await central.token("--scope", "admin")) ?? "" };
  await central.import(programme.founding(random));
  programme.ended = programme.begun;
  const all = programme.homes.map(
    (home) => [home, new Gateway({ home, heard: programme.heardIn(home), random })] as const,
  );
  return new Trial({
    central,
    programme,
    model: new Model(),
    gateways: new Map(all),
    tokens: { sync, readers, admin },
  });
}

/** Has a gateway make a call, one that makes none now. */
async function withGateway(
  trial: Trial,
  random: Random,
  call: (gateway: Gateway) => Promise<void>,
): Promise<void> {
  const free = [...trial.gateways.values()].filter(({ busy }) => !busy);
  if (free.length === 0) return;
  const gateway = random.pick(free);
  gateway.busy = true;
  await call(gateway).finally(() => {
    gateway.busy = false;
  });
}

type GatewayCall = { readonly gateway: (trial: Trial, gateway: Gateway, random: Random) => Promise<void> };
type ReaderCall = { readonly reader: (trial: Trial, random: Random, followers: Follower[]) => Promise<void> };

/** The calls, each with how often it is made among all of them. */
const calls: readonly (readonly [number, GatewayCall | ReaderCall])[] = [
  [200, { gateway: gateways.upload }],
  [30, { gateway: gateways.replay }],
  [30, { gateway: lies.intrude }],
  [10, { gateway: lies.trespass }],
  [5, { gateway: lies.overreach }],
  [40, { gateway: gateways.report }],
  [15, { gateway: gateways.verify }],
  [15, { gateway: gateways.sendDay }],
  [15, { gateway: gateways.history }],
  [20, { gateway: gateways.roster }],
  [10, { gateway: gateways.keepFiles }],
  [330, { reader: readPage }],
  [20, { reader: walkLinks }],
  [30, { reader: (trial, random, followers) => follow(trial, followers, random) }],
  [60, { reader: readCoverage }],
  [50, { reader: readInventory }],
  [20, { reader: readNight }],
  [50, { reader: readHomes }],
  [55, { reader: readSubjects }],
  [1, { reader: readFleetSometimes }],
];

/** It looks at everything of every home, and takes long. */
async function readFleetSometimes(trial: Trial, random: Random): Promise<void> {
  if (random.chance(0.2)) await readFleet(trial);
}

const weights = calls.reduce((sum, [weight]) => sum + weight, 0);

function pickCall(random: Random): GatewayCall | ReaderCall {
  let at = random.below(weights);
  for (const [weight, call] of calls) {
    at -= weight;
    if (at < 0) return call;
  }
  throw new Error("no call has been picked");
}

const calls_per_import = 1000;
const imports_least = 10;
const bound_readers = 8;
const told_every_ms = 5_000;
/** More say nothing new. */
const faults_max = 2_000;
