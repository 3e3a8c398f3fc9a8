/**
 * The writer's thread. A synchronisation takes 10 to 500 ms on an SD card; here it delays nothing but the
 * next commit, and never the event loop that stamps readings. It does one request at a time, in order.
 */
import { CentralWriting } from "./central-write.ts";
import { databasePath } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { takeLock, type WriterLock } from "./lock.ts";
import { prepareDatabase, prepareDirectory } from "./prepare.ts";
import { claimRole } from "./role.ts";
import { Writing } from "./write.ts";
import { faultToSend, type Request, type Response, type WriterCalls } from "./writer-protocol.ts";

declare const self: Worker;

let directory = "";
let lock: WriterLock | undefined;
let writing: Writing | undefined;

const calls: WriterCalls = {
  open: (options) => {
    directory = options.directory;
    prepareDirectory(directory);
    lock = takeLock(directory);
    const { database, versionBefore } = prepareDatabase(directory, options.freshEpoch);
    const path = databasePath(directory);
    const { role, place } = options;
    try {
      claimRole(database, directory, role);
    } catch (thrown) {
      database.close();
      throw thrown;
    }
    if (role === "central") writing = new CentralWriting({ path, database });
    else writing = new Writing({ path, database, home: place.home });
    writing.setPlace(place);
    return { versionBefore };
  },
  commit: (batch) => opened().commit(batch),
  receive: ({ batch, sender }) => central().receive(batch, sender),
  noteReport: ({ report, sender }) => central().noteReport(report, sender),
  repairDay: ({ request, readings, sender }) => central().repairDay(request, readings, sender),
  replaceAlerts: ({ home, alerts }) => central().replaceAlerts(home, alerts),
  putBackup: ({ home, name, content }) => central().putBackup(home, name, content),
  addToken: (token) => opened().addToken(token),
  revokeToken: (id) => opened().revokeToken(id),
  noteTokenUse: (used) => opened().noteTokenUse(used),
  stageRecords: (records) => opened().stageRecords(records),
  finishImport: (options) => opened().finishImport(options),
  abandonImport: () => opened().abandonImport(),
  maintain: () => opened().maintain(),
  close: () => {
    writing?.close();
    lock?.release();
  },
};

self.onmessage = ({ data }: MessageEvent<Request>) => {
  self.postMessage(answer(data));
};

function answer({ id, call, argument }: Request): Response {
  try {
    return { id, value: (calls[call] as (argument: unknown) => unknown)(argument) };
  } catch (thrown) {
    if (call === "open") calls.close(undefined);
    return { id, fault: faultToSend(storeFault(thrown, databasePath(directory))) };
  }
}

function opened(): Writing {
  if (writing === undefined) throw new Error("the writer was asked before it was opened");
  return writing;
}

function central(): CentralWriting {
  const held = opened();
  if (!(held instanceof CentralWriting))
    throw new Error("a gateway's writer was asked for what central does");
  return held;
}
