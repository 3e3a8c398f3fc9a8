/** How long to wait after the attempt of this number, from 1: doubling from half a second up to half a minute. */
export function retryDelay_ms(attempt: number): number {
  return Math.min(delay_ms_max, 500 * 2 ** (attempt - 1));
}

/**
 * How long a Retry-After header asks to wait: whole seconds or an HTTP date (RFC 9110 §10.2.3), at most
 * `retryAfter_ms_max`. Undefined where it is missing or neither.
 */
export function retryAfter_ms(header: string | null, now_ms: number): number | undefined {
  if (header === null) return undefined;
  const wait_ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now_ms;
  return Number.isFinite(wait_ms) ? Math.min(retryAfter_ms_max, Math.max(0, wait_ms)) : undefined;
}

const delay_ms_max = 30_000;
/** A server that asks for more has its reasons, but is asked again all the same. */
export const retryAfter_ms_max = 300_000;

/**
 * A random delay, so that clients that failed at the same time do not return at the same time: from half of `delay_ms` to
 * half as much again; where the server `named` it, never less than that.
 *
 * @param random from 0 up to 1
 */
export function jittered_ms(delay_ms: number, random: number, named: boolean): number {
  return Math.round(delay_ms * (named ? 1 + random / 2 : 0.5 + random));
}
