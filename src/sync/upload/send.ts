import type { Batch } from "../../batch.ts";
import type { EpochSpan, UploadStore } from "../../store/upload-store.ts";
import { encodedBatch } from "../encoded-batch.ts";
import { type Answered, TryAgainLater } from "../line/outcome.ts";
import type { PeerRequest } from "../line/peer.ts";
import { BatchAnswer, BatchRefusalBody, batchHeader, batchType } from "../protocol.ts";
import type { Central } from "./central.ts";

/**
 * Sends the readings of a span of numbers from central's word on, batch by batch, until central holds them all. While one is under way the next is read.
 *
 * @param options.held_seq what central holds of it
 * @param options.onBatch called for each batch once central has confirmed it
 * @returns up to which number central holds it now
 * @throws TryAgainLater, or OperatorError where central refuses
 */
export async function sendEpoch(options: {
  readonly store: UploadStore;
  readonly central: Central;
  readonly span: EpochSpan;
  readonly held_seq: number;
  readonly onBatch: (batch: Batch) => void;
}): Promise<number> {
  const { store, central, span, onBatch } = options;
  const reader = new BatchReader({ store, epoch: span.epoch, readings_max: central.readings_max });
  let held_seq = options.held_seq;
  let standing = 0;
  while (held_seq < span.last_seq) {
    central.checkTime();
    const { answer, batch } = await sendAfter(central, reader, held_seq);
    if (batch === undefined || answer === undefined) break;
    const before_seq = held_seq;
    if (answer.status === 409) held_seq = central.read(answer, BatchRefusalBody).held_seq;
    else {
      held_seq = central.read(answer, BatchAnswer).held_seq;
      onBatch(batch);
    }
    // Central's word wins, also where it goes back; but not for ever.
    standing = held_seq > before_seq ? 0 : standing + 1;
    if (standing >= standing_max)
      throw new TryAgainLater(
        `central at ${central.url.host} stays at reading ${held_seq} whatever it is sent`,
        "look at the log of central; nothing is lost, and the next upload tries again",
      );
  }
  return held_seq;
}

async function sendAfter(
  central: Central,
  reader: BatchReader,
  after_seq: number,
): Promise<{ answer?: Answered; batch?: Batch }> {
  let made = await reader.take(after_seq);
  if (made === undefined) return {};
  let failed = 0;
  const answer = await central.ask(async (failures): Promise<PeerRequest> => {
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
      // A gap: central says where to go on.
      accept: [409],
    };
  });
  if (answer.status !== 409) reader.grow();
  return { answer, batch: made.batch };
}

interface Encoded {
  readonly readings_max: number;
  readonly batch: Batch;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Reads and encodes batches, one ahead, and as large as the line has lately let through. */
class BatchReader {
  readonly #store: UploadStore;
  readonly #epoch: string;
  readonly #most: number;
  #readings_max: number;
  #ahead: { readonly after_seq: number; readonly made: Promise<Encoded | undefined> } | undefined;

  constructor(options: { store: UploadStore; epoch: string; readings_max: number }) {
    this.#store = options.store;
    this.#epoch = options.epoch;
    this.#most = options.readings_max;
    this.#readings_max = options.readings_max;
  }

  /** A line that cuts every hundred kilobytes lets small batches through. */
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
    return made !== undefined && made.readings_max <= this.#readings_max ? made : this.#make(after_seq);
  }

  /** Begins to make the batch that is likely wanted next. */
  readAhead(after_seq: number): void {
    const made = this.#make(after_seq);
    // Its fault is told to whoever takes it.
    made.catch(() => undefined);
    this.#ahead = { after_seq, made };
  }

  #make(after_seq: number): Promise<Encoded | undefined> {
    return encodedBatch(async (readings_max) => {
      const batch = await this.#store.batchAfter({ epoch: this.#epoch, after_seq, readings_max });
      return batch === undefined ? undefined : { batch, readings_max };
    }, this.#readings_max);
  }
}

/** Below this a batch is not much more than its request. */
const readings_min = 256;
/** How often in a row central may stay where it is, or go back. */
const standing_max = 5;
