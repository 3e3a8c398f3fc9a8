import { decodingBounds } from "../base/json-decoder.ts";
import { plainWords } from "../base/text.ts";
import { day_ms } from "../base/time.ts";
import { type Batch, isOfDay } from "../store/batch.ts";
import type { Repaired } from "../store/central/central-store.ts";
import { type DayDigest, type DeviceHealth, health_notes_max, health_states_max } from "../store/exchange.ts";
import type { DayReadings, DigestRequest, UploadStore } from "../store/gateway/upload-store.ts";
import type { NoteChanges } from "../store/note.ts";
import type { HttpClient } from "../web/client/http-client.ts";
import { batchFrom, decodeBatch, decodeReadings } from "./batch-codec.ts";
import { DigestsAnswer, dayQueryOf, type GatewayReport, SourceReport, verify_days_max } from "./protocol.ts";

/** A gateway's report of itself, with the health of its devices. */
export type TransferReport = Omit<SourceReport, "condition"> & { readonly condition: DeviceHealth };

/** The gateway whose readings are transferred: a store on this machine, or a gateway that is asked. */
export interface TransferSource {
  /** The gateway's report: its figures, its epochs, and the health of its devices after a note, with states after a device; from the first on unless it is said. */
  report(after_note: number, after_device?: number): Promise<TransferReport>;

  /** The readings of an epoch after a number, as many as go into a batch but at most `readings_max`; undefined where there are none. */
  batchAfter(request: {
    readonly epoch: string;
    readonly after_seq: number;
    readonly readings_max: number;
  }): Promise<SourceBatch | undefined>;

  /** Days that one call of `digests` may span. */
  readonly days_max: number;

  /** The digests of a span of whole days. */
  digests(request: DigestRequest): Promise<SpanDigests>;

  readingsOfDay(request: DayReadings): Promise<Batch>;

  /** Takes in those of a day's readings from central that were lost here, and answers how many; absent: nothing can be given back. */
  takeBack?(readings: Batch): Promise<number>;
}

interface SpanDigests {
  readonly digests: readonly DayDigest[];
  /** The first day after the span that has readings, unix milliseconds; absent where there is none. */
  readonly next_ms?: number;
}

interface SourceBatch {
  readonly batch: Batch;
  /** Bytes received over the network for it; 0 from this machine. */
  readonly bytes: number;
}

/** Central, which takes the readings: a store on this machine, or a central server that is asked. */
export interface TransferTarget {
  /** How far central holds each epoch of a report, in its order. @throws OperatorError where they are another home's */
  held(report: TransferReport): Promise<readonly HeldSpan[]>;

  /** Has central keep a report with the health of its devices, and answers as `held`. */
  note(report: TransferReport): Promise<readonly HeldSpan[]>;

  /**
   * A sender of the readings of one epoch, which calls `read` for each batch. It asks for smaller batches after one that did not get
   * through.
   */
  sender(read: ReadAfter): BatchSender;

  /** Central's digests that differ from these, the gateway's, and those of readings that central alone has. */
  differing(request: DigestRequest, digests: readonly DayDigest[]): Promise<readonly DayDigest[]>;

  /** Sends central all readings that the gateway has of one series of one device on one day. */
  repairDay(request: DayReadings, readings: Batch): Promise<Repaired>;

  /** The readings that central holds of such a day; absent: it gives nothing back. */
  readingsOfDay?(request: DayReadings): Promise<Batch>;
}

export type ReadAfter = (after_seq: number, readings_max: number) => Promise<SourceBatch | undefined>;

/** Sends the batch after a number; undefined where there is none. */
export type BatchSender = (after_seq: number) => Promise<SentBatch | undefined>;

export interface SentBatch {
  /** The number up to which central holds the epoch then; it may be lower than before. */
  readonly held_seq: number;
  /** Absent where central refused it because readings before it are not held. */
  readonly batch?: Batch;
}

export interface HeldSpan {
  readonly epoch: string;
  readonly held_seq: number;
  /** Up to which note the health of devices is held. */
  readonly held_note: number;
}

/** The part of a gateway's store that is transferred. */
export type SourceStore = Pick<
  UploadStore,
  | ("epochs" | "batchAfter" | "deviceHealthAfter" | "digests" | "nextDay_ms" | "readingsOfDay")
  | ("takeBack" | "uploadState" | "unrestricted")
>;

interface StoreSourceOptions {
  readonly store: SourceStore;
  /** The gateway's present report of itself. */
  readonly describe: () => Promise<GatewayReport>;
  /** The number of its home, where that is known. */
  readonly home?: number;
  /** Changes of the home's notes that central was not told. */
  readonly notes?: (() => Promise<NoteChanges | undefined>) | undefined;
}

