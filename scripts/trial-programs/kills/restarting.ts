import { eventually, type RunningServer, Site, stickMake } from "../../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";

/** One run of the gateway between two restarts. */
export interface Run {
  readonly ended: "SIGKILL" | "SIGTERM";
  /** The first notification that was written to the port after this gateway's first byte. */
  readonly first: number;
  /** The last that it owes: with SIGTERM what was written before the signal, with SIGKILL what had been served before it. */
  readonly last: number;
}

/**
 * The notifications that were served at the end, and those that had to be. They are numbered from 1 by their zone
 * status.
 */
export interface Restarts {
  readonly runs: readonly Run[];
  /** In the order of the API, oldest first. */
  readonly served: readonly number[];
  readonly written: number;
  readonly others: readonly Other[];
}

/** A device that speaks once in each run, by its zone status. */
interface Other {
  readonly model: string;
  readonly said: readonly number[];
  readonly served: readonly number[];
  /** Interviews by a gateway, after that of its joining. */
  readonly interviews: number;
}

interface RestartOptions {
  readonly make?: string;
  readonly others?: readonly string[];
  readonly told?: (run: Run) => void;
}

const report_interval_ms = 50;
/** A run is ended after so many notifications: a second after its first byte, which is in the middle of its first work. */
const run_notifications = 20;

/**
 * Restarts the gateway that people start, by SIGKILL and SIGTERM in turn, while a sensor of its Zigbee network notifies every
 * 50 ms through a stick that goes on running.
 *
 * @param options.make the make of the stick
 * @param options.others models of further sensors, which speak once in each run
 */
export async function restart(
  times: number,
  { make = stickMake, others = ["3011"], told = () => {} }: RestartOptions = {},
): Promise<Restarts> {
  const site = new Site();
  try {
    const stick = await site.simulator("zigbee", "--adapter", make);
    site.configure({ sections: stick.section });
    let gateway = await site.run();
    const token = await site.token();
    const [ieee = "", ...quiet] = await letIn(site, stick, ["3045", ...others]);
    const item = itemOf(ieee);
    const joined = await interviewsOf(quiet, stick);
    if (joined.includes(0)) throw new Error("a sensor joined without an interview");
    // Any other device speaks as soon as a gateway is to have heard it, and is owed like the reports of that time.
    const speak = async (status: number) => {
      for (const other of quiet) await stick.tell({ do: "notify", ieee: other, status });
    };
    await stick.tell({ do: "report", ieee, every_ms: report_interval_ms });
    const runs: Run[] = [];
    for (let index = 0; index < times; index += 1) {
      const ended = index % 2 === 0 ? "SIGKILL" : "SIGTERM";
      await heardOnce(stick);
      await speak(index + 1);
      const { first, last } = await longEnough(stick);
      if (ended === "SIGKILL") await servedUpTo(last, gateway, item, token);
      const code = await gateway.stop(ended);
      if (ended === "SIGTERM" && code !== 0)
        throw new Error(`the gateway ended with ${code}: ${await gateway.process.said()}`);
      await stick.tell({ do: "closed" });
      runs.push({ ended, first, last });
      told({ ended, first, last });
      gateway = await site.run();
    }
    await heardOnce(stick);
    await speak(times + 1);
    const { first } = await longEnough(stick);
    await stick.tell({ do: "report", ieee, every_ms: 0 });
    const { last } = await stick.tell({ do: "reported" });
    await servedUpTo(last, gateway, item, token);
    runs.push({ ended: "SIGTERM", first, last });
    const servedOf = async (other: string) =>
      (await gateway.events(itemOf(other), token)).map(({ event }) => event).reverse();
    const served = await servedOf(ieee);
    const interviews = await interviewsOf(quiet, stick);
    const said = runs.map((_, index) => index + 1);
    const heard = await Promise.all(
      quiet.map(async (other, index) => ({
        model: others[index] ?? "",
        said,
        served: await servedOf(other),
        interviews: (interviews[index] ?? 0) - (joined[index] ?? 0),
      })),
    );
    await gateway.stop();
    return { runs, served, written: last, others: heard };
  } finally {
    await site.remove();
  }
}

/** Faults of the restarts: a line for each notification that is missing, out of order or served twice, and for each device that was interviewed anew. */
export function faultsOf({ runs, served, others }: Restarts): string[] {
  const there = new Set(served);
  const missing = runs.flatMap(({ first, last, ended }, index) =>
    Array.from({ length: last - first + 1 }, (_, offset) => first + offset)
      .filter((number) => !there.has(number))
      .map((number) => `${number} is missing, of ${first} to ${last} of run ${index + 1}, ended by ${ended}`),
  );
  const disorder = served.flatMap((number, index) => {
    const before = served[index - 1] ?? 0;
    return number > before ? [] : [`${number} comes after ${before}`];
  });
  const ofOthers = others.flatMap(({ model, said, served, interviews }) => [
    ...(`${said}` === `${served}` ? [] : [`the ${model} said ${said}, and ${served} is served`]),
    ...(interviews === 0 ? [] : [`the ${model} was interviewed ${interviews} times after it had joined`]),
  ]);
  return [...missing, ...disorder, ...ofOthers];
}

/** Lets sensors of these models in, right after the start, while the network is still being formed: their addresses. */
export async function letIn(
  site: Site,
  stick: SimulatorProcess,
  models: readonly string[],
): Promise<string[]> {
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  const open = await pair.line();
  if (open === undefined) throw new Error(`joining did not open: ${await pair.said()}`);
  const addresses: string[] = [];
  for (const model of models) {
    const { ieee } = await stick.tell({ do: "add", model });
    await stick.tell({ do: "join", ieee });
    await pair.line();
    addresses.push(ieee);
  }
  pair.kill("SIGINT");
  await pair.exited;
  return addresses;
}

/** The name of the item that a sensor is until the inventory adopts it. */
export const itemOf = (ieee: string) => `wirelesssensor-${ieee.replaceAll(":", "")}`;

function interviewsOf(devices: readonly string[], stick: SimulatorProcess): Promise<number[]> {
  return Promise.all(
    devices.map(async (ieee) => (await stick.tell({ do: "interviews", ieee }))["interviews"] as number),
  );
}

/** Waits for the first notification after the gateway's first byte. */
function heardOnce(stick: SimulatorProcess): Promise<true> {
  return eventually(async () => {
    const { first } = await stick.tell({ do: "reported" });
    return first === null ? undefined : true;
  }, "a notification after the gateway's first byte");
}

/** Waits until the gateway has been told enough since its first byte. */
function longEnough(stick: SimulatorProcess): Promise<{ first: number; last: number }> {
  return eventually(async () => {
    const { first, last } = await stick.tell({ do: "reported" });
    return first !== null && last - first >= run_notifications ? { first, last } : undefined;
  }, "notifications after the gateway's first byte");
}

async function servedUpTo(last: number, gateway: RunningServer, item: string, token: string): Promise<void> {
  await eventually(async () => {
    const path = `/items/wirelesssensors/${item}/events?limit=1`;
    const newest = await gateway.records<{ event: number }[]>(path, token);
    return (newest[0]?.event ?? 0) >= last ? true : undefined;
  }, `notification ${last} served`);
}
