import { type Clock, repeat } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { day_ms } from "../../base/time.ts";
import type { SignedRequest } from "../../domain/remote-request.ts";
import type { CentralStore, RemoteAnswer } from "../../store/central/central-store.ts";
import { type Pause, pausedSpanOf } from "../../store/pause.ts";
import { type RemoteOrders, remote_hold_ms, remote_orders_max } from "../../transfer/protocol.ts";

/** A box that asks whether there is anything for it. */
export interface RemotePoll {
  readonly home: number;
  /** Numbers of requests that it is working on. */
  readonly working: readonly number[];
  /** By which it knows the pauses that it was told last. */
  readonly pauses_tag: string | undefined;
  /** Aborted when it has gone. */
  readonly gone: AbortSignal;
}

/**
 * The desk at which boxes wait for requests of the study, and for pauses that were asked for at central. Requests are put into the store by a command beside the
 * server; the desk looks for them as long as anybody waits. It signs nothing, and could not: it hands on what others have signed.
 */
export class RemoteDesk {
  readonly #store: Pick<CentralStore, "remoteAsked" | "noteRemote" | "pauses">;
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #waiting = new Map<
    number,
    { readonly poll: RemotePoll; readonly end: (found?: RemoteOrders) => void }
  >();
  #stopWatching: (() => void) | undefined;
  #looking = false;
  #known: Known = {
    requests: new Map(),
    pauses: new Map(),
    at_ms: Number.NEGATIVE_INFINITY,
    pauses_at_ms: Number.NEGATIVE_INFINITY,
  };

  constructor(options: {
    store: Pick<CentralStore, "remoteAsked" | "noteRemote" | "pauses">;
    clock: Clock;
    log?: Log | undefined;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Answers as soon as there is something for the home; undefined after `remote_hold_ms`, at once where too many wait, and where the same home asks again. */
  async poll(poll: RemotePoll): Promise<RemoteOrders | undefined> {
    this.#waiting.get(poll.home)?.end();
    await this.#look();
    const found = this.#ordersFor(poll);
    if (found !== undefined || this.#waiting.size >= held_max || poll.gone.aborted) return found;
    const { promise, resolve } = Promise.withResolvers<RemoteOrders | undefined>();
    const cancel = this.#clock.after(remote_hold_ms, () => end());
    const gone = () => end();
    const waiter = { poll, end: (orders?: RemoteOrders) => end(orders) };
    const end = (orders?: RemoteOrders) => {
      cancel();
      poll.gone.removeEventListener("abort", gone);
      if (this.#waiting.get(poll.home) === waiter) this.#waiting.delete(poll.home);
      if (this.#waiting.size === 0) this.#unwatch();
      resolve(orders);
    };
    poll.gone.addEventListener("abort", gone, { once: true });
    this.#waiting.set(poll.home, waiter);
    this.#stopWatching ??= repeat(this.#clock, look_ms, () => void this.#serve());
    return promise;
  }

  /** Keeps how a box dealt with a request; answers whether it was asked for that. */
  async answered(home: number, number: number, answer: RemoteAnswer): Promise<boolean> {
    const isKnown = await this.#store.noteRemote(home, number, answer);
    this.#known.at_ms = Number.NEGATIVE_INFINITY;
    if (isKnown) this.#log?.info(`request ${number} to home ${home}: ${answer.outcome}, ${answer.words}`);
    return isKnown;
  }

  /** Lets everybody go. */
  stop(): void {
    for (const { end } of [...this.#waiting.values()]) end();
    this.#unwatch();
  }

  #unwatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  async #serve(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      await this.#look();
      for (const { poll, end } of [...this.#waiting.values()]) {
        const found = this.#ordersFor(poll);
        if (found !== undefined) end(found);
      }
    } catch (thrown) {
      this.#log?.debug(`requests to boxes could not be read: ${messageOf(thrown)}`);
    } finally {
      this.#looking = false;
    }
  }

  /** Reads what waits, unless that has just been done. */
  async #look(): Promise<void> {
    const { unix_ms, monotonic_ms } = this.#clock.now();
    if (monotonic_ms - this.#known.at_ms >= look_ms) {
      const asked = await this.#store.remoteAsked({ waiting_at_ms: unix_ms });
      this.#known.requests = Map.groupBy(
        asked.map(({ request }) => request),
        ({ home }) => home,
      );
      this.#known.at_ms = monotonic_ms;
    }
    if (monotonic_ms - this.#known.pauses_at_ms >= pauses_look_ms) {
      const recent = (await this.#store.pauses()).filter(({ before_ms }) => before_ms > unix_ms - recent_ms);
      this.#known.pauses = Map.groupBy(recent, ({ home }) => home);
      this.#known.pauses_at_ms = monotonic_ms;
    }
  }

  #ordersFor({ home, working, pauses_tag }: RemotePoll): RemoteOrders | undefined {
    const now_ms = this.#clock.now().unix_ms;
    const requests = (this.#known.requests.get(home) ?? [])
      .filter(({ number, expires_ms }) => expires_ms > now_ms && !working.includes(number))
      .slice(0, remote_orders_max);
    const pauses = (this.#known.pauses.get(home) ?? []).map(pausedSpanOf);
    const tag = pauses.length === 0 ? "" : Bun.hash(JSON.stringify(pauses)).toString(36);
    const told = tag === (pauses_tag ?? "") ? {} : { pauses, pauses_tag: tag };
    return requests.length === 0 && !("pauses" in told) ? undefined : { requests, ...told };
  }
}

/** By home; read at these times, monotonic. */
interface Known {
  requests: ReadonlyMap<number, readonly SignedRequest[]>;
  pauses: ReadonlyMap<number, readonly Pause[]>;
  at_ms: number;
  pauses_at_ms: number;
}

/** How often the store is looked at while anybody waits: a request is on its way within this time, a pause within the second. */
const look_ms = 3_000;
const pauses_look_ms = 10_000;
/** Pauses that are over for longer than this are known from uploads. */
const recent_ms = 2 * day_ms;
/** Boxes that wait at once: fewer than the requests that one proxy may have under way, so that uploads come in too. The others ask again. */
const held_max = 768;
