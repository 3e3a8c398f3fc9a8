import type { Batch } from "../batch.ts";
import type { HistoryPosition } from "../central-store.ts";
import type { DayDigest, DigestRequest } from "../upload-store.ts";
import { CentralDigests } from "./central-digests.ts";
import { CentralHistory } from "./central-history.ts";
import type { Connection } from "./connection.ts";
import { Runner } from "./runner.ts";

/** Reads what only central keeps: see `CentralStore` for what each call answers. */
export class CentralReads {
  readonly #digests: CentralDigests;
  readonly #history: CentralHistory;

  /** `epoch`: of central itself. */
  constructor(database: Connection, epoch: string) {
    this.#digests = new CentralDigests(database, new Runner(database));
    this.#history = new CentralHistory(database, epoch);
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
