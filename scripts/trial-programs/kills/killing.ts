import { SimulatedBox } from "../../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../../drivers/pillbox/simulator/bridge.ts";
import { eventually, type LintelProcess, RunningServer, Site } from "../../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";
import { inHome } from "../../../testbed/uploading.ts";
import { itemOf, letIn } from "./restarting.ts";

/** The account of a house in which everything was killed. */
export interface Killings {
  readonly kills: { readonly gateway: number; readonly central: number; readonly upload: number };
  /** Of the gateway's kills: those before it served. */
  readonly starting: number;
  /** Uploads that came to their good end. */
  readonly uploads: number;
  /** Events of the sensor and of the pill box that had to be there, and all that were served. */
  readonly owed: number;
  readonly served: number;
  readonly seconds: number;
  readonly faults: readonly string[];
}

/**
 * Kills the gateway that people start so many times, at random moments of its start and of its work, while a sensor of its Zigbee network notifies, a
 * polled pill box hands out its buffer, and uploads go to a central. These are killed too. In the end gateway and central must serve the same: every
 * event of the pill box, every notification that was ever served before and all of the last life, each once and in order.
 */
export async function killAll(options: { kills: number; random: () => number }): Promise<Killings> {
  const house = await House.build(options.random);
  try {
    return await house.run(options.kills);
  } finally {
    await house.remove();
  }
}

const mac = "c0:ff:ee:00:00:01";
const report_interval_ms = 50;

class House {
  readonly #random: () => number;
  readonly #site: Site;
  readonly #office = new Site();
  readonly #stick: SimulatorProcess;
  readonly #bridge: BridgeSimulator;
  readonly #box = new SimulatedBox({ mac, now_ms: Date.now, ahead_ms: -3_600_000 });
  #central: RunningServer | undefined;
  #sensor = "";
  #token = "";
  readonly #kills = { gateway: 0, central: 0, upload: 0 };
  #starting = 0;
  #uploads = 0;
  /** The last notification that is known to have been served, and all others that were. */
  readonly #seen = new Set<number>();
  readonly #faults: string[] = [];

  private constructor(random: () => number, site: Site, stick: SimulatorProcess, bridge: BridgeSimulator) {
    this.#random = random;
    this.#site = site;
    this.#stick = stick;
    this.#bridge = bridge;
  }

  static async build(random: () => number): Promise<House> {
    const site = new Site();
    const bridge = await BridgeSimulator.listen({ transport: "pty" });
    const house = new House(random, site, await site.simulator("zigbee"), bridge);
    await house.#moveIn();
    return house;
  }

  async #moveIn(): Promise<void> {
    const [site, office] = [this.#site, this.#office];
    this.#bridge.boxes.push(this.#box);
    const central = await office.central("--data", office.data);
    this.#central = central;
    const drivers = `[zigbee]\nport = "${this.#stick.path}"\n[pillbox]\nport = "${this.#bridge.path}"`;
    site.configure({ sections: `${await inHome(12, site, { site: office, central })}\n${drivers}` });
    const gateway = await site.run();
    this.#token = await site.token();
    const [ieee = ""] = await letIn(site, this.#stick, ["3045"]);
    this.#sensor = itemOf(ieee);
    await this.#stick.tell({ do: "report", ieee, every_ms: report_interval_ms });
    await this.#look(gateway, 1);
    await gateway.stop();
  }

  async run(kills: number): Promise<Killings> {
    const began_ms = Date.now();
    let beside: Promise<void> = Promise.resolve();
    let idle = true;
    for (let life = 0; life < kills; life += 1) {
      if (idle) {
        idle = false;
        beside = (life % 5 === 4 ? this.#killCentral() : this.#upload()).finally(() => {
          idle = true;
        });
      }
      await this.#live();
    }
    await beside;
    await this.#compare();
    return {
      kills: this.#kills,
      starting: this.#starting,
      uploads: this.#uploads,
      owed: this.#seen.size + this.#box.history.length,
      served: this.#served,
      seconds: (Date.now() - began_ms) / 1000,
      faults: this.#faults,
    };
  }

  #served = 0;

