import { createInterface, type Interface } from "node:readline";
import { OperatorError } from "../../base/errors.ts";
import type { Terminal } from "../terminal.ts";

/** An answer that cannot be used, and why: the question is asked again. */
export interface Unusable {
  readonly why: string;
}

/** Asks the person at the terminal, a question at a time. */
export class Asker {
  readonly #terminal: Terminal;
  readonly #lines: Interface;
  readonly #next: AsyncIterator<string>;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#lines = createInterface({ input: process.stdin });
    this.#next = this.#lines[Symbol.asyncIterator]();
  }

  /**
   * The answer to a question, as `read` makes it of the text; asked again where that says why it cannot.
   *
   * @param options.usual the answer that Enter alone gives
   * @param options.hidden what is typed is not shown
   * @throws OperatorError where the answers end, or `tries_max` were of no use
   */
  async ask<Answer>(
    question: string,
    read: (text: string) => Answer,
    options: { readonly usual?: string | undefined; readonly hidden?: true } = {},
  ): Promise<Exclude<Answer, Unusable>> {
    const { usual, hidden } = options;
    const { bold, dim, yellow } = this.#terminal.colours;
    for (let tries = 0; tries < tries_max; tries++) {
      const asked = `${bold(question)}${usual === undefined ? "" : ` ${dim(`[${usual}]`)}`}`;
      const text = (await this.#line(asked, hidden === true)) || usual || "";
      const answer = read(text);
      if (!isUnusable(answer)) return answer as Exclude<Answer, Unusable>;
      this.#terminal.print(yellow(`  ${answer.why}`));
    }
    throw new OperatorError(`no answer to "${question}"`, "nothing was changed: run this again");
  }

  /** Whether somebody says yes. */
  yes(question: string, usual: "yes" | "no"): Promise<boolean> {
    const read = (text: string) => {
      if (/^y(es)?$/i.test(text)) return true;
      return /^no?$/i.test(text) ? false : { why: "yes or no" };
    };
    return this.ask(question, read, { usual });
  }

  close(): void {
    this.#lines.close();
  }

  async #line(question: string, hidden: boolean): Promise<string> {
    // Before the question: who sees it may answer at once, and the terminal shows what it gets until then.
    const shown = hidden ? hideTyping() : () => {};
    try {
      this.#terminal.print(question);
      this.#terminal.progress("> ");
      const { value, done } = await this.#next.next();
      if (done === true) throw new OperatorError("the answers ended", "nothing was changed: run this again");
      return value.trim();
    } finally {
      shown();
      this.#terminal.progress("");
    }
  }
}

function isUnusable(answer: unknown): answer is Unusable {
  return typeof answer === "object" && answer !== null && "why" in answer;
}

/** Has the terminal show nothing of what is typed. Answers how it does again. */
function hideTyping(): () => void {
  const stty = (word: string) => Bun.spawnSync(["stty", word], { stdin: "inherit", stderr: "ignore" });
  const interrupted = () => {
    stty("echo");
    process.exit(exit_interrupted);
  };
  stty("-echo");
  process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
  return () => {
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    stty("echo");
  };
}

const tries_max = 20;
const exit_interrupted = 130;
