import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readIfThere, readPlainFile } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { StoppedRelease } from "../../domain/fleet-home.ts";
import { databaseBytes, databasePath, restoringPath } from "../../store/sqlite/connection.ts";

/**
 * The data of the home. They are their owner's, the user of the service, whatever user the updater is: it touches them only by
 * commands of a release that it starts as that user.
 */
export class UpdatedData {
  readonly #data: string;
  readonly #config: string;
  readonly #copy: string;

  /** @param options.copy a directory for a copy of the data */
  constructor(options: { data: string; config: string; copy: string }) {
    this.#data = options.data;
    this.#config = options.config;
    this.#copy = options.copy;
  }

  /** Bytes that a copy takes, about. */
  get bytes(): number {
    return databaseBytes(databasePath(this.#data));
  }

  /** Bytes of all its files: of those that are there while it counts. */
  async bytesOfFiles(): Promise<number> {
    const { out } = await ran(["du", "--summarize", "--block-size=1", "--one-file-system", "--", this.#data]);
    return Number.parseInt(out, 10) || 0;
  }

  /** Whether somebody uploads now. */
  get uploading(): boolean {
    const pid = readPlainFile(join(this.#data, "upload.pid"), pid_bytes_max)?.trim() ?? "";
    if (!/^\d+$/.test(pid)) return false;
    // A power cut leaves the file, and another process may have the number since.
    return (readIfThere(`/proc/${pid}/cmdline`) ?? "").split("\0").includes("upload");
  }

  /** Copies the data while the gateway runs; only their owner may read the copy. */
  async copy(launcher: string): Promise<void> {
    this.dropCopy();
    mkdirSync(this.#copy, { mode: 0o700 });
    const { uid, gid } = statSync(this.#data);
    if (uid !== process.getuid?.()) await run(["chown", `${uid}:${gid}`, this.#copy]);
    await this.command(launcher, "backup", this.#copy, "--data", this.#data);
  }

  /** Adds to the copy the readings that came since; the gateway has been stopped. */
  async addToCopy(launcher: string): Promise<void> {
    await this.command(launcher, "backup", this.#copy, "--add", "--data", this.#data);
  }

  /** Erases in the copy what was erased in the data since it was made, and what lies in pauses that came, as the release that runs lists it. @throws CommandFailed */
  async eraseInCopy(running: string, launcher: string): Promise<void> {
    const listed = await this.command(running, "erase", "--list", "--pauses", "--json", "--data", this.#data);
    if (listed.trim() === "[]") return;
    writeFileSync(this.#erasures, listed, { mode: 0o644 });
    await this.command(launcher, "backup", this.#copy, "--erase-again", this.#erasures);
    rmSync(this.#erasures);
  }

  dropCopy(): void {
    rmSync(this.#copy, { recursive: true, force: true });
    rmSync(this.#erasures, { force: true });
  }

  /** For the owner of the data to read. */
  get #erasures(): string {
    return `${this.#copy}-erasures.json`;
  }

  /**
   * Makes the data what they were before the switch, as far as they are not: see `lintel restore --take-over`. Nothing where there is no
   * copy. Answers a line for people where something was put back.
   */
  async putBack(launcher: string): Promise<string | undefined> {
    if (!existsSync(this.#copy)) return undefined;
    const words = ["restore", this.#copy, "--data", this.#data, "--replace", "--take-over", "--json"];
    const { kept, taken_over, lost, set_aside } = JSON.parse(await this.command(launcher, ...words));
    if (kept) return undefined;
    // All that is in it is in the place where it belongs.
    if (lost === 0 && typeof set_aside === "string") await this.#clearAway(set_aside);
    const readings = taken_over === 1 ? "1 reading" : `${taken_over} readings`;
    return `the data were put back, with ${readings} that came since${lost > 0 ? `; ${lost} could not be read` : ""}`;
  }

  /** Removes a directory of the data. What a power cut leaves of it is where the next restore takes it away. */
  async #clearAway(directory: string): Promise<void> {
    const left = restoringPath(this.#data);
    await this.#asOwner(["mv", "-T", "--", directory, left]);
    await this.#asOwner(["rm", "-rf", "--", left]);
  }

  /** Uploads, by a release: the releases that central has stopped. @throws CommandFailed */
  async upload(launcher: string): Promise<readonly StoppedRelease[]> {
    const found = parseIfWhole(await this.command(launcher, "upload", "--config", this.#config, "--json"));
    return Value.Check(UploadedWords, found) ? found.stopped : [];
  }

  /** The number up to which central holds the readings of an epoch, as a release asks it. @throws CommandFailed */
  async heldAtCentral(launcher: string, epoch: string): Promise<number> {
    const words = ["upload", "--held", epoch, "--config", this.#config, "--json"];
    return JSON.parse(await this.command(launcher, ...words)).held_seq;
  }

  /**
   * Has a release upload, and another one ask central whether it holds what this box had before. Where nobody can ask, that is no fault of the upload.
   *
   * @throws CommandFailed, and of these NothingUploaded
   */
  async uploadTruly(launcher: string, asker: string, had: { epoch: string; seq: number }): Promise<void> {
    await this.upload(launcher);
    const held_seq = await this.heldAtCentral(asker, had.epoch).catch((thrown: unknown) => {
      throw new CommandFailed(messageOf(thrown), true);
    });
    if (held_seq < had.seq)
      throw new NothingUploaded(
        `its upload ends as if all were well, and central holds its readings up to ${held_seq} of ${had.seq}`,
        false,
      );
  }

  /** A token that reads for two days: its id and its text. */
  async makeToken(launcher: string): Promise<string> {
    const words = ["token", "create", "lintel-update", "--expires", "2d", "--json", "--data", this.#data];
    return JSON.parse(await this.command(launcher, ...words)).token;
  }

  async revokeToken(launcher: string, token: string): Promise<void> {
    await this.command(launcher, "token", "revoke", token.split(".")[0] ?? "", "--data", this.#data);
  }

  /** Runs a command of a release as the owner of the data: what it printed. */
  command(launcher: string, ...words: string[]): Promise<string> {
    return this.#asOwner([launcher, ...words]);
  }

  #asOwner(words: readonly string[]): Promise<string> {
    const { uid, gid } = statSync(this.#data);
    const own = uid === process.getuid?.();
    const owner = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs", "--"];
    return run([...(own ? [] : owner), ...words]);
  }
}

/** The output of `lintel upload --json`. */
const UploadedWords = Type.Object({ stopped: Type.Array(StoppedRelease) });

/** Digits of a process, and the end of the line. */
const pid_bytes_max = 32;

async function run(words: readonly string[]): Promise<string> {
  const { code, out, said } = await ran(words);
  if (code === 0) return out;
  const last = messageOf(
    said
      .trim()
      .split("\n")
      .at(-1)
      ?.replace(/^lintel: /, "") ?? "",
  );
  throw new CommandFailed(last || `${words[0]} ended with ${code}`, code === 1 && !/^unexpected/.test(last));
}

/** Runs a program to its end, or for so long: its exit code, what it printed, and what it said on standard error. */
export async function ran(
  words: readonly string[],
  { ms_max }: { ms_max?: number } = {},
): Promise<{ code: number; out: string; said: string }> {
  const child = Bun.spawn([...words], {
    cwd: "/",
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(ms_max !== undefined && { timeout: ms_max, killSignal: "SIGKILL" }),
  });
  const [out, said, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, said };
}

/** A command that has failed: its last line. */
export class CommandFailed extends Error {
  /** @param later whether it may go better by itself, as where central cannot be reached */
  constructor(
    message: string,
    readonly later: boolean,
  ) {
    super(message);
  }
}

/** An upload has ended without an error, and central lacks what it had to send. */
export class NothingUploaded extends CommandFailed {}

/** The service of the gateway, under a service manager that starts it at boot and after each end. */
export interface Service {
  /** How it is. */
  state(): Promise<ServiceState>;
  /** Starts it, and does not wait until it serves. */
  start(): Promise<void>;
  /** It has ended when this resolves. */
  stop(): Promise<void>;
}

interface ServiceState {
  /** It has said that it serves. */
  readonly serving: boolean;
  /** It was given up. */
  readonly failed: boolean;
  /** How many times it has ended by itself, or was ended because its watchdog was silent, since it was last started on purpose. */
  readonly restarts: number;
}

/** A service of systemd. */
export function systemdService(unit = "lintel.service"): Service {
  const systemctl = async (...words: string[]) => {
    const { code, out, said } = await ran(["systemctl", ...words]);
    if (code === 0) return out;
    throw new OperatorError(
      `systemctl ${words[0]} ${unit} failed (${said.trim() || `exit ${code}`})`,
      `see systemctl status ${unit}`,
    );
  };
  return {
    async state() {
      const out = await systemctl("show", unit, "--property=ActiveState,NRestarts");
      const facts = new Map(out.split("\n").map((line) => line.split("=") as [string, string]));
      const active = facts.get("ActiveState");
      return {
        serving: active === "active",
        failed: active === "failed",
        restarts: Number(facts.get("NRestarts") ?? 0),
      };
    },
    start: async () => void (await systemctl("start", "--no-block", unit)),
    stop: async () => void (await systemctl("stop", unit)),
  };
}
