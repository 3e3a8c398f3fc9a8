import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type LintelProcess, Site } from "../../../../testbed/front-door.ts";
import type { Nth } from "../../faults/calls.ts";
import { doorsTo, type HomeBefore } from "../../faults/home.ts";
import { endOf } from "../../faults/part.ts";

/** Something that was acknowledged, and when at the latest, in milliseconds since 1970. */
export interface Owed {
  readonly at_ms: number;
  readonly what: string;
  readonly count: number;
}

/** A run of the program on a disk that was recorded: what it acknowledged, and who says whether a state of its disk is right. */
export interface Recorded {
  /** The disk as it was before, and the recording. */
  readonly before: string;
  readonly recording: string;
  readonly disk: string;
  readonly owed: readonly Owed[];
  readonly judge: Judge;
}

/** @param owed how much of something had been acknowledged when the power failed @throws Broken */
export type Judge = (disk: string, owed: (what: string) => number) => Promise<void>;

/** Homes that were set up to begin with: one with twenty events of a box, one with two hundred, and one with as many as a box keeps, in two hundred days. */
export interface Homes {
  small(): Promise<HomeBefore>;
  large(): Promise<HomeBefore>;
  old(): Promise<HomeBefore>;
}

/** Has the program do something on a disk, and records it. */
export type Scene = (place: Place, homes: Homes) => Promise<Judge>;

export const small_doors = doorsTo(20);
export const large_doors = doorsTo(200);

/** Where a run is recorded: a disk, and a site for what is not on it. */
export class Place implements AsyncDisposable {
  readonly site = new Site();
  readonly disk = join(this.site.directory, "disk");
  readonly #before = join(this.site.directory, "before");
  readonly #recording = join(this.site.directory, "recording");
  readonly #owed: Owed[] = [];
  readonly #nth: Nth;
  #recorded: { site: Site; done: () => Promise<void> } | undefined;

  constructor(nth: Nth) {
    this.#nth = nth;
    mkdirSync(this.disk);
  }

  /** From now on so much of something is acknowledged. */
  owe(what: string, count: number): void {
    // Times of calls are cut to milliseconds.
    this.#owed.push({ at_ms: Date.now() + 1, what, count });
  }

  /** Starts `lintel` on the disk as it is now, recorded. */
  start(...words: readonly string[]): LintelProcess {
    cpSync(this.disk, this.#before, { recursive: true });
    const { program, done } = this.#nth.recorded(`${this.disk}/`, this.#recording);
    this.#recorded = { site: new Site({ program }), done };
    return this.#recorded.site.spawn(words);
  }

  /** Runs a command, recorded, to its good end. */
  async run(...words: readonly string[]): Promise<void> {
    await endedWell(this.start(...words));
    this.owe("done", 1);
  }

  async recorded(judge: Judge): Promise<Recorded> {
    await this.#recorded?.done();
    return { before: this.#before, recording: this.#recording, disk: this.disk, owed: this.#owed, judge };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#recorded?.site.remove();
    await this.site.remove();
  }
}

export async function endedWell(process: LintelProcess): Promise<void> {
  const { code, said } = await endOf(process);
  if (code !== 0) throw new Error(`it ended with ${code}: ${said}`);
}
