import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import type { Item } from "../../records/items.ts";
import type { Alert } from "../../records/programme.ts";
import type { Batch } from "../batch.ts";
import { firstNewSeq } from "../batch-acceptance.ts";
import type {
  CentralStore,
  GatewayRecord,
  HeldEpoch,
  HistoryPosition,
  Received,
  Repaired,
  ReportNote,
  Sender,
} from "../central-store.ts";
import { backupsOf } from "../core/backups.ts";
import { digests } from "../core/digests.ts";
import { gatewayRecords } from "../core/gateways.ts";
import { history } from "../core/history.ts";
import { homesTogether } from "../core/homes.ts";
import { itemsHeardIn } from "../core/inventory.ts";
import { heldOf, sourceOf } from "../core/sources.ts";
import type { Work } from "../core/work.ts";
import type { DayDigest, DayReadings, DigestRequest } from "../upload-store.ts";
import { planMaintenance, SqliteStore } from "./sqlite-store.ts";
import type { WriterThread } from "./writer-thread.ts";

/** The store of a central server on SQLite: receives in the writer's thread, reads on connections of its own. */
export class SqliteCentralStore extends SqliteStore implements CentralStore {
  readonly #writer: WriterThread;
  readonly #stopMaintenance: () => void;

  constructor(options: { path: string; writer: WriterThread; clock: Clock; log: Log }) {
    super(options);
    this.#writer = options.writer;
    this.#stopMaintenance = planMaintenance(options);
  }

  async receive(batch: Batch, sender: Sender): Promise<Received> {
    const held = await this.reads.read(() => heldAlready(batch, sender));
    if (held !== undefined) return held;
    return this.#writer.write("receive", batch, sender);
  }

  held(epochs: readonly string[]): Promise<HeldEpoch[]> {
    return this.reads.snapshot(() => heldOf(epochs));
  }

  noteReport(report: ReportNote, sender: Sender): Promise<void> {
    return this.#writer.write("noteReport", report, sender);
  }

  digests(request: DigestRequest): Promise<DayDigest[]> {
    return digests(this.reads, homesTogether, request);
  }

  repairDay(request: DayReadings, readings: Batch, sender: Sender): Promise<Repaired> {
    return this.#writer.write("repairDay", request, readings, sender);
  }

  history(
    request: Parameters<CentralStore["history"]>[0],
  ): Promise<{ batch: Batch; position: HistoryPosition } | undefined> {
    return this.reads.snapshot(() => history(this.epoch, request));
  }

  gateways(): Promise<GatewayRecord[]> {
    return this.reads.read(gatewayRecords);
  }

  replaceAlerts(home: number, alerts: readonly Alert[]): Promise<void> {
    return this.#writer.write("replaceAlerts", home, alerts);
  }

  itemsHeardIn(home: number): Promise<Item[]> {
    return this.reads.read(() => itemsHeardIn(home));
  }

  putBackup(home: number, name: string, content: Uint8Array): Promise<void> {
    return this.#writer.write("putBackup", home, name, content);
  }

  backups(home: number): Promise<Map<string, Uint8Array>> {
    return this.reads.read(() => backupsOf(home));
  }

  override async close(): Promise<void> {
    this.#stopMaintenance();
    await super.close();
  }
}

/** The answer to a batch that is held to its end, which costs the writer nothing; undefined for any other. */
function* heldAlready(batch: Batch, sender: Sender): Work<Received | undefined> {
  const source = yield* sourceOf(batch.epoch);
  if (source?.first_seq === undefined || batch.to_seq > source.held_seq) return undefined;
  firstNewSeq(batch, source, sender);
  return { held_seq: source.held_seq, taken: 0 };
}
