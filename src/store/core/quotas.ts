import { defaultQuotas, QuotaExceeded, type QuotaName, type Quotas } from "../intake.ts";
import { arrays, change, firstOf, rowsOf, type Work } from "./work.ts";

/** Keeps the quotas of every home, in the place of those before; what is the same is not written. They stand in the database because several servers may share it. */
export function* setQuotas(quotas: Quotas): Work<void> {
  for (const [name, most] of Object.entries(quotas))
    yield* change(
      `INSERT INTO meta (name, value) VALUES ($1, $2)
       ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.value <> excluded.value`,
      keyOf(name),
      String(most),
    );
}

/** @throws QuotaExceeded where a home cannot have so many more devices */
export function requireDevices(home: number, more: number): Work<void> {
  return requireRoom("devices", "SELECT count(*) FROM streams WHERE home = $1", { home, more });
}

/** @throws QuotaExceeded where a home cannot have one more epoch */
export function requireEpoch(home: number): Work<void> {
  return requireRoom("epochs", "SELECT count(*) FROM sources WHERE home = $1", { home, more: 1 });
}

/** @throws QuotaExceeded where a home cannot have these listeners too */
export function* requireListeners(home: number, names: readonly string[]): Work<void> {
  if (names.length === 0) return;
  const known = yield* rowsOf(arrays<[string]>("SELECT name FROM listeners WHERE home = $1", home));
  const more = new Set(names).difference(new Set(known.flat())).size;
  if (more > 0) yield* requireCount("listeners", home, known.length + more);
}

function* requireRoom(
  quota: QuotaName,
  counted: string,
  { home, more }: { home: number; more: number },
): Work<void> {
  if (more === 0) return;
  const [held = 0] = (yield* firstOf(arrays<[number]>(counted, home))) ?? [];
  yield* requireCount(quota, home, held + more);
}

function* requireCount(quota: QuotaName, home: number, count: number): Work<void> {
  const kept = yield* firstOf(arrays<[string]>("SELECT value FROM meta WHERE name = $1", keyOf(quota)));
  const most = Number(kept?.[0] ?? defaultQuotas[quota]);
  if (count > most) throw new QuotaExceeded(home, quota, most);
}

function keyOf(quota: string): string {
  return `quota ${quota}`;
}
