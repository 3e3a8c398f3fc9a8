import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { OperatorError } from "../../base/errors.ts";
import { acceptancesFile } from "../../domain/acceptance-file.ts";
import { burnInFile } from "../../domain/burn-in-file.ts";
import { valueInFile } from "../../domain/home-file.ts";
import { Identity, identities_max, parseIdentity } from "../../domain/identity.ts";
import { meshFile } from "../../domain/mesh-file.ts";
import { fileWithoutUnkept, type UnkeptTime } from "../../store/erased-files.ts";
import { Admitted } from "../../store/gateway/gateway-store.ts";
import { erasedIn } from "../../store/inventory/erasing.ts";
import {
  type GivenName,
  givenNamesBytes,
  givenNamesFile,
  givenNamesIn,
} from "../../store/inventory/given-names.ts";
import { oneHome } from "../../store/inventory/homes.ts";
import { givenNames, takeNames } from "../../store/inventory/naming.ts";
import {
  type Connection,
  databasePath,
  openForReading,
  openForWriting,
} from "../../store/sqlite/connection.ts";
import { named } from "../../store/sqlite/faults.ts";
import { replaceIdentities } from "../../store/sqlite/gateway-notes.ts";
import { epochs } from "../../store/sqlite/role-and-epoch.ts";
import { Runner } from "../../store/sqlite/sqlite-database.ts";

/**
 * Files of a home that central keeps besides readings and records, so that a spare gateway can replace a lost one; by
 * their names at central.
 *
 * - `zigbee-network.json`: the newest copy that the Zigbee driver made of its network, with a checksum in it
 * - `cursors.json`: how far the buffers of devices have been read, and nothing of what was read: see `BufferCursor.bare`. On a box that gets this file, buffers are read from there on: events that
 *   central lacks are read again, and none twice. Left out while readings wait for the time: they have no numbers, so central does not get them, and
 *   a cursor may be past them. Central then keeps the cursors that it has, and a spare box may read some events again.
 * - `admitted.json`: the devices heard by radio that were let in
 * - `identities.json`: who the devices are. A box without them takes the first device that it hears under an address for the known one. Conflicts are left
 *   out: they come again with the device that claims an address. Left out where nothing is known, so that a box that lost this keeps what central has.
 * - `mesh.json`: the scans of the mesh of its Zigbee devices, which central shows
 * - `burn-in.json`: the signed record of the burn-in at the bench
 * - `acceptances.json`: the signed records of its installation
 * - `given-names.json`: what people in the home call devices; central shows them as proposals too
 *
 * To be gathered before an upload and sent after it: central then has every reading before the cursors.
 */
export function gatherHomeFiles(data: string): Map<string, Uint8Array<ArrayBuffer>> {
  const { admitted, identities, names, waiting, ...cursors } = keptIn(data);
  const encoded = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const files = new Map([
    [admittedName, encoded(admitted)],
    [givenNamesFile, givenNamesBytes(names)],
  ]);
  const { epoch, last_seq } = cursors;
  if (identities.length > 0) files.set(identitiesName, encoded({ epoch, last_seq, identities }));
  if (!waiting) files.set(cursorsName, encoded(cursors));
  for (const name of plainFiles) {
    const path = join(data, name);
    if (existsSync(path)) files.set(name, new Uint8Array(readFileSync(path)));
  }
  const generations = join(data, zigbeeGenerations);
  const newest = (existsSync(generations) ? readdirSync(generations) : [])
    .filter((name) => /^network-\d{6,}\.json$/.test(name))
    .toSorted((one, other) => one.length - other.length || (one < other ? -1 : 1))
    .at(-1);
  if (newest !== undefined) files.set(networkName, new Uint8Array(readFileSync(join(generations, newest))));
  return files;
}

/** Writes the files that central kept of a home into a data directory that has a database. Answers whether a Zigbee network was among them. */
export function putHomeFiles(
  data: string,
  files: ReadonlyMap<string, Uint8Array>,
): { readonly network: boolean } {
  using database = openForWriting(databasePath(data));
  database.transaction(() => {
    putCursors(database, files);
    putAdmitted(database, files);
    putIdentities(database, files);
    const runner = new Runner(database);
    runner.run(takeNames(givenNamesIn(files.get(givenNamesFile)), runner.run(erasedIn(0))));
  })();
  for (const name of plainFiles) {
    const content = files.get(name);
    if (content !== undefined) writeDurably(join(data, name), content);
  }
  const network = files.get(networkName);
  if (network !== undefined) {
    const generations = join(data, zigbeeGenerations);
    mkdirSync(generations, { recursive: true, mode: 0o700 });
    // The driver brings back its other files from the newest copy.
    writeDurably(join(generations, "network-000001.json"), network);
  }
  return { network: network !== undefined };
}

/** Takes out of the files of a data directory what is of a time of which nothing of the home is kept. */
export function eraseInHomeFiles(data: string, unkept: readonly UnkeptTime[]): void {
  for (const name of plainFiles) {
    const path = join(data, name);
    if (!existsSync(path)) continue;
    const content = readFileSync(path);
    const left = fileWithoutUnkept(name, content, unkept);
    if (Buffer.compare(content, left) !== 0) writeDurably(path, left);
  }
}

