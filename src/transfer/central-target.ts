import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { decodingBounds } from "../base/json-decoder.ts";
import type { Log } from "../base/log.ts";
import type { StoppedRelease } from "../domain/fleet-home.ts";
import { type Batch, isOfDay } from "../store/batch.ts";
import type { Repaired } from "../store/central/central-store.ts";
import { type DayDigest, nothingNoted } from "../store/exchange.ts";
import type { DayReadings, DigestRequest } from "../store/gateway/upload-store.ts";
import type { ClientRequest } from "../web/client/http-client.ts";
import { encodeBatch, encodedBatch } from "./batch-codec.ts";
import type { CentralClient } from "./central-client.ts";
import {
  BatchAnswer,
  BatchRefusalBody,
  batchHeader,
  batchType,
  dayQueryOf,
  RepairAnswer,
  ReportAnswer,
  VerifyAnswer,
} from "./protocol.ts";
import {
  type BatchSender,
  dayFrom,
  type HeldSpan,
  type ReadAfter,
  type SentBatch,
  type TransferReport,
  type TransferTarget,
} from "./transfer-ends.ts";

/** A central server that is asked. */
export class CentralTarget implements TransferTarget {
  readonly #central: CentralClient;
  readonly #clock: Clock;
  readonly #onTime: ((unix_ms: number) => void) | undefined;
  readonly #onNextCertificate: ((certificate: string) => void) | undefined;
  readonly #log: Log;
  /** The earlier of this machine's time and central's, as `held` found them, unix milliseconds. */
  now_ms = 0;
  /** Releases that central has stopped, by its last answer. */
  stopped: readonly StoppedRelease[] = [];

  /**
   * @param options.onTime told central's time, unix milliseconds, once it has answered
   * @param options.onNextCertificate told the certificate that central will have next, in PEM
   */
  constructor(options: {
    central: CentralClient;
    clock: Clock;
    log: Log;
    onTime?: ((unix_ms: number) => void) | undefined;
    onNextCertificate?: ((certificate: string) => void) | undefined;
  }) {
    this.#central = options.central;
    this.#onTime = options.onTime;
    this.#onNextCertificate = options.onNextCertificate;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  async held(report: TransferReport): Promise<readonly HeldSpan[]> {
    const answer = await this.#report({ ...report, condition: nothingNoted });
    this.#onTime?.(answer.now_ms);
    if (answer.next_certificate !== undefined) this.#onNextCertificate?.(answer.next_certificate);
    this.stopped = answer.stopped ?? [];
    const here_ms = this.#clock.now().unix_ms;
    this.now_ms = Math.min(here_ms, answer.now_ms);
    const ahead_ms = here_ms - answer.now_ms;
    if (Math.abs(ahead_ms) > clock_off_max_ms)
      this.#log.warn(
        `the clock of this machine is ${Math.round(Math.abs(ahead_ms) / 60_000)} minutes ${ahead_ms > 0 ? "ahead of" : "behind"} central's: readings are sent with the times they have; lintel doctor says whether the clock is synchronised`,
      );
    return answer.epochs;
  }

  async note(report: TransferReport): Promise<readonly HeldSpan[]> {
    return (await this.#report(report)).epochs;
  }

  /** While a batch is under way the next one is read and encoded. */
  sender(read: ReadAfter): BatchSender {
    const reader = new BatchReader(read, this.#central.readings_max);
    return (after_seq) => this.#sendAfter(reader, after_seq);
  }

  async differing(request: DigestRequest, digests: readonly DayDigest[]): Promise<readonly DayDigest[]> {
    const body = { ...request, digests };
    const answer = await this.#central.askJson(
      { method: "POST", path: "/verify", answer: decodingBounds.digests },
      VerifyAnswer,
      body,
    );
    return answer.differing;
  }

  async repairDay(request: DayReadings, readings: Batch): Promise<Repaired> {
    const bytes = encodeBatch(readings);
    if (bytes === null)
      throw new OperatorError(
        `the ${request.series} of ${request.kind} ${request.address} on one day are too large to be sent`,
        "this is a fault of the program: please report it",
      );
    const answer = await this.#central.ask({
      method: "PUT",
      path: "/days",
      query: dayQueryOf(request),
      body: { bytes, type: batchType },
      answer: decodingBounds.batchAnswer,
    });
    return this.#central.read(answer, RepairAnswer);
  }

  async readingsOfDay(request: DayReadings): Promise<Batch> {
    const batch = await dayFrom(this.#central, request);
    if (batch.epoch === request.epoch && isOfDay(batch, request.day)) return batch;
    throw new OperatorError(
      "central gives back readings of another day than was asked for",
      "run the same version of Lintel on both; if it is, this is a fault of the program",
    );
  }

  #report({ epochs, condition, report, notes }: TransferReport): Promise<ReportAnswer> {
    const body = { epochs, condition, report, notes };
    return this.#central.askJson(
      { method: "POST", path: "/report", answer: decodingBounds.reportAnswer },
      ReportAnswer,
      body,
    );
  }

  async #sendAfter(reader: BatchReader, after_seq: number): Promise<SentBatch | undefined> {
    const central = this.#central;
    let made = await reader.take(after_seq);
    if (made === undefined) return undefined;
    let failed = 0;
    const answer = await central.ask(async (failures): Promise<ClientRequest> => {
      if (failures > failed) {
        failed = failures;
        reader.shrink();
        made = (await reader.take(after_seq)) ?? made;
      }
      const { batch, bytes } = made as Encoded;
      reader.readAhead(batch.to_seq);
      return {
        method: "POST",
        path: "/batches",
        headers: { [batchHeader]: `${batch.epoch} ${batch.from_seq} ${batch.to_seq}` },
        body: { bytes, type: batchType },
        answer: decodingBounds.batchAnswer,
        // A gap: central says where to go on.
        accept: [409],
      };
    });
    if (answer.status === 409) return { held_seq: central.read(answer, BatchRefusalBody).held_seq };
    reader.grow();
    return { held_seq: central.read(answer, BatchAnswer).held_seq, batch: made.batch };
  }
}

