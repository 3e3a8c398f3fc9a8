import { day_ms, hour_ms } from "../../base/time.ts";
import { type FleetHome, type FleetNeed, type NeedType, needRules } from "../../domain/fleet-home.ts";
import type { Outage } from "../../domain/outage.ts";
import type { AlertState } from "./alert-state.ts";

/** A home, or central as `centralItself`. */
export interface Needy extends Pick<FleetHome, "homeid">, Partial<Pick<FleetHome, "restricted">> {
  readonly needs: readonly (Omit<FleetNeed, "type"> & { readonly type: NeedType })[];
}

/**
 * Brings outages up to date with the needs of homes and of central. An outage begins with a need, and is over once the need has been gone for `over_h`
 * of its row: what comes and goes is one outage. Before it has lasted for `after_h` it ends at once. Those of a home that is restricted are forgotten: they name its devices.
 */
export function noteNeeds(state: AlertState, needy: readonly Needy[], now_ms: number): void {
  forgetHomes(state, new Set(needy.flatMap(({ homeid, restricted }) => (restricted ? homeid : []))));
  const known = new Map(state.outages.filter(isOpen).map((outage) => [keyOf(outage), outage]));
  for (const { homeid: home, needs } of needy)
    for (const { type: need, message, item } of needs) {
      const key = keyOf({ home, need, item });
      const outage = known.get(key) ?? begun(state, { home, need, item }, now_ms);
      if (outage === undefined) continue;
      known.set(key, outage);
      // Of several subjects or devices in one outage the first is named.
      if (outage.seen_ms !== now_ms) outage.message = message;
      outage.seen_ms = now_ms;
      if (now_ms - outage.since_ms >= needRules[need].after_h * hour_ms) outage.ripe_ms ??= now_ms;
    }
  for (const outage of known.values()) {
    const { need, seen_ms } = outage;
    if (seen_ms !== now_ms && now_ms - seen_ms >= needRules[need].over_h * hour_ms) outage.over_ms = now_ms;
  }
  state.outages = state.outages.filter((outage) => {
    if (!isRipe(outage) && isOpen(outage)) return outage.seen_ms === now_ms;
    return outage.over_ms === undefined || now_ms - outage.over_ms < kept_h * hour_ms;
  });
}

/**
 * Forgets what homes that are restricted needed. A notice that waits may name them: it is taken back, and the next one has the rest of it again.
 *
 * @returns whether there was anything
 */
export function forgetHomes(state: AlertState, restricted: ReadonlySet<number>): boolean {
  const isKept = ({ home, need }: Outage) => !restricted.has(home) || need === "retention_due";
  if (state.outages.every(isKept)) return false;
  state.outages = state.outages.filter(isKept);
  for (const [to, recipient] of Object.entries(state.recipients)) {
    const { waiting, digest_ms } = recipient;
    if (waiting === undefined) continue;
    takeBack(state, to);
    recipient.mailed_ms = 0;
    if (digest_ms === waiting.made_ms)
      Object.assign(recipient, { digest: "", digest_ms: digest_ms - day_ms });
  }
  return true;
}

/** Removes the notice that waits for a recipient. Whatever it told is untold: the next one has it again. */
export function takeBack(state: AlertState, to: string): void {
  const { waiting } = state.recipients[to] ?? {};
  for (const { told } of state.outages) if (told[to] === waiting?.made_ms) delete told[to];
  delete state.recipients[to]?.waiting;
}

function begun(
  state: AlertState,
  of: { home: number; need: NeedType; item?: string | undefined },
  now_ms: number,
): Outage | undefined {
  if (state.outages.length >= outages_max) {
    state.left_out += 1;
    return undefined;
  }
  const { home, need, item } = of;
  const outage: Outage = {
    ...{ id: state.next_id, home, need, message: "", since_ms: now_ms, seen_ms: 0, told: {} },
    ...(item === undefined ? {} : { item }),
  };
  state.next_id += 1;
  state.outages.push(outage);
  return outage;
}

function keyOf({ home, need, item = "" }: { home: number; need: string; item?: string | undefined }): string {
  return `${home} ${need} ${item}`;
}

export function isOpen({ over_ms }: Outage): boolean {
  return over_ms === undefined;
}

/** Whether it is open, and has lasted for `after_h` of its row. */
export function isRipe(outage: Outage): boolean {
  return isOpen(outage) && outage.ripe_ms !== undefined;
}

/** Outages of a fleet of 5,000 homes in which nearly everything fails. Those beyond are counted, and come once others are over. */
const outages_max = 50_000;
/** After its end: the next digest still names it. */
const kept_h = 72;
