import { day_ms } from "../../day.ts";
import { batch_readings_max, readingsIn } from "../../store/batch.ts";
import type { DayDigest, DigestRequest } from "../../store/upload-store.ts";
import type { DaySpan } from "./days.ts";
import { nameOf } from "./differing.ts";
import type { Source, Target } from "./ends.ts";

/** The result of a comparison of days. */
export interface Compared {
  /** Days on which anything differed, counted from 1970 in UTC. */
  readonly differing: ReadonlySet<number>;
  /** Readings that central lacked or had otherwise, and those that it alone has. */
  readonly mended: number;
  readonly kept: number;
  /** Days that differ although all of their readings were handed over again. */
  readonly unmended: ReadonlySet<number>;
}

/** Compares days of a gateway with central's, and has central take again what differs; itself what that came to so far. */
export class Comparison implements Compared {
  readonly differing = new Set<number>();
  readonly unmended = new Set<number>();
  mended = 0;
  kept = 0;
  readonly #source: Source;
  readonly #target: Target;
  readonly #checkTime: () => void;

  /** `checkTime` throws where a run has taken as long as one may. */
  constructor(options: { source: Source; target: Target; checkTime: () => void }) {
    this.#source = options.source;
    this.#target = options.target;
    this.#checkTime = options.checkTime;
  }

  /** Compares a span by its digests; what differs is handed over, and compared once more. */
  async compare(epoch: string, through_seq: number, span: DaySpan): Promise<void> {
    this.#checkTime();
    const request = { epoch, through_seq, ...span };
    const digests = await this.#source.digests(request);
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
      this.differing.add(digest.day);
      const kept = await this.#mend(request, digest);
      if (kept > 0) extra.add(nameOf(digest));
    }
    // Where central holds more than the gateway, all of the gateway's readings are there: that is what was to be shown.
    for (const digest of await this.#differingOf(request, digests))
      if (!extra.has(nameOf(digest))) this.unmended.add(digest.day);
  }

  /** Puts all that the gateway still has of some days beside central's: for days of which the rest was pruned. */
  async putBeside(epoch: string, through_seq: number, span: DaySpan): Promise<void> {
    this.#checkTime();
    const request = { epoch, through_seq, ...span };
    for (const digest of await this.#source.digests(request)) {
      const before = this.mended;
      await this.#mend(request, digest);
      if (this.mended > before) this.differing.add(digest.day);
    }
  }

  /** The digests of the gateway that differ at central. Readings that only central has do not count. */
  async #differingOf(request: DigestRequest, digests: readonly DayDigest[]): Promise<DayDigest[]> {
    const differing = await this.#target.differing(request, digests);
    const there = new Map(digests.map((digest) => [nameOf(digest), digest]));
    return differing.map((digest) => there.get(nameOf(digest))).filter((digest) => digest !== undefined);
  }

  /** Hands over what the gateway has of one series of one device on one day; how many readings central alone has of it. */
  async #mend({ epoch, through_seq }: DigestRequest, digest: DayDigest): Promise<number> {
    const { series, kind, address, itemid, day } = digest;
    const of = {
      epoch,
      through_seq,
      series,
      kind,
      address,
      itemid,
      day,
    };
    let kept = 0;
    for (let after_seq = 0; ; ) {
      this.#checkTime();
      const request = { ...of, after_seq };
      const readings = await this.#source.readingsOfDay(request);
      const { to_seq } = readings;
      const count = readingsIn(readings);
      const part = await this.#target.mendDay(request, readings);
      this.mended += part.added + part.corrected;
      kept += part.kept;
      this.kept += part.kept;
      if (count < batch_readings_max || to_seq <= after_seq) return kept;
      after_seq = to_seq;
    }
  }
}

const digests_max = 100_000;
