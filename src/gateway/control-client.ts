import { messageOf, OperatorError } from "../base/errors.ts";
import { DecodingFault, decodeJson, decodingBounds, readAtMost } from "../base/json-decoder.ts";
import type { Conflict } from "../domain/identity.ts";
import type { ChannelNoise, MeshScan } from "../domain/mesh.ts";
import { controlPath, type JoiningRefusal } from "./control-server.ts";
import type { GatewayStatus } from "./gateway-status.ts";
import type { JoiningStep, PairingAbility } from "./joining/joining.ts";

/** Speaks to the gateway that runs on a data directory. Every call throws an OperatorError where none does. */
export class ControlClient {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Status of the gateway; undefined where none runs on the directory. */
  async statusIfRunning(): Promise<GatewayStatus | undefined> {
    const answer = await this.#ask("GET", "/status");
    return answer && ((await this.#read(answer)) as GatewayStatus);
  }

  /** Opens joining and yields each step until it is closed. Closing it is `closeJoining`, or ending the loop. */
  async *joining(
    seconds: number,
    { newNetwork = false, person }: { newNetwork?: boolean; person?: PairingAbility | undefined } = {},
  ): AsyncGenerator<JoiningStep> {
    const leaving = new AbortController();
    const more = `${newNetwork ? "&new-network" : ""}${person === undefined ? "" : `&person=${person}`}`;
    const path = `/joining?seconds=${seconds}${more}`;
    const answer = await this.#ask("POST", path, { signal: leaving.signal });
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
        if (rest.length > decodingBounds.control.bytes_max) throw this.#unreadable("it ends no line");
        for (const line of lines) {
          const step = this.#decoded(new TextEncoder().encode(line)) as JoiningStep | JoiningRefusal;
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
    const answer = await this.#ask("DELETE", "/joining");
    if (answer === undefined) throw this.#notRunning();
  }

  /** Answers the question that was asked last. */
  async answerJoining(text: string): Promise<void> {
    await this.#ask("POST", "/joining/answer", { body: text });
  }

  /** Lets the gateway read the admitted devices again, and forget a device that was removed from the store. Does nothing if no gateway runs. */
  async admissionsChanged({ forgotten }: { readonly forgotten?: string | undefined } = {}): Promise<void> {
    const asked = forgotten === undefined ? "" : `?${new URLSearchParams({ forgotten })}`;
    await this.#ask("POST", `/admissions${asked}`);
  }

  /** Has everything brought to disk that the gateway has heard; does nothing if none runs. */
  async flush(): Promise<void> {
    await this.#ask("POST", "/flush");
  }

  /** Has the mesh scanned; undefined if no gateway runs. */
  async scanMesh(): Promise<MeshScan | undefined> {
    const answer = await this.#ask("POST", "/mesh", { signal: AbortSignal.timeout(scan_max_ms) });
    return answer && ((await this.#read(answer)) as MeshScan);
  }

  /** Has the noise measured; undefined if no gateway runs. */
  async measureNoise(): Promise<ChannelNoise | undefined> {
    const answer = await this.#ask("POST", "/noise");
    return answer && ((await this.#read(answer)) as ChannelNoise);
  }

  /** Settles a conflict about an address; undefined if no gateway runs. */
  async settleConflict(
    address: string,
    answer: "accepted" | "refused",
    by: string,
  ): Promise<Conflict | undefined> {
    const asked = new URLSearchParams({ address, answer, by });
    const settled = await this.#ask("POST", `/conflicts?${asked}`);
    return settled && ((await this.#read(settled)) as Conflict);
  }

  /** The answer, or undefined where nothing listens. */
  async #ask(
    method: string,
    path: string,
    { signal = AbortSignal.timeout(answer_max_ms), body }: { signal?: AbortSignal; body?: string } = {},
  ): Promise<Response | undefined> {
    const socket = controlPath(this.#directory);
    let answer: Response;
    try {
      answer = await fetch(`http://gateway${path}`, {
        method,
        unix: socket,
        signal,
        // Bun would expand without bounds.
        decompress: false,
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
      // More callers than it can take at once, or it ended in the middle.
      if (code === "EAGAIN" || code === "ECONNRESET")
        throw new OperatorError(
          `the gateway on ${this.#directory} did not answer just now (${code})`,
          "ask again in a moment; if it stays so, look at its log",
        );
      if (error instanceof DOMException && error.name === "TimeoutError") {
        throw new OperatorError(
          `the gateway on ${this.#directory} did not answer within ${answer_max_ms / 1000} s`,
          "look at its log; restart it if it stays so",
        );
      }
      throw error;
    }
    if (answer.ok) return answer;
    const { what, remedy } = (await this.#read(answer)) as { what: string; remedy: string };
    throw new OperatorError(what, remedy);
  }

  /** The words of the gateway, read within bounds: a command may run as root, and the gateway does not. */
  async #read(answer: Response): Promise<unknown> {
    const reader = (answer.body ?? new ReadableStream<Uint8Array>()).getReader();
    try {
      return this.#decoded(await readAtMost(reader, decodingBounds.control.bytes_max));
    } catch (thrown) {
      throw thrown instanceof DecodingFault ? this.#unreadable(thrown.message) : thrown;
    } finally {
      reader.cancel().catch(() => undefined);
    }
  }

  #decoded(bytes: Uint8Array): unknown {
    try {
      return decodeJson(bytes, decodingBounds.control);
    } catch (thrown) {
      throw this.#unreadable(messageOf(thrown));
    }
  }

  #unreadable(fault: string): OperatorError {
    return new OperatorError(
      `what answers at ${controlPath(this.#directory)} does not speak as a gateway does (${fault})`,
      "run the same version of Lintel as the gateway; if it is, look at who listens there: sudo ss -xlp",
    );
  }

  #notRunning(): OperatorError {
    return new OperatorError(
      `no gateway is running on ${this.#directory}`,
      "start one with lintel run, or name the right one with --config FILE or --data DIR",
    );
  }
}

/** A box that is besieged answers late, and late is better than not. */
const answer_max_ms = 30_000;
/** Routers that are off cost some ten seconds each. */
const scan_max_ms = 15 * 60_000;
