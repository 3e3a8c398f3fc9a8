import { existsSync } from "node:fs";
import { join } from "node:path";
import { NetworkFiles } from "../../../../drivers/zigbee/files.ts";
import { SystemClock } from "../../../../src/base/clock.ts";
import { lineLog } from "../../../../src/base/log.ts";
import {
  checkFiles,
  databaseName,
  manifestName,
  readManifest,
} from "../../../../src/cli/backup/backup-files.ts";
import { openCentralStore } from "../../../../src/store/sqlite/open-central.ts";
import { openGatewayStore } from "../../../../src/store/sqlite/open-store.ts";
import { sensor, sensorEvent } from "../../../../testbed/sample.ts";
import { WriterHere } from "../../../../testbed/sqlite/writer-here.ts";
import { Broken, type Kept, keptIn, requireSame } from "../../faults/part.ts";

/** Opens the store of a gateway as `lintel run` does, and takes a reading in. Its readings as they were before. @throws Broken where it is damaged, or does not open */
export async function openedGateway(directory: string): Promise<Kept> {
  return opened(async () => {
    const store = await openGatewayStore({ ...options(directory), home: 12 });
    try {
      await store.append([sensorEvent(sensor(99), Date.now(), new_event)], { cursors: [] });
    } finally {
      await store.close();
    }
    const { doors, events } = keptIn(directory);
    if (events.at(-1) !== new_event) throw new Broken(`${directory} has not taken in a reading`);
    return { doors, events: events.slice(0, -1) };
  });
}

/** Opens the store of central as `lintel central` does. Its readings. @throws Broken */
export async function openedCentral(directory: string): Promise<Kept> {
  return opened(async () => {
    const store = await openCentralStore(options(directory));
    await store.close();
    return keptIn(directory);
  });
}

/** The readings in the backup of a directory, checked as a restore does; undefined where there is none. @throws Broken where it is not whole */
export async function inBackup(directory: string): Promise<Kept | undefined> {
  if (!existsSync(join(directory, manifestName))) return undefined;
  return opened(async () => {
    const manifest = readManifest(directory);
    const files = join(directory, manifest.directory);
    await checkFiles(files, manifest, () => undefined);
    return keptIn(files, databaseName);
  });
}

async function opened<Found>(look: () => Promise<Found>): Promise<Found> {
  try {
    return await look();
  } catch (thrown) {
    throw thrown instanceof Broken ? thrown : new Broken((thrown as Error).message);
  }
}

/** The readings are the first ones of all, in order, once; at least `from` of them. @throws Broken */
export function requireFirst(
  kept: readonly number[],
  of: { all: readonly number[]; from: number; what: string },
): void {
  const { all, from, what } = of;
  if (kept.join() !== all.slice(0, kept.length).join()) throw new Broken(`${what} are ${kept.join()}`);
  if (kept.length < from) throw new Broken(`${from} ${what} were acknowledged, and ${kept.length} are there`);
}

/** The Zigbee driver's files, made fit as at a start, are of the same network, with its sensor and the coordinator's backup. @throws Broken */
export function requireNetwork(data: string, before: string): void {
  const random = () => {
    throw new Broken("the network is gone");
  };
  const files = (directory: string) =>
    new NetworkFiles({ directory: join(directory, "drivers/zigbee"), log });
  const [found, wanted] = [files(data), files(before)];
  const network = found.prepare(random);
  requireSame(network, wanted.prepare(random), "the stick's network");
  if (found.backupOf(network) === undefined) throw new Broken("the coordinator's backup is gone");
  requireSame(found.pairedDevices, wanted.pairedDevices, "the network's devices");
}

const clock = new SystemClock();
const log = lineLog({ write: () => undefined, clock, least: "error" });
const options = (directory: string) => ({ directory, clock, log, writer: new WriterHere() });
const new_event = 60_000;
