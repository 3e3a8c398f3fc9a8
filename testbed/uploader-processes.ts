import type { CentralPlace } from "../src/cli/store-place.ts";
import { LintelProcess, lintel } from "./front-door.ts";

/** Starts `lintel` with these words and returns at once. */
export function spawnLintel(words: readonly string[], directory: string): LintelProcess {
  return new LintelProcess(
    Bun.spawn([lintel, ...words], {
      cwd: directory,
      env: { PATH: "/usr/bin:/bin", HOME: directory },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    }),
  );
}

/** `lintel central` as a process that can be killed, and comes back at the same port with the same data. */
export class CentralProcess {
  readonly #place: CentralPlace;
  readonly #directory: string;
  readonly #words: readonly string[];
  #process: LintelProcess;
  port: number;

  private constructor(
    place: CentralPlace,
    directory: string,
    words: readonly string[],
    { process, port }: { process: LintelProcess; port: number },
  ) {
    this.#place = place;
    this.#directory = directory;
    this.#words = words;
    this.#process = process;
    this.port = port;
  }

  /** Resolves once it serves. `words` are options besides those of the place. */
  static async start(
    place: CentralPlace,
    directory: string,
    words: readonly string[] = [],
  ): Promise<CentralProcess> {
    return new CentralProcess(place, directory, words, await started(place, directory, 0, words));
  }

  /** A sync token for a home. */
  async token(home: number): Promise<string> {
    const words = ["token", "create", `home-${home}`, "--scope", "sync", "--home", String(home), "--json"];
    const process = spawnLintel([...words, ...storeWords(this.#place)], this.#directory);
    const [out, said] = await Promise.all([process.rest(), process.said()]);
    if (out === "") throw new Error(`no token: ${said}`);
    return JSON.parse(out).token;
  }

  /** As a power cut would, and then it is on again. */
  async restart(): Promise<void> {
    await this.kill();
    this.#process = (await started(this.#place, this.#directory, this.port, this.#words)).process;
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    const code = await this.#process.exited;
    if (code !== 0) throw new Error(`central ended with ${code}: ${await this.#process.said()}`);
  }
}

async function started(
  place: CentralPlace,
  directory: string,
  port: number,
  more: readonly string[],
): Promise<{ process: LintelProcess; port: number }> {
  const words = ["central", "--listen", "127.0.0.1", "--port", String(port), "--json"];
  const process = spawnLintel([...words, ...more, ...storeWords(place)], directory);
  const line = await process.line();
  if (line === undefined) throw new Error(`central did not start: ${await process.said()}`);
  return { process, port: Number(new URL(JSON.parse(line).url).port) };
}

function storeWords(place: CentralPlace): string[] {
  return "directory" in place ? ["--data", place.directory] : ["--database", place.database];
}
