import type { Clock } from "../../base/clock.ts";
import { messageOf, type OperatorError, StoreOutage, type StorePart } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ListedGateway } from "../../config/gateway-list.ts";
import { jittered_ms } from "../../web/client/http-client.ts";
import { TryAgainLater } from "../../web/client/http-request.ts";
import type { Pull } from "./pull.ts";

/** The turns of one gateway: see `Pull`. */
interface PullTurns extends Pick<Pull, "turn" | "noteFailure"> {
  readonly gateway: Pick<ListedGateway, "home">;
}

interface PullingOptions {
  readonly pulls: readonly PullTurns[];
  readonly every_ms: number;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 up to 1. */
  readonly random: () => number;
}

/**
 * Reads many gateways, each at its interval, a few at once. The gateway that has waited longest has the next turn, and a turn is bounded: one with
 * a backlog of months waits for its next turn like every other. One that cannot be read is asked again after a minute, then after
 * two, and so on up to the interval; the log says so once, and once when it is over.
 */
export class Pulling {
  readonly #options: PullingOptions;
  readonly #stop = new AbortController();
  readonly #waiting: PullPlace[];
  readonly #underWay = new Set<Promise<void>>();
  #cancel = () => {};
  /** Central's own store takes nothing now: logged once, not for each gateway. */
  #storeOut = false;
  /** Parts of it that are out, which have been logged too. */
  readonly #partsOut = new WeakSet<StorePart>();

  constructor(options: PullingOptions) {
    this.#options = options;
    this.#waiting = options.pulls.map((pull) => ({
      pull,
      due_ms: 0,
      failures: 0,
      since_ms: 0,
      said: new Set(),
    }));
  }

  start(): void {
    this.#next();
  }

  /** Ends turns under way where they leave things in order. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("central is stopped"));
    this.#cancel();
    await Promise.all(this.#underWay);
  }

  /** Starts the turns that are due, as many as may run at once, and sets a timer for the next one. */
  #next(): void {
    this.#cancel();
    if (this.#stop.signal.aborted) return;
    const { clock } = this.#options;
    const now_ms = clock.now().monotonic_ms;
    while (this.#underWay.size < at_once_max) {
      const place = this.#takeFirst(now_ms);
      if (place === undefined) break;
      const turn = this.#turn(place).finally(() => {
        this.#underWay.delete(turn);
        this.#waiting.push(place);
        this.#next();
      });
      this.#underWay.add(turn);
    }
    const [first] = this.#waiting;
    if (this.#underWay.size >= at_once_max || first === undefined) return;
    this.#cancel = clock.after(Math.max(0, first.due_ms - now_ms), () => this.#next());
  }

  #takeFirst(now_ms: number): PullPlace | undefined {
    this.#waiting.sort((one, other) => one.due_ms - other.due_ms);
    const [first] = this.#waiting;
    return first !== undefined && first.due_ms <= now_ms ? this.#waiting.shift() : undefined;
  }

  async #turn(place: PullPlace): Promise<void> {
    const { every_ms, clock, random } = this.#options;
    try {
      const { more } = await place.pull.turn(this.#stop.signal);
      this.#wentWell(place);
      // A tenth more or less: otherwise a thousand gateways that come due in one second would always do so.
      const wait_ms = more ? 0 : every_ms * (0.9 + random() / 5);
      place.due_ms = clock.now().monotonic_ms + wait_ms;
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      place.failures += 1;
      const wait_ms = Math.min(every_ms, retry_ms_min * 2 ** Math.min(place.failures - 1, doublings_max));
      place.due_ms = clock.now().monotonic_ms + jittered_ms(wait_ms, random(), false);
      await this.#failed(place, thrown as OperatorError | Error);
    }
  }

  #wentWell(place: PullPlace): void {
    const { log, clock } = this.#options;
    this.#storeOut = false;
    if (place.said.size > 0) {
      const minutes = Math.round((clock.now().monotonic_ms - place.since_ms) / 60_000);
      log.info(`the gateway of home ${place.pull.gateway.home} is read again, after ${minutes} minutes`);
    }
    place.said.clear();
    place.failures = 0;
  }

  /** Logs a fault, unless it is logged already. */
  async #failed(place: PullPlace, fault: Error): Promise<void> {
    const { log, clock } = this.#options;
    const { home } = place.pull.gateway;
    if (fault instanceof StoreOutage && fault.part !== undefined) {
      const said = this.#partsOut.has(fault.part);
      this.#partsOut.add(fault.part);
      if (!said) log.error(`${fault.message} (gateways of homes on it are not read until then)`);
      return;
    }
    if (fault instanceof StoreOutage) {
      if (!this.#storeOut) log.error(`${fault.message} (gateways are not read until then)`);
      this.#storeOut = true;
      return;
    }
    const kind = fault instanceof TryAgainLater ? "passing" : "lasting";
    if (place.said.has(kind)) {
      log.debug(`home ${home}: ${messageOf(fault)}`);
      return;
    }
    if (place.said.size === 0) place.since_ms = clock.now().monotonic_ms;
    place.said.add(kind);
    log.warn(`home ${home}: ${messageOf(fault)} (said once; it is asked again until it can be read)`);
    try {
      await place.pull.noteFailure(messageOf(fault));
    } catch (thrown) {
      log.debug(`home ${home}: its failure could not be noted (${messageOf(thrown)})`);
    }
  }
}

interface PullPlace {
  readonly pull: PullTurns;
  /** When its next turn is due, monotonic. */
  due_ms: number;
  /** Turns that failed in a row, since when, and the kinds of fault that the log has of them. */
  failures: number;
  since_ms: number;
  readonly said: Set<"passing" | "lasting">;
}

/** Each holds a batch in memory, and central's writer takes one after the other anyway. */
const at_once_max = 8;
const retry_ms_min = 60_000;
const doublings_max = 20;
