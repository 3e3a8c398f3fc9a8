import { databasePath } from "./connection.ts";
import { storeFault } from "./faults.ts";
import { damageIn } from "./file-check.ts";
import { takeLock, type WriterLock } from "./lock.ts";
import { finishPlacing } from "./placing.ts";
import { prepareDatabase, prepareDirectory } from "./prepare.ts";
import { claimRole } from "./role.ts";
import { StoreWriting } from "./write.ts";
import {
  faultToSend,
  type OpenedDatabase,
  type WriterCalls,
  type WriterOptions,
  type WriterRequest,
  type WriterResponse,
} from "./writer-protocol.ts";

/** The writing side of the only server on a directory: does one request at a time, in order, in whatever thread it is. */
export class ServerWriting {
  #directory = "";
  #lock: WriterLock | undefined;
  #writing: StoreWriting | undefined;

  /** The result or the fault of a request; never throws. */
  answer({ id, call, given }: WriterRequest): WriterResponse {
    try {
      return { id, value: this.#done(call, given) };
    } catch (thrown) {
      if (call === "open") this.#close();
      return { id, fault: faultToSend(storeFault(thrown, databasePath(this.#directory))) };
    }
  }

  #done(call: keyof WriterCalls, given: readonly unknown[]): unknown {
    if (call === "open") return this.#open(given[0] as WriterOptions);
    if (call === "close") return this.#close();
    if (call === "damageIn") return damageIn(String(given[0]));
    if (this.#writing === undefined) throw new Error("the writer was asked before it was opened");
    return Reflect.apply(this.#writing[call], this.#writing, given);
  }

  #open({ directory, freshEpoch, role, home }: WriterOptions): OpenedDatabase {
    this.#directory = directory;
    prepareDirectory(directory);
    this.#lock = takeLock(directory);
    finishPlacing(directory);
    const { database, versionBefore } = prepareDatabase(directory, freshEpoch);
    const path = databasePath(directory);
    try {
      claimRole(database, directory, role);
    } catch (thrown) {
      database.close();
      throw thrown;
    }
    database.run(`PRAGMA cache_size = -${cache_kib[role]}`);
    this.#writing = new StoreWriting({ path, database, home });
    if (home !== undefined) this.#writing.setHome(home);
    return { versionBefore };
  }

  #close(): void {
    this.#writing?.close();
    this.#lock?.release();
  }
}

/** A batch touches the newest page of every run that it has readings of: they stay in memory until the commit. In a home these are few. */
const cache_kib = { central: 64 * 1024, gateway: 512 };
