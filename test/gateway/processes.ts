import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";

const main = join(import.meta.dir, "../../src/main.ts");

/** A data directory and a configuration for real processes, removed at the end. */
export class Site {
  readonly directory = mkdtempSync(join(tmpdir(), "lintel-site-"));
  readonly data = join(this.directory, "data");
  readonly config = join(this.directory, "lintel.toml");
  readonly #processes: Subprocess[] = [];

  /** @param program what starts `lintel`; the source itself unless said */
  constructor(readonly program: readonly string[] = [globalThis.process.execPath, main]) {}

  /** Writes the configuration: the data directory, a free port, and what is given. */
  configure(options: { listen?: string; api?: string; sections?: string; data?: string } = {}): void {
    const { listen = "127.0.0.1:0", api = "", sections = "", data = this.data } = options;
    writeFileSync(this.config, `data = "${data}"\n[api]\nlisten = "${listen}"\n${api}\n${sections}\n`);
  }

  /** Starts `lintel run` and waits until it serves. */
  async run(env: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
    const process = this.spawn(["run", "--config", this.config, "--json"], env);
    const line = await process.line();
    if (line === undefined) throw new Error(`the gateway did not start: ${await process.said()}`);
    return new RunningGateway(process, JSON.parse(line));
  }

  /** Starts `lintel` with these words and returns at once. */
  spawn(words: readonly string[], env: Readonly<Record<string, string>> = {}): LintelProcess {
    const child = Bun.spawn([...this.program, ...words], {
      cwd: this.directory,
      env: { ...globalThis.process.env, NO_COLOR: "1", ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#processes.push(child);
    return new LintelProcess(child);
  }

  /** Runs `lintel` with these words to its end. */
  async lintel(...words: string[]): Promise<{ code: number; out: string; said: string }> {
    const process = this.spawn(words);
    const [out, said, code] = await Promise.all([process.rest(), process.said(), process.exited]);
    return { code, out, said };
  }

  /** The text of a new read token. */
  async token(...words: string[]): Promise<string> {
    const { out, said } = await this.lintel(
      "token",
      "create",
      "test",
      "--json",
      "--data",
      this.data,
      ...words,
    );
    if (out === "") throw new Error(`no token: ${said}`);
    return JSON.parse(out).token;
  }

  async remove(): Promise<void> {
    for (const process of this.#processes) process.kill("SIGKILL");
    await Promise.all(this.#processes.map((process) => process.exited));
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A child process whose standard output is read line by line. */
export class LintelProcess {
  readonly #child: Subprocess<"ignore", "pipe", "pipe">;
  readonly #lines: AsyncGenerator<string>;
  readonly #said: Promise<string>;

  constructor(child: Subprocess<"ignore", "pipe", "pipe">) {
    this.#child = child;
    this.#lines = linesOf(child.stdout);
    this.#said = new Response(child.stderr).text();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get exited(): Promise<number> {
    return this.#child.exited;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The next line of standard output; undefined once there is no more. */
  async line(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next();
    return done ? undefined : value;
  }

  /** Whatever else comes on standard output. */
  async rest(): Promise<string> {
    const lines: string[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) lines.push(line);
    return lines.join("\n");
  }

  /** All of standard error; waits for the end. */
  said(): Promise<string> {
    return this.#said;
  }
}

/** A gateway that serves. */
export class RunningGateway {
  readonly url: string;

  constructor(
    readonly process: LintelProcess,
    readonly ready: { readonly url: string; readonly dashboard: string },
  ) {
    this.url = ready.url;
  }

  /** Asks the API; the path begins after the version. */
  get(path: string, token: string): Promise<Response> {
    return fetch(path.startsWith("http") ? path : this.url + path, {
      headers: { authorization: `bearer ${token}`, accept: "application/json" },
    });
  }

  /** Events of an item, newest first, from as many pages as there are. */
  async events(item: string, token: string): Promise<{ stamp: number; event: number }[]> {
    const events: { stamp: number; event: number }[] = [];
    let path: string | undefined = `/items/wirelesssensors/${item}/events`;
    while (path !== undefined) {
      const response: Response = await this.get(path, token);
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      events.push(...((await response.json()) as typeof events));
      const next: string | undefined = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      path = next === undefined ? undefined : new URL(next, response.url).href;
    }
    return events;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
    this.process.kill(signal);
    return await this.process.exited;
  }
}

/** Asks again and again, `tries_max` times at most, until there is an answer. */
export async function eventually<Answer>(
  ask: () => Promise<Answer | undefined> | Answer | undefined,
  what: string,
  { tries_max = 600, pause_ms = 25 } = {},
): Promise<Answer> {
  for (let tries = 0; tries < tries_max; tries++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await Bun.sleep(pause_ms);
  }
  throw new Error(`it never came: ${what}`);
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
