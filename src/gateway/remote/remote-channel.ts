import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { decodingBounds } from "../../base/json-decoder.ts";
import type { Log } from "../../base/log.ts";
import { shortLine } from "../../base/text.ts";
import type { RemoteSettings } from "../../config/gateway-config.ts";
import type { RemoteRequestName, SignedRequest } from "../../domain/remote-request.ts";
import { type PauseRequest, takenOver } from "../../store/pause.ts";
import type { CentralClient } from "../../transfer/central-client.ts";
import {
  type RemoteAnswerBody,
  RemoteOrders,
  remote_answer_length_max,
  remote_hold_ms,
} from "../../transfer/protocol.ts";
import { jsonBody } from "../../web/client/http-client.ts";
import { pause } from "../../web/client/http-request.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { RemoteActions } from "./remote-actions.ts";
import { judgeRequest } from "./remote-gate.ts";
import { type RemoteEntry, RemoteJournal } from "./remote-journal.ts";

export interface ChannelOptions {
  /** Number of the home, for which requests are signed. */
  readonly home: number;
  readonly settings: RemoteSettings;
  /** The data directory. */
  readonly directory: string;
  /** Central, with the token and certificate as they are now. @throws OperatorError where a file cannot be read */
  readonly connect: (stop: AbortSignal) => CentralClient;
  readonly takePauses: (pauses: readonly PauseRequest[]) => Promise<unknown>;
  readonly actions: RemoteActions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * The channel by which the study asks this box for something: the box asks central whether there is anything, and central lets it wait. No port is open at the box. Requests are done one after the
 * other, each at most once; what is not let in is written down and told central. What the channel costs is bounded, whatever central answers.
 */
export class RemoteChannel {
  readonly #options: ChannelOptions;
  readonly #journal: RemoteJournal;
  readonly #budget: ByteBudget;
  readonly #stop = new AbortController();
  /** Numbers of the requests that are being worked on, or wait for it. */
  readonly #working = new Set<number>();
  #work: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  #pauses_tag: string | undefined;
  #failing = false;
  /** Central answered at once that there is nothing: it has no room for this box to wait. */
  #sentAway = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#journal = new RemoteJournal(options.directory);
    this.#budget = new ByteBudget(options.clock);
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Cuts off the request that is being worked on. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error("the gateway stops"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#options;
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      failures = (await this.#poll()) ? 0 : failures + 1;
      const backoff_ms =
        failures === 0
          ? this.#sentAway
            ? remote_hold_ms
            : pace_ms
          : retry_ms * 2 ** Math.min(failures - 1, 5);
      // Its own answers leave enough for the next question: only a central that sends much makes the box wait for long.
      const wait_ms = Math.min(backoff_ms, poll_ms_max) * (0.75 + random() / 4);
      await pause(Math.max(wait_ms, this.#budget.wait_ms), clock, this.#stop.signal);
    }
  }

  /** One question to central; answers whether it was answered. */
  async #poll(): Promise<boolean> {
    const { connect, log, clock } = this.#options;
    const asked_ms = clock.now().monotonic_ms;
    this.#budget.spend(poll_bytes);
    try {
      const central = connect(this.#stop.signal);
      const answer = await central.ask({
        method: "GET",
        path: "/remote",
        query: { working: [...this.#working].join(",") || undefined, pauses_tag: this.#pauses_tag },
        answer: decodingBounds.remoteOrders,
      });
      this.#budget.spend(answer.body.length);
      const took_ms = clock.now().monotonic_ms - asked_ms;
      this.#sentAway = answer.status === 204 && took_ms < remote_hold_ms / 4;
      if (answer.status !== 204) await this.#take(central.read(answer, RemoteOrders));
      if (this.#failing) log.info("central can be asked again whether it wants something");
      this.#failing = false;
      return true;
    } catch (thrown) {
      if (!this.#failing && !this.#stop.signal.aborted)
        log.warn(`central cannot be asked whether it wants something: ${messageOf(thrown)} (said once)`);
      this.#failing = true;
      return false;
    }
  }

  async #take({ requests, pauses, pauses_tag }: RemoteOrders): Promise<void> {
    const { takePauses, log } = this.#options;
    if (pauses !== undefined) {
      await takePauses(takenOver(pauses));
      this.#pauses_tag = pauses_tag;
      log.info("took over the pauses that central has for this home");
    }
    const refused: RemoteEntry[] = [];
    for (const signed of requests) {
      if (this.#working.has(signed.number)) continue;
      const entry = this.#entryOf(signed);
      const judged = judgeRequest(signed, { ...this.#options, last: this.#journal.last });
      if ("refused" in judged) {
        const before = this.#journal.admitted(signed.number);
        // Done before, and the answer was lost on its way.
        if (before !== undefined) await this.#answer(ended(before));
        else refused.push({ ...entry, outcome: "refused", words: judged.refused });
        continue;
      }
      this.#journal.admit(entry, judged.key);
      this.#working.add(signed.number);
      log.info(`the study asks for ${[judged.request, judged.argument].join(" ").trim()} (${signed.number})`);
      this.#work = this.#work.then(() => this.#do(signed.number, judged.request, judged.argument));
    }
    this.#journal.refuse(refused);
    for (const { number, request, words = "" } of refused) {
      log.warn(`refused ${shortLine(request, name_max)} (${number}) from central: ${words}`);
      await this.#answer({ number, outcome: "refused", words });
    }
  }

  #entryOf({ number, request, argument }: SignedRequest): RemoteEntry {
    const at_ms = this.#options.clock.now().unix_ms;
    const asked = shortLine(request, name_max);
    return { number, request: asked, argument: argument && shortLine(argument, name_max), at_ms };
  }

  async #do(number: number, request: RemoteRequestName, argument: string): Promise<void> {
    const { actions, log } = this.#options;
    let answered: RemoteAnswerBody;
    try {
      const { words, answer } = await actions[request](argument, this.#stop.signal);
      answered = { number, outcome: "done", words: shortLine(words, words_max), answer };
    } catch (thrown) {
      answered = { number, outcome: "failed", words: messageOf(thrown, words_max) };
    }
    if (this.#stop.signal.aborted) return;
    this.#journal.end(number, answered);
    log.info(`${request} (${number}): ${answered.outcome}, ${answered.words}`);
    await this.#answer(answered);
    this.#working.delete(number);
  }

  /** Tells central how a request ended. Where that fails, central asks again, and is told then. */
  async #answer({ answer, ...ended }: RemoteAnswerBody): Promise<void> {
    const { connect, log } = this.#options;
    const kept = answer !== undefined && answer.length <= remote_answer_length_max ? { answer } : {};
    const whole = jsonBody({ ...ended, ...kept });
    const fits = whole.bytes.length <= Math.max(0, this.#budget.left);
    const short = `${ended.words}; what it sends has ${whole.bytes.length} bytes, and the channel has no room for that today`;
    const body = fits ? whole : jsonBody({ ...ended, words: shortLine(short, words_max) });
    this.#budget.spend(poll_bytes + body.bytes.length);
    try {
      await connect(this.#stop.signal).ask({
        ...{ method: "POST", path: "/remote", body, answer: decodingBounds.batchAnswer },
      });
    } catch (thrown) {
      log.debug(`central was not told how request ${ended.number} ended: ${messageOf(thrown)}`);
    }
  }
}

function ended({
  number,
  outcome = "failed",
  words = "the box was cut off meanwhile",
}: RemoteEntry): RemoteAnswerBody {
  return { number, outcome, words };
}

/** Between two questions, where central answers at once. */
const pace_ms = 2_000;
/** After a failure, doubled with each one more. */
const retry_ms = 30_000;
/** A pause that central knows of is here within this time. */
const poll_ms_max = 14 * 60_000;
/** Head of a request and of its answer with all that the network adds; measured by `./scripts/trials remote`. */
const poll_bytes = 2_200;
/** With the sign that a line was cut, they fit into the body. */
const words_max = 190;
const name_max = 40;
