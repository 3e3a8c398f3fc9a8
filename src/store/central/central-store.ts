import { OperatorError } from "../../base/errors.ts";
import type { Item } from "../../domain/records/item.ts";
import type { Alert } from "../../domain/records/programme-records.ts";
import type { RemoteOutcome, SignedRequest } from "../../domain/remote-request.ts";
import type { Batch } from "../batch.ts";
import type { Erasure } from "../erasure.ts";
import type { DayDigest, DeviceHealth, Quotas } from "../exchange.ts";
import type { DayReadings, DigestRequest } from "../gateway/upload-store.ts";
import type { NoteChanges } from "../note.ts";
import type { PausedSpan } from "../pause.ts";
import type { CoverageInterval, ItemState, Store } from "../store.ts";

/**
 * The store of a central server: the readings of every home, each exactly once. Two implement it, on SQLite and on PostgreSQL; one
 * conformance suite holds them equal. A reading is known by (epoch, seq) of its gateway; central gives it a number of its own in
 * the order of arrival, which keeps the order that the gateway gave, and serves by stamp, then by that number.
 */
export interface CentralStore extends Store {
  /**
   * Takes a batch: its readings and the watermark in one transaction, on disk when it resolves. What is held already is skipped; an unknown device gets a
   * provisional item in the sender's home. Rejects with BatchRefused where the batch cannot follow what is held, and then nothing has changed; with another
   * OperatorError where the disk or the database is at fault: the same batch may then be sent again.
   */
  receive(batch: Batch, sender: Sender): Promise<Received>;

  /** How far each of these epochs is held, in the given order. */
  held(epochs: readonly string[]): Promise<readonly HeldEpoch[]>;

  /** Keeps the report of a gateway and the health of its devices; notes that are held already are skipped. */
  noteReport(report: ReportNote, sender: Sender): Promise<void>;

  /**
   * Keeps how many series of devices of a home differed on compared days (UTC, days since 1970), in the place of what the comparison before said of them; only
   * days of the last year or so.
   */
  noteCompared(compared: ComparedDays, sender: Sender): Promise<void>;

  /** Nights of each of some homes, from a day on, in the order in which the homes are asked for. */
  dailyArrivals(homes: readonly number[], from_day: number): Promise<readonly DailyArrivals[]>;

  /** How far the devices of some homes were covered in a span, one answer for each device that anything is known of then, in order of homes. */
  coverageIn(
    homes: readonly number[],
    during: { readonly start_ms: number; readonly stop_ms: number },
  ): Promise<readonly HomeDeviceCoverage[]>;

  /** Keeps what one home may have here, in the place of what was kept before: what goes beyond it is rejected with QuotaExceeded, and nothing of it is taken. */
  setQuotas(quotas: Quotas): Promise<void>;

  digests(request: DigestRequest): Promise<readonly DayDigest[]>;

  /**
   * The answer to a digest that differs: takes what a gateway holds of one series of one device on one day. Readings that are not here are added, those that
   * differ are put right, and those that the gateway does not have stay, because central may be the only one that still has them. Only
   * numbers up to what is held already can be in it: BatchRefused otherwise.
   */
  repairDay(request: DayReadings, readings: Batch, sender: Sender): Promise<Repaired>;

  /** The readings that are held of one series of one device of a home on one day, under the numbers of an epoch, as `UploadStore.readingsOfDay`. */
  readingsOfDay(request: DayReadings, home: number): Promise<Batch>;

  /**
   * The readings that a home has sent, and no others, old to new, for a box that is restored: numbered on from `after.seq`; undefined
   * at the end. `position` is to be handed back as `after`.
   */
  history(request: {
    readonly home: number;
    readonly from_ms: number;
    readonly after?: HistoryPosition;
    readonly readings_max: number;
  }): Promise<{ readonly batch: Batch; readonly position: HistoryPosition } | undefined>;

  /** Every home that has ever sent anything, or those of these homes, in order of number, as last reported; nothing in it depends on the present time. */
  gateways(of?: readonly number[]): Promise<readonly GatewayRecord[]>;

  /** Puts the alerts that central makes of the health of a home's devices in the place of those it made before; others are left alone. */
  replaceAlerts(home: number, alerts: readonly Alert[]): Promise<void>;

  /** The spans of which nothing of a home is kept: what was erased, and pauses. */
  unkeptIn(home: number): Promise<readonly Erasure[]>;

  /** Health of the items that live in some homes now (absent: in all), at a fraction of the cost of `Store.itemOverviews`. */
  itemHealth(homes?: readonly number[]): Promise<ItemHealth>;

  /** Firmware of the devices that live in some homes now (absent: in all), by model, models with most versions first. Devices that do not tell it are left out. */
  firmware(homes?: readonly number[]): Promise<readonly FirmwareOfModel[]>;

  /** Items of which homes have sent readings at times when the inventory has them elsewhere, in order of home and itemid: these are kept, and served as nobody's. */
  unplaced(): Promise<readonly UnplacedReadings[]>;

  /** Keeps a file of a home (the backup of its Zigbee network) under a name, in the place of the one before; at most `backup_bytes_max`. */
  putBackup(home: number, name: string, content: Uint8Array): Promise<void>;
  backups(home: number): Promise<ReadonlyMap<string, Uint8Array>>;

  /** Keeps a request to a box, above the numbers of all before it to that box; of these the last hundred stay. Rejects with an OperatorError where it is not. */
  askRemote(asked: RemoteAsk): Promise<void>;
  /** Keeps how a box dealt with a request that it has not answered yet; answers whether there was one. */
  noteRemote(home: number, number: number, answered: RemoteAnswer): Promise<boolean>;
  remoteAsked(choice: RemoteChoice): Promise<readonly RemoteAsked[]>;
}

