import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningServer, Site } from "../../testbed/front-door.ts";

const boxProgram = join(import.meta.dir, "../cli/marked-box.ts");

/** A central server and the gateways of two homes, 12 and 13, with marks in all that they record. */
export class MarkedHomes implements AsyncDisposable {
  readonly site = new Site();
  readonly #boxes = new Site({ program: [process.execPath, boxProgram] });
  /** The words that name central's store. */
  readonly store: readonly string[];
  #central: RunningServer | undefined;
  #tokens = 0;

  /** @param database URL of a PostgreSQL; absent: central is on SQLite */
  constructor(database?: string) {
    this.store = database === undefined ? ["--data", this.at("central")] : ["--database", database];
  }

  at(...names: string[]): string {
    return join(this.site.directory, ...names);
  }

  get central(): RunningServer {
    if (this.#central === undefined) throw new Error("central does not run");
    return this.#central;
  }

  async start(): Promise<void> {
    this.#central = await this.site.central(...this.store);
    for (const home of [12, 13]) {
      writeFileSync(this.at(`token-${home}`), await this.token("--scope", "sync", "--home", String(home)), {
        mode: 0o600,
      });
      this.configure(home);
    }
  }

  async stop(): Promise<void> {
    await this.central.stop();
  }

  /** Starts central again, on the port that it gets then. */
  async startAgain(): Promise<void> {
    this.#central = await this.site.central(...this.store);
    for (const home of [12, 13]) this.configure(home);
  }

  configure(home: number): void {
    const of = `[home]\nid = ${home}\ntimezone = "UTC"\n[upload]\nurl = "${this.central.origin}"\ntoken_file = "${this.at(`token-${home}`)}"`;
    writeFileSync(this.config(home), `data = "${this.data(home)}"\n[api]\nlisten = "127.0.0.1:0"\n${of}\n`);
  }

  data(home: number): string {
    return this.at(`box-${home}`);
  }

  config(home: number): string {
    return this.at(`box-${home}.toml`);
  }

  async token(...words: string[]): Promise<string> {
    this.#tokens += 1;
    return (await this.run("token", "create", `test-${this.#tokens}`, "--json", ...this.store, ...words))
      .token;
  }

  /** Runs a box that takes in so many readings from a minute of the past day on, and pulls its plug. */
  async live(home: number, mark: string, count: number, minutes = 0): Promise<void> {
    const words = [home, mark, count, minutes].map(String);
    const box = this.#boxes.spawn([this.data(home), ...words]);
    if ((await box.line()) !== "done") throw new Error(`the box failed: ${await box.said()}`);
    box.kill("SIGKILL");
    await box.exited;
  }

  /** Runs a command to its good end: the JSON that it printed. */
  async run(...words: string[]) {
    const { code, out, said } = await this.site.lintel(...words);
    if (code !== 0) throw new Error(`lintel ${words[0]} ended with ${code}: ${said}`);
    return words.includes("--json") ? JSON.parse(out) : said;
  }

  upload(home: number, command = "upload") {
    return this.run(command, "--config", this.config(home), "--json");
  }

  async import(document: object): Promise<void> {
    writeFileSync(this.at("programme.json"), JSON.stringify(document));
    await this.run("import", this.at("programme.json"), ...this.store);
  }

  /** All bytes that central serves: a download of everything, and every record, list, history and home record by itself. */
  async served(): Promise<string> {
    const token = await this.token("--scope", "admin");
    writeFileSync(this.at("read-token"), token, { mode: 0o600 });
    const files = this.at(`files-${this.#tokens}`);
    const from = ["--url", this.central.origin, "--token-file", this.at("read-token")];
    await this.run("fetch", ...from, "--output", files, "--format", "ndjson", "--identifiers");
    const lines = readdirSync(files).filter((name) => name.endsWith(".ndjson"));
    const texts = lines.map((name) => readFileSync(join(files, name), "utf8"));
    const ask = async (path: string, bearer: string) => {
      const accept = "application/json, application/vnd.lintel.batch";
      const answer = await fetch(path, { headers: { authorization: `bearer ${bearer}`, accept } });
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const isBatch = answer.headers.get("content-type")?.includes("batch") === true;
      texts.push(new TextDecoder().decode(isBatch ? Bun.zstdDecompressSync(bytes) : bytes));
    };
    const lists = ["homes/", "subjects/", "issues/", "inventory/pillboxes", "inventory/wirelesssensors"];
    const ofOne = [
      "homes/12",
      "homes/12/inventory/",
      "subjects/7",
      "subjects/7/comments/",
      "subjects/7/alerts/",
    ];
    for (const path of [...lists, ...ofOne]) await ask(`${this.central.url}/${path}`, token);
    for (const home of [12, 13])
      for (const path of ["roster", "history?from=0", "backups"])
        await ask(
          `${this.central.origin}/sync/v1/${path}`,
          readFileSync(this.at(`token-${home}`), "utf8").trim(),
        );
    return texts.join("\n");
  }

  /** All bytes of the files of a directory and those below it. */
  bytesIn(...names: string[]): string {
    const directory = this.at(...names);
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
  }

  copy(from: string, to: string): void {
    mkdirSync(to, { recursive: true });
    cpSync(from, to, { recursive: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#boxes.remove();
    await this.site.remove();
  }
}

/** How often each of these marks is in a text. */
export function marksIn<Mark extends string>(text: string, ...marks: readonly Mark[]): Record<Mark, number> {
  return Object.fromEntries(marks.map((mark) => [mark, text.split(mark).length - 1])) as Record<Mark, number>;
}
