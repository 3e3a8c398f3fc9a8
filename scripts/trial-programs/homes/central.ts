import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningServer, Site } from "../../../testbed/front-door.ts";

/** Where central keeps what it has: on SQLite in a directory, or in a database. */
export type Kept = "sqlite" | "postgres";

/** Somebody who asks central. */
export interface Caller {
  readonly token: string;
  /** The homes that a read token is bound to; absent: it may see everything. */
  readonly homes?: ReadonlySet<number>;
}

export interface CallOptions {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | object;
}

/** Central as people start it, in a directory of its own, with the commands beside it. */
export class TriedCentral implements AsyncDisposable {
  readonly #site: Site;
  readonly #server: RunningServer;
  readonly #words: readonly string[];
  readonly #database: AsyncDisposable | undefined;
  #documents = 0;
  /** Requests that were answered, and those that were sent away until later. */
  calls = 0;
  later = 0;
  /** Connections that were closed before an answer came: the request was made again. */
  cut = 0;

  private constructor(of: {
    site: Site;
    server: RunningServer;
    words: readonly string[];
    database: AsyncDisposable | undefined;
  }) {
    this.#site = of.site;
    this.#server = of.server;
    this.#words = of.words;
    this.#database = of.database;
  }

  static async start(kept: Kept): Promise<TriedCentral> {
    const site = new Site();
    let database: ({ url: string } & AsyncDisposable) | undefined;
    if (kept === "postgres") {
      const { postgresServer } = await import("../../../testbed/postgres/server.ts");
      database = await (await postgresServer()).database();
    }
    const words =
      database === undefined ? ["--data", join(site.directory, "central")] : ["--database", database.url];
    const server = await site.central(...words);
    // Nothing is left where the trial is ended from outside.
    process.once("exit", () => {
      server.process.kill("SIGKILL");
      rmSync(site.directory, { recursive: true, force: true });
    });
    return new TriedCentral({ site, server, words, database });
  }

  /** A new token; undefined where there is no such token. */
  async token(...words: readonly string[]): Promise<string | undefined> {
    const { code, out } = await this.#site.lintel(
      "token",
      "create",
      "trial",
      "--json",
      ...words,
      ...this.#words,
    );
    return code === 0 ? JSON.parse(out).token : undefined;
  }

  /** Runs `lintel import` beside the server. */
  async import(document: object): Promise<void> {
    this.#documents += 1;
    const file = join(this.#site.directory, `programme-${this.#documents}.json`);
    writeFileSync(file, JSON.stringify(document));
    const { code, said } = await this.#site.lintel("import", file, ...this.#words);
    if (code !== 0) throw new Error(`lintel import ended with ${code}: ${said}`);
  }

  /** Asks, and comes back when it is told to. The path begins behind the port. */
  async call(
    path: string,
    { token }: Caller,
    { method = "GET", headers, body }: CallOptions = {},
  ): Promise<Answer> {
    const bytes = body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body);
    for (let tries = 0; tries < tries_max; tries += 1) {
      const response = await this.#ask(path, {
        method,
        headers: {
          authorization: `bearer ${token}`,
          accept: "application/json",
          "accept-encoding": "identity",
          ...(bytes !== undefined && typeof bytes === "string" ? { "content-type": "application/json" } : {}),
          ...headers,
        },
        ...(bytes === undefined ? {} : { body: bytes }),
      });
      // A server may close a connection that was idle just as it is used again; whatever is asked here may be asked twice.
      if (response === undefined) {
        this.cut += 1;
        continue;
      }
      const answered = new Uint8Array(await response.arrayBuffer());
      if (response.status === 429 || response.status === 503) {
        this.later += 1;
        await Bun.sleep(1000 * Number(response.headers.get("retry-after") ?? 1));
        continue;
      }
      this.calls += 1;
      return new Answer(path, response.status, response.headers, answered);
    }
    throw new Error(`${method} ${path}: central sends it away for ever`);
  }

  /** The answer; undefined where the connection was lost before it. */
  async #ask(path: string, request: RequestInit): Promise<Response | undefined> {
    try {
      return await fetch(this.#server.origin + path, request);
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown && thrown.code === "ECONNRESET") return undefined;
      throw thrown;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
    await this.#site.remove();
    await this.#database?.[Symbol.asyncDispose]();
  }
}

export class Answer {
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  #text: string | undefined;

  constructor(path: string, status: number, headers: Headers, bytes: Uint8Array) {
    this.path = path;
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }

  get text(): string {
    this.#text ??= new TextDecoder().decode(this.bytes);
    return this.#text;
  }

  /** The body of an answer that has one. */
  json<Body>(): Body {
    return JSON.parse(this.text);
  }

  /** The path of the next page. */
  get next(): string | undefined {
    const link = /<([^>]*)>; rel="next"/.exec(this.headers.get("link") ?? "")?.[1];
    if (link === undefined) return undefined;
    const { pathname, search } = new URL(link, "http://central");
    return pathname + search;
  }
}

const tries_max = 100;
