import { statSync } from "node:fs";
import type { Clock } from "../../clock.ts";
import { day_ms } from "../../durations.ts";
import { messageOf, OperatorError } from "../../errors.ts";
import type { Kind } from "../../kinds.ts";
import type { Log } from "../../log.ts";
import type { Device, DeviceState, Reading } from "../../reading.ts";
import type { Item, ItemType } from "../../records/items.ts";
import type { RecordType, Reference, StoredRecord } from "../../records/record-table.ts";
import type { SeriesName } from "../../series.ts";
import { arrivals } from "../core/arrivals.ts";
import { coverage } from "../core/coverage-reads.ts";
import { homesTogether } from "../core/homes.ts";
import { itemNamed, itemsIn, itemsOfKind, itemTypes } from "../core/inventory.ts";
import { itemOverviews } from "../core/item-overviews.ts";
import { oldestFirst } from "../core/oldest-first.ts";
import { page, pageMark } from "../core/pages.ts";
import {
  itemidsOf,
  keepsRecords,
  knownRecords,
  recordNumbered,
  recordsOfOwner,
  recordsOfType,
  recordsWith,
} from "../core/records.ts";
import { allTokens, tokenWith } from "../core/tokens.ts";
import { arrays, rowsOf, type Work } from "../core/work.ts";
import type { Imported, ImportedRecord, LoneType, OwnedType, RecordOf } from "../record-store.ts";
import type {
  Appended,
  Arrivals,
  ArrivalsRequest,
  BootTime,
  CoverageInterval,
  CoverageRequest,
  GatewayStore,
  Notes,
  OldestFirst,
  OldestFirstRequest,
  Overview,
  Page,
  PageRequest,
  Store,
  StoredItem,
  Token,
  Waiting,
} from "../store.ts";
import type { Connection } from "./connection.ts";
import { openForReading } from "./connection.ts";
import { SqliteDatabase } from "./database.ts";
import { storeFault } from "./faults.ts";
import { versionOf } from "./migrations.ts";
import type { StoreWriter } from "./store-writer.ts";
import { TimeReads } from "./time-keeper.ts";
import type { WriterThread } from "./writer-thread.ts";

/** A store on SQLite: reads on a connection of its own in this thread, writes through `writer`. */
export class SqliteStore implements Store {
  readonly epoch: string;
  readonly #writer: StoreWriter;
  /** The connection that reads. */
  protected readonly database: Connection;
  readonly #path: string;
  readonly #changes;
  readonly #times: TimeReads;
  protected readonly reads: SqliteDatabase;
  #importing = false;

  /** `path`: a database of this program's schema version, which exists. */
  constructor(options: { path: string; writer: StoreWriter }) {
    this.#path = options.path;
    this.#writer = options.writer;
    this.database = openForReading(options.path);
    this.#changes = this.database.keep("PRAGMA data_version");
    this.#times = new TimeReads(this.database);
    this.reads = new SqliteDatabase({ path: options.path, connection: this.database });
    this.epoch = String(this.#fact("epoch"));
  }

  itemTypes(): Promise<ItemType[]> {
    return this.reads.read(() => itemTypes());
  }

  items(kind: Kind, window: { skip: number; limit: number }): Promise<Item[]> {
    return this.reads.read(() => itemsOfKind(kind, window));
  }

  itemsIn(homeid: number): Promise<Item[]> {
    return this.reads.read(() => itemsIn(homeid));
  }

  item(kind: Kind, name: string): Promise<StoredItem | undefined> {
    return this.reads.read(() => itemNamed(kind, name));
  }

  page(request: PageRequest): Promise<Page> {
    return this.reads.page(() => page(homesTogether, request));
  }

  records<Type extends LoneType>(type: Type): Promise<RecordOf<Type>[]> {
    return this.reads.read(() => recordsOfType(type));
  }

  record<Type extends LoneType>(type: Type, number: number): Promise<RecordOf<Type> | undefined> {
    return this.reads.read(() => recordNumbered(type, number));
  }

  recordsOf<Type extends OwnedType>(type: Type, owner: number): Promise<RecordOf<Type>[]> {
    return this.reads.snapshot(() => recordsOfOwner(type, owner));
  }

  recordsWith(type: RecordType, field: string, numbers: readonly number[]): Promise<StoredRecord[]> {
    return this.reads.read(() => recordsWith(type, field, numbers));
  }

  knownRecords(type: Reference["to"], numbers: readonly number[]): Promise<ReadonlySet<number>> {
    return this.reads.read(() => knownRecords(type, numbers));
  }

  keepsRecords(type: Reference["to"]): Promise<boolean> {
    return this.reads.read(() => keepsRecords(type));
  }

  itemidsOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.reads.read(() => itemidsOf(names));
  }

