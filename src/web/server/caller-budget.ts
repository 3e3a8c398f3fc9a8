import type { Clock } from "../../base/clock.ts";
import { networkOf } from "./authorization.ts";
import { HttpError } from "./http-errors.ts";
import { type Cost, type CostName, costTable, type MachineScale } from "./request-costs.ts";
import { isStream, onceSent } from "./responses.ts";

/** Who asks. */
export interface Caller {
  readonly request: Request;
  /** IP address. */
  readonly address: string;
  /** The token that was checked; absent where the path needs none. */
  readonly token?: { readonly id: string };
}

/**
 * The budget of each caller: how many requests of a cost (`request-costs.ts`) may be worked on at once, wait, and begin in a minute. A caller is a token and, apart from that, an
 * address; both must have room. Those who wait take turns by caller: who had a turn longest ago goes first, so that one request of another token passes all that a
 * greedy one has waiting. A request beyond the budget is refused before its work begins.
 */
export class Budget {
  readonly #queues: ReadonlyMap<CostName, Queue>;

  constructor({ clock, scale }: { clock: Clock; scale: MachineScale }) {
    const names = Object.keys(costTable) as CostName[];
    this.#queues = new Map(names.map((name) => [name, new Queue(costTable[name][scale], clock)]));
  }

  /**
   * Does work in its turn, and counts it until its answer is sent.
   *
   * @throws HttpError 429 beyond the budget of the caller, 503 where others have taken all; what `work` throws
   */
  async spend<Answer>(cost: CostName, caller: Caller, work: () => Promise<Answer> | Answer): Promise<Answer> {
    const queue = this.#queues.get(cost) as Queue;
    const place = await queue.turn(caller);
    let isSent = true;
    try {
      const response = await work();
      if (!(response instanceof Response) || !isStream(response)) return response;
      isSent = false;
      return onceSent(response, caller.request, () => queue.leave(place)) as Answer;
    } finally {
      if (isSent) queue.leave(place);
      else queue.worked(place);
    }
  }
}

/** Requests of one cost that one token or one address has under way. */
interface Account {
  readonly held_max: number;
  readonly waiting_max: number;
  readonly a_minute: number;
  held: number;
  working: number;
  waiting: number;
  /** The number of its last turn. The caller with the lowest number is next. */
  last: number;
  /** Requests that it may begin at once, as of a moment, monotonic. */
  left: number;
  left_ms: number;
}

/** The accounts of a request. */
interface Accounts {
  readonly token: Account | undefined;
  readonly address: Account;
  readonly both: readonly Account[];
}

interface Place extends Accounts {
  readonly begun_ms: number;
  state: "working" | "sending" | "left";
}

interface Waiting extends Accounts {
  readonly signal: AbortSignal;
  resolve(place: Place): void;
  reject(error: HttpError): void;
  cancel(): void;
}

/** Requests of one cost. */
class Queue {
  readonly #cost: Cost;
  readonly #clock: Clock;
  /** In order of use, by `token ID` or `address NETWORK`. */
  readonly #accounts = new Map<string, Account>();
  readonly #waiting = new Set<Waiting>();
  #working = 0;
  #held = 0;
  #turns = 0;
  /** How long a request is worked on, smoothed. */
  #work_ms = 50;
  #isLooking = false;

  constructor(cost: Cost, clock: Clock) {
    this.#cost = cost;
    this.#clock = clock;
  }

  /** Resolves once the request may be worked on. */
  async turn({ request, address: ip, token: checked }: Caller): Promise<Place> {
    const { of_token, of_address, waiting_of_token, waiting_of_address, a_minute = Infinity } = this.#cost;
    const address = this.#account(`address ${networkOf(ip)}`, of_address, waiting_of_address, 2 * a_minute);
    const token = checked && this.#account(`token ${checked.id}`, of_token, waiting_of_token, a_minute);
    const accounts: Accounts = { token, address, both: [address, ...(token ? [token] : [])] };
    this.#requireRate(accounts);
    if (this.#mayBegin(accounts) && this.#isFirst(accounts)) return this.#begin(accounts);
    if (accounts.both.some((one) => one.waiting >= one.waiting_max)) throw this.#refusal(accounts);
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { ...accounts, signal: request.signal, resolve, reject, cancel: () => {} };
      const refuse = () => {
        if (this.#forget(waiting)) reject(this.#refusal(waiting));
      };
      const cancel = this.#clock.after(wait_ms_max, refuse);
      request.signal.addEventListener("abort", refuse, { once: true });
      waiting.cancel = () => {
        cancel();
        request.signal.removeEventListener("abort", refuse);
      };
      this.#waiting.add(waiting);
      for (const one of accounts.both) one.waiting += 1;
      this.#look();
    });
  }

  /** The work is done, and its answer is still to be sent: another may have the turn. */
  worked(place: Place): void {
    if (place.state !== "working") return;
    place.state = "sending";
    this.#endTurn(place);
  }

