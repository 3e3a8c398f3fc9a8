import { SimulatedHub } from "../../../drivers/mqtt/simulator/hub.ts";
import {
  type HubPublish,
  zigbeeDevices,
  zigbeeState,
  zwaveStatus,
  zwaveValue,
} from "../../../drivers/mqtt/simulator/messages.ts";
import { startBroker, type TestBroker } from "../../../testbed/broker.ts";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";

/** The account of a run in which gateway and broker were killed. */
export interface Killed {
  readonly messages: number;
  /** Messages that a hub has sent twice or more, because the broker was killed after it had them. */
  readonly sentAgain: number;
  readonly gatewayKills: number;
  readonly brokerKills: number;
  readonly seconds: number;
  /** A line for each sensor whose messages are not there once each. */
  readonly faults: readonly string[];
  /** Readings that were served: an event for each message, and a measure for each of Zigbee2MQTT. */
  readonly served: number;
}

/**
 * Has sensors of Zigbee2MQTT and Z-Wave JS UI speak at QoS 1 through a real mosquitto to the gateway that people start, while both are killed at random
 * times. Every message is numbered by its hub's stamp, and each changes something.
 *
 * A killed mosquitto forgets what it has acknowledged in the last moments: the hubs send again, in order and with the same stamps, what it may have lost.
 */
export async function killAtRandom(options: {
  messages: number;
  random: () => number;
  told?: (line: string) => void;
}): Promise<Killed> {
  const site = new Site();
  const broker = await startBroker();
  const trial = new Trial({ ...options, site, broker });
  try {
    return await trial.run();
  } finally {
    await broker.remove();
    await site.remove();
  }
}

const sensors = 40;
/** Messages on their way to the broker at once. */
const underway_max = 20;
/** Longer than mosquitto takes from a message to its file. */
const unsaved_ms = 2_000;
const pause_ms = 5;

class Trial {
  readonly #options: Parameters<typeof killAtRandom>[0];
  readonly #site: Site;
  readonly #broker: TestBroker;
  readonly #messages: readonly HubPublish[];
  /** When the broker has acknowledged each. */
  readonly #acknowledged: (number | undefined)[] = [];
  #gateway: RunningServer | undefined;
  #sentAgain = 0;
  readonly #kills = { gateway: 0, broker: 0 };
  #done = false;

  constructor(options: Parameters<typeof killAtRandom>[0] & { site: Site; broker: TestBroker }) {
    this.#options = options;
    this.#site = options.site;
    this.#broker = options.broker;
    this.#messages = Array.from({ length: options.messages }, (_, number) => messageOf(number));
  }

  async run(): Promise<Killed> {
    const began_ms = Date.now();
    await this.#introduce();
    this.#site.configure({ sections: `[mqtt]\nurl = "${this.#broker.url}"\nadmit = "all"\n[home]\nid = 12` });
    this.#gateway = await this.#site.run();
    const token = await this.#site.token();
    await this.#site.listening();
    const killing = this.#killGateways();
    await this.#send();
    this.#done = true;
    await killing;
    const faults = await this.#faults(token);
    return {
      messages: this.#messages.length,
      sentAgain: this.#sentAgain,
      gatewayKills: this.#kills.gateway,
      brokerKills: this.#kills.broker,
      seconds: (Date.now() - began_ms) / 1000,
      ...faults,
    };
  }

  async #introduce(): Promise<void> {
    const hub = await SimulatedHub.connect(this.#broker.url);
    const zigbee = Array.from({ length: sensors / 2 }, (_, index) => ({
      ieee: `0x${ieeeOf(index * 2)}`,
      name: `room/door ${index * 2}`,
      model: "lumi.sensor_magnet.aq2",
      vendor: "Aqara",
    }));
    await hub.publish(zigbeeDevices(zigbee));
    for (let index = 1; index < sensors; index += 2)
      await hub.publish(zwaveStatus(`node ${index}`, index, Date.now()));
    await Bun.sleep(unsaved_ms);
    await hub.end();
  }

