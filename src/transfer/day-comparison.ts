import { day_ms } from "../base/time.ts";
import { type Batch, batch_readings_max, readingsIn } from "../store/batch.ts";
import type { CentralStore, Sender } from "../store/central/central-store.ts";
import { isOfDevice, type SpanOfDevice } from "../store/erasure.ts";
import type { DayDigest } from "../store/exchange.ts";
import type { DayReadings, DigestRequest } from "../store/gateway/upload-store.ts";
import type { WholeDays } from "./days.ts";
import { digests_max } from "./protocol.ts";
import type { TransferSource, TransferTarget } from "./transfer-ends.ts";

/** The result of a comparison of days. */
export interface Compared {
  /** Days on which anything differed, counted from 1970 in UTC. */
  readonly differing: ReadonlySet<number>;
  /** Readings that central lacked or had otherwise, and those that it alone has. */
  readonly repaired: number;
  readonly kept: number;
  /** Readings that the gateway had lost, and that came back from central. */
  readonly returned: number;
  /** Days that differ although all of their readings were handed over again. */
  readonly unrepaired: ReadonlySet<number>;
  /** These, and days of which central keeps readings that the gateway has lost and did not take back. */
  readonly unmended: ReadonlySet<number>;
}

export interface ComparisonOptions {
  readonly source: TransferSource;
  readonly target: TransferTarget;
  /** Throws where a transfer is to end, or has taken as long as one may. */
  readonly checkTime: () => void;
  /** Called before digests of a span are compared, with its first day, unix milliseconds. */
  readonly onCompare?: (from_ms: number) => void;
}

/** Compares days of a gateway with central's, and sends central again the readings of days that differ. It is itself the result so far. */
export class Comparison implements Compared {
  readonly differing = new Set<number>();
  readonly unrepaired = new Set<number>();
  readonly unmended = new Set<number>();
  repaired = 0;
  kept = 0;
  returned = 0;
  readonly #options: ComparisonOptions;

  constructor(options: ComparisonOptions) {
    this.#options = options;
  }

  /** Compares every day with readings from `from_ms` on. */
  async compareFrom(epoch: string, through_seq: number, from_ms: number): Promise<void> {
    const span_ms = this.#options.source.days_max * day_ms;
    for (let next_ms: number | undefined = from_ms; next_ms !== undefined; )
      next_ms = await this.compare(epoch, through_seq, { from_ms: next_ms, before_ms: next_ms + span_ms });
  }

  /**
   * Compares a span by its digests. Days that differ are sent again, and compared once more.
   *
   * @returns the first day after the span that has readings, unix milliseconds
   */
  async compare(epoch: string, through_seq: number, span: WholeDays): Promise<number | undefined> {
    const { source, checkTime, onCompare } = this.#options;
    checkTime();
    const request = { epoch, through_seq, ...span };
    const { digests, next_ms } = await source.digests(request);
    if (digests.length === 0) return next_ms;
    if (digests.length > digests_max && span.before_ms - span.from_ms > day_ms) {
      const middle_ms = span.from_ms + Math.floor((span.before_ms - span.from_ms) / day_ms / 2) * day_ms;
      await this.compare(epoch, through_seq, { from_ms: span.from_ms, before_ms: middle_ms });
      await this.compare(epoch, through_seq, { from_ms: middle_ms, before_ms: span.before_ms });
      return next_ms;
    }
    onCompare?.(span.from_ms);
    await this.#compareDigests(request, digests);
    return next_ms;
  }

