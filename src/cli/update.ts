import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { messageOf, OperatorError } from "../base/errors.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import {
  type Config,
  defaultConfigFiles,
  findConfig,
  loadParts,
  type UpdateTarget,
} from "../config/gateway-config.ts";
import { linkedFolder, ownRelease, releaseIn } from "../gateway/update/releases.ts";
import { ringOf, updateWanted } from "../gateway/update/remote-ring.ts";
import { Judge } from "../gateway/update/trial-judge.ts";
import { confirmedRelease, readState, type UpdateState } from "../gateway/update/update-state.ts";
import { systemdService, UpdatedData } from "../gateway/update/updated-home.ts";
import { type Updated, update } from "../gateway/update/updater.ts";
import { centralCertificates } from "../gateway/uploader/uploader.ts";
import { takeLock, updatePost } from "../store/sqlite/data-directory.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { serverLog } from "./serving.ts";
import { momentText } from "./terminal-text.ts";

/** `lintel update`: the newest release, tried out, and the one before again where it does not do its work. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel update --status": "what runs, what is being tried, and what was refused and why",
      "sudo lintel update": "now, instead of waiting for the night",
    },
    notes: [
      "[update] manifest says where releases are, and ring who gets them first; lintel-update.timer starts this each night.",
      "A release that does not serve, hear and upload as the one before did goes back by itself: docs/updates.md.",
    ],
    exits: {
      0: "the box has the newest release that is for it, or waits for a quiet moment, or shows its state",
      1: "a release was refused, or went back: central is told why",
    },
  });
  command
    .option("--config <file>", `the gateway's configuration (default: ${defaultConfigFiles.join(", then ")})`)
    .option("--status", "show the state, and change nothing")
    .addOption(
      new Option(
        "--prove <dir>",
        "fetch and unpack the package of this release into a directory, as a trial asks for",
      ).hideHelp(),
    )
    .addOption(
      new Option("--stand-in", "this release's updater works in place of the confirmed one's").hideHelp(),
    )
    .option("--json", "print the result, or the state, as JSON")
    .action((options: UpdateCommandOptions) => (options.status ? show : run)(options, context));
}

interface UpdateCommandOptions {
  readonly config?: string;
  readonly status?: boolean;
  readonly prove?: string;
  readonly standIn?: boolean;
  readonly json?: boolean;
}

async function run(options: UpdateCommandOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { file, api, data, upload, target: configured } = settingsOf(options);
  const proving = options.prove !== undefined;
  const target = { ...configured, ...(options.prove !== undefined && { directory: options.prove }) };
  // A list of releases ends at a time, and a clock that somebody has set to another year must not judge it.
  const clock = new GuardedClock({ clock: context.clock, directory: data });
  const own = ownRelease();
  if (own === undefined)
    throw new OperatorError(
      "lintel update needs an installed package, and this is a checkout",
      "install the package, as docs/install.md says, or update the checkout by git",
    );
  mkdirSync(target.directory, { recursive: true, mode: 0o755 });
  const confirmed = confirmedRelease(target.directory);
  if (confirmed !== undefined && confirmed.path !== own.path && !options.standIn)
    return startedBy(confirmed.launcher, context);
  const log = serverLog(context, "info");
  const lock = takeLock(target.directory, updatePost);
  rmSync(join(data, updateWanted), { force: true });
  try {
    const service = systemdService();
    const known =
      upload === undefined || !sameHost(upload.url, target.manifest)
        ? undefined
        : centralCertificates({ data, target: upload }, log);
    const updated = await update({
      target,
      own: confirmed ?? own,
      source: {
        manifest: target.manifest,
        certificate: known && `${known.inUse}\n${known.next ?? ""}`,
        clock,
        stop: new AbortController().signal,
      },
      service,
      judge: new Judge({ service, data, clock, api }),
      data: new UpdatedData({ data, config: file, copy: join(target.directory, "copy") }),
      uploads: upload !== undefined && !proving,
      config: file,
      proving,
      clock,
      log,
      pause: (ms) => new Promise((resume) => clock.after(ms, resume)),
    });
    if (options.json) terminal.printJson(updated);
    else terminal.print(`${updated.message}.`);
    if (failures.includes(updated.result)) context.exitWith(1);
  } finally {
    lock.release();
  }
}

const failures: readonly Updated["result"][] = ["refused", "went_back"];

/** The release that is being tried judges nothing: the confirmed one does. */
async function startedBy(launcher: string, context: CommandContext): Promise<void> {
  const words = [launcher, ...process.argv.slice(2)];
  const child = Bun.spawn(words, { stdio: ["inherit", "inherit", "inherit"] });
  context.exitWith(await child.exited);
}

function settingsOf(options: UpdateCommandOptions): {
  file: string;
  api: Config["api"];
  data: string;
  upload: Config["upload"];
  target: UpdateTarget;
} {
  const file = options.config ?? findConfig();
  if (file === undefined)
    throw new OperatorError(
      `there is no configuration: neither ${defaultConfigFiles.join(" nor ")} exists`,
      "name one with --config FILE",
    );
  const { api, data, upload, update: target } = loadParts(file, "api", "data", "upload", "update");
  if (target === undefined)
    throw new OperatorError(
      `${file} has no section [update]`,
      'add one with manifest = "https://…/releases" if this box should update itself',
    );
  return { file: resolve(file), api, data, upload, target: { ...target, ring: ringOf(data, target.ring) } };
}

const sameHost = (one: string, other: string) => URL.parse(one)?.host === URL.parse(other)?.host;

async function show(options: UpdateCommandOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { target } = settingsOf(options);
  const state = readState(target.directory);
  const running = releaseIn(linkedFolder(target.directory, "current") ?? ownRelease()?.path ?? "");
  const [{ ring, directory }, { previous: _, ...rest }] = [target, state];
  const confirmed = confirmedRelease(directory)?.version;
  if (options.json) terminal.printJson({ running: running?.version ?? null, ...rest, ring, confirmed });
  else for (const line of linesOf(state, running?.version, target)) terminal.print(line);
}

function linesOf(state: UpdateState, running: string | undefined, target: UpdateTarget): string[] {
  const { trial, waiting, looked_ms, refusals } = state;
  const lines = [`Lintel ${running ?? "of a checkout"} runs, in ring ${target.ring}.`];
  if (trial?.phase === "trial") lines.push(`${trial.version} is being tried.`);
  if (trial?.phase === "days")
    lines.push(`${trial.version} has passed its trial, and is watched for some days.`);
  if (trial?.phase === "back") lines.push(`${trial.version} is being taken back: ${trial.refusal?.message}.`);
  if (waiting !== undefined) lines.push(`${waiting.version} waits: ${messageOf(waiting.message)}.`);
  lines.push(
    looked_ms === undefined
      ? `${target.manifest} has not been read yet.`
      : `${target.manifest} was read last at ${momentText(looked_ms)}.`,
  );
  for (const { version, message, at_ms, times } of refusals)
    lines.push(
      `${momentText(at_ms)}  ${version ?? "the list"} was refused${times > 1 ? ` (${times} times)` : ""}: ${message}`,
    );
  return lines;
}
