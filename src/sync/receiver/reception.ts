import type { Clock } from "../../clock.ts";
import { HttpError } from "../../http/errors.ts";

export interface ReceptionBounds {
  /** Requests worked on at once: each may hold a batch in memory, decoded. */
  readonly under_way_max: number;
  /** Bytes of bodies that wait in memory, or come, at once. */
  readonly waiting_bytes_max: number;
  /** Requests that are worked on or wait at once, and of them those of one home. */
  readonly guests_max: number;
  readonly guests_per_home_max: number;
  /** How long a request waits for its turn before it is sent away, milliseconds. */
  readonly wait_ms_max: number;
}

export const defaultReception: ReceptionBounds = {
  under_way_max: 4,
  waiting_bytes_max: 64 * 1024 * 1024,
  guests_max: 2048,
  guests_per_home_max: 2,
  wait_ms_max: 90_000,
};

/** A request that has been let in: it reads its body, waits for its turn, works, and leaves. */
export interface Guest {
  /**
   * Resolves when it may be worked on; no other request of the home is then. Rejects with HttpError 429 where it must make room for a home that has
   * come before it, or has waited too long.
   */
  turn(): Promise<void>;
  /** Always, at the end. */
  leave(): void;
}

/**
 * The waiting room of central. Thousands of homes may come in one minute: a bounded number is worked on, one request of a home at a time, and a
 * bounded number of bytes waits in memory. Whoever finds no room is told when to come back, and its place in the line is kept: who came first
 * has the next turn, and the room of those who came later. A home that has been served is at the end of the line, so that turns go round.
 */
export class Reception {
  readonly #bounds: ReceptionBounds;
  readonly #clock: Clock;
  readonly #guests = new Set<Entry>();
  /** Since when homes that were sent away want something, monotonic. */
  readonly #claims = new Map<number, number>();
  #underWay = 0;
  #waitingBytes = 0;
  #order = 0;
  /** How long a request is worked on, smoothed. */
  #work_ms = 20;
  #sentAway = 0;

  constructor(options: { clock: Clock } & Partial<ReceptionBounds>) {
    const { clock, ...given } = options;
    this.#clock = clock;
    this.#bounds = { ...defaultReception, ...given };
  }

  /**
   * Lets a request in before its body is read.
   *
   * @param bytes of its body, as far as it says
   * @throws HttpError 429 with Retry-After where there is no room
   */
  enter(home: number, bytes: number): Guest {
    const now_ms = this.#clock.now().monotonic_ms;
    this.#forgetClaims(now_ms);
    const since_ms = this.#claims.get(home) ?? now_ms;
    const others = [...this.#guests].filter((guest) => guest.home === home).length;
    if (others >= this.#bounds.guests_per_home_max || !this.#makeRoom(bytes, since_ms)) {
      if (!this.#claims.has(home) && this.#claims.size < claims_max) this.#claims.set(home, since_ms);
      throw this.#later();
    }
    this.#order += 1;
    const entry: Entry = { home, bytes, since_ms, order: this.#order, state: "arriving" };
    this.#guests.add(entry);
    this.#waitingBytes += bytes;
    return { turn: () => this.#turn(entry), leave: () => this.#leave(entry) };
  }

  /** Its present state, for the metrics. */
  status(): {
    readonly under_way: number;
    readonly waiting: number;
    readonly waiting_bytes: number;
    readonly sent_away: number;
  } {
    return {
      under_way: this.#underWay,
      waiting: this.#guests.size - this.#underWay,
      waiting_bytes: this.#waitingBytes,
      sent_away: this.#sentAway,
    };
  }

  /** Whether there is room for the bytes, if need be by sending away those who came later. */
  #makeRoom(bytes: number, since_ms: number): boolean {
    const { waiting_bytes_max, guests_max } = this.#bounds;
    const lacking = () => this.#waitingBytes + bytes > waiting_bytes_max || this.#guests.size >= guests_max;
    if (!lacking()) return true;
    const later = [...this.#guests]
      .filter((guest) => guest.state === "waiting" && guest.since_ms > since_ms)
      .sort(byPlace)
      .reverse();
    const freed = later.reduce((sum, guest) => sum + guest.bytes, 0);
    if (later.length === 0 || this.#waitingBytes - freed + bytes > waiting_bytes_max) return false;
    for (const guest of later) {
      if (!lacking()) break;
      this.#sendAway(guest);
    }
    return !lacking();
  }

  #turn(entry: Entry): Promise<void> {
    return new Promise((resolve, reject) => {
      entry.state = "waiting";
      entry.resolve = resolve;
      entry.reject = reject;
      entry.cancel = this.#clock.after(this.#bounds.wait_ms_max, () => this.#sendAway(entry));
      this.#next();
    });
  }

  /** Gives turns to those who came first, as many as may be worked on at once. */
  #next(): void {
    while (this.#underWay < this.#bounds.under_way_max) {
      const busy = new Set(
        [...this.#guests].flatMap(({ state, home }) => (state === "working" ? [home] : [])),
      );
      let first: Entry | undefined;
      for (const guest of this.#guests)
        if (
          guest.state === "waiting" &&
          !busy.has(guest.home) &&
          (first === undefined || byPlace(guest, first) < 0)
        )
          first = guest;
      if (first === undefined) return;
      first.state = "working";
      first.started_ms = this.#clock.now().monotonic_ms;
      this.#claims.delete(first.home);
      this.#underWay += 1;
      first.cancel?.();
      first.resolve?.();
    }
  }

  #sendAway(entry: Entry): void {
    if (!this.#remove(entry)) return;
    if (!this.#claims.has(entry.home) && this.#claims.size < claims_max)
      this.#claims.set(entry.home, entry.since_ms);
    entry.reject?.(this.#later());
  }

  #leave(entry: Entry): void {
    if (!this.#remove(entry)) return;
    if (entry.started_ms !== undefined) {
      this.#underWay -= 1;
      const took_ms = this.#clock.now().monotonic_ms - entry.started_ms;
      this.#work_ms += (took_ms - this.#work_ms) / smoothing;
    }
    this.#next();
  }

  #remove(entry: Entry): boolean {
    if (!this.#guests.delete(entry)) return false;
    entry.cancel?.();
    this.#waitingBytes -= entry.bytes;
    return true;
  }

  /** When there should be room again: once all who are before have been worked on. */
  #later(): HttpError {
    this.#sentAway += 1;
    const before = this.#guests.size + this.#claims.size;
    const work_ms = (before * this.#work_ms) / this.#bounds.under_way_max;
    const retry_s = Math.min(retry_s_max, Math.max(1, Math.ceil(work_ms / 1000)));
    return new HttpError("central_full", { retry_s }, { "Retry-After": String(retry_s) });
  }

  #forgetClaims(now_ms: number): void {
    for (const [home, since_ms] of this.#claims) {
      if (now_ms - since_ms < claim_ms_max) return;
      this.#claims.delete(home);
    }
  }
}

interface Entry {
  readonly home: number;
  readonly bytes: number;
  /** Since when the home wants this, monotonic. */
  readonly since_ms: number;
  readonly order: number;
  state: "arriving" | "waiting" | "working";
  started_ms?: number;
  cancel?: () => void;
  resolve?: () => void;
  reject?: (error: HttpError) => void;
}

/** Who came first is before. */
function byPlace(one: Entry, other: Entry): number {
  return one.since_ms - other.since_ms || one.order - other.order;
}

const claims_max = 20_000;
/** Who does not come back for this long has lost its place. */
const claim_ms_max = 15 * 60_000;
const retry_s_max = 240;
/** The mean is over about so many requests. */
const smoothing = 16;
