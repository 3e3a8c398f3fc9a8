import type { Server } from "bun";
import type { Clock } from "../../base/clock.ts";
import { HttpError } from "../../web/server/http-errors.ts";
import { type BodyForm, readBody, requireForm, statedBytes } from "../../web/server/request-body.ts";

export interface AdmissionBounds {
  /** Requests worked on at once: each may hold a batch in memory, decoded. */
  readonly under_way_max: number;
  /** Bytes of bodies that wait in memory, or come, at once. */
  readonly waiting_bytes_max: number;
  /** Requests that are worked on or wait at once, and of them those of one home. */
  readonly tickets_max: number;
  readonly tickets_per_home_max: number;
  /** How long a request waits for its turn before it is refused, milliseconds. */
  readonly wait_ms_max: number;
}

export const defaultAdmission: AdmissionBounds = {
  under_way_max: 4,
  waiting_bytes_max: 64 * 1024 * 1024,
  tickets_max: 2048,
  tickets_per_home_max: 2,
  wait_ms_max: 90_000,
};

/** The place of a request that has been let in: it reads its body, waits for its turn, is worked on, and leaves. */
export interface Ticket {
  /**
   * Resolves when it may be worked on; no other request of the home is then. Rejects with HttpError 429 where it has to make room for a home that
   * came before it, or has waited too long.
   */
  turn(): Promise<void>;
  /** Always, at the end. */
  leave(): void;
}

/**
 * The admission queue of central. Thousands of homes may come in one minute. A bounded number of requests is worked on, one of a home at a time,
 * and a bounded number of bytes waits in memory. A request that finds no room is told when to come back, and its home keeps its place in the
 * queue: a home that came first has the next turn, and the room of those that came later. A home that has been served is at the end of the queue,
 * so that turns go round.
 */
export class AdmissionQueue {
  readonly #bounds: AdmissionBounds;
  readonly #clock: Clock;
  readonly #entries = new Set<QueuedRequest>();
  /** When each home that was refused first came, monotonic: its place in the queue. Oldest first. */
  readonly #refusedSince = new Map<number, number>();
  #underWay = 0;
  #waitingBytes = 0;
  #order = 0;
  /** How long a request is worked on, smoothed. */
  #work_ms = 20;
  #refused = 0;

  constructor(options: { clock: Clock } & Partial<AdmissionBounds>) {
    const { clock, ...given } = options;
    this.#clock = clock;
    this.#bounds = { ...defaultAdmission, ...given };
  }

