import type { CentralWriter } from "../core/central-store.ts";
import { erase, takeErasures } from "../core/erasures.ts";
import type { Homes } from "../core/homes.ts";
import { type HeardDevice, prepareItems } from "../core/items.ts";
import {
  type WriteArguments,
  type WriteName,
  type Writes,
  type Written,
  workOf,
  writesOf,
} from "../core/writes.ts";
import type { ErasurePlan, TakenSpan } from "../erasure.ts";
import type { Imported, RecordStore } from "../record-store.ts";
import type { ErasureRequest } from "../store.ts";
import type { PostgresConnections } from "./connection.ts";
import type { PostgresDatabase } from "./database.ts";
import { importInto } from "./import.ts";

/** Changes a database on a server: any number of processes may do so at once. */
export class PostgresWriter implements CentralWriter {
  readonly #database: PostgresDatabase;
  readonly #writes: Writes;
  readonly #connections: PostgresConnections;
  readonly #homes: Homes;

  constructor(options: { connections: PostgresConnections; database: PostgresDatabase; homes: Homes }) {
    this.#database = options.database;
    this.#writes = writesOf(options.homes);
    this.#connections = options.connections;
    this.#homes = options.homes;
  }

  write<Name extends WriteName>(name: Name, ...given: WriteArguments<Name>): Promise<Written<Name>> {
    const work = () => workOf(this.#writes, name, given);
    if (name !== "receive") return this.#database.write(work);
    const [, { home }] = given as WriteArguments<"receive">;
    return this.#database.writeOf(home, work);
  }

  erase(request: ErasureRequest): Promise<ErasurePlan | undefined> {
    return this.#database.write(() => erase(this.#homes, request));
  }

  takeErasures(spans: readonly TakenSpan[]): Promise<number> {
    return this.#database.write(() => takeErasures(this.#homes, spans));
  }

  importRecords(...request: Parameters<RecordStore["importRecords"]>): Promise<Imported> {
    return importInto({ connections: this.#connections, homes: this.#homes }, ...request);
  }

  prepareItems(heard: readonly HeardDevice[], home: number): Promise<void> {
    return prepareItems(this.#database, heard, home);
  }

  /** The connections are closed with the database. */
  async close(): Promise<void> {}
}
