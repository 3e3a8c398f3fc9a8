import type { Kind } from "../../kinds.ts";
import type { Item, ItemType } from "../../records/items.ts";
import type { Alert } from "../../records/programme.ts";
import type { RecordType, Reference, StoredRecord } from "../../records/record-table.ts";
import { type Batch, seriesIn } from "../batch.ts";
import { firstIndexFrom, firstNewSeq, refuseForeign } from "../batch-acceptance.ts";
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
import { arrivals } from "../core/arrivals.ts";
import { backupsOf } from "../core/backups.ts";
import { coverage } from "../core/coverage-reads.ts";
import { digests } from "../core/digests.ts";
import { gatewayRecords } from "../core/gateways.ts";
import { history } from "../core/history.ts";
import { type Homes, homesApart } from "../core/homes.ts";
import { itemNamed, itemsHeardIn, itemsIn, itemsOfKind, itemTypes } from "../core/inventory.ts";
import { heardFrom, prepareItems } from "../core/items.ts";
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
import { daysColumns, refuseUnheld } from "../core/repair.ts";
import { heardIn } from "../core/reports.ts";
import { refuseMisfits } from "../core/series-rows.ts";
import { heldOf, sourceOf } from "../core/sources.ts";
import { allTokens, tokenWith } from "../core/tokens.ts";
import { type Given, type WriteName, type Writes, type Written, workOf, writesOf } from "../core/writes.ts";
import type { Imported, LoneType, OwnedType, RecordOf, RecordStore } from "../record-store.ts";
import type {
  Arrivals,
  ArrivalsRequest,
  CoverageInterval,
  CoverageRequest,
  OldestFirst,
  OldestFirstRequest,
  Overview,
  Page,
  PageRequest,
  StoredItem,
  Token,
} from "../store.ts";
import type { DayDigest, DayReadings, DigestRequest } from "../upload-store.ts";
import type { Connections } from "./connection.ts";
import { PostgresDatabase } from "./database.ts";
import { Imports } from "./import.ts";
import { overview } from "./overview.ts";
import { Partitions } from "./partitions.ts";

/** The store of a central server on PostgreSQL: any number of processes may have it open. */
export class PostgresCentralStore implements CentralStore {
  readonly epoch: string;
  readonly #connections: Connections;
  readonly #database: PostgresDatabase;
  readonly #homes: Homes;
  readonly #imports: Imports;
  readonly #partitions: Partitions;
  readonly #writes: Writes;

  /** `connections`: to a database of this program's schema version; `epoch`: its name; `distributed`: it is spread over workers by home. */
  constructor(options: { connections: Connections; epoch: string; distributed: boolean }) {
    const { connections } = options;
    this.#connections = connections;
    this.#database = new PostgresDatabase(connections);
    this.epoch = options.epoch;
    this.#partitions = new Partitions(connections);
    this.#homes = homesApart(options);
    this.#imports = new Imports(connections);
    this.#writes = writesOf(this.#homes);
  }

  itemTypes(): Promise<ItemType[]> {
    return this.#database.read(() => itemTypes());
  }

  items(kind: Kind, window: { skip: number; limit: number }): Promise<Item[]> {
    return this.#database.read(() => itemsOfKind(kind, window));
  }

  itemsIn(homeid: number): Promise<Item[]> {
    return this.#database.read(() => itemsIn(homeid));
  }

  itemsHeardIn(home: number): Promise<Item[]> {
    return this.#database.read(() => itemsHeardIn(home));
  }

  item(kind: Kind, name: string): Promise<StoredItem | undefined> {
    return this.#database.read(() => itemNamed(kind, name));
  }

  page(request: PageRequest): Promise<Page> {
    return this.#database.page(() => page(this.#homes, request));
  }

  async pageMark(request: PageRequest): Promise<string> {
    return `${this.epoch} ${await this.#database.page(() => pageMark(this.#homes, request))}`;
  }

  changes(): undefined {}

  oldestFirst(request: OldestFirstRequest): Promise<OldestFirst> {
    return this.#database.page(() => oldestFirst(this.#homes, request));
  }

  arrivals(request: ArrivalsRequest): Promise<Arrivals | undefined> {
    return this.#database.page(() => arrivals(this.#homes, this.epoch, request));
  }

  coverage(request: CoverageRequest): Promise<CoverageInterval[]> {
    return this.#database.snapshot(() => coverage(request));
  }

  records<Type extends LoneType>(type: Type): Promise<RecordOf<Type>[]> {
    return this.#database.read(() => recordsOfType(type));
  }