interface Encoded {
  readonly batch: Batch;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Reads and encodes batches, one ahead. Batches are made smaller after failures, and larger again after successes. */
class BatchReader {
  readonly #read: ReadAfter;
  readonly #most: number;
  #readings_max: number;
  #ahead: { readonly after_seq: number; readonly made: Promise<Encoded | undefined> } | undefined;

  constructor(read: ReadAfter, readings_max: number) {
    this.#read = read;
    this.#most = readings_max;
    this.#readings_max = readings_max;
  }

  /** Halves the next batches: a connection that breaks every hundred kilobytes lets small ones through. */
  shrink(): void {
    this.#readings_max = Math.max(Math.min(readings_min, this.#most), this.#readings_max >> 1);
  }

  grow(): void {
    this.#readings_max = Math.min(this.#most, this.#readings_max * 2);
  }

  /** The batch after a number; undefined where there is none. */
  async take(after_seq: number): Promise<Encoded | undefined> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    const made = ahead?.after_seq === after_seq ? await ahead.made : undefined;
    return made ?? this.#make(after_seq);
  }

  /** Begins to make the batch that is likely wanted next. Each attempt does it anew, so that it is never larger than what gets through. */
  readAhead(after_seq: number): void {
    const made = this.#make(after_seq);
    // `take` rejects with the error.
    made.catch(() => undefined);
    this.#ahead = { after_seq, made };
  }

  #make(after_seq: number): Promise<Encoded | undefined> {
    return encodedBatch((readings_max) => this.#read(after_seq, readings_max), this.#readings_max);
  }
}

/** Below this a batch is not much more than its request. */
const readings_min = 256;
const clock_off_max_ms = 300_000;
