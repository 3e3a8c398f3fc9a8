import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Clock, clockQuality } from "../../base/clock.ts";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { UpdateTarget } from "../../config/gateway-config.ts";
import { downloadRelease, type ReleaseSource, readRepository, requireRoomFor } from "./release-repository.ts";
import {
  chooseRelease,
  type Link,
  linkedFolder,
  ownArchitecture,
  Refused,
  type Release,
  type ReleaseFolder,
  releaseIn,
  removeOthers,
  setLink,
  unpack,
} from "./releases.ts";
import type { Judge } from "./trial-judge.ts";
import {
  isRefused,
  readState,
  type Trial,
  type UpdateState,
  withRefusal,
  writeState,
} from "./update-state.ts";
import { CommandFailed, type Service, type UpdatedData } from "./updated-home.ts";

interface UpdaterOptions {
  readonly target: UpdateTarget;
  /** The release that this process is: the one that was confirmed, never a new one. */
  readonly own: ReleaseFolder;
  readonly source: ReleaseSource;
  readonly service: Service;
  readonly judge: Judge;
  readonly data: UpdatedData;
  /** Whether the gateway uploads to a central server. */
  readonly uploads: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly pause: (ms: number) => Promise<void>;
}

/** How a run of the updater ended, with a line for people. */
export interface Updated {
  readonly result: "newest" | "updated" | "went_back" | "refused" | "waiting" | "overruled";
  readonly message: string;
}

/**
 * Brings a gateway to the newest release that is for it, or goes on where a run before was cut off. All that lasts is in `state.json`, which
 * is written before what it says is done, and every step may be done again:
 *
 * - without a trial in it nothing has changed: the release is fetched, unpacked beside, and the data are copied;
 * - `trial`: `current` leads to the new release, or is about to. It is judged, and confirmed or sent back;
 * - `back`: `current` leads to the confirmed release again, the data become what they were, and the refusal is kept.
 */
export async function update(options: UpdaterOptions): Promise<Updated> {
  const run = new UpdateRun(options);
  const { trial } = run.state;
  const updated = await (trial === undefined ? run.begin() : run.goOn(trial)).catch((thrown: unknown) => {
    if (!(thrown instanceof CommandFailed)) throw thrown;
    throw new OperatorError(thrown.message, "the next run of the updater goes on from here", {
      cause: thrown,
    });
  });
  // Central hears of it tonight; where it cannot be reached, with the next upload.
  const { uploads, data, own, log } = options;
  if (uploads && (updated.result === "refused" || updated.result === "went_back"))
    await data.upload(own.launcher).catch((thrown: unknown) => log.warn(messageOf(thrown)));
  return updated;
}

class UpdateRun {
  readonly #options: UpdaterOptions;
  readonly #directory: string;
  state: UpdateState;

