import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { clockQuality } from "../../base/clock.ts";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { hour_ms } from "../../base/time.ts";
import { downloadRelease, packageFor, readRepository, requireRoomFor } from "./release-repository.ts";
import { downloadsIn, Overruled, poll_ms, ReleaseTrial, type UpdaterOptions } from "./release-trial.ts";
import { firstLook, lookAgain } from "./release-watch.ts";
import {
  chooseRelease,
  type Link,
  linkedFolder,
  ownArchitecture,
  Refused,
  type Release,
  releaseIn,
  removeOthers,
  setLink,
  unpack,
} from "./releases.ts";
import {
  type Days,
  isRefused,
  readState,
  type Trial,
  type UpdateState,
  withRefusal,
  writeState,
} from "./update-state.ts";
import { CommandFailed } from "./updated-home.ts";
import { dropProof } from "./updater-proof.ts";

/** How a run of the updater ended, with a line for people. */
export interface Updated {
  readonly result:
    | "newest"
    | "watched"
    | "updated"
    | "went_back"
    | "refused"
    | "waiting"
    | "overruled"
    | "proved";
  readonly message: string;
}

/**
 * Brings a gateway to the newest release that is for it, or goes on where a run before was cut off. All that lasts is in `state.json`, which
 * is written before what it says is done, and every step may be done again:
 *
 * - without a trial in it nothing has changed: the release is fetched, unpacked beside, and the data are copied;
 * - `trial`: `current` leads to the new release, or is about to. It has hours to show what it can;
 * - `days`: it has, and each run looks at it once, until it is confirmed or sent back. The release before and the copy stay until then;
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
    const { own, source, target, proving, clock, log } = this.#options;
    await this.#follow();
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
      this.#keep({ looked_ms: clock.now().unix_ms, ring: target.ring });
      const listed = proving ? releases.filter(({ version }) => version === own.version) : releases;
      const release = chooseRelease(listed, {
        architecture: ownArchitecture,
        ring: target.ring,
        version: proving ? "0.0.0" : own.version,
        refused: (one) => isRefused(this.state, one),
      });
      if (release === undefined) {
        this.#keep({ waiting: undefined });
        return { result: "newest", message: `${own.version} is the newest release for this box` };
      }
      log.info(`there is ${release.version}, after ${own.version}`);
      await this.#obtain(release);
      if (proving) return { result: "proved", message: `${release.version} was fetched and unpacked` };
      return await this.#tryOut(release);
    } catch (thrown) {
      if (!(thrown instanceof Refused)) throw thrown;
      const { reason, message, release } = thrown;
      return this.#refuse({ ...releaseNames(release), reason, message: messageOf(message) });
    }
  }

  /**
   * Has the links lead where the state says. Without the link `confirmed` a package was installed by hand: its release runs, and is the confirmed one.
   * Where the state was lost, the links say what was confirmed.
   */
  async #follow(): Promise<void> {
    const { own, service, log } = this.#options;
    if (this.state.confirmed === undefined || linkedFolder(this.#directory, "confirmed") === undefined)
      this.#keep({ confirmed: own.path, previous: undefined });
    const { confirmed = own.path, previous } = this.state;
    await this.#setLink("confirmed", confirmed);
    if (previous !== undefined) await this.#setLink("previous", previous);
    // Without this link the package's own release runs.
    if (linkedFolder(this.#directory, "current") === undefined) return;
    if (!(await this.#setLink("current", confirmed))) return;
    log.warn("the service runs a release that nobody has confirmed: going back");
    await service.stop();
    await service.start();
  }

  /** Whether the link led to another folder. */
  async #setLink(link: Link, folder: string): Promise<boolean> {
    if (linkedFolder(this.#directory, link) === resolve(this.#directory, folder)) return false;
    await setLink(this.#directory, link, folder);
    return true;
  }

  /** Downloads and unpacks a release, unless a run before has. */
  async #obtain(release: Release): Promise<void> {
    const folder = releaseIn(join(this.#directory, release.version));
    if (folder !== undefined && this.state.waiting?.sha256 === release.sha256) return;
    await this.#requireRoom(release);
    const { own, source, log } = this.#options;
    const [bun, directory] = [join(own.path, "bun"), this.#downloads];
    const of = await packageFor(release, { bun, directory });
    if (of.bun !== undefined) log.info(`Bun is here already: ${Math.ceil(of.bytes / 1e6)} MB to download`);
    const path = await downloadRelease(source, release, { of, directory });
    await unpack(this.#directory, release, { path, of, bun });
  }

  async #requireRoom(release: Release): Promise<void> {
    const { proving, data } = this.#options;
    await requireRoomFor(this.#directory, release, proving ? undefined : data.bytes);
  }

  /** Switches to a release that lies here, once that disturbs nobody. */
  async #tryOut(release: Release): Promise<Updated> {
    const { own, target, judge, data, uploads, log } = this.#options;
    const { version, sha256 } = release;
    const busy = await this.#quiet();
    if (busy !== undefined) return this.#wait(release, busy);
    if (uploads) {
      // What central has confirmed no release can lose. And what the release before cannot do is not asked of the new one.
      const uploaded = await data.upload(own.launcher).catch((thrown: unknown) => messageOf(thrown));
      if (typeof uploaded === "string")
        return this.#wait(release, `an upload has to succeed before: ${uploaded}`);
      const stopped = uploaded.find((one) => one.sha256 === sha256);
      if (stopped !== undefined)
        return this.#wait(
          release,
          `central has stopped it, because ${stopped.boxes} boxes went back from it`,
        );
    }
    const token = await data.makeToken(own.launcher);
    writeDurably(this.#tokenPath, token);
    const baseline = await judge.baseline({
      token,
      uploads,
      listened_ms: Math.max(target.trial_ms, target.watch_ms),
    });
    if (baseline === undefined) return this.#wait(release, "the gateway does not run");
    await data.copy(own.launcher).catch((thrown: unknown) => {
      throw new Refused("disk", `the data cannot be copied: ${messageOf(thrown)}`, release);
    });
    if ((await judge.busy()) !== undefined) return this.#wait(release, "the box is busy again");
    const trial: Trial = { phase: "trial", version, sha256, spent_ms: 0, runs: 0, baseline };
    this.#keep({ trial, waiting: undefined });
    const { pages, heard } = baseline;
    const records = pages.reduce((sum, page) => sum + page.records.length, 0);
    log.info(
      `switching from ${own.version} to ${version}: ${records} records on ${pages.length} pages and devices of ${heard.length} models are looked for again`,
    );
    return this.goOn(trial);
  }

  /** From the switch to the end: `trial` is on disk. */
  async goOn(trial: Trial): Promise<Updated> {
    try {
      return await this.#decide(trial);
    } catch (thrown) {
      if (!(thrown instanceof Overruled)) throw thrown;
      this.#keep({ trial: undefined, confirmed: undefined, previous: undefined });
      this.#endTrial();
      return { result: "overruled", message: `a package was installed during the trial of ${trial.version}` };
    }
  }

  /** @throws Overruled */
  async #decide(trial: Trial): Promise<Updated> {
    if (linkedFolder(this.#directory, "confirmed") === undefined) throw new Overruled();
    if (trial.phase === "back") return await this.#goBack(trial);
    if (trial.phase === "days" && trial.days) return await this.#lookOn(trial, trial.days);
    const keep = (kept: Trial) => this.#keep({ trial: kept });
    const watched = new ReleaseTrial({ ...this.#options, token: this.#token, keep });
    const refusal = await watched.run(trial, () => this.#switch(trial.version));
    const tried = this.state.trial ?? trial;
    if (refusal !== undefined) return await this.#refuseTrial(tried, refusal);
    if (this.#options.target.watch_ms === 0) return await this.#confirm(tried);
    return await this.#beginDays(tried);
  }

  async #refuseTrial(trial: Trial, refusal: NonNullable<Trial["refusal"]>): Promise<Updated> {
    const back: Trial = { ...trial, phase: "back", refusal };
    this.#keep({ trial: back });
    return await this.#goBack(back);
  }

  /** Has a release that has shown everything be watched for days. */
  async #beginDays(trial: Trial): Promise<Updated> {
    const days = await firstLook(trial, this.#options);
    if (days === undefined) return this.#fail(trial, "it does not answer on its control socket");
    this.#keep({ trial: { ...trial, phase: "days", days } });
    await this.#forgetToken(join(this.#directory, trial.version, "lintel"));
    this.#dropDownloads();
    return this.#watched(trial.version, days);
  }

  /** One look at a release in its days, and the verdict once they are over. */
  async #lookOn(trial: Trial, before: Days): Promise<Updated> {
    const { days, fault, over } = await lookAgain(trial, before, this.#options);
    const watched: Trial = { ...trial, days };
    this.#keep({ trial: watched });
    if (fault !== undefined) return await this.#fail(watched, fault);
    return over ? await this.#confirm(watched) : this.#watched(trial.version, days);
  }

  #fail(trial: Trial, message: string): Promise<Updated> {
    const { version, sha256 } = trial;
    const at_ms = this.#options.clock.now().unix_ms;
    return this.#refuseTrial(trial, { version, sha256, reason: "went_back", message, at_ms, times: 1 });
  }

  #watched(version: string, { watched_ms }: Days): Updated {
    const hours = (ms: number) => Math.floor(ms / hour_ms);
    const of_ms = this.#options.target.watch_ms;
    return {
      result: "watched",
      message: `${version} runs, and has been watched for ${hours(watched_ms)} of ${hours(of_ms)} hours`,
    };
  }

  /** Has one link lead to a folder while the other is there. A package that is installed in that moment removes both. @throws Overruled */
  async #lead(link: Link, folder: string): Promise<void> {
    await setLink(this.#directory, link, folder);
    const other = link === "current" ? "confirmed" : "current";
    if (linkedFolder(this.#directory, other) !== undefined) return;
    rmSync(join(this.#directory, link), { force: true });
    throw new Overruled();
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

  async #confirm({ version }: Trial): Promise<Updated> {
    const { own, log } = this.#options;
    // The one before stays, for its updater to stand in for a broken one.
    this.#keep({ trial: undefined, confirmed: version, previous: own.path });
    await this.#forgetToken(join(this.#directory, version, "lintel"));
    await this.#setLink("previous", own.path);
    await this.#lead("confirmed", version);
    this.#endTrial();
    const message = `${version} runs and is confirmed, after ${own.version}`;
    log.info(message);
    return { result: "updated", message };
  }

  async #goBack(trial: Trial): Promise<Updated> {
    const { own, service, data, log } = this.#options;
    const reason = trial.refusal?.message ?? "";
    log.warn(`going back from ${trial.version} to ${own.version}: ${reason}`);
    await this.#lead("current", own.path);
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
    this.#endTrial();
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
    this.#options.data.dropCopy();
    this.#keep({ waiting: { version, sha256, message } });
    return { result: "waiting", message: `${version} waits: ${message}` };
  }

  #refuse(found: Omit<Parameters<typeof withRefusal>[1], "at_ms">): Updated {
    this.#options.data.dropCopy();
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
    dropProof(this.#directory);
    this.#options.data.dropCopy();
  }

  #endTrial(): void {
    this.#tidy();
    this.#dropDownloads();
  }

  #dropDownloads(): void {
    dropProof(this.#directory);
    rmSync(this.#downloads, { recursive: true, force: true });
  }

  get #downloads(): string {
    return downloadsIn(this.#directory);
  }

  async #forgetToken(launcher: string): Promise<void> {
    const token = this.#token;
    if (token === "") return;
    await this.#options.data
      .revokeToken(launcher, token)
      .catch((thrown: unknown) => this.#options.log.debug(messageOf(thrown)));
    rmSync(this.#tokenPath, { force: true });
  }

  get #token(): string {
    return existsSync(this.#tokenPath) ? readFileSync(this.#tokenPath, "utf8") : "";
  }

  /** Of the token by which pages are compared: for root alone. */
  get #tokenPath(): string {
    return join(this.#directory, "trial-token");
  }
}

function releaseNames(release: Refused["release"]): { version?: string; sha256?: string } {
  if (release === undefined) return {};
  const { version, sha256 } = release;
  return sha256 === undefined ? { version } : { version, sha256 };
}

/** For joining, uploads and radio windows to be over. */
const quiet_ms_max = 2 * 60 * 60_000;
