import { OperatorError, type OutageReason, StoreOutage } from "../../errors.ts";
import type { Alert } from "../../records/issues.ts";
import type { Batch as ReadingsBatch } from "../batch.ts";
import {
  type BatchRefusal,
  BatchRefused,
  type Received,
  type Repaired,
  type ReportNote,
  type Sender,
} from "../central-store.ts";
import type { Imported, ImportedRecord } from "../record-store.ts";
import { type Appended, ReadingRefused, type Token } from "../store.ts";
import type { DayReadings } from "../upload-store.ts";
import type { Role } from "./role.ts";
import type { Batch, Place } from "./write.ts";

/** Calls to the writer's thread: one argument, one answer, each copied between the threads. */
export interface WriterCalls {
  /** First of all, once. */
  open(options: WriterOptions): Opened;
  /** At a gateway. */
  commit(batch: Batch): Appended;
  /** At central: see `CentralStore`. */
  receive(call: { batch: ReadingsBatch; sender: Sender }): Received;
  noteReport(call: { report: ReportNote; sender: Sender }): void;
  repairDay(call: { request: DayReadings; readings: ReadingsBatch; sender: Sender }): Repaired;
  replaceAlerts(call: { home: number; alerts: readonly Alert[] }): void;
  putBackup(call: { home: number; name: string; content: Uint8Array }): void;
  /** At both. */
  addToken(token: Token): void;
  revokeToken(id: string): boolean;
  noteTokenUse(used: ReadonlyMap<string, number>): void;
  /** Puts records of the one import under way aside; the first call begins it. */
  stageRecords(records: readonly ImportedRecord[]): void;
  /** Imports the records that were put aside, or counts the changes this would make; the import is over then. */
  finishImport(options: { readonly dryRun: boolean }): Imported;
  /** Drops the records that were put aside, if any were. */
  abandonImport(nothing: undefined): void;
  maintain(nothing: undefined): void;
  /** Last of all: closes the database and lets go of the lock. */
  close(nothing: undefined): void;
}

export interface WriterOptions {
  readonly directory: string;
  readonly role: Role;
  /** Name of the store if it has to be made. */
  readonly freshEpoch: string;
  readonly place: Place;
}

export interface Opened {
  /** The schema version that was found; 0 when the database was made now. */
  readonly versionBefore: number;
}

export interface Request {
  readonly id: number;
  readonly call: keyof WriterCalls;
  readonly argument: unknown;
}

export type Response =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: Fault };

/** An OperatorError as it travels between threads, which copy no classes. */
export interface Fault {
  readonly what: string;
  readonly remedy: string;
  /** Present on a ReadingRefused. */
  readonly index?: number;
  /** Present on a BatchRefused. */
  readonly refused?: { readonly reason: BatchRefusal; readonly held_seq: number };
  /** Present on a StoreOutage. */
  readonly outage?: OutageReason;
}

export function faultToSend(error: OperatorError): Fault {
  const { what, remedy } = error;
  if (error instanceof StoreOutage) return { what, remedy, outage: error.reason };
  if (error instanceof ReadingRefused) return { what, remedy, index: error.index };
  if (!(error instanceof BatchRefused)) return { what, remedy };
  return { what, remedy, refused: { reason: error.reason, held_seq: error.held_seq } };
}

export function errorReceived({ what, remedy, index, outage, refused }: Fault): OperatorError {
  if (outage !== undefined) return new StoreOutage(what, remedy, outage);
  if (refused !== undefined) return new BatchRefused(what, remedy, refused.reason, refused.held_seq);
  return index === undefined ? new OperatorError(what, remedy) : new ReadingRefused(what, remedy, index);
}
