/**
 * The writer's thread. A synchronisation takes 10 to 500 ms on an SD card; here it delays nothing but the
 * next commit, and never the event loop that stamps readings. It does one request at a time, in order.
 */
import { databasePath } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { takeLock, type WriterLock } from "./lock.ts";
import { finishPlacing } from "./placing.ts";
import { prepareDatabase, prepareDirectory } from "./prepare.ts";
import { claimRole } from "./role.ts";
import { Writing } from "./write.ts";
import {
  faultToSend,
  type Opened,
  type Request,
  type Response,
  type WriterCalls,
  type WriterOptions,
} from "./writer-protocol.ts";

declare const self: Worker;

let directory = "";
let lock: WriterLock | undefined;
let writing: Writing | undefined;

self.onmessage = ({ data }: MessageEvent<Request>) => {
  self.postMessage(answer(data));
};

function answer({ id, call, given }: Request): Response {
  try {
    return { id, value: done(call, given) };
  } catch (thrown) {
    if (call === "open") close();
    return { id, fault: faultToSend(storeFault(thrown, databasePath(directory))) };
  }
}

function done(call: keyof WriterCalls, given: readonly unknown[]): unknown {
  if (call === "open") return open(given[0] as WriterOptions);
  if (call === "close") return close();
  if (writing === undefined) throw new Error("the writer was asked before it was opened");
  return Reflect.apply(writing[call], writing, given);
}

function open(options: WriterOptions): Opened {
  directory = options.directory;
  prepareDirectory(directory);
  lock = takeLock(directory);
  finishPlacing(directory);
  const { database, versionBefore } = prepareDatabase(directory, options.freshEpoch);
  const path = databasePath(directory);
  const { role, place } = options;
  try {
    claimRole(database, directory, role);
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  database.run(`PRAGMA cache_size = -${cache_kib[role]}`);
  writing = new Writing({ path, database, home: place.home });
  writing.setPlace(place);
  return { versionBefore };
}

function close(): void {
  writing?.close();
  lock?.release();
}

/** A batch touches the newest page of every run that it has readings of: they stay in memory until the commit. In a home these are few. */
const cache_kib = { central: 64 * 1024, gateway: 512 };