  /** One life of the gateway: one of three is ended while it starts. */
  async #live(): Promise<void> {
    const random = this.#random;
    const child = this.#site.spawn(["run", "--config", this.#site.config, "--json"]);
    this.#moveDoors();
    if (random() < 1 / 3) {
      this.#starting += 1;
      await Bun.sleep(random() * starting_ms);
    } else {
      const line = await child.line();
      if (line === undefined) throw new Error(`the gateway did not start: ${await child.said()}`);
      const gateway = new RunningServer(child, JSON.parse(line));
      const until_ms = performance.now() + random() * working_ms;
      while (performance.now() < until_ms) {
        await this.#look(gateway, 0);
        this.#moveDoors();
        await Bun.sleep(random() * 2 * report_interval_ms);
      }
    }
    await killed(child);
    this.#kills.gateway += 1;
    await this.#stick.tell({ do: "closed" });
  }

  /** Somebody opens or closes a door of the pill box. */
  #moveDoors(): void {
    this.#box.doors((this.#box.history.length + 1) % 128);
  }

  /** Notes what is served now, once there are at least so many notifications. */
  async #look(gateway: RunningServer, least: number): Promise<void> {
    const path = `/items/wirelesssensors/${this.#sensor}/events?limit=100`;
    const events = await eventually(async () => {
      const response = await gateway.get(path, this.#token);
      const served = response.ok ? ((await response.json()) as { event: number }[]) : [];
      return served.length >= least ? served : undefined;
    }, "notifications served");
    for (const { event } of events) this.#seen.add(event);
  }

  /** Starts an upload, and kills one of three. */
  async #upload(): Promise<void> {
    const child = this.#site.spawn(["upload", "--config", this.#site.config, "--json"]);
    const kill = this.#random() < 1 / 3;
    if (kill) {
      await Bun.sleep(this.#random() * uploading_ms);
      await killed(child);
      this.#kills.upload += 1;
      return;
    }
    const [code, said] = await Promise.all([child.exited, child.said()]);
    if (code === 0) this.#uploads += 1;
    // What central has confirmed it must never lose.
    if (/now holds them up to|differed from central/.test(said)) this.#faults.push(said.trim());
  }

  /** Kills central in the middle of an upload, and starts it again where it was. */
  async #killCentral(): Promise<void> {
    const upload = this.#upload();
    await Bun.sleep(this.#random() * uploading_ms);
    const { port } = new URL(this.#central?.origin ?? "");
    await this.#central?.stop("SIGKILL");
    this.#kills.central += 1;
    const words = ["central", "--listen", "127.0.0.1", "--port", port, "--data", this.#office.data, "--json"];
    this.#central = await this.#office.serve(words);
    await upload;
  }

  async #compare(): Promise<void> {
    const gateway = await this.#site.run();
    const { first } = await eventually(async () => {
      const reported = await this.#stick.tell({ do: "reported" });
      return reported["first"] === null ? undefined : reported;
    }, "notifications to the last gateway");
    const ieee = this.#sensor.slice("wirelesssensor-".length).match(/../g)?.join(":");
    await this.#stick.tell({ do: "report", ieee, every_ms: 0 });
    const { last } = await this.#stick.tell({ do: "reported" });
    for (let number = first; number <= last; number += 1) this.#seen.add(number);
    const central = this.#central as RunningServer;
    const atCentral = await this.#office.token();
    const sensor = `/items/wirelesssensors/${this.#sensor}/events`;
    const box = `/items/pillboxes/pillbox-${mac.replaceAll(":", "")}/events`;
    await eventually(async () => {
      const newest = await gateway.records<{ event: number }[]>(`${sensor}?limit=1`, this.#token);
      const doors = await gateway.records<{ event: number }[]>(`${box}?limit=1`, this.#token);
      const all = (newest[0]?.event ?? 0) >= last && doors[0]?.event === this.#box.history.at(-1)?.doors;
      return all || undefined;
    }, "the last events served");
    const { differing_days } = await this.#site.answer("upload", "--config", this.#site.config, "--json");
    if (differing_days !== 0) this.#faults.push(`${differing_days} days differ at central`);
    for (const path of [sensor, box]) {
      const here = (await gateway.all<Event>(path, this.#token)).reverse();
      const there = (await central.all<Event>(path, atCentral)).reverse();
      if (JSON.stringify(here) !== JSON.stringify(there))
        this.#faults.push(`${path}: gateway has ${here.length}, central ${there.length}, or others`);
      this.#served += here.length;
      const events = here.map(({ event }) => event);
      this.#faults.push(...(path === sensor ? sensorFaults(events, this.#seen) : this.#boxFaults(events)));
    }
    await gateway.stop();
    await central.stop();
  }

  #boxFaults(events: readonly number[]): string[] {
    const owed = this.#box.history.map(({ doors }) => doors);
    const differs = owed.findIndex((doors, index) => doors !== events[index]);
    if (differs < 0 && events.length === owed.length) return [];
    return [
      `the pill box had ${owed.length} events, and ${events.length} are there; event ${differs + 1} is the first that differs`,
    ];
  }

  async remove(): Promise<void> {
    await this.#bridge.close();
    await this.#site.remove();
    await this.#office.remove();
  }
}

/** Faults of notifications that count up: a line for each that is missing, and for each that comes twice or after a later one. */
export function sensorFaults(events: readonly number[], owed: ReadonlySet<number>): string[] {
  const there = new Set(events);
  const missing = [...owed].filter((number) => !there.has(number));
  const disorder = events.filter((number, index) => index > 0 && number <= (events[index - 1] ?? 0));
  return [
    ...missing.map((number) => `notification ${number} was served, and is missing`),
    ...disorder.map((number) => `notification ${number} comes twice or out of order`),
  ];
}

async function killed(child: LintelProcess): Promise<void> {
  child.kill("SIGKILL");
  await child.exited;
}

interface Event {
  readonly stamp: number;
  readonly event: number;
}

/** Bounds of the random times that a start, a gateway at work, and an upload are left. */
const starting_ms = 500;
const working_ms = 700;
const uploading_ms = 1_000;
