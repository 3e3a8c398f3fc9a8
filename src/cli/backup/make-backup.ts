import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parse } from "smol-toml";
import type { Clock } from "../../base/clock.ts";
import { syncToDisk, writeDurably } from "../../base/disk/safe-files.ts";
import { makeDirectory, serviceUser, userName } from "../../base/disk/users.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { databasePath, openForReading } from "../../store/sqlite/connection.ts";
import { holdsDatabase, syncTree } from "../../store/sqlite/data-directory.ts";
import { storeFault } from "../../store/sqlite/faults.ts";
import { refuseNewer, versionOf } from "../../store/sqlite/schema.ts";
import type { CommandContext } from "../command.ts";
import { drawBytes } from "../progress.ts";
import type { Terminal } from "../terminal.ts";
import {
  checkFiles,
  contentOf,
  copyDurably,
  databaseName,
  filesToKeep,
  isOwnDirectory,
  type Manifest,
  manifestName,
  requireSpace,
} from "./backup-files.ts";

export interface BackupOptions {
  /** The data directory; a server may be running on it. */
  readonly data: string;
  /** Where the backup goes; an earlier backup there is replaced. */
  readonly into: string;
  /** The configuration to keep with it, and with the files that it names. */
  readonly configuration?: string;
}

/**
 * Makes a backup of a store and of its files. Until the new one is whole, checked and on disk, an earlier one stays as it is: the
 * manifest is replaced last.
 *
 * @throws OperatorError, and then nothing that was there before has changed
 */
export async function makeBackup(options: BackupOptions, context: CommandContext): Promise<Manifest> {
  const { data, into } = options;
  const { terminal, clock, version } = context;
  const database = databasePath(data);
  if (!holdsDatabase(data))
    throw new OperatorError(
      `there is no Lintel database in ${data}`,
      "name the data directory of a gateway or of a central server",
    );
  const { bytes } = factsOf(database);
  await prepareTarget(into, bytes);
  const made_ms = clock.now().unix_ms;
  const directory = `backup-${randomBytes(4).toString("hex")}`;
  const building = join(into, `${directory}.new`);
  try {
    mkdirSync(building, { mode: 0o700 });
    const copy = join(building, databaseName);
    await copyDatabase({
      from: database,
      to: copy,
      clock,
      onBytes: (done) => drawBytes(terminal, done, bytes, "copying"),
    });
    // The copy has all readings that were committed before it began, and perhaps more.
    const { bytes: _, ...kept } = factsOf(copy);
    const files: Manifest["files"] = { [databaseName]: await contentOf(copy) };
    for (const name of filesToKeep(data, into))
      files[name] = await copyDurably(join(data, name), join(building, name));
    for (const [place, path] of configurationFiles(options, terminal).entries()) {
      const name = `configuration/${place}-${basename(path)}`;
      files[name] = { ...(await copyDurably(path, join(building, name))), path };
    }
    // Everything is read again from where it will be read one day.
    const total = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
    let done = 0;
    await checkFiles(building, { files }, (count) => {
      done += count;
      drawBytes(terminal, done, total, "checking");
    });
    syncTree(building);
    await rename(building, join(into, directory));
    const manifest: Manifest = {
      format: "lintel backup 1",
      made_ms,
      version,
      ...kept,
      directory,
      files,
    };
    await putManifest(into, manifest);
    return manifest;
  } catch (thrown) {
    rmSync(building, { recursive: true, force: true });
    throw storeFault(thrown, into);
  }
}

/** @throws OperatorError where the backup must not, or cannot, be written there */
async function prepareTarget(into: string, bytes: number): Promise<void> {
  try {
    if (existsSync(into) && !isOwnDirectory(into))
      throw new OperatorError(
        `${into} holds other files than backups`,
        "name a directory that is empty, that does not exist yet, or that holds a backup to be replaced",
      );
    mkdirSync(into, { recursive: true, mode: 0o700 });
    await requireSpace(into, bytes);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "EACCES" || code === "EPERM")
      throw new OperatorError(
        `${userName()} may not write ${into}`,
        `${makeDirectory(into)} makes it, then run this again (a stick with FAT has no owners: mount it with -o uid=${serviceUser()})`,
      );
    throw storeFault(thrown, into);
  }
}

