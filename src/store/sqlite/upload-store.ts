import { type Batch, batch_readings_max } from "../batch.ts";
import type { DeviceHealth } from "../device-health.ts";
import type { ImportedRecord } from "../record-store.ts";
import type {
  DayDigest,
  DayReadings,
  DigestRequest,
  EpochSpan,
  UploadState,
  UploadStore,
} from "../upload-store.ts";
import { type Connection, openForReading } from "./connection.ts";
import { readEpochs } from "./epochs.ts";
import { storeFault } from "./faults.ts";
import { HealthReads } from "./health-reads.ts";
import type { PruneRequest } from "./pruning.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { OwnWriter } from "./store-writer.ts";
import { UploadReads } from "./upload-reads.ts";
import type { UploadWriting } from "./upload-write.ts";

/** A gateway's store as its uploader sees it, beside the running gateway: reads and writes in this thread. */
export class SqliteUploadStore extends SqliteStore implements UploadStore {
  readonly #path: string;
  readonly #writing: UploadWriting;
  readonly #database: Connection;
  readonly #reads: UploadReads;
  readonly #health: HealthReads;

  constructor(options: { path: string; writing: UploadWriting }) {
    super({ path: options.path, writer: new OwnWriter(options.writing) });
    this.#path = options.path;
    this.#writing = options.writing;
    this.#database = openForReading(options.path);
    this.#reads = new UploadReads(this.#database, this.reads);
    this.#health = new HealthReads(this.#database);
  }

  epochs(): Promise<EpochSpan[]> {
    return this.#reading(() => readEpochs(this.#database));
  }

  batchAfter(request: {
    readonly epoch: string;
    readonly after_seq: number;
    readonly readings_max: number;
  }): Promise<Batch | undefined> {
    return this.#reading(() => this.#reads.batchAfter(request));
  }

  deviceHealthAfter(after_note: number, notes_max: number): Promise<DeviceHealth> {
    return this.#reading(() => this.#health.after(after_note, notes_max));
  }

  digests(request: DigestRequest): Promise<DayDigest[]> {
    return this.reading(() => this.#reads.digests(request));
  }

  readingsOfDay(request: DayReadings): Promise<Batch> {
    return this.#reading(() => this.#reads.readingsOfDay(request, batch_readings_max));
  }

  uploadState(): Promise<UploadState> {
    return this.#reading(() =>
      Object.fromEntries(
        this.#database.query("SELECT name, value FROM upload_state").values() as [string, unknown][],
      ),
    );
  }

  async noteUpload(state: UploadState): Promise<void> {
    this.#writing.noteUpload(state);
  }

  async prune(request: PruneRequest): Promise<{ pruned: number; more: boolean }> {
    return this.#writing.prune(request);
  }

  async forgetRecords(records: readonly ImportedRecord[]): Promise<void> {
    this.#writing.forgetRecords(records);
  }

  async restoreReadings(batch: Batch): Promise<void> {
    this.#writing.restoreReadings(batch);
  }

  override async close(): Promise<void> {
    this.#database.close();
    await super.close();
  }

  /** Reads in one snapshot. */
  async #reading<Result>(read: () => Result): Promise<Result> {
    try {
      return this.#database.transaction(read)();
    } catch (thrown) {
      throw storeFault(thrown, this.#path);
    }
  }
}
