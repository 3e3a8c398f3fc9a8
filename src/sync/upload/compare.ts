import { batch_readings_max, readingsIn } from "../../batch.ts";
import { OperatorError } from "../../errors.ts";
import type { DayDigest, DigestRequest, UploadStore } from "../../store/upload-store.ts";
import { encodeBatch } from "../batch-codec.ts";
import { batchType, MendAnswer, VerifyAnswer } from "../protocol.ts";
import type { Central } from "./central.ts";
import { type DaySpan, day_ms } from "./days.ts";

/** What a comparison of days came to. */
export interface Compared {
  /** Days on which anything differed, counted from 1970 in UTC. */
  readonly differing: ReadonlySet<number>;
  /** Readings that central lacked or had otherwise, and those that it alone has. */
  readonly mended: number;
  readonly kept: number;
  /** Days that differ although all of their readings were sent again. */
  readonly unmended: ReadonlySet<number>;
}

/** Compares days of this store with central's, and sends again what differs. */
export class Comparison {
  readonly #store: UploadStore;
  readonly #central: Central;
  readonly #differing = new Set<number>();
  readonly #unmended = new Set<number>();
  #mended = 0;
  #kept = 0;

  constructor(options: { store: UploadStore; central: Central }) {
    this.#store = options.store;
    this.#central = options.central;
  }

  get result(): Compared {
    return {
      differing: this.#differing,
      mended: this.#mended,
      kept: this.#kept,
      unmended: this.#unmended,
    };
  }

  /** Compares a span by its digests; what differs is sent, and compared once more. */
  async compare(epoch: string, through_seq: number, span: DaySpan): Promise<void> {
    this.#central.checkTime();
    const request = { epoch, through_seq, ...span };
    const digests = await this.#store.digests(request);
    if (digests.length === 0) return;
    if (digests.length > digests_max && span.before_ms - span.from_ms > day_ms) {
      const middle_ms = span.from_ms + Math.floor((span.before_ms - span.from_ms) / day_ms / 2) * day_ms;
      await this.compare(epoch, through_seq, { from_ms: span.from_ms, before_ms: middle_ms });
      await this.compare(epoch, through_seq, { from_ms: middle_ms, before_ms: span.before_ms });
      return;
    }
    const differing = await this.#differingOf(request, digests);
    if (differing.length === 0) return;
    const extra = new Set<string>();
    for (const digest of differing) {
      this.#differing.add(digest.day);
      const kept = await this.#mend(request, digest);
      if (kept > 0) extra.add(keyOf(digest));
    }
    // Where central holds more than this store, all of this store's readings are there: that is what was to be shown.
    for (const digest of await this.#differingOf(request, digests))
      if (!extra.has(keyOf(digest))) this.#unmended.add(digest.day);
  }

  /** Puts all that this store still has of some days beside central's: for days of which the rest was pruned. */
  async putBeside(epoch: string, through_seq: number, span: DaySpan): Promise<void> {
    this.#central.checkTime();
    const request = { epoch, through_seq, ...span };
    for (const digest of await this.#store.digests(request)) {
      const before = this.#mended;
      await this.#mend(request, digest);
      if (this.#mended > before) this.#differing.add(digest.day);
    }
  }

  /** What differs of what this store has; what central alone has is its own. */
  async #differingOf(request: DigestRequest, digests: readonly DayDigest[]): Promise<DayDigest[]> {
    const { differing } = await this.#central.askJson({ method: "POST", path: "/verify" }, VerifyAnswer, {
      ...request,
      digests,
    });
    const here = new Map(digests.map((digest) => [keyOf(digest), digest]));
    return differing.map((digest) => here.get(keyOf(digest))).filter((digest) => digest !== undefined);
  }

  /** Sends what this store has of one series of one device on one day; how many readings central alone has of it. */
  async #mend({ epoch, through_seq }: DigestRequest, digest: DayDigest): Promise<number> {
    const { series, kind, address, itemid, day } = digest;
    const of = { epoch, series, kind, address, ...(itemid === undefined ? {} : { itemid }), day };
    let kept = 0;
    for (let after_seq = 0; ; ) {
      const batch = await this.#store.readingsOfDay({ ...of, through_seq, after_seq });
      const bytes = encodeBatch(batch);
      if (bytes === null)
        throw new OperatorError(
          `the ${series} of ${kind} ${address} on one day are too large to be sent`,
          "this is a fault of the program: please report it",
        );
      const answer = await this.#central.ask({
        method: "PUT",
        path: "/days",
        query: { ...of, through: through_seq, after: after_seq },
        body: { bytes, type: batchType },
      });
      const mended = this.#central.read(answer, MendAnswer);
      this.#mended += mended.added + mended.corrected;
      kept += mended.kept;
      this.#kept += mended.kept;
      if (readingsIn(batch) < batch_readings_max) return kept;
      after_seq = batch.to_seq;
    }
  }
}

/** The address wins over the number in the inventory, which may be known on one side only. */
function keyOf({ series, kind, address, itemid, day }: DayDigest): string {
  return `${day} ${series} ${kind} ${address === "" ? `#${itemid}` : address}`;
}

const digests_max = 100_000;
