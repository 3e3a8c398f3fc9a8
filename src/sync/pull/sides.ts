import { batch_bytes_max, readingsIn } from "../../batch.ts";
import { OperatorError } from "../../errors.ts";
import { BatchRefused } from "../../store/central-store.ts";
import { decodeReadings } from "../batch-codec.ts";
import type { MendedPart, Sides } from "../compare/compare.ts";
import { day_ms } from "../compare/days.ts";
import { differing } from "../compare/differing.ts";
import { dayQueryOf } from "../day-query.ts";
import { DigestsAnswer } from "../protocol.ts";
import { decoded, type Intake, senderOf } from "./batches.ts";

/** A gateway and this central, where central asks: a day at once. */
export class PulledSides implements Sides {
  readonly #intake: Intake;
  /** The first day after the one whose digests were read last on which the gateway has readings, unix milliseconds. */
  next_ms: number | undefined;

  constructor(intake: Intake) {
    this.#intake = intake;
  }

  checkTime(): void {
    this.#intake.peer.checkTime();
  }

  async digests({ epoch, through_seq, from_ms, before_ms }: Parameters<Sides["digests"]>[0]) {
    const { peer } = this.#intake;
    const { digests, next_ms } = await peer.askJson(
      {
        method: "GET",
        path: "/digests",
        query: { epoch, through: through_seq, from: from_ms, before: before_ms },
        answer_bytes_max: digests_bytes_max,
      },
      DigestsAnswer,
    );
    if (digests.some(({ day }) => day * day_ms < from_ms || day * day_ms >= before_ms))
      throw peer.strange("digests of another day than was asked for");
    if (next_ms !== undefined && (next_ms < before_ms || next_ms % day_ms !== 0))
      throw peer.strange("a next day that is none");
    this.next_ms = next_ms;
    return digests;
  }

  async differing(...[request, digests]: Parameters<Sides["differing"]>) {
    return differing(digests, await this.#intake.store.digests(request));
  }

  async mend(request: Parameters<Sides["mend"]>[0]): Promise<MendedPart> {
    const { peer, store, counts } = this.#intake;
    const answer = await peer.ask({
      method: "GET",
      path: "/days",
      query: dayQueryOf(request),
      answer_bytes_max: batch_bytes_max,
    });
    const batch = decoded(peer, request.epoch, answer.body, decodeReadings);
    try {
      const mended = await store.mendDay(request, batch, senderOf(this.#intake));
      counts.mended += mended.added + mended.corrected;
      return { ...mended, readings: readingsIn(batch), to_seq: batch.to_seq };
    } catch (thrown) {
      if (!(thrown instanceof BatchRefused)) throw thrown;
      throw new OperatorError(`${peer.title}: ${thrown.what}`, thrown.remedy);
    }
  }
}

const digests_bytes_max = 16 * 1024 * 1024;
