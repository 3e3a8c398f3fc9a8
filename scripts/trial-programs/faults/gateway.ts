import { join } from "node:path";
import type { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import { eventually, type Ready, RunningServer } from "../../../testbed/front-door.ts";
import {
  doors_before,
  doors_more,
  doorsServed,
  doorsTo,
  type HomeBefore,
  range,
  sectionsFor,
  served,
} from "./home.ts";
import {
  Broken,
  clearly,
  type End,
  keptIn,
  type Machine,
  type Part,
  requireSame,
  type Tried,
  warnings,
} from "./part.ts";

/** A gateway that starts, reads twenty events of a pill box, hears twenty of a sensor, and is stopped. */
export async function gatewayPart(home: HomeBefore): Promise<Part> {
  return { run: (machine) => tryGateway(machine, home), close: async () => undefined };
}

async function tryGateway(machine: Machine, home: HomeBefore): Promise<Tried> {
  const { site } = machine;
  const data = machine.copyOf(home.directory, "data");
  const { stick, bridge } = await home.devices();
  try {
    site.configure({ data, sections: sectionsFor(stick, bridge) });
    const { process, end } = machine.faulty(["run", "--config", site.config, "--json"]);
    const ended = process.exited.then(() => undefined);
    const line = await process.line();
    const ready: Ready | undefined = line === undefined ? undefined : JSON.parse(line);
    let shown: Shown = { doors: [], events: [] };
    if (ready !== undefined) {
      await Promise.race([ended, listening(data)]);
      for (const event of range(1, events_heard)) stick.devices[0]?.notify(event);
      shown = await shownBy(home, ready.url, ended);
      process.kill("SIGTERM");
    }
    const tried = judged(await end(), shown);
    await heal(machine, home, { data, stick, shown });
    return tried;
  } finally {
    await stick.close();
    await bridge.close();
  }
}

/** Readings that the interface has shown, which so are on disk. */
interface Shown {
  readonly doors: readonly number[];
  readonly events: readonly number[];
}

const all_doors = doorsTo(doors_before + doors_more);
const events_heard = 20;

function judged(end: End, { doors, events }: Shown): Tried {
  const said = warnings(end.said);
  if (end.code !== 0) return { ended: "stopped", said: clearly(end) };
  if (doors.length === all_doors.length && events.length === events_heard) return { ended: "healthy", said };
  if (said === "")
    throw new Broken(
      `it has ${doors.length} events of the box and ${events.length} of the sensor, and says nothing`,
    );
  return { ended: "limped", said };
}

/** Waits until both drivers hear, or for a while. */
export async function listening(data: string): Promise<void> {
  const unix = join(data, "control.sock");
  for (let tries = 0; tries < tries_max; tries += 1) {
    const answer = await fetch("http://gateway/status", { unix }).catch(() => undefined);
    const status = (await answer?.json().catch(() => undefined)) as
      | { drivers?: { state: string }[] }
      | undefined;
    if (status?.drivers?.every(({ state }) => state === "listening")) return;
    await Bun.sleep(pause_ms);
  }
}

/** Readings that the interface shows, once it shows everything, or after a while, or before the end. */
async function shownBy(home: HomeBefore, url: string, ended: Promise<undefined>): Promise<Shown> {
  let shown: Shown = { doors: [], events: [] };
  for (let tries = 0; tries < tries_max; tries += 1) {
    const sensor = `${url}/items/wirelesssensors/${home.sensor_item}/events?limit=1000`;
    const [doors, events] = await Promise.all([doorsServed(url, home.token), served(sensor, home.token)]);
    // A page that fails once does not take back what was shown before.
    shown = {
      doors: doors.length > shown.doors.length ? doors : shown.doors,
      events: events.length > shown.events.length ? events : shown.events,
    };
    if (doors.length === all_doors.length && events.length === events_heard) break;
    if (await Promise.race([ended.then(() => true), Bun.sleep(pause_ms).then(() => false)])) break;
  }
  return shown;
}

/** Starts the gateway again without the fault: what was shown is there, once, in order, the box is read to its end, and the sensor is heard. */
async function heal(
  { site }: Machine,
  home: HomeBefore,
  { data, stick, shown }: { data: string; stick: ZnpSimulator; shown: Shown },
): Promise<void> {
  const process = site.spawn(["run", "--config", site.config, "--json"]);
  const line = await process.line();
  if (line === undefined) throw new Broken(`it does not start again: ${await process.said()}`);
  const gateway = new RunningServer(process, JSON.parse(line));
  const sensor = `${gateway.url}/items/wirelesssensors/${home.sensor_item}/events?limit=1000`;
  const once = async (is: () => Promise<boolean>, what: string) => {
    await eventually(async () => (await is()) || undefined, what, { tries_max: heal_tries_max }).catch(() => {
      throw new Broken(`after a restart: ${what} never came`);
    });
  };
  await once(
    async () => (await doorsServed(gateway.url, home.token)).length >= all_doors.length,
    "the box's events",
  );
  await Promise.race([process.exited, listening(data)]);
  stick.devices[0]?.notify(new_event);
  await once(async () => (await served(sensor, home.token)).includes(new_event), "the sensor's event");
  const code = await gateway.stop();
  if (code !== 0) throw new Broken(`after a restart it ended with ${code}: ${await process.said()}`);
  const { doors, events } = keptIn(data);
  requireSame(doors, all_doors, "after a restart the box");
  requireSame(
    events,
    [...new Set(events)].toSorted((one, other) => one - other),
    "after a restart the sensor",
  );
  const lost = shown.events.filter((event) => !events.includes(event));
  if (lost.length > 0) throw new Broken(`after a restart the sensor lacks ${lost.join()}, which were shown`);
}

/** Told by the sensor after the restart. */
const new_event = 1_000;
const pause_ms = 20;
/** A second and a half: what is not shown by then waits for the disk. */
const tries_max = 75;
const heal_tries_max = 800;