  async importRecords(
    batches: AsyncIterable<readonly ImportedRecord[]> | Iterable<readonly ImportedRecord[]>,
    { dryRun = () => false }: { readonly dryRun?: () => boolean } = {},
  ): Promise<Imported> {
    if (this.#importing) {
      throw new OperatorError(
        "another import into this store is under way",
        "import again when it has ended",
      );
    }
    this.#importing = true;
    try {
      for await (const batch of batches) await this.#writer.ask("stageRecords", batch);
      return await this.#writer.ask("finishImport", { dryRun: dryRun() });
    } catch (thrown) {
      await this.#writer.ask("abandonImport");
      throw thrown;
    } finally {
      this.#importing = false;
    }
  }

  async pageMark(request: PageRequest): Promise<string> {
    return `${this.epoch} ${await this.reads.page(() => pageMark(homesTogether, request))}`;
  }

  /** SQLite counts what other connections commit, and this one never writes. */
  changes(): number {
    return Number(this.#changes.values()[0]?.[0]);
  }

  oldestFirst(request: OldestFirstRequest): Promise<OldestFirst> {
    return this.reads.page(() => oldestFirst(homesTogether, request));
  }

  arrivals(request: ArrivalsRequest): Promise<Arrivals | undefined> {
    return this.reads.page(() => arrivals(homesTogether, this.epoch, request));
  }

  token(id: string): Promise<Token | undefined> {
    return this.reads.read(() => tokenWith(id));
  }

  tokens(): Promise<Token[]> {
    return this.reads.read(() => allTokens());
  }

  addToken(token: Token): Promise<void> {
    return this.#writer.write("addToken", token);
  }

  revokeToken(id: string): Promise<boolean> {
    return this.#writer.write("revokeToken", id);
  }

  noteTokenUse(used: ReadonlyMap<string, number>): Promise<void> {
    return this.#writer.write("noteTokenUse", used);
  }

  coverage(request: CoverageRequest): Promise<CoverageInterval[]> {
    return this.reads.snapshot(() => coverage(request));
  }

  timeKnown(): Promise<{ boots: BootTime[]; waiting: number }> {
    return this.reading(() => ({ boots: this.#times.boots(), waiting: this.#times.waitingCount() }));
  }

  waiting(limit: number): Promise<Waiting[]> {
    return this.reading(() => this.#times.waiting(limit));
  }

  deviceOffset(series: SeriesName, device: Device): Promise<number | undefined> {
    return this.reading(() => this.#times.deviceOffset(series, device));
  }

  cursor(name: string): Promise<string | undefined> {
    return this.reading(() => {
      const value = this.database.query("SELECT value FROM cursors WHERE name = ?").values(name)[0]?.[0];
      return value === undefined ? undefined : String(value);
    });
  }

  overview(): Promise<Overview> {
    return this.reads.snapshot(() => this.#overview());
  }

  async close(): Promise<void> {
    // The last connection to close tidies up, and only the writer's may write.
    this.database.close();
    await this.#writer.close();
  }

  *#overview(): Work<Overview> {
    const dropped = yield* rowsOf(arrays<[string, number]>("SELECT name, count FROM dropped ORDER BY name"));
    return {
      epoch: this.epoch,
      schemaVersion: versionOf(this.database, this.#path),
      last_seq: Number(this.#fact("last_seq")),
      bytesOnDisk: bytesOf(this.#path) + bytesOf(`${this.#path}-wal`),
      waiting: this.#times.waitingCount(),
      items: yield* itemOverviews(),
      dropped: Object.fromEntries(dropped),
    };
  }

  #fact(name: string): unknown {
    return this.database.query("SELECT value FROM meta WHERE name = ?").values(name)[0]?.[0];
  }

  /** The result of `read`; an error becomes an OperatorError. */
  protected async reading<Result>(read: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (thrown) {
      throw thrown instanceof RangeError ? thrown : storeFault(thrown, this.#path);
    }
  }
}

/** The store of a running gateway. */
export class SqliteGatewayStore extends SqliteStore implements GatewayStore {
  readonly #writer: WriterThread;
  readonly #stopMaintenance: () => void;

  constructor(options: { path: string; writer: WriterThread; clock: Clock; log: Log }) {
    super(options);
    this.#writer = options.writer;
    this.#stopMaintenance = planMaintenance(options);
  }

  append(readings: readonly Reading[], notes: Notes = {}): Promise<Appended> {
    return this.#writer.ask("commit", { readings, ...notes });
  }

  async noteDevices(states: readonly DeviceState[]): Promise<void> {
    await this.#writer.ask("commit", { readings: [], states });
  }

  async addDropped(dropped: ReadonlyMap<string, number>): Promise<void> {
    await this.#writer.ask("commit", { readings: [], dropped });
  }

  override async close(): Promise<void> {
    this.#stopMaintenance();
    await super.close();
  }
}

/** Has the writer look after the database once a day; the returned function ends that. */
export function planMaintenance(options: { writer: WriterThread; clock: Clock; log: Log }): () => void {
  const { writer, clock, log } = options;
  let cancel = () => {};
  const plan = () => {
    cancel = clock.after(maintenance_interval_ms, () => {
      writer.ask("maintain").catch((thrown: unknown) => {
        log.warn(`upkeep of the database: ${messageOf(thrown)}`);
      });
      plan();
    });
  };
  plan();
  return () => cancel();
}

const maintenance_interval_ms = day_ms;

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
