import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { parseIfWhole, readIfThere, writeDurably } from "../../src/base/disk/safe-files.ts";
import { type Network, networkOf } from "./network.ts";

/** All that is needed to go on with the same sensors on another stick or another gateway. */
export interface Generation {
  readonly network: Network;
  /** zigbee-herdsman's coordinator backup, as text; null for adapters that make none. */
  readonly coordinator: string | null;
  /** zigbee-herdsman's device database, as text. */
  readonly database: string;
}

export const generations_max = 10;

/**
 * Numbered copies of a network's files, each in one file with a checksum, newest number last. Numbers, not
 * dates, order them: the gateway's clock can be wrong when one is written.
 */
export class Generations {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Writes a generation and returns its number. It gets the next number when the network or its devices are
   * others than in the newest, and takes the newest's place when only counters have moved on: so the
   * generations go back through ten changes, however often the gateway starts.
   */
  keep(generation: Generation, saved: string): number {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const numbers = this.#numbers();
    const last = numbers.at(-1) ?? 0;
    const newest = this.newest();
    const same = newest?.number === last && signature(newest.generation) === signature(generation);
    const number = same ? last : last + 1;
    const content = JSON.stringify(generation);
    const header = JSON.stringify({ generation: number, saved, sha256: digest(content) });
    writeDurably(this.#path(number), `${header}\n${content}\n`);
    const kept = same ? numbers : [...numbers, number];
    for (const old of kept.slice(0, Math.max(0, kept.length - generations_max))) unlinkSync(this.#path(old));
    return number;
  }

  /** The newest generation that is whole, with its number; passes over damaged ones. */
  newest(): { number: number; generation: Generation } | undefined {
    for (const number of this.#numbers().reverse()) {
      const content = parseIfWhole(this.#content(number));
      const generation = generationOf(content);
      if (generation !== undefined) return { number, generation };
    }
    return undefined;
  }

  /** The JSON of one generation; undefined when it isn't there or its checksum is wrong. */
  #content(number: number): string | undefined {
    const [header, content] = readIfThere(this.#path(number))?.split("\n") ?? [];
    const parsed = parseIfWhole(header) as { sha256?: unknown } | undefined;
    if (content === undefined || parsed?.sha256 !== digest(content)) return undefined;
    return content;
  }

  #numbers(): number[] {
    let names: string[];
    try {
      names = readdirSync(this.#directory);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw thrown;
    }
    return names
      .flatMap((name) => /^network-(\d{6,})\.json$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }

  #path(number: number): string {
    return join(this.#directory, `network-${String(number).padStart(6, "0")}.json`);
  }
}

function generationOf(value: unknown): Generation | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { network, coordinator, database } = value as Record<string, unknown>;
  const known = networkOf(network);
  if (known === undefined || typeof database !== "string") return undefined;
  return { network: known, coordinator: typeof coordinator === "string" ? coordinator : null, database };
}

/** A text that stays the same while no device joins or leaves and the network is the same. */
function signature({ network, coordinator, database }: Generation): string {
  const backup = parseIfWhole(coordinator ?? undefined) as { coordinator_ieee?: unknown } | undefined;
  const devices = database.split("\n").map((line) => {
    const { ieeeAddr, interviewState } = (parseIfWhole(line) ?? {}) as Record<string, unknown>;
    return `${ieeeAddr} ${interviewState}`;
  });
  return JSON.stringify([network, backup?.coordinator_ieee, devices.sort()]);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
