import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { freeBytes } from "../../base/disk/disk-fault.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { knownTimeFile } from "../../base/guarded-clock.ts";
import { decodeJson, decodingBounds } from "../../base/json-decoder.ts";
import { visitFile } from "../../gateway/acceptance/visit-file.ts";
import { boxKeyFile } from "../../gateway/box-key.ts";
import { startsFile } from "../../gateway/starts.ts";
import { backupMark, isOfProcess } from "../../store/sqlite/data-directory.ts";
import { burnInFiles } from "../burn-in/bench.ts";
import { bytesText } from "../terminal-text.ts";

const closed = { additionalProperties: false } as const;
const count = Type.Integer({ minimum: 0 });
/** A path below the backup, with nothing in it that leads out. */
const Inside = Type.String({
  pattern: "^(?!(?:.*/)?\\.{1,2}(?:/|$))[^/\\0]+(?:/[^/\\0]+)*$",
  maxLength: 1_000,
});

/** Contents of a backup, as in `manifest.json`. That file is written last: a backup without a valid one is not a backup. */
export const Manifest = Type.Object(
  {
    format: Type.Literal("lintel backup 1"),
    /** When it was made, unix milliseconds, and by which version of Lintel. */
    made_ms: count,
    version: Type.String(),
    /** Name and newest number of the store, and its home where it has one. */
    epoch: Type.String({ pattern: "^[0-9a-f]{32}$" }),
    last_seq: count,
    home: Type.Optional(Type.Integer()),
    /** The directory of the files, in that of the manifest. */
    directory: Type.String({ pattern: "^backup-[0-9a-f]{8}$" }),
    files: Type.Record(
      Inside,
      Type.Object(
        {
          bytes: count,
          sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
          /** Where it was: of the configuration, the first of them, and of the files that it names. The others are of the data directory. */
          path: Type.Optional(Type.String()),
        },
        closed,
      ),
      // Without this a name of another form is no fault.
      closed,
    ),
    /** Readings that came after it: the files with their batches, in order, and the last number in them. */
    added: Type.Optional(Type.Object({ last_seq: count, batches: Type.Array(Inside) }, closed)),
  },
  closed,
);
export type Manifest = Static<typeof Manifest>;

export const manifestName = "manifest.json";
/** The database among the files of a backup; drivers' files are below the directory that they have in a data directory. */
export const databaseName = "lintel.db";

/** The manifest of a backup. @throws OperatorError where there is none, or one that is not whole */
export function readManifest(directory: string): Manifest {
  const path = join(directory, manifestName);
  let found: unknown;
  try {
    found = decodeJson(bytesOf(path), decodingBounds.backupManifest);
  } catch (thrown) {
    const absent = (thrown as NodeJS.ErrnoException).code === "ENOENT";
    throw new OperatorError(
      absent ? `there is no backup in ${directory}` : `${path} cannot be read (${messageOf(thrown)})`,
      absent ? "name a directory that lintel backup has written" : "restore from another backup",
    );
  }
  if (Value.Check(Manifest, found) && found.files[databaseName] !== undefined) return found;
  const first = Value.Errors(Manifest, found).First();
  throw new OperatorError(
    `${path} is not what this version of Lintel writes (${first?.path ?? ""} ${first?.message ?? "no database"})`,
    "restore with the version that made the backup, or from another backup",
  );
}

/** Not more of it than is read: a backup may be from anybody. */
function bytesOf(path: string): Uint8Array {
  const { bytes_max } = decodingBounds.backupManifest;
  if (statSync(path).size > bytes_max) throw new Error(`it has more than ${bytes_max} bytes`);
  return readFileSync(path);
}

/** Whether a directory holds a backup, or an unfinished one, and nothing else. */
export function isOwnDirectory(directory: string): boolean {
  const names = readdirSync(directory).filter((name) => name !== "lost+found");
  if (!names.every((name) => ownNames.test(name))) return false;
  if (!names.includes(manifestName)) return true;
  try {
    readManifest(directory);
    return true;
  } catch (thrown) {
    if (thrown instanceof OperatorError) return false;
    throw thrown;
  }
}

