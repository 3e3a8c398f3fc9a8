import type { Host } from "../driver.ts";
import type { Arrival } from "./connection.ts";
import { Directories } from "./directories.ts";
import type { Heard, Hub } from "./hub.ts";
import { hubs } from "./hubs.ts";
import type { Delivery } from "./sensor.ts";
import { Sensors } from "./sensors.ts";

/** The messages of all hubs: finds whose each is, and what it means. */
export class Messages {
  readonly #host: Host;
  readonly #directories = new Directories();
  readonly #sensors: Sensors;
  readonly #prefixes: ReadonlyMap<Hub, readonly string[]>;
  readonly #followed = new Set<string>();
  #onTopic = (_topic: string) => {};

  /** @param options.topics how the topics of a hub begin, by its name, where that is not as usual */
  constructor(options: {
    host: Host;
    welcome: boolean;
    topics: Readonly<Record<string, string | undefined>>;
  }) {
    this.#host = options.host;
    this.#sensors = new Sensors(options);
    this.#prefixes = new Map(hubs.map((hub) => [hub, (options.topics[hub.name] ?? hub.prefix).split("/")]));
  }

  get counts(): Sensors["counts"] {
    return this.#sensors.counts;
  }

  /** Topics under which the hubs tell of their devices. */
  directories(): string[] {
    return [...this.#prefixes].flatMap(([hub, prefix]) =>
      hub.directory.map((topic) => [...prefix, topic].join("/")),
    );
  }

  /** All topics, with those of the devices that are known. */
  subscriptions(): string[] {
    const messages = [...this.#prefixes].flatMap(([hub, prefix]) =>
      hub.messages.map((topic) => [...prefix, topic].join("/")),
    );
    const told = this.#directories.topics();
    for (const topic of told) this.#followed.add(topic);
    // What a wildcard covers is not asked for twice: some brokers would send it twice.
    const directories = this.directories().filter(
      (topic) => !messages.some((wide) => wide.endsWith("#") && topic.startsWith(wide.slice(0, -1))),
    );
    return [...new Set([...messages, ...directories, ...told])];
  }

  /** Has a topic told that a device was found to use, until the answer is called. */
  onTopic(tell: (topic: string) => void): () => void {
    this.#onTopic = tell;
    return () => {
      this.#onTopic = () => {};
    };
  }

  /** Takes in what a message tells of devices, and nothing else. */
  learn(arrival: Arrival): void {
    for (const [hub, prefix] of this.#prefixes) {
      const heard = this.#read(hub, prefix, arrival);
      if (typeof heard === "object" && "entries" in heard) this.#know(hub, heard);
    }
  }

  /** Resolves once all that is new in a message is on disk, or refused and counted. Never rejects. */
  async take(arrival: Arrival, delivery: Delivery): Promise<void> {
    for (const [hub, prefix] of this.#prefixes) {
      const heard = this.#read(hub, prefix, arrival);
      if (heard === "nothing") continue;
      if ("fault" in heard) this.#drop(hub, heard.fault);
      else if ("entries" in heard) this.#know(hub, heard);
      else {
        for (const fault of heard.refused ?? []) this.#drop(hub, fault);
        const { moment, acknowledged } = arrival;
        // A refused reading has already been counted and logged by the host.
        await this.#sensors.take(heard, { hub, moment, delivery, acknowledged }).catch(() => {});
      }
    }
  }

  #read(hub: Hub, prefix: readonly string[], { topic, payload }: Arrival): Heard {
    const levels = topic.split("/");
    const known = this.#directories.of(hub);
    const own = prefix.every((level, index) => levels[index] === level) && levels.length > prefix.length;
    if (!own && !known.has(topic)) return "nothing";
    if (payload.length > message_max_bytes && !this.#isDirectory(hub, levels.slice(prefix.length)))
      return { fault: `of more than ${message_max_bytes / 1024} KiB` };
    const path = own ? levels.slice(prefix.length) : [];
    return hub.read({ path, topic, payload, localAddress: this.#host.localAddress }, known);
  }

  #isDirectory(hub: Hub, path: readonly string[]): boolean {
    return hub.directory.some((pattern) => {
      const levels = pattern.split("/");
      return (
        levels.length === path.length && levels.every((level, at) => level === "+" || level === path[at])
      );
    });
  }

  #know(hub: Hub, heard: Extract<Heard, { entries: unknown }>): void {
    const left = this.#directories.learn(hub, heard);
    if (left > 0) this.#host.dropped(`${hub.name} devices beyond those that can be known`, left);
    for (const { topic } of heard.entries.values()) {
      if (topic === undefined || this.#followed.has(topic) || /[+#]/.test(topic)) continue;
      this.#followed.add(topic);
      this.#onTopic(topic);
    }
  }

  #drop(hub: Hub, fault: string): void {
    this.#host.dropped(`${hub.name} messages ${fault}`);
  }
}

/** Of what a device says; a list of devices is longer. */
const message_max_bytes = 64 * 1024;
