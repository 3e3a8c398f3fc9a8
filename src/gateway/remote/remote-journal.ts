import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { jsonIfReadable, writeDurably } from "../../base/disk/safe-files.ts";
import { remoteOutcomes } from "../../domain/remote-request.ts";

/** A request of the study to this box, and how that ended. Without an outcome it is being worked on, or the box was cut off meanwhile. */
const Entry = Type.Object({
  number: Type.Number(),
  request: Type.String(),
  argument: Type.Optional(Type.String()),
  at_ms: Type.Number(),
  outcome: Type.Optional(Type.Union(remoteOutcomes.map((outcome) => Type.Literal(outcome)))),
  words: Type.Optional(Type.String()),
});
export type RemoteEntry = Static<typeof Entry>;

const Kept = Type.Object({
  last: Type.Record(Type.String(), Type.Number()),
  /** The newest last. */
  admitted: Type.Array(Entry),
  refused: Type.Array(Entry),
});

/**
 * The journal of requests from afar, in the data directory. A request is written down, and its number used up, before anything is done for it: a power cut makes it fail, and
 * never happen twice. Those refused have a place of their own, so that a flood of them displaces nothing.
 */
export class RemoteJournal {
  readonly #path: string;
  readonly #kept: Static<typeof Kept>;

  constructor(directory: string) {
    this.#path = join(directory, journalName);
    this.#kept = keptIn(this.#path);
  }

  /** The highest number that was let in, by key. */
  get last(): ReadonlyMap<string, number> {
    return new Map(Object.entries(this.#kept.last));
  }

  /** The newest first. */
  get entries(): readonly RemoteEntry[] {
    const { admitted, refused } = this.#kept;
    return [...admitted, ...refused].toSorted((one, other) => other.at_ms - one.at_ms);
  }

  /** The entry of a request that was let in. */
  admitted(number: number): RemoteEntry | undefined {
    return this.#kept.admitted.find((entry) => entry.number === number);
  }

  admit(entry: RemoteEntry, key: string): void {
    this.#kept.last[key] = entry.number;
    put(this.#kept.admitted, entry, admitted_max);
    this.#write();
  }

  refuse(entries: readonly RemoteEntry[]): void {
    if (entries.length === 0) return;
    for (const entry of entries) put(this.#kept.refused, entry, refused_max);
    this.#write();
  }

  end(number: number, { outcome, words }: Pick<RemoteEntry, "outcome" | "words">): void {
    const entry = this.admitted(number);
    if (entry === undefined) return;
    Object.assign(entry, { outcome, words });
    this.#write();
  }

  #write(): void {
    writeDurably(this.#path, JSON.stringify(this.#kept));
  }
}

/** The entries in a data directory, for a page or a command. */
export function remoteEntriesIn(directory: string): readonly RemoteEntry[] {
  return new RemoteJournal(directory).entries;
}

/**
 * A damaged journal is begun anew: what was sent before could then be sent again for as long as it is valid, a day at most.
 */
function keptIn(path: string): Static<typeof Kept> {
  const kept = jsonIfReadable(path);
  return Value.Check(Kept, kept) ? kept : { last: {}, admitted: [], refused: [] };
}

function put(entries: RemoteEntry[], entry: RemoteEntry, most: number): void {
  entries.push(entry);
  entries.splice(0, Math.max(0, entries.length - most));
}

const journalName = "remote-requests.json";
const admitted_max = 100;
const refused_max = 20;
