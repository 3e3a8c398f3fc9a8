/**
 * The hostile one, as a process of its own: attacks central by its sync routes until its time is over. An `Order` comes as JSON on standard
 * input; `Attacked` goes as JSON to standard output.
 */
import { type Attack, attacks, type Enemy, unanswered } from "./attacks.ts";
import { slowly } from "./slow-sockets.ts";

export interface Order {
  readonly origin: string;
  readonly token: string;
  readonly epochs: readonly string[];
  readonly sensors: readonly string[];
  /** In base64. */
  readonly batches: readonly string[];
  readonly minutes: number;
  readonly seed: number;
}

export interface Attacked {
  /** How often each attack was answered with each status; 0 is a connection that was closed. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Answers that central should not give. */
  readonly faults: readonly string[];
}

/** More than a home may have under way. */
const attacks_at_once = 6;
const order = (await Bun.stdin.json()) as Order;
const end_ms = Date.now() + order.minutes * 60_000;
const answers: Record<string, Record<string, number>> = {};
const faults = new Set<string>();
let state = order.seed;
const enemy: Enemy = {
  ...order,
  batches: order.batches.map((text) => Uint8Array.from(Buffer.from(text, "base64"))),
  // A linear congruence is random enough to vary attacks: Numerical Recipes, 2nd edition, 7.1.
  below: (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  },
};
const slow = slowly(order, () => Date.now() < end_ms);
await Promise.all(Array.from({ length: attacks_at_once }, attackOn));
answers["slow and idle connections"] = await slow;
const attacked: Attacked = { answers, faults: [...faults] };
console.log(JSON.stringify(attacked));
process.exit();

async function attackOn(): Promise<void> {
  const all = Object.entries(attacks);
  while (Date.now() < end_ms) await attackBy(...(all[enemy.below(all.length)] as [string, Attack]));
}

async function attackBy(name: string, attack: Attack): Promise<void> {
  const { may, got } = await attack(enemy);
  const of = answers[name] ?? {};
  answers[name] = of;
  for (const status of got) {
    of[status] = (of[status] ?? 0) + 1;
    if (status === unanswered) faults.add(`${name}: central has not answered`);
    else if (status !== 0 && !may.includes(status)) faults.add(`${name}: central answered ${status}`);
  }
}