/** Absolute paths of the configuration and of the files that it names: keys, certificates, tokens. */
function configurationFiles({ configuration }: BackupOptions, terminal: Terminal): string[] {
  const warn = (line: string) => terminal.say(terminal.errorColours.yellow(`! ${line}`));
  if (configuration === undefined) return [];
  const path = resolve(configuration);
  const named = namedIn(parse(readFileSync(path, "utf8"))).map((name) => resolve(dirname(path), name));
  return [path, ...new Set(named)].filter((file) => {
    try {
      const found = statSync(file);
      if (found.isFile() && found.size <= named_bytes_max) return true;
      warn(`${file}, which ${path} names, is not kept: it is no small file`);
    } catch (thrown) {
      warn(`${file}, which ${path} names, is not kept (${messageOf(thrown)})`);
    }
    return false;
  });
}

function namedIn(section: unknown): string[] {
  if (typeof section !== "object" || section === null) return [];
  return Object.entries(section).flatMap(([key, value]) =>
    typeof value === "string" ? (/(^|_)(file|key|certificate)$/.test(key) ? [value] : []) : namedIn(value),
  );
}

/** Replaces the manifest, and removes the files of an earlier backup. */
export async function putManifest(into: string, manifest: Manifest): Promise<void> {
  const path = join(into, manifestName);
  syncToDisk(into);
  writeDurably(path, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of readdirSync(into))
    if (name.startsWith("backup-") && name !== manifest.directory)
      rmSync(join(into, name), { recursive: true, force: true });
}

const named_bytes_max = 1024 * 1024;

/** Facts of a database, read before it is copied. */
export interface DatabaseFacts {
  readonly epoch: string;
  readonly last_seq: number;
  readonly home?: number;
  /** More than a copy takes. */
  readonly bytes: number;
}

/** @throws OperatorError for a database that is another program's, newer or damaged */
export function factsOf(path: string): DatabaseFacts {
  try {
    const database = openForReading(path);
    try {
      refuseNewer(versionOf(database, path), path);
      const facts = new Map(database.query("SELECT name, value FROM meta").values() as [string, unknown][]);
      const pages = database.query("PRAGMA page_count").values()[0]?.[0];
      const page_bytes = database.query("PRAGMA page_size").values()[0]?.[0];
      return {
        epoch: String(facts.get("epoch")),
        last_seq: Number(facts.get("last_seq")),
        home: facts.has("home") ? Number(facts.get("home")) : undefined,
        bytes: Number(pages) * Number(page_bytes),
      };
    } finally {
      database.close();
    }
  } catch (thrown) {
    throw storeFault(thrown, path);
  }
}

/**
 * Copies a database that others go on using, as it is at one moment. The copy is whole, checked and on disk when it resolves.
 *
 * @param options.onBytes called now and then with the size of the copy so far
 * @throws OperatorError
 */
export async function copyDatabase(options: {
  readonly from: string;
  readonly to: string;
  readonly clock: Clock;
  readonly onBytes: (bytes: number) => void;
}): Promise<void> {
  const { from, to, clock, onBytes } = options;
  let cancel = () => {};
  const look = () => {
    onBytes(statSync(to, { throwIfNoEntry: false })?.size ?? 0);
    cancel = clock.after(look_interval_ms, look);
  };
  // SQLite copies into an empty file as well, and leaves its mode as it is.
  await (await open(to, "wx", 0o600)).close();
  look();
  try {
    await vacuumInto(from, to);
  } catch (thrown) {
    throw storeFault(thrown, from);
  } finally {
    cancel();
  }
  await using file = await open(to, "r+");
  await file.sync();
  checkIntegrity(to);
}

/** @throws OperatorError where any page or index of a database is damaged */
function checkIntegrity(path: string): void {
  const database = openForReading(path);
  try {
    const [found] = database.query("PRAGMA integrity_check(1)").values()[0] ?? [];
    if (found !== "ok")
      throw new OperatorError(
        `${path} is damaged (${String(found)})`,
        "check the disk or SD card it is on, and that of the database it was copied from",
      );
  } finally {
    database.close();
  }
}

function vacuumInto(from: string, to: string): Promise<void> {
  // Without its ending, as the writer's thread: .ts here, .js beside the bundle.
  const worker = new Worker(new URL("./vacuum", import.meta.url));
  const done = new Promise<void>((resolve, reject) => {
    worker.addEventListener("message", ({ data }: MessageEvent<{ message?: string; code?: string }>) => {
      if (data.message === undefined) resolve();
      else reject(Object.assign(new Error(data.message), { code: data.code }));
    });
    worker.addEventListener("error", ({ message }) => reject(new Error(message)));
  });
  worker.postMessage({ from, to });
  return done.finally(() => worker.terminate());
}

const look_interval_ms = 200;
