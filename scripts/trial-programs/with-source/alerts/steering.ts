import { join } from "node:path";
import { linesOf } from "../../../../testbed/lines.ts";
import type { WebhookReceiver } from "../../../../testbed/webhook-receiver.ts";

/** A central in a process of its own, whose time this one lets pass, and which may be killed. */
export class SteeredCentral {
  readonly #options: { readonly words: readonly string[]; readonly silences: readonly WebhookReceiver[] };
  #child!: ReturnType<typeof startChild>;
  #lines!: AsyncGenerator<string>;
  #origin = "";

  constructor(options: { words: readonly string[]; silences: readonly WebhookReceiver[] }) {
    this.#options = options;
  }

  get port(): string {
    return new URL(this.#origin).port;
  }

  async start(now_ms: number): Promise<void> {
    this.#child = startChild([String(now_ms), ...this.#options.words, "--json"]);
    this.#lines = linesOf(this.#child.stdout);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error("central does not start");
      if (!value.startsWith("{")) continue;
      this.#origin = new URL((JSON.parse(value) as { url: string }).url).origin;
      break;
    }
    await this.pass(0);
  }

  /**
   * Lets time pass until all that it began is done, or kills central at a moment before that; with a moment, also once a webhook keeps silent.
   *
   * @returns how much more has passed, because a webhook kept silent
   */
  async pass(by_ms: number, moment?: Promise<void>): Promise<number | "killed"> {
    let more_ms = 0;
    let settled: Promise<unknown> = this.#tell(by_ms);
    for (;;) {
      const silences = this.#options.silences.map((one) => one.silent());
      const stirred = Promise.race([...silences, ...(moment === undefined ? [] : [moment])]);
      if ((await Promise.race([settled, stirred.then(() => "stirred")])) !== "stirred") return more_ms;
      if (moment !== undefined) {
        await this.kill();
        return "killed";
      }
      more_ms += call_max_ms;
      const before = settled;
      settled = this.#tell(call_max_ms).then(() => before);
    }
  }

  /** The status of the answer; undefined where there was none. */
  async post(path: string, body: BodyInit, headers: Record<string, string>): Promise<number | undefined> {
    try {
      const answer = await fetch(this.#origin + path, { method: "POST", body, headers, redirect: "manual" });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return undefined;
    }
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  async #tell(by_ms: number): Promise<void> {
    this.#child.stdin.write(`${by_ms}\n`);
    await this.#lines.next();
  }
}

function startChild(words: readonly string[]) {
  const program = join(import.meta.dir, "steered-central.ts");
  return Bun.spawn([process.execPath, program, ...words], {
    ...{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  });
}

/** A webhook that does not answer is left after so long. */
const call_max_ms = 20_000;
