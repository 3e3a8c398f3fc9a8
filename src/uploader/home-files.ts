import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { writeDurably } from "../disk/durable-file.ts";
import { OperatorError } from "../errors.ts";
import { Admitted } from "../store/admission-store.ts";
import { erasedIn } from "../store/core/erasures.ts";
import { givenNames, takeNames } from "../store/core/given-names.ts";
import { oneHome } from "../store/core/homes.ts";
import { type GivenName, givenNamesBytes, givenNamesFile, givenNamesIn } from "../store/given-names.ts";
import { databasePath, openForReading, openForWriting } from "../store/sqlite/connection.ts";
import { epochs } from "../store/sqlite/epochs.ts";
import { storeFault } from "../store/sqlite/faults.ts";
import { Runner } from "../store/sqlite/runner.ts";

/**
 * Files of a home that central keeps besides readings and records, so that a spare gateway can replace a lost one; by
 * their names at central.
 *
 * - `zigbee-network.json`: the newest copy that the Zigbee driver made of its network, with a checksum in it
 * - `cursors.json`: how far the buffers of devices have been read. On a box that gets this file, buffers are read from there on: events that
 *   central lacks are read again, and none twice. Left out while readings wait for the time: they have no numbers, so central does not get them, and
 *   a cursor may be past them. Central then keeps the cursors that it has, and a spare box may read some events again.
 * - `admitted.json`: the devices heard by radio that were let in
 * - `given-names.json`: what people in the home call devices; central shows them as proposals too
 *
 * To be gathered before an upload and sent after it: central then has every reading before the cursors.
 */
export function gatherHomeFiles(data: string): Map<string, Uint8Array<ArrayBuffer>> {
  const { admitted, names, waiting, ...cursors } = keptIn(data);
  const encoded = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const files = new Map([
    [admittedName, encoded(admitted)],
    [givenNamesFile, givenNamesBytes(names)],
  ]);
  if (!waiting) files.set(cursorsName, encoded(cursors));
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
  putCursors(data, files);
  putAdmitted(data, files);
  putNames(data, files);
  const network = files.get(networkName);
  if (network !== undefined) {
    const generations = join(data, zigbeeGenerations);
    mkdirSync(generations, { recursive: true, mode: 0o700 });
    // The driver brings back its other files from the newest copy.
    writeDurably(join(generations, "network-000001.json"), network);
  }
  return { network: network !== undefined };
}

function putAdmitted(data: string, files: ReadonlyMap<string, Uint8Array>): void {
  const kept = contentOf(files, admittedName, AdmittedDevices);
  if (kept === undefined) return;
  const database = openForWriting(databasePath(data));
  try {
    const put = database.keep("INSERT OR REPLACE INTO admitted VALUES (?, ?, ?)");
    database.transaction(() => {
      for (const { address, admitted_ms, reason } of kept) put.run(address, admitted_ms, reason);
    })();
  } finally {
    database.close();
  }
}

function putNames(data: string, files: ReadonlyMap<string, Uint8Array>): void {
  const database = openForWriting(databasePath(data));
  const runner = new Runner(database);
  try {
    database.transaction(() =>
      runner.run(takeNames(givenNamesIn(files.get(givenNamesFile)), runner.run(erasedIn(0)))),
    )();
  } finally {
    database.close();
  }
}

/** A file that central kept; undefined where there is none. @throws OperatorError where it is of another form */
function contentOf<Schema extends TSchema>(
  files: ReadonlyMap<string, Uint8Array>,
  name: string,
  schema: Schema,
): Static<Schema> | undefined {
  const content = files.get(name);
  if (content === undefined) return undefined;
  const kept: unknown = JSON.parse(new TextDecoder().decode(content));
  if (Value.Check(schema, kept)) return kept;
  throw new OperatorError(
    `what central keeps as ${name} of this home is not what a gateway puts there`,
    "run the same version of Lintel on both; if it is, this is a fault of the program",
  );
}

/** Puts the cursors that central kept into a database, unless its own are of a later time. */
export function putCursors(data: string, files: ReadonlyMap<string, Uint8Array>): void {
  const kept = contentOf(files, cursorsName, Cursors);
  if (kept === undefined) return;
  const database = openForWriting(databasePath(data));
  try {
    const own = new Runner(database).run(epochs()).find(({ epoch }) => epoch === kept.epoch);
    if (own !== undefined && own.last_seq >= kept.last_seq) return;
    const put = database.keep("INSERT OR REPLACE INTO cursors VALUES (?, ?)");
    database.transaction(() => {
      for (const [name, value] of Object.entries(kept.cursors)) put.run(name, value);
    })();
  } finally {
    database.close();
  }
}

function keptIn(data: string): Static<typeof Cursors> & {
  admitted: Static<typeof AdmittedDevices>;
  names: readonly GivenName[];
  /** Whether anything waits for the time. */
  waiting: boolean;
} {
  const path = databasePath(data);
  try {
    const database = openForReading(path);
    try {
      return database.transaction(() => {
        const facts = new Map(database.query("SELECT name, value FROM meta").values() as [string, unknown][]);
        const rows = database.query("SELECT name, value FROM cursors ORDER BY name").values();
        return {
          epoch: String(facts.get("epoch")),
          last_seq: Number(facts.get("last_seq")),
          cursors: Object.fromEntries(rows as [string, string][]),
          admitted: database.query<Admitted, []>("SELECT * FROM admitted ORDER BY address").all(),
          names: new Runner(database).run(givenNames(oneHome)),
          waiting: database.query("SELECT 1 FROM waiting LIMIT 1").values().length > 0,
        };
      })();
    } finally {
      database.close();
    }
  } catch (thrown) {
    throw storeFault(thrown, path);
  }
}

/** Cursors by name, as they were when `last_seq` was the newest reading of the epoch. */
const Cursors = Type.Object({
  epoch: Type.String(),
  last_seq: Type.Integer({ minimum: 0 }),
  cursors: Type.Record(Type.String(), Type.String()),
});

const AdmittedDevices = Type.Array(Admitted, { maxItems: 10_000 });

const cursorsName = "cursors.json";
const admittedName = "admitted.json";
const networkName = "zigbee-network.json";
const zigbeeGenerations = "drivers/zigbee/backups";