  async #compareDigests(request: DigestRequest, digests: readonly DayDigest[]): Promise<void> {
    const { source } = this.#options;
    const [differing, lost] = await this.#differingOf(request, digests);
    const extra = new Set<string>();
    for (const digest of differing) {
      this.differing.add(digest.day);
      const kept = await this.#repair(request, digest);
      if (kept === 0) continue;
      extra.add(digestName(digest));
      const before = this.returned;
      await this.#takeBack(request, digest);
      if (this.returned - before < kept) this.unmended.add(digest.day);
    }
    // Of these the gateway has lost all readings, or erased them: then it takes none.
    if (source.takeBack !== undefined) for (const digest of lost) await this.#takeBack(request, digest);
    if (differing.length === 0) return;
    // Where central holds more than the gateway, all of the gateway's readings are at central: such a day is repaired.
    const [still] = await this.#differingOf(request, digests);
    for (const digest of still) if (!extra.has(digestName(digest))) this.unrepaired.add(digest.day);
    for (const day of this.unrepaired) this.unmended.add(day);
  }

  /** Sends all readings that the gateway still has of some days, without comparing: for days of which readings were pruned. */
  async sendDays(epoch: string, through_seq: number, span: WholeDays): Promise<void> {
    const { source, checkTime, onCompare } = this.#options;
    checkTime();
    onCompare?.(span.from_ms);
    const request = { epoch, through_seq, ...span };
    for (const digest of (await source.digests(request)).digests) {
      const before = this.repaired;
      await this.#repair(request, digest);
      if (this.repaired > before) this.differing.add(digest.day);
    }
  }

  /** The digests of the gateway that differ at central, and those of what central alone has. */
  async #differingOf(
    request: DigestRequest,
    digests: readonly DayDigest[],
  ): Promise<[differing: DayDigest[], lost: DayDigest[]]> {
    const all = await this.#options.target.differing(request, digests);
    const there = new Map(digests.map((digest) => [digestName(digest), digest]));
    return [
      all.flatMap((digest) => there.get(digestName(digest)) ?? []),
      all.filter((digest) => !there.has(digestName(digest))),
    ];
  }

  /** Has the gateway take in what it has lost of one series of one device on one day and central still has. */
  async #takeBack(request: DigestRequest, digest: DayDigest): Promise<void> {
    const { source, target } = this.#options;
    for await (const [, readings] of this.#parts(request, digest, (of) => target.readingsOfDay?.(of))) {
      if (source.takeBack === undefined) return;
      const returned = await source.takeBack(readings);
      if (returned > 0) this.differing.add(digest.day);
      this.returned += returned;
    }
  }

  /** Sends all that the gateway has of one series of one device on one day. Answers how many readings of it central alone has. */
  async #repair(request: DigestRequest, digest: DayDigest): Promise<number> {
    const { source, target } = this.#options;
    const before = this.kept;
    for await (const [of, readings] of this.#parts(request, digest, (of) => source.readingsOfDay(of))) {
      const part = await target.repairDay(of, readings);
      this.repaired += part.added + part.corrected;
      this.kept += part.kept;
    }
    return this.kept - before;
  }

  /** The readings of one series of one device on one day, batch by batch, each with its request. */
  async *#parts(
    { epoch, through_seq }: DigestRequest,
    { series, kind, address, itemid, day }: DayDigest,
    read: (request: DayReadings) => Promise<Batch> | undefined,
  ): AsyncGenerator<[DayReadings, Batch]> {
    for (let after_seq = 0; ; ) {
      this.#options.checkTime();
      const request = { epoch, through_seq, series, kind, address, itemid, day, after_seq };
      const readings = await read(request);
      if (readings === undefined) return;
      const count = readingsIn(readings);
      const { to_seq } = readings;
      yield [request, readings];
      if (count < batch_readings_max || to_seq <= after_seq) return;
      after_seq = to_seq;
    }
  }
}

/** Compares a gateway's digests with what central holds, as far as nothing of the days was erased; central keeps which days differ. Answers its own that do. */
export async function compareDays(
  store: Pick<CentralStore, "unkeptIn" | "digests" | "noteCompared">,
  { request, digests }: { request: DigestRequest; digests: readonly DayDigest[] },
  sender: Sender,
): Promise<DayDigest[]> {
  const erased = await store.unkeptIn(sender.home);
  const there = comparable(digests, erased);
  const found = differing(there, comparable(await store.digests(request), erased));
  // What central alone has is no fault: the gateway may have cleared it away.
  const names = new Set(there.map(digestName));
  const compared = new Map(there.map(({ day }) => [day, 0]));
  for (const digest of found)
    if (names.has(digestName(digest))) compared.set(digest.day, (compared.get(digest.day) ?? 0) + 1);
  await store.noteCompared(compared, sender);
  return found;
}

/** Digests that differ, as they are `here`; with a count of 0 where nothing is here. */
export function differing(there: readonly DayDigest[], here: readonly DayDigest[]): DayDigest[] {
  const unmatched = new Map(there.map((digest) => [digestName(digest), digest]));
  const byItem = new Map(
    there.flatMap((digest) => (digest.itemid === undefined ? [] : [[itemNameOf(digest), digest]])),
  );
  const found: DayDigest[] = [];
  for (const digest of here) {
    // An item may have lost its address on one side, or been given its number on one.
    const match = unmatched.get(digestName(digest)) ?? byItem.get(itemNameOf(digest));
    if (match !== undefined) unmatched.delete(digestName(match));
    if (match?.count !== digest.count || match.hash !== digest.hash) found.push(digest);
  }
  for (const digest of unmatched.values()) found.push({ ...digest, count: 0, hash: nothing });
  return found;
}

/** Digests of days of which nothing was erased: of the others a gateway may still have what is not kept here. */
export function comparable(
  digests: readonly DayDigest[],
  erased: readonly SpanOfDevice[],
): readonly DayDigest[] {
  if (erased.length === 0) return digests;
  return digests.filter((digest) => {
    const from_ms = digest.day * day_ms;
    const overlaps = (span: SpanOfDevice) => span.from_ms < from_ms + day_ms && span.before_ms > from_ms;
    return !erased.some((span) => overlaps(span) && isOfDevice(span, digest));
  });
}

/** Name of the day, series and device of a digest. The device goes by its address where it has one: its number in the inventory may be known on one side only. */
export function digestName({ day, series, kind, address, itemid }: DayDigest): string {
  return `${day} ${series} ${kind} ${address === "" ? `#${itemid}` : address}`;
}

function itemNameOf({ day, series, kind, itemid }: DayDigest): string {
  return `${day} ${series} ${kind} #${itemid}`;
}

const nothing = "0".repeat(16);
