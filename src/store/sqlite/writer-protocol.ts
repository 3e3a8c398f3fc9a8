import { OperatorError, type OutageReason, StoreDamaged, StoreOutage } from "../../errors.ts";
import { type BatchRefusal, BatchRefused } from "../central-store.ts";
import type { WriteName } from "../core/writes.ts";
import { QuotaExceeded } from "../intake.ts";
import { ReadingRefused } from "../store.ts";
import type { Role } from "./role.ts";
import type { StoreWriting } from "./write.ts";

/** Calls to the writer's thread, whose arguments and answers are copied between the threads: those of its `Writing`, and before them, once, `open`. */
export interface WriterCalls extends Omit<Methods<StoreWriting>, "write"> {
  write(name: WriteName, ...given: readonly unknown[]): unknown;
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

export interface OpenedDatabase {
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

/** An OperatorError as it travels between threads, which copy no classes. */
export interface ForwardedFault {
  readonly what: string;
  readonly remedy: string;
  /** Present on a ReadingRefused. */
  readonly index?: number;
  /** Present on a BatchRefused. */
  readonly refused?: { readonly reason: BatchRefusal; readonly held_seq: number };
  /** Present on a QuotaExceeded. */
  readonly exceeded?: Pick<QuotaExceeded, "home" | "quota" | "most">;
  /** Present on a StoreOutage. */
  readonly outage?: OutageReason;
  /** Present on a StoreDamaged. */
  readonly damaged?: true;
}

export function faultToSend(error: OperatorError): ForwardedFault {
  const { what, remedy } = error;
  if (error instanceof StoreOutage) return { what, remedy, outage: error.reason };
  if (error instanceof StoreDamaged) return { what, remedy, damaged: true };
  if (error instanceof ReadingRefused) return { what, remedy, index: error.index };
  if (error instanceof QuotaExceeded) {
    const { home, quota, most } = error;
    return { what, remedy, exceeded: { home, quota, most } };
  }
  if (!(error instanceof BatchRefused)) return { what, remedy };
  return { what, remedy, refused: { reason: error.reason, held_seq: error.held_seq } };
}

export function errorReceived({
  what,
  remedy,
  index,
  outage,
  damaged,
  refused,
  exceeded,
}: ForwardedFault): OperatorError {
  if (outage !== undefined) return new StoreOutage(what, remedy, outage);
  if (damaged) return new StoreDamaged(what, remedy);
  if (exceeded !== undefined) return new QuotaExceeded(exceeded.home, exceeded.quota, exceeded.most);
  if (refused !== undefined) return new BatchRefused(what, remedy, refused.reason, refused.held_seq);
  return index === undefined ? new OperatorError(what, remedy) : new ReadingRefused(what, remedy, index);
}
