import { type Batch, batch_bytes_max } from "../../batch.ts";
import type { Clock } from "../../clock.ts";
import { OperatorError } from "../../errors.ts";
import { BatchRefused, type CentralStore, type Sender } from "../../store/central-store.ts";
import { decodeBatch } from "../batch-codec.ts";
import { BatchFault } from "../batch-frame.ts";
import { TryAgainLater } from "../line/outcome.ts";
import type { Peer } from "../line/peer.ts";
import type { Receptions } from "../receiver/receptions.ts";

/** A span of numbers of a gateway, and how far central holds it. */
export interface Course {
  readonly epoch: string;
  readonly first_seq: number;
  readonly last_seq: number;
  held_seq: number;
}

/** What a pull takes things in with. */
export interface Intake {
  readonly peer: Peer;
  readonly store: CentralStore;
  readonly home: number;
  readonly clock: Clock;
  readonly counts: Receptions;
}

/**
 * Takes the readings of a course from where central stands, batch by batch, each in one transaction with the watermark.
 *
 * @param options.batches_max after which it is left for another turn
 * @param options.onBatch called for each once it is on disk
 * @returns how many were taken; `course.held_seq` is moved on
 * @throws TryAgainLater; OperatorError where the gateway's readings cannot be taken; StoreOutage where central's store is at fault
 */
export async function takeBatches(
  course: Course,
  intake: Intake,
  options: { readonly batches_max: number; readonly onBatch: (batch: Batch) => void },
): Promise<number> {
  const { peer, store, counts } = intake;
  let batches = 0;
  let standing = 0;
  while (course.held_seq < course.last_seq && batches < options.batches_max) {
    peer.checkTime();
    const read = await readBatch(peer, course.epoch, course.held_seq);
    if (read === undefined) break;
    batches += 1;
    const before_seq = course.held_seq;
    try {
      const received = await store.receive(read.batch, senderOf(intake));
      course.held_seq = received.held_seq;
      counts.taken(received.taken, read.bytes);
      options.onBatch(read.batch);
    } catch (thrown) {
      course.held_seq = heldAfter(thrown, intake);
    }
    // Central may have been restored from a backup meanwhile; but not for ever.
    standing = course.held_seq > before_seq ? 0 : standing + 1;
    if (standing >= standing_max)
      throw new TryAgainLater(
        `${peer.title} hands over batches that do not follow reading ${course.held_seq}`,
        "nothing is lost, and the next pull tries again; look at the log of the gateway",
      );
  }
  return batches;
}

/** The readings after a number as the gateway has them, and how many bytes they took; undefined where there are none. */
export async function readBatch(
  peer: Peer,
  epoch: string,
  after_seq: number,
): Promise<{ readonly batch: Batch; readonly bytes: number } | undefined> {
  const answer = await peer.ask({
    method: "GET",
    path: "/batches",
    query: { epoch, after: after_seq },
    answer_bytes_max: batch_bytes_max,
  });
  if (answer.status === 204) return undefined;
  return { batch: decoded(peer, epoch, answer.body, decodeBatch), bytes: answer.body.length };
}

/** @throws OperatorError where the bytes are no batch, or one of another epoch */
export function decoded(
  peer: Peer,
  epoch: string,
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => Batch,
): Batch {
  let batch: Batch;
  try {
    batch = decode(bytes);
  } catch (thrown) {
    if (thrown instanceof BatchFault) throw peer.strange(thrown.message);
    throw thrown;
  }
  if (batch.epoch !== epoch) throw peer.strange("a batch of another epoch than was asked for");
  return batch;
}

export function senderOf({ home, clock }: Intake): Sender {
  return { home, at_ms: clock.now().unix_ms };
}

/** Where to go on after a refusal. @throws what else was thrown, and refusals that somebody has to mend */
function heldAfter(thrown: unknown, { peer, counts }: Intake): number {
  if (!(thrown instanceof BatchRefused)) throw thrown;
  counts.refused(thrown.reason);
  if (thrown.reason !== "gap") throw new OperatorError(`${peer.title}: ${thrown.what}`, thrown.remedy);
  return thrown.held_seq;
}

/** How often in a row central may stay where it is. */
const standing_max = 5;
