import { resolve } from "node:path";
import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { machineTimezone } from "../base/timezone.ts";
import { settingIn } from "../central/gateway-reports.ts";
import { MirrorKeeper } from "../central/mirror-keeper.ts";
import { type Mirrored, type MirrorOptions, updateMirror } from "../export/mirror/mirror.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import { shownStore, type VisibleStore, visiblePart } from "../store/visible-store.ts";
import { Answering } from "../web/api/answering.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { runCommand } from "./own-command.ts";
import { drawBar, interruptible } from "./progress.ts";
import { addCentralOptions, type CentralPlace, databaseVariable, type StoreOptions } from "./store-place.ts";
import { withCentralStore } from "./with-store.ts";

/** `lintel central mirror`: brings a folder of Parquet files up to date with what central has. */
export function defineMirror(central: Command, context: CommandContext): void {
  const mirror = central
    .command("mirror")
    .description("bring a folder of Parquet files up to date with what central has");
  addHelp(mirror, {
    examples: {
      "lintel central mirror --output /srv/mirror --data /srv/lintel": "while central runs, or not",
      "duckdb /srv/mirror/lintel.duckdb": "then reads all of it",
    },
    notes: [
      "Central does this itself each night and after each erasure, where it is started with --mirror. The folder has the data of",
      `people, with their names. It needs DuckDB for lintel.duckdb alone: docs/mirror.md says how $${duckDbVariable} names it.`,
    ],
    exits: { 130: "interrupted: the same command goes on" },
  });
  addCentralOptions(mirror)
    .requiredOption("--output <dir>", "the folder: an empty one, or a mirror")
    .option("--json", "print what was done as one JSON object")
    .action((options: MirrorCommandOptions) => mirrorStore(options, context));
}

interface MirrorCommandOptions extends StoreOptions {
  readonly output: string;
}

async function mirrorStore(options: MirrorCommandOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const started_ms = clock.now().monotonic_ms;
  const interrupted = "interrupted: the same command goes on";
  const done = await interruptible(context, { interrupted }, (stop) =>
    withCentralStore(options, context, (store) =>
      mirrorOf(store, {
        directory: resolve(options.output),
        duckDb: process.env[duckDbVariable],
        clock,
        stop,
        onProgress: ({ done, total, home }) => drawBar(terminal, { done, total, words: `home ${home}` }),
      }),
    ),
  );
  if (done === undefined) return;
  const { noDatabase, ...counts } = done;
  const seconds = Math.round((clock.now().monotonic_ms - started_ms) / 100) / 10;
  if (noDatabase !== undefined) terminal.say(noDatabase);
  if (options.json) terminal.printJson({ ...counts, seconds });
  else
    terminal.print(
      `${counts.homes} homes: ${counts.written} files written with ${counts.rows} rows, ${counts.removed} taken away, in ${seconds} s`,
    );
}

/** Brings the mirror of a store up to date, without what is restricted. */
export async function mirrorOf(
  store: CentralStore,
  options: Omit<MirrorOptions, "homes" | "homeOf" | "answers">,
): Promise<Mirrored> {
  const { clock } = options;
  const shown = await shownStore(store);
  const settingOf = settingIn(store);
  return updateMirror({
    ...options,
    homes: await homesOf(shown),
    homeOf: async (home) => {
      const part = visiblePart(shown, { homes: [home], subjects: [], projects: [], studies: [] });
      return { home, store: part, answers: new Answering({ store: part, clock, settingOf }) };
    },
    answers: new Answering({ store: shown, clock, settingOf }),
  });
}

/** Every home that has a record or has sent readings. */
async function homesOf(store: VisibleStore): Promise<number[]> {
  const [records, epochs] = [await store.records("homes"), await store.heldEpochs()];
  const all = new Set([...records.map(({ homeid }) => homeid), ...epochs.flatMap(({ home }) => home ?? [])]);
  return [...all].sort((one, other) => one - other);
}

/** Keeps the mirror of a running central up to date. */
export function mirrorKeeper(
  directory: string,
  of: { place: CentralPlace; store: CentralStore; context: CommandContext; log: Log },
): MirrorKeeper {
  const { place, store, context, log } = of;
  // What the database has for a password is for nobody's list of processes.
  if ("database" in place) process.env[databaseVariable] = place.database;
  const command = ["central", "mirror", "--output", directory];
  if ("directory" in place) command.push("--data", place.directory);
  return new MirrorKeeper({
    hidden: async () => {
      const erased = (await store.erasures()).map(({ id }) => id);
      // Nothing goes because a gateway tells of a pause.
      const paused = (await store.pauses()).flatMap(({ id, own }) => (own === 1 ? id : []));
      return JSON.stringify([[...new Set([...erased, ...paused])], (await store.unrestricted())?.homes]);
    },
    timezone: machineTimezone(),
    clock: context.clock,
    log,
    update: async (stop) => {
      const { code, out, said } = await runCommand([...command, "--json"], stop);
      if (code !== 0) throw new OperatorError(said.trim(), `run lintel ${command.join(" ")}`);
      if (said.trim() !== "") log.warn(said.trim());
      log.info(`the mirror is up to date: ${out.trim()}`);
    },
  });
}

/** Holds the folder in which DuckDB's package was installed. */
export const duckDbVariable = "LINTEL_DUCKDB";
