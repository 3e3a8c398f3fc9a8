import { OperatorError, StoreDamaged, StoreOutage } from "../../base/errors.ts";
import { BatchRefused } from "../central/central-store.ts";
import { QuotaExceeded } from "../exchange.ts";
import { NameTaken } from "../inventory/given-names.ts";
import type { Imported, RecordStore } from "../inventory/record-store.ts";
import { ReadingRefused } from "../store.ts";
import type { StoreWriter } from "../store-on-database.ts";
import { databasePath, orClosed } from "./connection.ts";
import {
  finishPlacing,
  prepareDatabase,
  prepareDirectory,
  takeLock,
  type WriterLock,
} from "./data-directory.ts";
import { storeFault } from "./faults.ts";
import { claimRole, type Role } from "./role-and-epoch.ts";
import { damageIn } from "./salvage-sources.ts";
import { type HereArguments, type HereName, type HereWritten, StoreWriting } from "./write.ts";

/** Calls to the writer's thread, whose arguments and answers are copied between the threads: those of its `Writing`, and before them, once, `open`. */
export interface WriterCalls extends Omit<Methods<StoreWriting>, "write"> {
  write(name: HereName, ...given: readonly unknown[]): unknown;
  open(options: WriterOptions): OpenedDatabase;
  /** See `damageIn`; of any database, also before `open`. */
  damageIn(path: string): string | undefined;
}

/** The public methods of a class. */
type Methods<Of> = Pick<Of, keyof Of>;

export interface WriterOptions {
  readonly directory: string;
  readonly role: Role;
  /** Name of the store if it has to be made. */
  readonly freshEpoch: string;
  readonly home?: number | undefined;
}

interface OpenedDatabase {
  /** The schema version that was found; 0 when the database was made now. */
  readonly versionBefore: number;
}

export interface WriterRequest {
  readonly id: number;
  readonly call: keyof WriterCalls;
  readonly given: readonly unknown[];
}

export type WriterResponse =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: ForwardedFault };

/** An OperatorError as it travels between threads, which copy no classes: the name of its class in `classes`, and what makes it anew. */
interface ForwardedFault {
  readonly class: keyof typeof classes;
  readonly given: readonly unknown[];
}

/** Errors that keep their class between threads, each before those that it extends. */
const classes = {
  outage: forwarded(StoreOutage, "what", "remedy", "reason"),
  damaged: forwarded(StoreDamaged, "what", "remedy"),
  refusedReading: forwarded(ReadingRefused, "what", "remedy", "index"),
  refusedBatch: forwarded(BatchRefused, "what", "remedy", "reason", "held_seq"),
  quota: forwarded(QuotaExceeded, "home", "quota", "most"),
  takenName: forwarded(NameTaken, "what", "remedy"),
  other: forwarded(OperatorError, "what", "remedy"),
};

/** @param fields of the error, which its constructor takes in this order */
function forwarded<Fault extends OperatorError, Given extends unknown[]>(
  Of: new (...given: Given) => Fault,
  ...fields: readonly (keyof Fault)[]
) {
  return {
    send: (fault: OperatorError) => (fault instanceof Of ? fields.map((field) => fault[field]) : undefined),
    receive: (given: readonly unknown[]): OperatorError => new Of(...(given as Given)),
  };
}

function faultToSend(error: OperatorError): ForwardedFault {
  for (const [name, { send }] of Object.entries(classes)) {
    const given = send(error);
    if (given !== undefined) return { class: name as keyof typeof classes, given };
  }
  throw new Error(`no error of an operator: ${error}`);
}

export function errorReceived(fault: ForwardedFault): OperatorError {
  return classes[fault.class].receive(fault.given);
}

/** Writes of a store, by whoever answers its calls. */
export abstract class SqliteWriter implements StoreWriter {
  abstract ask<Call extends keyof WriterCalls>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>>;

  abstract close(): Promise<void>;

  write<Name extends HereName>(name: Name, ...given: HereArguments<Name>): Promise<HereWritten<Name>> {
    return this.ask("write", name, ...given) as Promise<HereWritten<Name>>;
  }

  async importRecords(
    ...[batches, { dryRun = () => false } = {}]: Parameters<RecordStore["importRecords"]>
  ): Promise<Imported> {
    try {
      for await (const batch of batches) await this.ask("stageRecords", batch);
      return await this.ask("finishImport", { dryRun: dryRun() });
    } catch (thrown) {
      await this.ask("abandonImport");
      throw thrown;
    }
  }
}

/** A writer on a connection of this thread, which waits for the disk: right for a command that does one thing. */
export class OwnWriter extends SqliteWriter {
  readonly #writing: StoreWriting;

  constructor(writing: StoreWriting) {
    super();
    this.#writing = writing;
  }

  async ask<Call extends keyof WriterCalls>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>> {
    return Reflect.apply(this.#writing[call as keyof StoreWriting], this.#writing, given) as ReturnType<
      WriterCalls[Call]
    >;
  }

  async close(): Promise<void> {
    this.#writing.close();
  }
}

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
    orClosed(database, () => claimRole(database, directory, role));
    database.run(`PRAGMA cache_size = -${cache_kib[role]}`);
    this.#writing = new StoreWriting({ path, database, home });
    if (home !== undefined) this.#writing.write("setHome", home);
    return { versionBefore };
  }

  #close(): void {
    this.#writing?.close();
    this.#lock?.release();
  }
}

/** A batch touches the newest page of every run that it has readings of: they stay in memory until the commit. In a home these are few. */
const cache_kib = { central: 64 * 1024, gateway: 512 };
