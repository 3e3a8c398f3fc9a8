import { OperatorError } from "../errors.ts";
import type { JoiningStep, PairingAbility } from "./joining.ts";
import { controlPath, type Refusal } from "./server.ts";
import type { GatewayStatus } from "./status.ts";

/** Speaks to the gateway that runs on a data directory. Every call throws an OperatorError where none does. */
export class ControlClient {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Status of the gateway; undefined where none runs on the directory. */
  async statusIfRunning(): Promise<GatewayStatus | undefined> {
    const answer = await this.#ask("GET", "/status", AbortSignal.timeout(answer_max_ms));
    return answer === undefined ? undefined : ((await answer.json()) as GatewayStatus);
  }

  /** Opens joining and yields each step until it is closed. Closing it is `closeJoining`, or ending the loop. */
  async *joining(
    seconds: number,
    { newNetwork = false, person }: { newNetwork?: boolean; person?: PairingAbility | undefined } = {},
  ): AsyncGenerator<JoiningStep> {
    const leaving = new AbortController();
    const more = `${newNetwork ? "&new-network" : ""}${person === undefined ? "" : `&person=${person}`}`;
    const path = `/joining?seconds=${seconds}${more}`;
    const answer = await this.#ask("POST", path, leaving.signal);
    if (answer === undefined) throw this.#notRunning();
    const decoder = new TextDecoder();
    let rest = "";
    const reader = (answer.body ?? new ReadableStream<Uint8Array>()).getReader();
    try {
      for (;;) {
        // A gateway that is killed resets the connection; one that ends closes it.
        const { value } = await reader.read().catch(() => ({ value: undefined }));
        if (value === undefined) break;
        const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const step = JSON.parse(line) as JoiningStep | Refusal;
          if (step.state === "refused") throw new OperatorError(step.what, step.remedy);
          yield step;
          if (step.state === "closed") return;
        }
      }
    } finally {
      leaving.abort();
    }
    throw new OperatorError(
      `the gateway on ${this.#directory} ended while joining was open`,
      "see its log, then pair again",
    );
  }

  async closeJoining(): Promise<void> {
    const answer = await this.#ask("DELETE", "/joining", AbortSignal.timeout(answer_max_ms));
    if (answer === undefined) throw this.#notRunning();
  }

  /** Answers the question that was asked last. */
  async answerJoining(text: string): Promise<void> {
    await this.#ask("POST", "/joining/answer", AbortSignal.timeout(answer_max_ms), text);
  }

  /** Has the gateway read again who is admitted; nothing happens where none runs. */
  async admissionsChanged(): Promise<void> {
    await this.#ask("POST", "/admissions", AbortSignal.timeout(answer_max_ms));
  }

  /** The answer, or undefined where nothing listens. */
  async #ask(
    method: string,
    path: string,
    signal: AbortSignal,
    body?: string,
  ): Promise<Response | undefined> {
    const socket = controlPath(this.#directory);
    let answer: Response;
    try {
      answer = await fetch(`http://gateway${path}`, {
        method,
        unix: socket,
        signal,
        ...(body === undefined ? {} : { body }),
      });
    } catch (error) {
      const code = (error as { code?: string }).code ?? "";
      // The socket of a gateway that was killed stays behind, with nobody at its other end.
      if (["ECONNREFUSED", "ENOENT", "ENOTDIR"].includes(code)) return undefined;
      if (code === "EACCES" || code === "EPERM") {
        throw new OperatorError(
          `may not open ${socket}`,
          "run this as the gateway's user or as root, for instance with sudo -u lintel",
        );
      }
      if (error instanceof DOMException && error.name === "TimeoutError") {
        throw new OperatorError(
          `the gateway on ${this.#directory} did not answer within ${answer_max_ms / 1000} s`,
          "look at its log; restart it if it stays so",
        );
      }
      throw error;
    }
    if (answer.ok) return answer;
    const { what, remedy } = (await answer.json()) as { what: string; remedy: string };
    throw new OperatorError(what, remedy);
  }

  #notRunning(): OperatorError {
    return new OperatorError(
      `no gateway is running on ${this.#directory}`,
      "start one with lintel run, or name the right one with --config FILE or --data DIR",
    );
  }
}

const answer_max_ms = 5_000;
