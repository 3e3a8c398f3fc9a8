import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { freeBytes, nearestExisting } from "../base/disk/disk-fault.ts";
import { OperatorError, StoreOutage } from "../base/errors.ts";
import type { Moved } from "../store/move/move.ts";
import type { MoveTarget } from "../store/move/move-ends.ts";
import { databasePath } from "../store/sqlite/connection.ts";
import { TryAgainLater } from "../web/client/http-request.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { interruptible, moveMeter } from "./progress.ts";
import {
  type CentralPlace,
  defaultCentralData,
  openMoveSource,
  openMoveTarget,
  withoutPassword,
} from "./store-place.ts";
import type { Terminal } from "./terminal.ts";
import { bytesText, spanText } from "./terminal-text.ts";

/** `lintel central move`: moves central's store to another database. */
export function defineMove(central: Command, context: CommandContext): void {
  const move = central.command("move").description("move all that central keeps to another database");
  addHelp(move, {
    examples: {
      "lintel central move --from /srv/lintel --to postgres://lintel@localhost/lintel":
        "from SQLite to PostgreSQL",
      "lintel central move --from postgres://lintel@localhost/lintel --to postgres://lintel@cluster/lintel":
        "from there to a cluster, whose database has the Citus extension",
      "lintel central move --from postgres://lintel@localhost/lintel --to /srv/lintel": "and back to SQLite",
    },
    notes: [
      "Stop central first. What it is moved from is not changed; what it is moved to must be empty, or be what an interrupted",
      "move has begun: the same command goes on where it was. In the end both are compared, home by home, by digests. Tokens,",
      "links and cursors that were given out go on. A password in a URL is seen by everybody on the machine: leave it out, and",
      "put it into $PGPASSWORD.",
    ],
    exits: {
      0: "all is there, and was compared",
      1: "a database went away: the same command goes on",
      130: "interrupted: the same command goes on",
    },
  });
  move
    .requiredOption(
      "--from <store>",
      "the data directory, or the URL of the PostgreSQL database, that central has now",
    )
    .requiredOption("--to <store>", "the same of what it is to have: a directory or database that is empty")
    .option("--json", "print what was moved as one JSON object")
    .action((options: MoveCommandOptions) => moveStore(options, context));
}

interface MoveCommandOptions {
  readonly from: string;
  readonly to: string;
  readonly json?: boolean;
}

async function moveStore(options: MoveCommandOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const [from, to] = [placeOf(options.from), placeOf(options.to)];
  if (JSON.stringify(from) === JSON.stringify(to))
    throw new OperatorError("--from and --to name the same store", "name another to move it to");
  const later = { error: (line: string) => terminal.say(`${line}; the same command goes on where it was`) };
  const interrupted = "interrupted: the same command goes on where it was";
  const done = await interruptible(context, { interrupted, later }, (stop) =>
    moving({ from, to, json: options.json === true, context, stop }),
  );
  if (done === undefined) return;
  const start = startLine(from, to);
  if (options.json) terminal.printJson({ ...done, start });
  else sayDone(terminal, done, { from: shown(from), start });
}

interface Done extends Omit<Moved, "copied"> {
  readonly bytes_before: number;
  readonly bytes_after: number;
  /** Of this run: an interrupted one before it does not count. */
  readonly seconds: number;
  readonly readings_per_s: number;
}

