import type { Clock } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";

type Text = string | (() => string);

/** The same warning is said again only after this long, with the number of times it was held back. */
const repeat_ms = 10 * 60_000;
/** How many different warnings are remembered, and how many errors of a start. */
const remembered_max = 100;
const startErrors_max = 5;

/** Debug messages of zigbee-herdsman that tell of something thrown away, and the name it is counted under. */
const discards: readonly { namespace: string; start: string; count: string }[] = [
  {
    namespace: "zh:controller",
    start: "Data is from unknown device",
    count: "zigbee messages of unknown devices",
  },
  { namespace: "zh:controller", start: "Failed to parse frame", count: "zigbee messages that make no sense" },
];

const closedPort = /^(port|socket|serial ?port) closed/i;

/** Messages that the driver itself logs, in better words. */
const saidElsewhere =
  /^(Interview failed|Adapter disconnected|Socket error|Port error|Failed to stop adapter)/;

/**
 * Takes what zigbee-herdsman would write on the console. Its debug and info lines are dropped; warnings and
 * errors become one line each, rarely repeated; while an adapter is being opened they are only kept, for the
 * one line that says why it can't be.
 */
export class HerdsmanLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #dropped: (what: string) => void;
  readonly #said = new Map<string, { at_ms: number; held: number }>();
  #startErrors: string[] | undefined;
  #closed = () => {};
  /** The reason of the interview that failed last: zigbee-herdsman's event does not carry it. */
  interviewFailure = "";

  constructor(options: { log: Log; clock: Clock; dropped: (what: string) => void }) {
    this.#log = options.log;
    this.#clock = options.clock;
    this.#dropped = options.dropped;
  }

  /** Keeps errors to itself until `started`; calls `closed` when the port closes meanwhile. */
  starting(closed: () => void): void {
    this.#startErrors = [];
    this.#closed = closed;
  }

  /** Ends that, and returns the errors that were kept. */
  started(): readonly string[] {
    const errors = this.#startErrors ?? [];
    this.#startErrors = undefined;
    return errors;
  }

  debug(message: Text, namespace: string): void {
    if (typeof message !== "string") return;
    for (const discard of discards) {
      if (namespace === discard.namespace && message.startsWith(discard.start)) this.#dropped(discard.count);
    }
  }

  info(message: Text, _namespace: string): void {
    // It goes on waiting for answers on a port that the other side has closed.
    if (this.#startErrors !== undefined && closedPort.test(String(message))) this.#closed();
  }

  warning(message: Text, namespace: string): void {
    this.#say(message, namespace);
  }

  error(message: Text, namespace: string): void {
    this.#say(message, namespace);
  }

  #say(message: Text, _namespace: string): void {
    const text = messageOf(typeof message === "function" ? message() : message);
    if (text.startsWith("Interview failed")) this.interviewFailure = text;
    if (this.#startErrors !== undefined) {
      if (this.#startErrors.length < startErrors_max) this.#startErrors.push(text);
      return;
    }
    if (saidElsewhere.test(text)) return;
    const now_ms = this.#clock.now().monotonic_ms;
    // Numbers differ between messages about the same fault.
    const kind = text.replace(/0x[0-9a-f]+|\d+/gi, "#");
    const before = this.#said.get(kind);
    if (before !== undefined && now_ms - before.at_ms < repeat_ms) {
      before.held += 1;
      return;
    }
    const held = before?.held ?? 0;
    if (this.#said.size >= remembered_max) this.#said.clear();
    this.#said.set(kind, { at_ms: now_ms, held: 0 });
    this.#log.warn(held === 0 ? text : `${text} (and ${held} more times since it was last said)`);
  }
}
