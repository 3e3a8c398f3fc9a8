import { type Directory, type Entry, entries_max, type Heard, type Hub } from "./hub.ts";

/** The directories of the hubs: what each has told of its devices. In memory; the broker keeps them, and tells them at each connection. */
export class Directories {
  readonly #entries = new Map<string, Map<string, Entry>>();

  of(hub: Hub): Directory {
    return this.#entries.get(hub.name) ?? none;
  }

  /** Learns what a hub tells. Answers how many entries found no room. */
  learn(hub: Hub, { entries }: Extract<Heard, { entries: unknown }>): number {
    const known = this.#entries.get(hub.name) ?? new Map<string, Entry>();
    this.#entries.set(hub.name, known);
    let left = 0;
    for (const [name, entry] of entries) {
      if (known.has(name) || known.size < entries_max) known.set(name, { ...known.get(name), ...entry });
      else left += 1;
    }
    return left;
  }

  /** Topics that the entries name. */
  topics(): string[] {
    return [...this.#entries.values()].flatMap((entries) =>
      [...entries.values()].flatMap(({ topic }) =>
        topic === undefined || /[+#]/.test(topic) ? [] : [topic],
      ),
    );
  }
}

const none: Directory = new Map();