/** A request to a box, as it was brought to central. */
export interface RemoteAsk {
  readonly request: SignedRequest;
  /** Who brought it, as the machine names them. */
  readonly asked_by: string;
  readonly asked_ms: number;
}

/** How a box dealt with a request. */
export interface RemoteAnswer {
  readonly answered_ms: number;
  readonly outcome: RemoteOutcome;
  /** A line for a person. */
  readonly words: string;
  /** Text that it sent. */
  readonly answer?: string | undefined;
}

/** A request, and its answer where there is one; of older ones what the box sent is not kept. */
export type RemoteAsked = RemoteAsk & { readonly answered?: RemoteAnswer };

/** Requests of a home, the newest first; or all that wait for an answer and have not expired. */
export type RemoteChoice = { readonly home: number } | { readonly waiting_at_ms: number };

/** Firmware of the devices of a model. */
export interface FirmwareOfModel {
  /** As the device tells it, or else what it is in words; empty where neither is known. */
  readonly model: string;
  /** The one that most devices have first. Homes are in order of number. */
  readonly versions: readonly {
    readonly firmware: string;
    readonly datecode: string | null;
    readonly devices: number;
    readonly homes: readonly number[];
  }[];
}

export interface Sender {
  readonly home: number;
  /** When it was received, unix milliseconds. */
  readonly at_ms: number;
}

export interface Received {
  readonly held_seq: number;
  /** Readings that were new. */
  readonly taken: number;
  /** Readings of times that were erased: they are not kept, and their numbers pass. */
  readonly erased?: number;
}

export interface Repaired {
  readonly added: number;
  readonly corrected: number;
  /** As in `Received`. */
  readonly erased?: number;
  /** Readings held here that the gateway did not send. */
  readonly kept: number;
}

export interface HeldEpoch {
  readonly epoch: string;
  /** Absent while nothing is held of it. */
  readonly home?: number;
  /** The number up to which every reading is held; 0 while nothing is. */
  readonly held_seq: number;
  /** Up to which the notes of its devices' health are held. */
  readonly held_note: number;
}

/** A gateway's report of itself, and when central received it. */
export interface ReportNote {
  readonly epoch: string;
  readonly health: DeviceHealth;
  /** Kept as it is: see src/transfer/protocol.ts for what is in it. */
  readonly report: Readonly<Record<string, unknown>>;
  /** Absent where it is not known. */
  readonly as_of?: AsOf;
  /** The pauses that its gateway knows of, as far as it tells. */
  readonly pauses?: readonly PausedSpan[];
  /** Changes of the notes of the home that it has not told before. */
  readonly notes?: NoteChanges | undefined;
}

/** The newest number of an epoch when its gateway said so, and which day it was there, by the home's calendar: days since 1970. */
export interface AsOf {
  readonly last_seq: number;
  readonly day: number;
}

/** A device in a home: the part of a span of which it is known whether it was covered, and the intervals of it in which it was not, newest first. */
export interface HomeDeviceCoverage {
  readonly home: number;
  readonly start_ms: number;
  readonly stop_ms: number;
  readonly uncovered: readonly CoverageInterval[];
}

/** By compared day, how many series of devices differed. */
export type ComparedDays = ReadonlyMap<number, number>;

/** Days of a home, and when each arrived. */
export interface DailyArrivals {
  readonly home: number;
  /** The first day of which `arrived_ms` is known; absent where there is none. */
  readonly first_day: number | undefined;
  readonly days: readonly DailyArrival[];
}

interface DailyArrival {
  /** Days since 1970. */
  readonly day: number;
  /** When all that the gateway had at some moment of this day of its home's calendar, and so of all days before, was first here; unix milliseconds. */
  readonly arrived_ms?: number;
  /** Series of devices that differed when this day (UTC) was last compared. */
  readonly differing: number;
}

export interface GatewayRecord {
  readonly home: number;
  readonly epoch: string;
  readonly held_seq: number;
  /** When a batch, and when a report was last taken, unix milliseconds. */
  readonly uploaded_ms?: number;
  readonly reported_ms?: number;
  readonly report: Readonly<Record<string, unknown>>;
  /** Other epochs of the home that have sent something since this one began: two boxes with one token. */
  readonly rivals: readonly string[];
}

export interface ItemHealth {
  /** How many items a home has; homes without any are left out. */
  readonly items: ReadonlyMap<number, number>;
  /** All that are overdue or whose battery is low, in order of type and itemid, and some of which nothing is wrong. */
  readonly doubtful: readonly ItemState[];
}

export interface UnplacedReadings {
  readonly home: number;
  readonly record: Item;
  readonly readings: number;
  /** Stamp of the newest reading of the home of it, unix milliseconds. */
  readonly newest_ms: number;
}

export interface HistoryPosition {
  readonly seq: number;
  /** In the words of the store. */
  readonly at: string;
}

/** A batch cannot follow the held readings; the sender has to continue after `held_seq`. */
export class BatchRefused extends OperatorError {
  constructor(
    what: string,
    remedy: string,
    readonly reason: BatchRefusal,
    readonly held_seq: number,
  ) {
    super(what, remedy);
  }
}

/** `gap`: readings before it are not held. `foreign`: the epoch belongs to another home. `diverged`: another reading has the number before it. */
export type BatchRefusal = "gap" | "foreign" | "diverged";

/** Bytes of one file that `putBackup` keeps, and of all of a home, which are answered together; files that a home has. */
export const backup_bytes_max = 2 * 1024 * 1024;
export const backups_bytes_max = 4 * 1024 * 1024;
export const backups_max = 16;