  /** Sends all, killing the broker now and then; what it may not have saved is sent again. */
  async #send(): Promise<void> {
    let next = 0;
    while (next < this.#messages.length) {
      const killed_ms = await this.#sendFrom(next);
      if (killed_ms === undefined) return;
      const lost = this.#acknowledged.findIndex(
        (at_ms) => at_ms === undefined || at_ms > killed_ms - unsaved_ms,
      );
      const again = lost === -1 ? this.#acknowledged.length : lost;
      this.#sentAgain += this.#acknowledged.slice(again).filter((at_ms) => at_ms !== undefined).length;
      next = again;
      this.#acknowledged.length = next;
    }
  }

  /** Answers when the broker was killed, or undefined when all was sent. */
  async #sendFrom(first: number): Promise<number | undefined> {
    const hub = await SimulatedHub.connect(this.#broker.url);
    const until_ms = Date.now() + 2_000 + this.#options.random() * 6_000;
    const underway = new Set<Promise<void>>();
    for (let number = first; number < this.#messages.length; number += 1) {
      if (Date.now() > until_ms) return await this.#killBroker(hub);
      const message = this.#messages[number];
      if (message === undefined) break;
      const sent = hub.publish(message).then(
        () => {
          this.#acknowledged[number] = Date.now();
        },
        () => {},
      );
      const done = sent.finally(() => underway.delete(done));
      underway.add(done);
      if (underway.size >= underway_max) await Promise.race(underway);
      await Bun.sleep(pause_ms * this.#options.random());
    }
    await Promise.all(underway);
    await hub.end();
    return undefined;
  }

  async #killBroker(hub: SimulatedHub): Promise<number> {
    const { random, told } = this.#options;
    await this.#broker.kill();
    const killed_ms = Date.now();
    await hub.end();
    this.#kills.broker += 1;
    told?.(`broker killed after ${this.#acknowledged.length} messages`);
    await Bun.sleep(random() * 1_500);
    await this.#broker.start();
    return killed_ms;
  }

  async #killGateways(): Promise<void> {
    const { random, told } = this.#options;
    while (!this.#done) {
      await Bun.sleep(500 + random() * 4_000);
      if (this.#done) return;
      await this.#gateway?.stop("SIGKILL");
      this.#kills.gateway += 1;
      told?.(`gateway killed after ${this.#acknowledged.length} messages`);
      await Bun.sleep(random() * 2_000);
      this.#gateway = await this.#site.run();
    }
  }

  async #faults(token: string): Promise<Pick<Killed, "faults" | "served">> {
    const counts = sentBySensor(this.#messages.length);
    const wanted = counts
      .map((sent, index) => (isZigbee(index) ? 2 * sent : sent))
      .reduce((sum, one) => sum + one, 0);
    let [served, still] = [0, 0];
    const counted = await eventually(
      async () => {
        const now = await Promise.all(counts.map((_, index) => this.#served(index, token)));
        const total = now.reduce((sum, { events, values }) => sum + events + values.length, 0);
        still = total === served ? still + 1 : 0;
        served = total;
        // More may come as long as it goes on, and what is there twice shows after a moment.
        return total < wanted && still < quiet_rounds ? undefined : now;
      },
      "the messages in the API",
      { pause_ms: 1_000 },
    );
    const faults = counts.flatMap((sent, index) =>
      faultsOf(index, sent, this.#messages.length, counted[index]),
    );
    return { faults, served };
  }

  async #served(index: number, token: string): Promise<Served> {
    const item = `wirelesssensor-${addressOf(index).replaceAll(":", "")}`;
    const [events, measures] = await Promise.all([
      all(this.#gateway, `/items/wirelesssensors/${item}/events?limit=1000`, token),
      isZigbee(index) ? all(this.#gateway, `/items/wirelesssensors/${item}/measures?limit=1000`, token) : [],
    ]);
    return { events: events.length, values: measures.map((one) => Number(one["value"])) };
  }
}

interface Served {
  readonly events: number;
  readonly values: readonly number[];
}

const quiet_rounds = 20;

function faultsOf(index: number, sent: number, messages: number, served: Served | undefined): string[] {
  if (served === undefined) return [`sensor ${index} is not there`];
  const events = served.events === sent ? [] : [`sensor ${index}: ${sent} messages, ${served.events} events`];
  if (!isZigbee(index)) return events;
  const values = new Map<number, number>();
  for (const value of served.values) values.set(value, (values.get(value) ?? 0) + 1);
  const faults: string[] = [];
  for (let number = index; number < messages; number += sensors) {
    const times = values.get(number) ?? 0;
    if (times !== 1) faults.push(`sensor ${index}: message ${number} was recorded ${times} times`);
  }
  return [...events, ...faults];
}

function sentBySensor(messages: number): number[] {
  return Array.from({ length: sensors }, (_, index) => Math.max(0, Math.ceil((messages - index) / sensors)));
}

function isZigbee(index: number): boolean {
  return index % 2 === 0;
}

/** The message of this number: it opens or closes the door of its sensor, each time the other. */
function messageOf(number: number): HubPublish {
  const index = number % sensors;
  const open = Math.floor(number / sensors) % 2 === 0;
  // Stamps of the last hour, each its own.
  const time = began_ms - 3_600_000 + number;
  if (isZigbee(index))
    return zigbeeState(`room/door ${index}`, {
      contact: !open,
      temperature: number,
      last_seen: new Date(time).toISOString(),
    });
  const door = { nodeId: index, commandClass: "notification", property: "Access_Control/Door_state_simple" };
  return zwaveValue(`node ${index}`, { ...door, value: open ? 22 : 23, time });
}

const began_ms = Date.now();

function ieeeOf(index: number): string {
  return `00158d00${index.toString(16).padStart(8, "0")}`;
}

/** Of a Z-Wave node: the number of the home, 12, and its own. */
function addressOf(index: number): string {
  return isZigbee(index) ? ieeeOf(index) : `02000000000c${index.toString(16).padStart(4, "0")}`;
}

async function all(
  gateway: RunningServer | undefined,
  first: string,
  token: string,
): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for (let path: string | undefined = first; path !== undefined && gateway !== undefined; ) {
    const response: Response = await gateway.get(path, token);
    if (response.status === 404) return records;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    records.push(...((await response.json()) as typeof records));
    const next: string | undefined = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    path = next === undefined ? undefined : new URL(next, response.url).href;
  }
  return records;
}
