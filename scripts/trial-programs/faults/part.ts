import { Database } from "bun:sqlite";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LintelProcess, lintel, Site } from "../../../testbed/front-door.ts";
import { storedEvents } from "../../../testbed/sqlite/stored-readings.ts";
import type { Fault, Given, Nth } from "./calls.ts";

/** A part of the program that is tried. */
export interface Part {
  /** One trial: how the part ended, with a fault that `machine` gives it, and that a run without one found everything well. @throws Broken */
  run(machine: Machine): Promise<Tried>;
  close(): Promise<void>;
}

/**
 * How a run with a fault ended, and that everything was well after a run without one: `healthy` did its work all the same, `stopped` ended with a clear line and
 * another exit than 0, `limped` went on with a warning and without some of its work.
 */
export interface Tried {
  readonly ended: "healthy" | "stopped" | "limped";
  readonly said: string;
}

/** A part whose trials begin with copies of what is made once, in a directory that is gone at the end. */
export async function preparedPart<Made>(
  make: (site: Site, directory: string) => Promise<Made>,
  tryOut: (machine: Machine, made: Made) => Promise<Tried>,
): Promise<Part> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-part-"));
  const site = new Site();
  const made = await make(site, directory).finally(() => site.remove());
  return {
    run: (machine) => tryOut(machine, made),
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Something that must never be. */
export class Broken extends Error {
  override readonly name = "Broken";
}

/** The machine of one trial: `disk` holds all that faults may hit. */
export class Machine implements AsyncDisposable {
  readonly site = new Site();
  readonly disk = join(this.site.directory, "disk");
  /** Of the fault, once the faulty process has ended. */
  given: Given | undefined;
  readonly #nth: Nth;
  readonly #fault: Fault;
  readonly #others: Site[] = [];

  constructor(nth: Nth, fault: Fault) {
    this.#nth = nth;
    this.#fault = fault;
    mkdirSync(this.disk);
  }

  /** A directory of the disk, with a copy of another one in it. */
  copyOf(from: string, name: string): string {
    const path = join(this.disk, name);
    cpSync(from, path, { recursive: true });
    return path;
  }

  /** The words before a command that give it the fault below a directory, and what will have become of it. */
  faultBelow(directory: string): { words: readonly string[]; given: () => Promise<Given> } {
    return this.#nth.around(`${directory}/`, this.#fault);
  }

  /** Starts `lintel` with the fault. */
  faulty(words: readonly string[]): FaultyProcess {
    const { words: around, given } = this.faultBelow(this.disk);
    const site = new Site({ program: [...around, lintel] });
    this.#others.push(site);
    const process = site.spawn(words);
    const end = async () => {
      const ended = await endOf(process);
      this.given = await given();
      return ended;
    };
    return { process, end };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const site of [...this.#others, this.site]) await site.remove();
  }
}

/** A process with a fault; `end` waits for its end. */
export interface FaultyProcess {
  readonly process: LintelProcess;
  readonly end: () => Promise<End>;
}

export interface End {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

/** How a process ended: its exit code, and what it said. It is ended where it does not end by itself. @throws Broken */
export async function endOf(process: LintelProcess): Promise<End> {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    process.kill("SIGKILL");
  }, end_ms_max);
  const [code, out, said] = await Promise.all([process.exited, process.rest(), process.said()]);
  clearTimeout(timer);
  if (late) throw new Broken(`it does not end: ${said}`);
  return { code, out, said };
}

/** The line with which a process has stopped. @throws Broken where it was killed, or its last line is none for people */
export function clearly({ code, said }: { code: number; said: string }): string {
  const lines = said.trimEnd().split("\n");
  const last = lines.at(-1) ?? "";
  if (code === 0 || code > 2) throw new Broken(`it ended with ${code}: ${said}`);
  const clear =
    /^lintel: |^\S+Z (error|warn) /.test(last) && !/unexpected|nobody foresaw|\bat .*:\d+:\d+/.test(said);
  if (!clear) throw new Broken(`it ended with ${code}, and not with a clear line: ${said}`);
  return last;
}

/** How a command that ends by itself has done. @throws Broken where it has not stopped clearly */
export function commandEnded(end: End): Tried {
  if (end.code !== 0) return { ended: "stopped", said: clearly(end) };
  const said = warnings(end.said);
  return { ended: said === "" ? "healthy" : "limped", said };
}

/** The lines that are more than information. */
export function warnings(said: string): string {
  return said
    .split("\n")
    .filter((line) => line !== "" && !/^\S+Z info /.test(line) && !/no time service|no driver/.test(line))
    .join("\n");
}

/** Readings of a database on disk, of each device in the order of their numbers, looked at past the program. Sealed ones are not among them. */
export interface Kept {
  readonly doors: readonly number[];
  readonly events: readonly number[];
}

/** The readings of a store. @throws Broken where its file is damaged, or what it counts is not what it has */
export function keptIn(directory: string, name = "lintel.db"): Kept {
  const path = join(directory, name);
  if (!existsSync(path)) return { doors: [], events: [] };
  using database = new Database(path);
  const [whole] = database.query("PRAGMA integrity_check").values()[0] ?? [];
  if (whole !== "ok") throw new Broken(`${path} is damaged: ${whole}`);
  for (const series of ["pillbox_events", "wirelesssensor_events"] as const) {
    const [wrong] = database
      .query(
        `SELECT stream, total, (SELECT count(*) FROM ${series} AS rows WHERE rows.stream = totals.stream) +
             (SELECT coalesce(sum(count), 0) FROM blocks
                WHERE blocks.stream = totals.stream AND blocks.series = totals.series) AS rows
           FROM totals WHERE series = '${series}' AND total <> rows`,
      )
      .values();
    if (wrong !== undefined) throw new Broken(`${path} counts ${wrong[1]} of ${wrong[2]} ${series}`);
  }
  const of = (series: string) =>
    storedEvents(database, series)
      .sort((one, other) => one.stream - other.stream || one.seq - other.seq)
      .map(({ event }) => event);
  return { doors: of("pillbox_events"), events: of("wirelesssensor_events") };
}

/** @throws Broken where what is kept is not what is expected */
export function requireSame(kept: unknown, expected: unknown, whose: string): void {
  const [found, wanted] = [JSON.stringify(kept), JSON.stringify(expected)];
  if (found !== wanted) throw new Broken(`${whose} has ${found}, and not ${wanted}`);
}

/** Much longer than any part takes on a busy machine. */
const end_ms_max = 60_000;
