import { day_ms } from "../../durations.ts";
import type { CentralStore, Sender } from "../../store/central-store.ts";
import type { DayDigest } from "../../store/day-digest.ts";
import { isOfDevice, type SpanOfDevice } from "../../store/erasure.ts";
import type { DigestRequest } from "../../store/upload-store.ts";

/** Compares a gateway's digests with what central holds, as far as nothing of the days was erased; central keeps which days differ. Answers its own that do. */
export async function compareDays(
  store: Pick<CentralStore, "erasedIn" | "digests" | "noteCompared">,
  { request, digests }: { request: DigestRequest; digests: readonly DayDigest[] },
  sender: Sender,
): Promise<DayDigest[]> {
  const erased = await store.erasedIn(sender.home);
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