/** A gateway by its store on this machine. */
export class StoreSource implements TransferSource {
  readonly days_max = verify_days_max;
  readonly #options: StoreSourceOptions;

  constructor(options: StoreSourceOptions) {
    this.#options = options;
  }

  async report(after_note: number, after_device = 0): Promise<TransferReport> {
    const { store, describe, home } = this.#options;
    const [epochs, condition, report, { pruned_before_ms }, notes] = await Promise.all([
      store.epochs(),
      store.deviceHealthAfter(after_note, health_notes_max, { after_device, max: health_states_max }),
      describe(),
      store.uploadState(),
      this.#options.notes?.(),
    ]);
    // Readings restored from central are not sent back to it.
    const own = epochs
      .filter(({ restored }) => !restored)
      .map(({ epoch, first_seq, last_seq }) => ({ epoch, first_seq, last_seq }));
    return { epochs: own, condition, report, home, pruned_before_ms, notes };
  }

  async batchAfter(request: Parameters<TransferSource["batchAfter"]>[0]): Promise<SourceBatch | undefined> {
    const batch = await this.#options.store.batchAfter(request);
    return batch && { batch, bytes: 0 };
  }

  digests(request: DigestRequest): Promise<SpanDigests> {
    return digestsOf(this.#options.store, request);
  }

  readingsOfDay(request: DayReadings): Promise<Batch> {
    return this.#options.store.readingsOfDay(request);
  }

  takeBack(readings: Batch): Promise<number> {
    return this.#options.store.takeBack(readings);
  }
}

export async function digestsOf(
  store: Pick<SourceStore, "digests" | "nextDay_ms">,
  request: DigestRequest,
): Promise<SpanDigests> {
  const [digests, next_ms] = await Promise.all([store.digests(request), store.nextDay_ms(request.before_ms)]);
  return { digests, next_ms };
}

/** A gateway that is asked, a day at a time. Its answers are checked: anybody may give them. */
export class GatewaySource implements TransferSource {
  readonly days_max = 1;
  readonly #gateway: HttpClient;

  constructor(gateway: HttpClient) {
    this.#gateway = gateway;
  }

  async report(after_note: number, after_device = 0): Promise<SourceReport> {
    const request = { method: "GET", path: "/report", query: { after_note, after_device } } as const;
    return plainWords(
      await this.#gateway.askJson({ ...request, answer: decodingBounds.sourceReport }, SourceReport),
    );
  }

  async batchAfter({
    epoch,
    after_seq,
  }: Parameters<TransferSource["batchAfter"]>[0]): Promise<SourceBatch | undefined> {
    const answer = await this.#gateway.ask({
      method: "GET",
      path: "/batches",
      query: { epoch, after: after_seq },
      answer: decodingBounds.sentBatch,
    });
    if (answer.status === 204) return undefined;
    const batch = this.#ofEpoch(epoch, batchFrom(this.#gateway, answer.body, decodeBatch));
    return { batch, bytes: answer.body.length };
  }

  async digests({ epoch, through_seq, from_ms, before_ms }: DigestRequest): Promise<SpanDigests> {
    const { digests, next_ms } = await this.#gateway.askJson(
      {
        method: "GET",
        path: "/digests",
        query: { epoch, through: through_seq, from: from_ms, before: before_ms },
        answer: decodingBounds.digests,
      },
      DigestsAnswer,
    );
    if (digests.some(({ day }) => day * day_ms < from_ms || day * day_ms >= before_ms))
      throw this.#gateway.unexpected("digests of another day than was asked for");
    if (next_ms !== undefined && (next_ms < before_ms || next_ms % day_ms !== 0))
      throw this.#gateway.unexpected("a next day that is none");
    return { digests, next_ms };
  }

  async readingsOfDay(request: DayReadings): Promise<Batch> {
    const batch = this.#ofEpoch(request.epoch, await dayFrom(this.#gateway, request));
    if (!isOfDay(batch, request.day))
      throw this.#gateway.unexpected("readings of another day than was asked for");
    return batch;
  }

  /** @throws OperatorError where a batch is of another epoch */
  #ofEpoch(epoch: string, batch: Batch): Batch {
    if (batch.epoch !== epoch) throw this.#gateway.unexpected("a batch of another epoch than was asked for");
    return batch;
  }
}

/** Asks for the readings of one series of one device on one day. @throws OperatorError where the answer is no batch */
export async function dayFrom(server: HttpClient, request: DayReadings): Promise<Batch> {
  const answer = await server.ask({
    method: "GET",
    path: "/days",
    query: dayQueryOf(request),
    answer: decodingBounds.sentBatch,
  });
  return batchFrom(server, answer.body, decodeReadings);
}
