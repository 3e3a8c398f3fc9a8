import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { below } from "../../../../testbed/sample.ts";
import type { Call } from "./recording.ts";

/** A change of a file since it was synchronised: bytes from a place on, or a cut; and its size then. */
interface Change {
  readonly from: number;
  /** Absent: the file was cut at `from`. */
  readonly bytes?: Uint8Array;
  readonly size: number;
}

class File {
  durable: Uint8Array;
  size: number;
  changes: Change[] = [];

  constructor(durable: Uint8Array) {
    this.durable = durable;
    this.size = durable.length;
  }

  write(from: number, bytes: Uint8Array): void {
    const begin = from < 0 ? this.size : from;
    this.size = Math.max(this.size, begin + bytes.length);
    this.changes.push({ from: begin, bytes, size: this.size });
  }

  cut(at: number): void {
    this.size = at;
    this.changes.push({ from: at, size: at });
  }

  synchronise(): void {
    if (this.changes.length === 0) return;
    const content = new Uint8Array(Math.max(this.durable.length, ...this.changes.map(({ size }) => size)));
    content.set(this.durable);
    for (const change of this.changes) apply(content, change);
    this.durable = content.slice(0, this.size);
    this.changes = [];
  }

  /** The content as it may be after a power cut: of each sector any state that it had since it was synchronised, and any of the sizes. */
  survived(random: () => number): Uint8Array {
    const { changes } = this;
    if (changes.length === 0) return this.durable;
    const most = Math.max(this.durable.length, ...changes.map(({ size }) => size));
    const content = new Uint8Array(Math.ceil(most / sector_bytes) * sector_bytes);
    content.set(this.durable);
    const mood = below(random, 6);
    const sized = mood === all_kept ? changes.length : below(random, changes.length + 1);
    const size = sized === 0 ? this.durable.length : (changes[sized - 1] as Change).size;
    for (let begin = 0; begin < content.length; begin += sector_bytes) {
      const touching = changes.filter((one) => one.from < begin + sector_bytes && begin < endOf(one));
      const kept =
        mood === none_kept ? 0 : mood === all_kept ? touching.length : below(random, touching.length + 1);
      const sector = content.subarray(begin, begin + sector_bytes);
      for (const change of touching.slice(0, kept)) apply(sector, { ...change, from: change.from - begin });
    }
    return content.slice(0, size);
  }
}

/** A change of names since they were synchronised. `undefined`: the name is gone. */
interface Renaming {
  readonly directories: readonly string[];
  readonly names: readonly (readonly [path: string, File | undefined | "directory"])[];
}

/**
 * A disk on which recorded calls are done again, one after the other. It knows what is synchronised. After a power cut a prefix of the changes of names since then is
 * there, as with file systems that have a journal, and of the content of files any sectors.
 */
export class ReplayedDisk {
  readonly #names = new Map<string, File | "directory">();
  readonly #durable: Map<string, File | "directory">;
  #renamings: Renaming[] = [];

  /** @param from a directory with the files as they were before, all synchronised */
  constructor(from: string) {
    for (const name of readdirSync(from, { recursive: true }) as string[]) {
      const path = join(from, name);
      this.#names.set(name, statSync(path).isDirectory() ? "directory" : new File(readFileSync(path)));
    }
    this.#durable = new Map(this.#names);
  }

  do(call: Call): void {
    const { path } = call;
    const found = this.#names.get(path);
    if (call.kind === "sync") {
      if (found instanceof File) found.synchronise();
      else this.#synchroniseNames(path);
    } else if (call.kind === "mkdir") {
      if (found === undefined) this.#rename([path], [[path, "directory"]]);
    } else if (call.kind === "unlink") {
      if (found !== undefined) this.#rename([path], [[path, undefined]]);
    } else if (call.kind === "rename") this.#move(call.from, path);
    else if (call.kind === "open") {
      if (found instanceof File && call.empties && found.size > 0) found.cut(0);
      if (found === undefined && call.creates) this.#rename([path], [[path, new File(new Uint8Array())]]);
    } else if (!(found instanceof File)) throw new Error(`${path} is written, and was never made`);
    else if (call.kind === "write") found.write(call.from, call.bytes);
    else if (call.kind === "truncate") found.cut(call.bytes);
  }

  /** Writes the disk as it may be found after a power cut. */
  image(random: () => number, into: string): void {
    const names = new Map(this.#durable);
    const pending = this.#renamings.length;
    const kept = below(random, 3) === 0 ? pending : below(random, pending + 1);
    for (const renaming of this.#renamings.slice(0, kept)) put(names, renaming);
    for (const [path, found] of [...names].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const whole = join(into, path);
      if (found === "directory") mkdirSync(whole, { recursive: true, mode: 0o700 });
      else {
        mkdirSync(dirname(whole), { recursive: true, mode: 0o700 });
        writeFileSync(whole, found.survived(random), { mode: 0o600 });
      }
    }
  }

  #move(from: string, to: string): void {
    const moved = [...this.#names].filter(([path]) => path === from || path.startsWith(`${from}/`));
    const replaced = [...this.#names.keys()].filter((path) => path === to || path.startsWith(`${to}/`));
    this.#rename(
      [from, to],
      [
        ...[...replaced, ...moved.map(([path]) => path)].map((path) => [path, undefined] as const),
        ...moved.map(([path, found]) => [to + path.slice(from.length), found] as const),
      ],
    );
  }

  #rename(changed: readonly string[], names: Renaming["names"]): void {
    const renaming = { directories: changed.map(directoryOf), names };
    put(this.#names, renaming);
    this.#renamings.push(renaming);
  }

  /** A directory that is synchronised has all its names, and what the journal has before them. */
  #synchroniseNames(directory: string): void {
    const last = this.#renamings.findLastIndex(({ directories }) => directories.includes(directory));
    for (const renaming of this.#renamings.splice(0, last + 1)) put(this.#durable, renaming);
  }
}

function put(names: Map<string, File | "directory">, renaming: Renaming): void {
  for (const [path, found] of renaming.names)
    if (found === undefined) names.delete(path);
    else names.set(path, found);
}

function apply(content: Uint8Array, { from, bytes }: Change): void {
  if (bytes === undefined) content.fill(0, Math.max(0, from));
  else {
    const begin = Math.max(0, from);
    content.set(bytes.subarray(begin - from, begin - from + content.length - begin), begin);
  }
}

const endOf = ({ from, bytes }: Change) =>
  bytes === undefined ? Number.POSITIVE_INFINITY : from + bytes.length;
const directoryOf = (path: string) => (path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");

/** Smaller than what most media write at once: whoever is right with it is right with more. */
const sector_bytes = 512;
const none_kept = 0;
const all_kept = 1;