  leave(place: Place): void {
    if (place.state === "left") return;
    if (place.state === "working") this.#endTurn(place);
    place.state = "left";
    this.#held -= 1;
    for (const one of place.both) one.held -= 1;
    this.#look();
  }

  #endTurn({ both, begun_ms }: Place): void {
    this.#working -= 1;
    for (const one of both) one.working -= 1;
    this.#work_ms += (this.#clock.now().monotonic_ms - begun_ms - this.#work_ms) / smoothing;
    this.#look();
  }

  /** Gives the next turns after the event loop has handled other input, so that readings get their stamps and requests arrive in between. */
  #look(): void {
    if (this.#isLooking || this.#waiting.size === 0) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        this.#forget(next);
        next.resolve(this.#begin(next));
      }
    });
  }

  /** The waiting request that may begin and whose token had its last turn longest ago; of several, the first to come. */
  #next(): Waiting | undefined {
    let found: Waiting | undefined;
    for (const one of this.#waiting)
      if (this.#mayBegin(one) && (found === undefined || lastOf(one) < lastOf(found))) found = one;
    return found;
  }

  /** Whether no waiting request could begin now whose last turn was longer ago. */
  #isFirst(one: Accounts): boolean {
    const next = this.#waiting.size === 0 ? undefined : this.#next();
    return next === undefined || lastOf(one) < lastOf(next);
  }

  #mayBegin({ token, address }: Accounts): boolean {
    const { turns, all } = this.#cost;
    if (this.#working >= turns || this.#held >= all || address.held >= address.held_max) return false;
    return token === undefined || (token.held < token.held_max && token.working < Math.max(1, turns - 1));
  }

  #begin({ token, address, both }: Accounts): Place {
    this.#working += 1;
    this.#held += 1;
    this.#turns += 1;
    for (const one of both) {
      one.held += 1;
      one.working += 1;
      one.left -= 1;
      one.last = this.#turns;
    }
    return { token, address, both, begun_ms: this.#clock.now().monotonic_ms, state: "working" };
  }

  #forget(waiting: Waiting): boolean {
    if (!this.#waiting.delete(waiting)) return false;
    waiting.cancel();
    for (const one of waiting.both) one.waiting -= 1;
    return true;
  }

  #requireRate({ both }: Accounts): void {
    const now_ms = this.#clock.now().monotonic_ms;
    for (const one of both) {
      if (one.a_minute === Infinity) continue;
      one.left = Math.min(one.a_minute, one.left + ((now_ms - one.left_ms) * one.a_minute) / minute_ms);
      one.left_ms = now_ms;
      if (one.left - one.waiting < 1) throw spent(((1 - one.left + one.waiting) * minute_ms) / one.a_minute);
    }
  }

  /** 429 if the caller's own requests prevent a turn, 503 if those of others do. */
  #refusal({ both }: Accounts): HttpError {
    const isOwn = both.some(({ held, waiting }) => held + waiting > 0);
    const before = Math.max(1, ...both.map(({ waiting }) => waiting));
    if (isOwn) return spent(this.#cost.waiting_of_address === 0 ? come_again_ms : before * this.#work_ms);
    const retry_s = come_again_ms / 1000;
    return new HttpError("too_busy", { retry_s });
  }

  #account(name: string, held_max: number, waiting_max: number, a_minute: number): Account {
    const known = this.#accounts.get(name);
    if (known !== undefined) {
      // A map keeps the order of insertion: put in again, it is the newest.
      this.#accounts.delete(name);
      this.#accounts.set(name, known);
      return known;
    }
    const now_ms = this.#clock.now().monotonic_ms;
    const account = {
      ...{ held_max, waiting_max, a_minute, held: 0, working: 0, waiting: 0, last: 0 },
      ...{ left: a_minute, left_ms: now_ms },
    };
    this.#accounts.set(name, account);
    if (this.#accounts.size > accounts_max)
      for (const [oldest, { held, waiting }] of this.#accounts)
        if (held + waiting === 0 && oldest !== name) {
          this.#accounts.delete(oldest);
          break;
        }
    return account;
  }
}

function lastOf({ token, address }: Accounts): number {
  return (token ?? address).last;
}

function spent(wait_ms: number): HttpError {
  const retry_s = Math.min(retry_s_max, Math.max(1, Math.ceil(wait_ms / 1000)));
  return new HttpError("budget_spent", { retry_s });
}

const minute_ms = 60_000;
/** A request that has no turn by then is refused. */
const wait_ms_max = 10_000;
/** Where nothing waits, or others have taken all. */
const come_again_ms = 15_000;
const retry_s_max = 60;
/** The mean is over about so many requests. */
const smoothing = 8;
/** Tokens and addresses that are known at once: whose requests are over longest goes first. */
const accounts_max = 4_096;