async function moving(of: {
  from: CentralPlace;
  to: CentralPlace;
  json: boolean;
  context: CommandContext;
  stop: AbortSignal;
}): Promise<Done> {
  const { from, to, json, context, stop } = of;
  const { clock, terminal } = context;
  const { beginning, countReadings, move, requireSame } = await import("../store/move/move.ts");
  const started_ms = clock.now().monotonic_ms;
  const source = await openMoveSource(from, clock);
  let target: MoveTarget | undefined;
  try {
    const begun = await beginning(source);
    const readings = await countReadings(source);
    const bytes_before = await source.bytes();
    const room = await requireRoom(to, { readings, bytes: bytes_before });
    target = await openMoveTarget(to, clock, { epoch: begun.epoch, moving: JSON.stringify(begun) });
    const ends = { source, target };
    await requireSame(ends, begun);
    const say = json ? terminal.say : terminal.print;
    say(
      `Moving ${readings} readings, ${bytesText(bytes_before)}, from ${source.name} to ${target.name}, where they take ${room}.`,
    );
    const meter = moveMeter(terminal, clock);
    const { copied, ...moved } = await move({ ...ends, onProgress: meter, stop }).catch(passing);
    const seconds = Math.max(1, clock.now().monotonic_ms - started_ms) / 1000;
    return {
      ...moved,
      bytes_before,
      bytes_after: await target.bytes(),
      seconds: Math.round(seconds * 10) / 10,
      readings_per_s: Math.round(copied / seconds),
    };
  } finally {
    await target?.close();
    await source.close();
  }
}

/** Once a move has begun, a database that goes away for a while is no fault of the command's. */
function passing(thrown: unknown): never {
  if (thrown instanceof StoreOutage) throw new TryAgainLater(thrown.what, thrown.remedy, { cause: thrown });
  throw thrown;
}

/**
 * The room that readings take in a place, in words.
 *
 * @throws OperatorError where its disk has less
 */
async function requireRoom(to: CentralPlace, of: { readings: number; bytes: number }): Promise<string> {
  if ("database" in to) return `at most about ${bytesText(of.readings * postgres_bytes)}`;
  const needed = Math.min(of.bytes, empty_bytes + of.readings * sqlite_bytes);
  const held = statSync(databasePath(to.directory), { throwIfNoEntry: false })?.size ?? 0;
  const free = await freeBytes(nearestExisting(to.directory));
  if (held + free < needed)
    throw new OperatorError(
      `${to.directory} is to take about ${bytesText(needed)}, and its disk has ${bytesText(free)} free`,
      "free some space, or name a directory on another disk",
    );
  return `at most about ${bytesText(needed)}; ${bytesText(free)} are free`;
}

function placeOf(store: string): CentralPlace {
  return /^postgres(ql)?:/.test(store) ? { database: store } : { directory: resolve(store) };
}

function shown(place: CentralPlace): string {
  return "database" in place ? withoutPassword(place.database) : place.directory;
}

/** The line that starts central on what it was moved to, with the certificate that it has made before. */
function startLine(from: CentralPlace, to: CentralPlace): string {
  const store = "database" in to ? `--database ${shown(to)}` : `--data ${to.directory}`;
  const own = "directory" in from ? from.directory : defaultCentralData;
  const ofNew = "directory" in to ? to.directory : defaultCentralData;
  const kept = own !== ofNew && existsSync(join(own, "tls-certificate.pem"));
  return `lintel central ${store}${kept ? ` --tls self-signed --tls-directory ${own}` : ""}`;
}

function sayDone(terminal: Terminal, done: Done, of: { from: string; start: string }): void {
  const { homes, items, readings, bytes_before, bytes_after, seconds, readings_per_s } = done;
  terminal.print(
    `${homes} homes, ${items} items and ${readings} readings were moved, and compared by digests: ${bytesText(bytes_before)} became ${bytesText(bytes_after)}, in ${spanText(seconds * 1000)}, ${readings_per_s} readings a second.`,
  );
  terminal.print(`Start central on it: ${of.start}`);
  terminal.say(
    `${of.from} is as it was. What a central that is started on it takes in is not in the copy; remove it once you are content.`,
  );
}

/** Bytes that a reading takes at most, with its part of indexes and counts, as long as its day is not sealed. */
const postgres_bytes = 200;
const sqlite_bytes = 60;
/** A database without a reading, and the records of a small programme. */
const empty_bytes = 4_000_000;