  constructor(options: UpdaterOptions) {
    this.#options = options;
    this.#directory = options.target.directory;
    mkdirSync(this.#directory, { recursive: true, mode: 0o755 });
    this.state = readState(this.#directory);
  }

  /** From the list of releases to the switch. */
  async begin(): Promise<Updated> {
    const { own, source, target, clock, log } = this.#options;
    await this.#requireConfirmed();
    this.#tidy();
    try {
      if (own.root === undefined)
        throw new Refused("signature", "the release that runs has no root of a programme's repository in it");
      if (clock.now().quality !== clockQuality.synchronised)
        return {
          result: "waiting",
          message: `a list of releases cannot be judged without the time: ${clock.cautions?.()[0] ?? "it is not known yet"}`,
        };
      const releases = await readRepository(source, { directory: this.#directory, root: own.root });
      this.#keep({ looked_ms: clock.now().unix_ms, ring: target.ring, confirmed: own.version });
      const release = chooseRelease(releases, {
        architecture: ownArchitecture,
        ring: target.ring,
        version: own.version,
        refused: (one) => isRefused(this.state, one),
      });
      if (release === undefined) {
        this.#keep({ waiting: undefined });
        return { result: "newest", message: `${own.version} is the newest release for this box` };
      }
      log.info(`there is ${release.version}, after ${own.version}`);
      await this.#obtain(release);
      return await this.#tryOut(release);
    } catch (thrown) {
      if (!(thrown instanceof Refused)) throw thrown;
      const { reason, message, release } = thrown;
      return this.#refuse({ ...releaseNames(release), reason, message: messageOf(message) });
    }
  }

  /** Nothing but a trial runs what was not confirmed: not where a state was lost either. */
  async #requireConfirmed(): Promise<void> {
    const { own, service, log } = this.#options;
    const confirmed = linkedFolder(this.#directory, "confirmed");
    // Without a link the package's own release runs.
    const running = linkedFolder(this.#directory, "current") ?? own.path;
    if (confirmed === undefined || confirmed === running) return;
    log.warn("the service runs a release that nobody has confirmed: going back");
    await setLink(this.#directory, "current", confirmed);
    await service.stop();
    await service.start();
  }

  /** Downloads and unpacks a release, unless a run before has. */
  async #obtain(release: Release): Promise<void> {
    const folder = releaseIn(join(this.#directory, release.version));
    const downloads = join(this.#directory, "download");
    if (folder !== undefined && this.state.waiting?.sha256 === release.sha256) return;
    await requireRoomFor(this.#directory, release, this.#options.data.bytes);
    const file = await downloadRelease(this.#options.source, release, downloads);
    await unpack(this.#directory, file, release);
    rmSync(downloads, { recursive: true, force: true });
  }

  /** Switches to a release that lies here, once that disturbs nobody. */
  async #tryOut(release: Release): Promise<Updated> {
    const { own, target, judge, data, uploads, log } = this.#options;
    const { version, sha256 } = release;
    const busy = await this.#quiet();
    if (busy !== undefined) return this.#wait(release, busy);
    if (uploads) {
      // What central has confirmed no release can lose. And what the release before cannot do is not asked of the new one.
      const failed = await data.upload(own.launcher).catch((thrown: unknown) => messageOf(thrown));
      if (failed !== undefined) return this.#wait(release, `an upload has to succeed before: ${failed}`);
    }
    const token = await data.makeToken(own.launcher);
    writeDurably(this.#tokenPath, token);
    const baseline = await judge.baseline({ token, uploads, trial_ms: target.trial_ms });
    if (baseline === undefined) return this.#wait(release, "the gateway does not run");
    await data.copy(own.launcher).catch((thrown: unknown) => {
      throw new Refused("disk", `the data cannot be copied: ${messageOf(thrown)}`, release);
    });
    if ((await judge.busy()) !== undefined) return this.#wait(release, "the box is busy again");
    // From here on it is known who is confirmed, also where the package's own release is.
    await setLink(this.#directory, "confirmed", own.path);
    const trial: Trial = { phase: "trial", version, sha256, spent_ms: 0, runs: 0, baseline };
    this.#keep({ trial, waiting: undefined });
    const { pages, heard } = baseline;
    const records = pages.reduce((sum, page) => sum + page.records.length, 0);
    log.info(
      `switching from ${own.version} to ${version}: ${records} records on ${pages.length} pages and ${heard.length} devices are looked for again`,
    );
    return this.goOn(trial);
  }

  /** From the switch to the end: `trial` is on disk. */
  async goOn(trial: Trial): Promise<Updated> {
    try {
      return await this.#decide(trial);
    } catch (thrown) {
      if (!(thrown instanceof Overruled)) throw thrown;
      this.#keep({ trial: undefined });
      this.#tidy();
      return { result: "overruled", message: `a package was installed during the trial of ${trial.version}` };
    }
  }

  /** @throws Overruled */
  async #decide(trial: Trial): Promise<Updated> {
    const confirmed = linkedFolder(this.#directory, "confirmed");
    const folder = join(this.#directory, trial.version);
    if (confirmed === undefined) throw new Overruled();
    if (confirmed === folder) return await this.#confirm(trial);
    if (trial.phase === "back") return await this.#goBack(trial);
    const refusal = await this.#trial(trial, folder);
    if (refusal === undefined) return await this.#confirm(this.state.trial ?? trial);
    const back: Trial = { ...(this.state.trial ?? trial), phase: "back", refusal };
    this.#keep({ trial: back });
    return await this.#goBack(back);
  }

  /** Has one link lead to a folder while the other is there. A package that is installed in that moment removes both. @throws Overruled */
  async #lead(link: Link, folder: string): Promise<void> {
    await setLink(this.#directory, link, folder);
    const other = link === "current" ? "confirmed" : "current";
    if (linkedFolder(this.#directory, other) !== undefined) return;
    rmSync(join(this.#directory, link), { force: true });
    throw new Overruled();
  }

  /** Starts the service on a new release, and watches it until it has shown everything: undefined then, or why it has to go. */
  async #trial(begun: Trial, folder: string): Promise<NonNullable<Trial["refusal"]> | undefined> {
    const { target, judge, service, clock, log } = this.#options;
    const { trial_ms } = target;
    const steady_ms = trial_ms / steady_part;
    const refusal = (reason: "went_back" | "unfinished" | "disk", message: string) => {
      const { version, sha256 } = begun;
      return { version, sha256, reason, message, at_ms: clock.now().unix_ms, times: 1 };
    };
    let trial = { ...begun, runs: begun.runs + 1 };
    if (trial.runs > runs_max)
      return refusal("unfinished", `its trial was cut off ${runs_max} times, as by power cuts`);
    this.#keep({ trial });
    if (trial.switched_ms === undefined) {
      if (releaseIn(folder) === undefined) return refusal("unfinished", "its folder is gone");
      let fault: string | undefined;
      try {
        fault = await this.#switch(trial.version);
        trial = { ...trial, switched_ms: clock.now().unix_ms };
        if (fault === undefined) this.#keep({ trial });
      } finally {
        // Whatever went wrong, as with a full disk: the home is listened to.
        await service.start();
      }
      if (fault !== undefined) return refusal("disk", fault);
    }
    const token = existsSync(this.#tokenPath) ? readFileSync(this.#tokenPath, "utf8") : "";
    const began_ms = clock.now().monotonic_ms;
    let kept_ms = began_ms;
    let served_ms: number | undefined;
    let upload: Upload | undefined;
    for (;;) {
      if (linkedFolder(this.#directory, "current") !== folder) throw new Overruled();
      const now_ms = clock.now().monotonic_ms;
      const spent_ms = Math.round(trial.spent_ms + now_ms - began_ms);
      if (now_ms - kept_ms > steady_ms) {
        kept_ms = now_ms;
        this.#keep({ trial: { ...trial, spent_ms } });
      }
      const look = (thoroughly: boolean) =>
        judge.look(trial.baseline, { since_ms: trial.switched_ms ?? 0, token, thoroughly });
      let { fault, missing } = await look(false);
      if (fault === undefined && missing.length === 0) served_ms ??= now_ms;
      else served_ms = undefined;
      const steady = served_ms !== undefined && now_ms - served_ms >= steady_ms;
      if (steady && trial.baseline.uploads && !upload?.succeeded && now_ms >= (upload?.again_ms ?? 0))
        upload = await this.#upload(folder, now_ms + steady_ms);
      if (steady && (upload?.succeeded || !trial.baseline.uploads)) {
        ({ fault, missing } = await look(true));
        if (fault === undefined && missing.length === 0) return undefined;
      }
      if (fault !== undefined) return refusal("went_back", fault);
      if (spent_ms >= trial_ms) {
        if (missing.length > 0) return refusal("went_back", missing.join("; "));
        return upload?.unreachable === false
          ? refusal("went_back", `it cannot upload: ${upload.said}`)
          : refusal("unfinished", upload === undefined ? "it served too late" : upload.said);
      }
      log.debug(missing.join("; "));
      await this.#options.pause(Math.min(poll_ms, steady_ms / 2));
    }
  }

  /** Stops the service, and has `current` lead to a new release: why it cannot, or undefined. A release that the link leads to may have run already. */
  async #switch(version: string): Promise<string | undefined> {
    const { own, service, data } = this.#options;
    await service.stop();
    if (linkedFolder(this.#directory, "current") === join(this.#directory, version)) return undefined;
    try {
      // Until now what came after the copy lies where only the new release's word would stand for it.
      await data.addToCopy(own.launcher);
    } catch (thrown) {
      return `the readings since the copy cannot be kept: ${messageOf(thrown)}`;
    }
    await this.#lead("current", version);
    return undefined;
  }

  async #upload(folder: string, again_ms: number): Promise<Upload> {
    const fault = await this.#options.data.upload(join(folder, "lintel")).catch((thrown: unknown) => thrown);
    if (fault === undefined) return { succeeded: true, unreachable: false, said: "", again_ms };
    const unreachable = fault instanceof CommandFailed && fault.later;
    return { succeeded: false, unreachable, said: messageOf(fault), again_ms };
  }

  async #confirm(trial: Trial): Promise<Updated> {
    const { own, log } = this.#options;
    const folder = join(this.#directory, trial.version);
    await this.#lead("confirmed", trial.version);
    await this.#forgetToken(join(folder, "lintel"));
    this.#keep({ trial: undefined, confirmed: trial.version });
    this.#tidy();
    const message = `${trial.version} runs and is confirmed${own.version === trial.version ? "" : `, after ${own.version}`}`;
    log.info(message);
    return { result: "updated", message };
  }

  async #goBack(trial: Trial): Promise<Updated> {
    const { own, service, data, log } = this.#options;
    const reason = trial.refusal?.message ?? "";
    log.warn(`going back from ${trial.version} to ${own.version}: ${reason}`);
    await this.#lead("current", linkedFolder(this.#directory, "confirmed") ?? own.path);
    await service.stop();
    let put: string | undefined;
    try {
      put = await data.putBack(own.launcher);
    } finally {
      await service.start();
    }
    if (put !== undefined) log.warn(put);
    await this.#forgetToken(own.launcher);
    const message = messageOf([reason, ...(put === undefined ? [] : [put])].join("; "));
    this.state = { ...this.state, trial: undefined };
    const { version, sha256 } = trial;
    const refused = this.#refuse({ version, sha256, reason: trial.refusal?.reason ?? "went_back", message });
    this.#tidy();
    return { result: "went_back", message: `back on ${own.version}: ${refused.message}` };
  }

  /** Why the gateway is busy, for as long as one waits; undefined once it is not. */
  async #quiet(): Promise<string | undefined> {
    const { judge, data, clock, pause } = this.#options;
    const end_ms = clock.now().monotonic_ms + quiet_ms_max;
    for (;;) {
      const busy = data.uploading ? "an upload is under way" : await judge.busy();
      if (busy === undefined || clock.now().monotonic_ms > end_ms) return busy;
      await pause(poll_ms);
    }
  }

  #wait({ version, sha256 }: Release, message: string): Updated {
    this.#keep({ waiting: { version, sha256, message } });
    return { result: "waiting", message: `${version} waits: ${message}` };
  }

  #refuse(found: Omit<Parameters<typeof withRefusal>[1], "at_ms">): Updated {
    this.state = withRefusal(this.state, { ...found, at_ms: this.#options.clock.now().unix_ms });
    this.#keep({ waiting: undefined });
    return { result: "refused", message: found.message };
  }

  /** Brings part of the state to disk. */
  #keep(part: { readonly [Name in keyof UpdateState]?: UpdateState[Name] | undefined }): void {
    this.state = JSON.parse(JSON.stringify({ ...this.state, ...part })) as UpdateState;
    writeState(this.#directory, this.state);
  }

  /** Removes what nothing needs: folders of old releases, and files of a run that was cut off. */
  #tidy(): void {
    const { waiting } = this.state;
    removeOthers(this.#directory, waiting && join(this.#directory, waiting.version));
    rmSync(this.#tokenPath, { force: true });
    this.#options.data.dropCopy();
  }

  async #forgetToken(launcher: string): Promise<void> {
    if (!existsSync(this.#tokenPath)) return;
    const token = readFileSync(this.#tokenPath, "utf8");
    await this.#options.data
      .revokeToken(launcher, token)
      .catch((thrown: unknown) => this.#options.log.debug(messageOf(thrown)));
    rmSync(this.#tokenPath, { force: true });
  }

  /** Of the token by which pages are compared: for root alone. That it is there tells lintel-update-resume.service of a trial. */
  get #tokenPath(): string {
    return join(this.#directory, "trial-token");
  }
}

/** A package was installed in the middle of a trial: it has removed the links, and runs itself. */
class Overruled extends Error {}

function releaseNames(release: Refused["release"]): { version?: string; sha256?: string } {
  if (release === undefined) return {};
  const { version, sha256 } = release;
  return sha256 === undefined ? { version } : { version, sha256 };
}

/** The last upload by a new release. */
interface Upload {
  readonly succeeded: boolean;
  /** It failed because central could not be asked, which is not the release's fault. */
  readonly unreachable: boolean;
  readonly said: string;
  /** When to try again, monotonic. */
  readonly again_ms: number;
}

/** A new release has to serve, with everything it should hear, for this part of its trial in one piece: 5 minutes of 4 hours. */
const steady_part = 48;
/** Times that a trial is gone on with after the power or the updater was cut off. */
const runs_max = 6;
const poll_ms = 5_000;
/** For joining, uploads and radio windows to be over. */
const quiet_ms_max = 2 * 60 * 60_000;