  /**
   * Lets a request in before its body is read.
   *
   * @param bytes of its body, as far as it says
   * @throws HttpError 429 with Retry-After where there is no room
   */
  enter(home: number, bytes: number): Ticket {
    const now_ms = this.#clock.now().monotonic_ms;
    this.#forgetAbsent(now_ms);
    const since_ms = this.#refusedSince.get(home) ?? now_ms;
    const others = [...this.#entries].filter((entry) => entry.home === home).length;
    if (others >= this.#bounds.tickets_per_home_max || !this.#makeRoom(bytes, since_ms)) {
      if (!this.#refusedSince.has(home) && this.#refusedSince.size < refused_max)
        this.#refusedSince.set(home, since_ms);
      throw this.#refusal();
    }
    this.#order += 1;
    const entry: QueuedRequest = { home, bytes, since_ms, order: this.#order, state: "arriving" };
    this.#entries.add(entry);
    this.#waitingBytes += bytes;
    return { turn: () => this.#turn(entry), leave: () => this.#leave(entry) };
  }

  /** Its present state, for the metrics. */
  status(): {
    readonly under_way: number;
    readonly waiting: number;
    readonly waiting_bytes: number;
    readonly refused: number;
  } {
    return {
      under_way: this.#underWay,
      waiting: this.#entries.size - this.#underWay,
      waiting_bytes: this.#waitingBytes,
      refused: this.#refused,
    };
  }

  /** Whether there is room for the bytes, if need be by refusing those who came later. */
  #makeRoom(bytes: number, since_ms: number): boolean {
    const { waiting_bytes_max, tickets_max } = this.#bounds;
    const lacking = () => this.#waitingBytes + bytes > waiting_bytes_max || this.#entries.size >= tickets_max;
    if (!lacking()) return true;
    const later = [...this.#entries]
      .filter((entry) => entry.state === "waiting" && entry.since_ms > since_ms)
      .sort(byArrival)
      .reverse();
    const freed = later.reduce((sum, entry) => sum + entry.bytes, 0);
    if (later.length === 0 || this.#waitingBytes - freed + bytes > waiting_bytes_max) return false;
    for (const entry of later) {
      if (!lacking()) break;
      this.#refuse(entry);
    }
    return !lacking();
  }

  #turn(entry: QueuedRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      entry.state = "waiting";
      entry.resolve = resolve;
      entry.reject = reject;
      entry.cancel = this.#clock.after(this.#bounds.wait_ms_max, () => this.#refuse(entry));
      this.#next();
    });
  }

  /** Gives turns to those who came first, as many as may be worked on at once. */
  #next(): void {
    while (this.#underWay < this.#bounds.under_way_max) {
      const busy = new Set(
        [...this.#entries].flatMap(({ state, home }) => (state === "working" ? [home] : [])),
      );
      let first: QueuedRequest | undefined;
      for (const entry of this.#entries)
        if (
          entry.state === "waiting" &&
          !busy.has(entry.home) &&
          (first === undefined || byArrival(entry, first) < 0)
        )
          first = entry;
      if (first === undefined) return;
      first.state = "working";
      first.started_ms = this.#clock.now().monotonic_ms;
      this.#refusedSince.delete(first.home);
      this.#underWay += 1;
      first.cancel?.();
      first.resolve?.();
    }
  }

  #refuse(entry: QueuedRequest): void {
    if (!this.#remove(entry)) return;
    if (!this.#refusedSince.has(entry.home) && this.#refusedSince.size < refused_max)
      this.#refusedSince.set(entry.home, entry.since_ms);
    entry.reject?.(this.#refusal());
  }

  #leave(entry: QueuedRequest): void {
    if (!this.#remove(entry)) return;
    if (entry.started_ms !== undefined) {
      this.#underWay -= 1;
      const took_ms = this.#clock.now().monotonic_ms - entry.started_ms;
      this.#work_ms += (took_ms - this.#work_ms) / smoothing;
    }
    this.#next();
  }

  #remove(entry: QueuedRequest): boolean {
    if (!this.#entries.delete(entry)) return false;
    entry.cancel?.();
    this.#waitingBytes -= entry.bytes;
    return true;
  }

  /** When there should be room again: once all who are before have been worked on. */
  #refusal(): HttpError {
    this.#refused += 1;
    const before = this.#entries.size + this.#refusedSince.size;
    const work_ms = (before * this.#work_ms) / this.#bounds.under_way_max;
    const retry_s = Math.min(retry_s_max, Math.max(1, Math.ceil(work_ms / 1000)));
    return new HttpError("central_full", { retry_s });
  }

  #forgetAbsent(now_ms: number): void {
    for (const [home, since_ms] of this.#refusedSince) {
      if (now_ms - since_ms < place_kept_ms_max) return;
      this.#refusedSince.delete(home);
    }
  }
}

interface QueuedRequest {
  readonly home: number;
  readonly bytes: number;
  /** When the home first came for this, monotonic. */
  readonly since_ms: number;
  readonly order: number;
  state: "arriving" | "waiting" | "working";
  started_ms?: number;
  cancel?: () => void;
  resolve?: () => void;
  reject?: (error: HttpError) => void;
}

/** Those who came first are first. */
function byArrival(one: QueuedRequest, other: QueuedRequest): number {
  return one.since_ms - other.since_ms || one.order - other.order;
}

const refused_max = 20_000;
/** A home that does not come back for this long loses its place. */
const place_kept_ms_max = 15 * 60_000;
const retry_s_max = 240;
/** The mean is over about so many requests. */
const smoothing = 16;

/** A request of a home's gateway to central, in its turn. */
export interface HomeCall<Body = undefined, Query = unknown> {
  readonly request: Request;
  /** The home that the token is bound to: all that is answered or stored is of this one. */
  readonly home: number;
  /** When it came, unix milliseconds. */
  readonly now_ms: number;
  readonly query: Query;
  readonly body: Body;
  /** Bytes of the body, as it came over the wire. */
  readonly bytes: number;
}

/**
 * A handler of requests that wait in the queue of central: a request is let in before its body is read, and worked on in its turn.
 *
 * @param form of the body; null: a body that is sent is not read
 */
export function inTurn<Parts extends { queue: AdmissionQueue; clock: Clock }, Body, Query>(
  parts: Parts,
  form: BodyForm<Body> | null,
  work: (call: HomeCall<Body, Query>, parts: Parts) => Promise<object>,
) {
  const { queue, clock } = parts;
  return async ({
    request,
    server,
    home,
    now_ms,
    query,
  }: Pick<HomeCall<Body, Query>, "request" | "home" | "now_ms" | "query"> & {
    readonly server: Server<unknown> | null;
  }): Promise<object> => {
    if (form !== null) requireForm(request, form);
    const bytes_max = form?.bytes_max ?? 0;
    // A body that does not say how long it is may be as long as any.
    const ticket = queue.enter(home, statedBytes(request) || bytes_max);
    try {
      const bounds = { bytes_max, limit_ms: body_ms_max, clock };
      const bytes = form === null ? new Uint8Array() : await readBody(request, bounds);
      server?.timeout(request, turn_s_max);
      await ticket.turn();
      const body = form?.read(bytes, request) as Body;
      return await work({ request, home, now_ms, query, body, bytes: bytes.length }, parts);
    } finally {
      ticket.leave();
    }
  };
}

/** At this, the largest batch needs 3.5 KB/s. */
const body_ms_max = 300_000;
/** Nothing happens on the connection while a request waits for its turn and is worked on: Bun would close it before. */
const turn_s_max = 240;
