import { seriesNames } from "../../domain/series.ts";
import {
  type Batch,
  digestText,
  firstIndexFrom,
  readingDigest,
  type SeriesColumns,
  valuesAt,
} from "../batch.ts";
import { BatchRefused, type Sender } from "./central-store.ts";

/** Central's facts of the epoch of a batch. */
export interface KnownSource {
  readonly home: number;
  /** Absent while no readings of it are held. */
  readonly first_seq?: number;
  readonly held_seq: number;
  /** Digest of the reading `held_seq`; absent where that was lost. */
  readonly digest?: string;
}

/**
 * From which number on a batch is new to central; undefined where all of it is held. Throws BatchRefused where it cannot follow what is
 * held: see `BatchRefusal`.
 */
export function firstNewSeq(
  batch: Batch,
  source: KnownSource | undefined,
  sender: Sender,
): number | undefined {
  if (source !== undefined) refuseForeign(batch.epoch, source, sender);
  const held_seq = source?.first_seq === undefined ? batch.first_seq - 1 : source.held_seq;
  if (batch.from_seq > held_seq + 1) {
    throw new BatchRefused(
      `a batch of ${named(batch.epoch, sender)} begins at ${batch.from_seq}, and ${held_seq} is the last that is held`,
      `send what follows ${held_seq} first`,
      "gap",
      held_seq,
    );
  }
  const digest = digestOfHeld(batch, held_seq);
  if (digest !== undefined && source?.digest !== undefined && digest !== source.digest) {
    throw new BatchRefused(
      `reading ${held_seq} of ${named(batch.epoch, sender)} is another one here: two gateways number readings in one name`,
      "take one of the two out of service, and give the other a database of its own (`lintel restore`)",
      "diverged",
      held_seq,
    );
  }
  return batch.to_seq <= held_seq ? undefined : held_seq + 1;
}

/** Throws BatchRefused where an epoch belongs to another home than the sender's. */
export function refuseForeign(epoch: string, source: KnownSource, sender: Sender): void {
  if (source.home === sender.home) return;
  throw new BatchRefused(
    `${named(epoch, sender)} has sent for home ${source.home} before`,
    "give the gateway a token of its home, or a database of its own where it was moved",
    "foreign",
    source.held_seq,
  );
}

/** Digest of the reading `held_seq` according to the batch; undefined where the batch does not tell. */
function digestOfHeld(batch: Batch, held_seq: number): string | undefined {
  return batch.from_seq === held_seq + 1 ? batch.previous : digestAt(batch, held_seq);
}

/** Digest of the reading of a number; undefined where the batch does not hold it. */
export function digestAt(batch: Batch, seq: number): string | undefined {
  for (const series of seriesNames) {
    const columns = batch.series[series];
    if (columns === undefined) continue;
    const index = firstIndexFrom(columns.seq, seq);
    if (columns.seq[index] === seq) return digestText(digestOf(columns, index));
  }
  return undefined;
}

/** Digest of the reading at an index of its series. */
export function digestOf(columns: SeriesColumns, index: number): bigint {
  return readingDigest(at(columns.seq, index), at(columns.stamp_ms, index), valuesAt(columns, index));
}

/** The devices that a batch has readings of from a number on, in its order, each with the stamp of its first. */
export function devicesFrom(
  batch: Batch,
  from_seq: number,
): { readonly place: number; readonly first_ms: number }[] {
  const first: ({ seq: number; stamp_ms: number } | undefined)[] = batch.devices.map(() => undefined);
  for (const columns of columnsOf(batch)) {
    const { seq, device, stamp_ms } = columns;
    for (let index = firstIndexFrom(seq, from_seq); index < seq.length; index += 1) {
      const place = at(device, index);
      const known = first[place];
      if (known === undefined || at(seq, index) < known.seq)
        first[place] = { seq: at(seq, index), stamp_ms: at(stamp_ms, index) };
    }
  }
  return first.flatMap((found, place) => (found === undefined ? [] : [{ place, first_ms: found.stamp_ms }]));
}

function columnsOf(batch: Batch): SeriesColumns[] {
  return seriesNames.flatMap((series) => batch.series[series] ?? []);
}

function at(column: ArrayLike<number>, index: number): number {
  return column[index] ?? 0;
}

function named(epoch: string, { home }: Sender): string {
  return `gateway ${epoch.slice(0, 8)}… of home ${home}`;
}
