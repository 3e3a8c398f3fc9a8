import type { Item } from "../../records/items.ts";
import type { Batch } from "../batch.ts";
import type { GatewayRecord, HeldEpoch, HistoryPosition } from "../central-store.ts";
import { gatewayRecords, type SourceRow } from "../gateway-record.ts";
import type { DayDigest, DigestRequest } from "../upload-store.ts";
import { CentralDigests } from "./central-digests.ts";
import { CentralHistory } from "./central-history.ts";
import { type Source, Sources } from "./central-sources.ts";
import type { Connection } from "./connection.ts";

/** Reads what only central keeps: see `CentralStore` for what each call answers. */
export class CentralReads {
  readonly #database: Connection;
  readonly #sources: Sources;
  readonly #digests: CentralDigests;
  readonly #history: CentralHistory;

  /** `epoch`: of central itself. */
  constructor(database: Connection, epoch: string) {
    this.#database = database;
    this.#sources = new Sources(database);
    this.#digests = new CentralDigests(database, this.#sources);
    this.#history = new CentralHistory(database, epoch);
  }

  source(epoch: string): Source | undefined {
    return this.#sources.find(epoch);
  }

  held(epochs: readonly string[]): HeldEpoch[] {
    const read = this.#database.transaction(() =>
      epochs.map((epoch) => {
        const source = this.#sources.find(epoch);
        if (source === undefined) return { epoch, held_seq: 0, held_note: 0 };
        const { home, held_seq, held_note } = source;
        return { epoch, home, held_seq, held_note };
      }),
    );
    return read();
  }

  gateways(): GatewayRecord[] {
    const rows = this.#database
      .query(
        `SELECT home, epoch, held_seq, began, reported, uploaded_ms, reported_ms, report
         FROM sources ORDER BY home, source`,
      )
      .all();
    return gatewayRecords(rows as SourceRow[]);
  }

  itemsHeardIn(home: number): Item[] {
    const rows = this.#database
      .query(
        `SELECT record FROM item_homes JOIN items ON key = item
         WHERE home = ? AND provisional = 0 ORDER BY itemid`,
      )
      .values(home) as [string][];
    return rows.map(([record]) => JSON.parse(record));
  }

  backups(home: number): Map<string, Uint8Array> {
    const rows = this.#database
      .query("SELECT name, content FROM backups WHERE home = ? ORDER BY name")
      .values(home) as [string, Uint8Array][];
    return new Map(rows);
  }

  digests(request: DigestRequest): Promise<DayDigest[]> {
    return this.#digests.read(request);
  }

  history(request: {
    readonly home: number;
    readonly from_ms: number;
    readonly after?: HistoryPosition;
    readonly readings_max: number;
  }): { batch: Batch; position: HistoryPosition } | undefined {
    return this.#history.read(request);
  }
}