/** Puts cursors and identities that central kept into a data directory, each unless its own are of a later time. */
export function putDeviceFiles(data: string, files: ReadonlyMap<string, Uint8Array>): void {
  using database = openForWriting(databasePath(data));
  database.transaction(() => {
    putCursors(database, files);
    putIdentities(database, files);
  })();
}

function putAdmitted(database: Connection, files: ReadonlyMap<string, Uint8Array>): void {
  const put = database.keep("INSERT OR REPLACE INTO admitted VALUES (?, ?, ?)");
  for (const { address, admitted_ms, reason } of contentOf(files, admittedName, AdmittedDevices) ?? [])
    put.run(address, admitted_ms, reason);
}

/** A file that central kept; undefined where there is none. @throws OperatorError where it is of another form */
function contentOf<Schema extends TSchema>(
  files: ReadonlyMap<string, Uint8Array>,
  name: string,
  schema: Schema,
): Static<Schema> | undefined {
  const kept = valueInFile(schema, files.get(name));
  if (kept !== undefined || !files.has(name)) return kept;
  throw new OperatorError(
    `what central keeps as ${name} of this home is not what a gateway puts there`,
    "run the same version of Lintel on both; if it is, this is a fault of the program",
  );
}

function putCursors(database: Connection, files: ReadonlyMap<string, Uint8Array>): void {
  const kept = contentOf(files, cursorsName, Cursors);
  if (kept === undefined || isLater(database, kept)) return;
  const put = database.keep("INSERT OR REPLACE INTO cursors (name, value) VALUES (?, ?)");
  for (const [name, value] of Object.entries(kept.cursors)) put.run(name, value);
}

/** Of addresses that central lacks the database keeps its own identities. */
function putIdentities(database: Connection, files: ReadonlyMap<string, Uint8Array>): void {
  const kept = contentOf(files, identitiesName, KeptIdentities);
  if (kept === undefined) return;
  const hasOwn = database.query("SELECT 1 FROM identities LIMIT 1").values().length > 0;
  if (!hasOwn || !isLater(database, kept)) new Runner(database).run(replaceIdentities(kept.identities));
}

/** Whether a database went at least as far as one was when a file was made of it. */
function isLater(database: Connection, { epoch, last_seq }: Static<typeof Position>): boolean {
  const own = new Runner(database).run(epochs()).find((one) => one.epoch === epoch);
  return own !== undefined && own.last_seq >= last_seq;
}

/** The identities that may travel, those known longest first: what strangers made up comes last, and is new again to the box that gets the file. */
function identitiesIn(database: Connection): Identity[] {
  const rows = database
    .query<{ identity: string }, []>(
      "SELECT identity FROM identities ORDER BY identity ->> '$.since_ms', address",
    )
    .all();
  let bytes = 0;
  return rows.flatMap(({ identity }) => {
    bytes += Buffer.byteLength(identity);
    return bytes > identities_bytes_max ? [] : (parseIdentity(identity) ?? []);
  });
}

function keptIn(data: string): Static<typeof Cursors> & {
  admitted: Static<typeof AdmittedDevices>;
  identities: readonly Identity[];
  names: readonly GivenName[];
  /** Whether anything waits for the time. */
  waiting: boolean;
} {
  const path = databasePath(data);
  return named(path, () => {
    using database = openForReading(path);
    return database.transaction(() => {
      const facts = new Map(database.query("SELECT name, value FROM meta").values() as [string, unknown][]);
      const rows = database
        .query(
          "SELECT name, coalesce(bare, value) FROM cursors WHERE at_ms IS NULL OR bare IS NOT NULL ORDER BY name",
        )
        .values();
      return {
        epoch: String(facts.get("epoch")),
        last_seq: Number(facts.get("last_seq")),
        cursors: Object.fromEntries(rows as [string, string][]),
        admitted: database.query<Admitted, []>("SELECT * FROM admitted ORDER BY address").all(),
        identities: identitiesIn(database),
        names: new Runner(database).run(givenNames(oneHome)),
        waiting: database.query("SELECT 1 FROM waiting LIMIT 1").values().length > 0,
      };
    })();
  });
}

/** How far a database was when a file was made of it: `last_seq` was the newest reading of the epoch. */
const Position = Type.Object({ epoch: Type.String(), last_seq: Type.Integer({ minimum: 0 }) });

/** Cursors by name. */
const Cursors = Type.Object({
  ...Position.properties,
  cursors: Type.Record(Type.String(), Type.String()),
});

const KeptIdentities = Type.Object({
  ...Position.properties,
  identities: Type.Array(Identity, { maxItems: identities_max }),
});
/** Of their texts: 4,000 as devices tell them. Central keeps no file of more than some megabytes. */
const identities_bytes_max = 1024 * 1024;

const AdmittedDevices = Type.Array(Admitted, { maxItems: 10_000 });

/** Files that travel as they are. */
const plainFiles = [meshFile, burnInFile, acceptancesFile];
const cursorsName = "cursors.json";
const identitiesName = "identities.json";
const admittedName = "admitted.json";
const networkName = "zigbee-network.json";
const zigbeeGenerations = "drivers/zigbee/backups";