  record<Type extends LoneType>(type: Type, number: number): Promise<RecordOf<Type> | undefined> {
    return this.#database.read(() => recordNumbered(type, number));
  }

  recordsOf<Type extends OwnedType>(type: Type, owner: number): Promise<RecordOf<Type>[]> {
    return this.#database.snapshot(() => recordsOfOwner(type, owner));
  }

  recordsWith(type: RecordType, field: string, numbers: readonly number[]): Promise<StoredRecord[]> {
    return this.#database.read(() => recordsWith(type, field, numbers));
  }

  knownRecords(type: Reference["to"], numbers: readonly number[]): Promise<ReadonlySet<number>> {
    return this.#database.read(() => knownRecords(type, numbers));
  }

  keepsRecords(type: Reference["to"]): Promise<boolean> {
    return this.#database.read(() => keepsRecords(type));
  }

  itemidsOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.#database.read(() => itemidsOf(names));
  }

  importRecords(...request: Parameters<RecordStore["importRecords"]>): Promise<Imported> {
    return this.#imports.take(...request);
  }

  token(id: string): Promise<Token | undefined> {
    return this.#database.read(() => tokenWith(id));
  }

  tokens(): Promise<Token[]> {
    return this.#database.read(() => allTokens());
  }

  addToken(token: Token): Promise<void> {
    return this.#write("addToken", token);
  }

  revokeToken(id: string): Promise<boolean> {
    return this.#write("revokeToken", id);
  }

  noteTokenUse(used: ReadonlyMap<string, number>): Promise<void> {
    return this.#write("noteTokenUse", used);
  }

  overview(): Promise<Overview> {
    return this.#connections.snapshot((sql) => overview(sql, this.epoch));
  }

  async receive(batch: Batch, sender: Sender): Promise<Received> {
    const source = await this.#database.read(() => sourceOf(batch.epoch));
    const from_seq = firstNewSeq(batch, source, sender);
    if (from_seq === undefined) return { held_seq: source?.held_seq ?? 0, taken: 0 };
    for (const [series, columns] of seriesIn(batch)) {
      const first = firstIndexFrom(columns.seq, from_seq);
      refuseMisfits(series, columns, first);
      await this.#partitions.make(series, columns.stamp_ms, first);
    }
    await prepareItems(this.#database, heardFrom(batch, from_seq), sender.home);
    return this.#write("receive", batch, sender);
  }

  held(epochs: readonly string[]): Promise<HeldEpoch[]> {
    return this.#database.snapshot(() => heldOf(epochs));
  }

  async noteReport(report: ReportNote, sender: Sender): Promise<void> {
    const source = await this.#database.read(() => sourceOf(report.epoch));
    if (source !== undefined) refuseForeign(report.epoch, source, sender);
    const heard = heardIn(report.health, source?.held_note ?? 0);
    await prepareItems(this.#database, [...heard.values()], sender.home);
    return this.#write("noteReport", report, sender);
  }

  digests(request: DigestRequest): Promise<DayDigest[]> {
    return digests(this.#database, this.#homes, request);
  }

  async repairDay(request: DayReadings, batch: Batch, sender: Sender): Promise<Repaired> {
    const columns = daysColumns(request, batch);
    refuseUnheld(await this.#database.read(() => sourceOf(request.epoch)), columns, sender);
    refuseMisfits(request.series, columns, 0);
    await this.#partitions.make(request.series, columns.stamp_ms, 0);
    return this.#write("repairDay", request, batch, sender);
  }

  history(
    request: Parameters<CentralStore["history"]>[0],
  ): Promise<{ batch: Batch; position: HistoryPosition } | undefined> {
    return this.#database.snapshot(() => history(this.epoch, request));
  }

  gateways(): Promise<GatewayRecord[]> {
    return this.#database.read(gatewayRecords);
  }

  replaceAlerts(home: number, alerts: readonly Alert[]): Promise<void> {
    return this.#write("replaceAlerts", home, alerts);
  }

  putBackup(home: number, name: string, content: Uint8Array): Promise<void> {
    return this.#write("putBackup", home, name, content);
  }

  backups(home: number): Promise<Map<string, Uint8Array>> {
    return this.#database.read(() => backupsOf(home));
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  #write<Name extends WriteName>(name: Name, ...given: Given<Name>): Promise<Written<Name>> {
    return this.#database.write(() => workOf(this.#writes, name, given));
  }
}
