import { type Clock, clockQuality } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Kind } from "../domain/kinds.ts";
import {
  type Pause,
  type PausedSpan,
  type PauseTime,
  pauseOpen_ms,
  pausesNotOver,
  pausesUnderWay,
} from "./pause.ts";
import type { RestrictionRequest } from "./restriction.ts";
import type { Store } from "./store.ts";

type PausableStore = Pick<Store, "pauses" | "takePauses" | "overview">;

/** A pause that is begun, with the beginning of one that was under way before. */
export interface BegunPause {
  readonly pause: PausedSpan;
  readonly isKnown: boolean;
}

/**
 * Pauses the recording of a home from now on. Pauses that are under way end with it, at the latest.
 *
 * @param options.for_ms how long; absent: until somebody resumes
 * @throws OperatorError where it is to end and nobody knows the time
 */
export async function beginPause(
  store: PausableStore,
  clock: Clock,
  options: { readonly home: number; readonly for_ms?: number | undefined; readonly kind?: Kind | undefined },
): Promise<BegunPause> {
  const { home, for_ms, kind } = options;
  const { unix_ms } = clock.now();
  if (for_ms !== undefined) requireKnown(clock);
  const notOver = pausesNotOver(await store.pauses([home]), pauseTime(clock));
  const underWay = notOver.filter((one) => one.why === undefined && one.kind === kind);
  const end_ms = for_ms === undefined ? pauseOpen_ms : unix_ms + for_ms;
  // Always one of its own: the other end may have ended the earlier one, and this end not know it yet.
  const begun: PausedSpan = {
    id: crypto.getRandomValues(new Uint8Array(16)).toHex(),
    at_ms: unix_ms,
    from_ms: await beginning_ms(store, clock),
    before_ms: end_ms,
    ...(kind === undefined ? {} : { kind }),
  };
  const earlier = underWay.map((one) => ({ ...one, before_ms: Math.min(one.before_ms, end_ms) }));
  await store.takePauses([...earlier, begun].map((pause) => ({ ...pause, home, own: 1 })));
  const [longest] = underWay;
  return { pause: { ...(longest ?? begun), before_ms: end_ms }, isKnown: longest !== undefined };
}

/**
 * Ends the pauses of a home that are under way.
 *
 * @param options.again whether withdrawals end too: consent was given again
 * @returns those that ended, and one of all devices that did not, for want of consent
 * @throws OperatorError where nobody knows the time
 */
export async function endPauses(
  store: Pick<PausableStore, "pauses" | "takePauses">,
  clock: Clock,
  { home, again = false }: { readonly home: number; readonly again?: boolean | undefined },
): Promise<{ readonly ended: readonly Pause[]; readonly stopped?: Pause }> {
  requireKnown(clock);
  const { unix_ms } = clock.now();
  const all = pausesUnderWay(await store.pauses([home]), pauseTime(clock));
  // What central has stopped, central alone lets go on. Enrollments are the programme's to prolong, and restrictions to be lifted.
  const mayEnd = ({ why, own }: Pause) =>
    why === undefined || (again && why === "consent_withdrawn" && (own === 1 || home !== 0));
  const ended = all.filter(mayEnd);
  await store.takePauses(ended.map((pause) => ({ ...pause, before_ms: unix_ms, own: 1 })));
  const stopped = all.find((one) => one.kind === undefined && !ended.includes(one));
  return { ended, ...(stopped === undefined ? {} : { stopped }) };
}

/** Restricts homes from now on: see `Restrictions.restrict`. What was recorded before is kept, also where nobody knows the time. */
export async function restrict(
  store: Pick<Store, "restrict" | "overview">,
  clock: Clock,
  wish: Omit<RestrictionRequest, "at_ms" | "from_ms">,
): Promise<readonly number[] | undefined> {
  const { unix_ms } = clock.now();
  return store.restrict({ ...wish, at_ms: unix_ms, from_ms: await beginning_ms(store, clock) });
}

/** Whether nothing is recorded of all devices of a home now. */
export function isPaused(pauses: readonly PausedSpan[], clock: Clock): boolean {
  return pausesUnderWay(pauses, pauseTime(clock)).some(({ kind }) => kind === undefined);
}

function pauseTime(clock: Clock): PauseTime {
  return { now_ms: clock.now().unix_ms, isKnown: isTimeKnown(clock) };
}

/**
 * The beginning of a pause that begins now: while nobody knows the time, after a device was last heard at a known one, unix
 * milliseconds. A box that was restored has readings of devices that it has not heard itself.
 */
export async function beginning_ms(store: Pick<Store, "overview">, clock: Clock): Promise<number> {
  const { unix_ms } = clock.now();
  if (isTimeKnown(clock)) return unix_ms;
  const { items } = await store.overview();
  const heard = items.flatMap(({ heard_ms, series }) => heard_ms ?? series.map(({ newest_ms }) => newest_ms));
  return Math.max(0, ...heard.map((heard_ms) => heard_ms + 1));
}

/** Whether a pause may have an end. */
export function isTimeKnown(clock: Clock): boolean {
  return clock.now().quality === clockQuality.synchronised;
}

/** @throws OperatorError where nobody knows the time: then nobody knows when a pause ends */
function requireKnown(clock: Clock): void {
  if (isTimeKnown(clock)) return;
  const { what = "The time is not known yet.", remedy } = clock.doubt?.() ?? {};
  throw new OperatorError(
    `${what.replace(/\.$/, "")}, so that nobody knows when the pause would end`,
    remedy ?? "run lintel pause without --for, or wait until a time service has set the clock",
  );
}