/** Reads every file of a backup. @throws OperatorError that names the first one that differs from the manifest */
export async function checkFiles(
  directory: string,
  { files }: Pick<Manifest, "files">,
  onBytes: OnBytes,
): Promise<void> {
  for (const [name, written] of Object.entries(files)) {
    const path = join(directory, name);
    await checked(path, written, contentOf(path, onBytes));
  }
}

/** Copies a file of a backup to where it belongs. @throws OperatorError where it differs from the manifest */
export async function copyOut(
  from: string,
  to: string,
  written: FileContent,
  onBytes?: OnBytes,
): Promise<void> {
  await checked(from, written, copyDurably(from, to, onBytes));
}

/** @throws OperatorError where a file of a backup cannot be read, or has other content than was written */
async function checked(path: string, written: FileContent, reading: Promise<FileContent>): Promise<void> {
  const found = await reading.catch((thrown: NodeJS.ErrnoException) => {
    // Only the system's errors have a code: an interruption is no damage.
    if (thrown.code === undefined) throw thrown;
    return messageOf(thrown);
  });
  if (typeof found !== "string" && found.sha256 === written.sha256) return;
  const how =
    typeof found === "string"
      ? found
      : found.bytes === written.bytes
        ? "other bytes than were written"
        : `${found.bytes} bytes of ${written.bytes}`;
  throw new OperatorError(
    `the backup is damaged: ${path} (${how})`,
    "restore from another backup, or from central",
  );
}

const ownNames = /^(manifest\.json(\.new)?|backup-[0-9a-f]{8}(\.new)?)$/;

/** Size and digest of a file, to compare two copies. */
export interface FileContent {
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** Called with the number of bytes that were read since the last call. */
export type OnBytes = (count: number) => void;

/** Copies a file, closed to everybody else, with the directories above it; on disk when it resolves. */
export async function copyDurably(from: string, to: string, onBytes?: OnBytes): Promise<FileContent> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await using target = await open(to, "wx", 0o600);
  const content = await contentOf(from, onBytes, target);
  await target.sync();
  return content;
}

/** Reads a file from end to end, and appends what it reads to `target` where there is one. */
export async function contentOf(path: string, onBytes?: OnBytes, target?: FileHandle): Promise<FileContent> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const part of createReadStream(path, { highWaterMark: piece_bytes }) as AsyncIterable<Buffer>) {
    hash.update(part);
    await target?.appendFile(part);
    bytes += part.length;
    onBytes?.(part.length);
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** @throws OperatorError where the disk of a directory has no room for so many bytes */
export async function requireSpace(directory: string, bytes: number): Promise<void> {
  const free = await freeBytes(directory);
  if (free >= bytes + free_bytes_min) return;
  throw new OperatorError(
    `${directory} has ${bytesText(free)} free, and ${bytesText(bytes)} are needed`,
    "free some space there, or name a directory on another disk; nothing has changed",
  );
}

/**
 * Files of a data directory to back up besides the database: those of drivers, and single files. Paths are relative to it.
 *
 * @param but a directory to leave out
 */
export function filesToKeep(data: string, but: string): string[] {
  const drivers = join(data, "drivers");
  const below = existsSync(drivers) ? readdirSync(drivers, { recursive: true, withFileTypes: true }) : [];
  const top = readdirSync(data, { withFileTypes: true }).filter(
    ({ name }) => !isOfProcess(name) && !name.startsWith("lintel.db"),
  );
  return (
    [...top, ...below]
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // A file that is still being written ends in `.new`; a momentary state would be wrong after a restore.
      .filter((path) => !path.endsWith(".new") && !momentary.has(relative(data, path)))
      .filter((path) => !path.startsWith(`${resolve(but)}/`))
      .map((path) => relative(data, path))
  );
}

/**
 * The last status of each sensor: restored, it would make a later event look like a heartbeat, which is not recorded;
 * without it, at worst a heartbeat is recorded as an event. And the time that was known, by which a clock is judged: of a backup of long ago it would be wrong. And the
 * starts, which are of the box that the backup is of, as the time of its last backup is, its key, and a visit or a burn-in that is under way there.
 */
const momentary = new Set([
  "drivers/zigbee/at-rest.json",
  knownTimeFile,
  startsFile,
  backupMark,
  boxKeyFile,
  visitFile,
  ...burnInFiles,
]);
const piece_bytes = 1024 * 1024;
/** Free space that is left to other programs on the disk. */
const free_bytes_min = 4 * 1024 * 1024;
