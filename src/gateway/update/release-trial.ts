import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { UpdateTarget } from "../../config/gateway-config.ts";
import { type ReleaseSource, readRepository, requireRoomFor } from "./release-repository.ts";
import { linkedFolder, type ReleaseFolder, releaseIn } from "./releases.ts";
import type { Judge } from "./trial-judge.ts";
import type { Trial } from "./update-state.ts";
import { CommandFailed, NothingUploaded, type Service, type UpdatedData } from "./updated-home.ts";
import { dropProof, faultOfUpdater } from "./updater-proof.ts";

export interface UpdaterOptions {
  readonly target: UpdateTarget;
  /** The release that was confirmed, never a new one. It is the one that this process is of, unless another stands in for it. */
  readonly own: ReleaseFolder;
  readonly source: ReleaseSource;
  readonly service: Service;
  readonly judge: Judge;
  readonly data: UpdatedData;
  /** Whether the gateway uploads to a central server. */
  readonly uploads: boolean;
  /** The configuration, as a file. */
  readonly config: string;
  /** It is this release's own package that is looked for and unpacked, and nothing is switched: see `faultOfUpdater`. */
  readonly proving: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly pause: (ms: number) => Promise<void>;
}

/** The trial of a release, from the switch to the verdict. */
export class ReleaseTrial {
  readonly #options: UpdaterOptions & {
    /** Of the trial, by which pages are compared. */
    readonly token: string;
    readonly keep: (trial: Trial) => void;
  };

  constructor(options: UpdaterOptions & { token: string; keep: (trial: Trial) => void }) {
    this.#options = options;
  }

  /** Starts the service on a new release, and watches it until it has shown everything: undefined then, or why it has to go. */
  async run(begun: Trial, switchTo: () => Promise<string | undefined>): Promise<Trial["refusal"]> {
    const { target, judge, service, clock, log, token, keep } = this.#options;
    const folder = join(target.directory, begun.version);
    const { trial_ms } = target;
    const steady_ms = trial_ms / steady_part;
    const refusal = (reason: "went_back" | "unfinished" | "disk", message: string) => {
      const { version, sha256 } = begun;
      return { version, sha256, reason, message, at_ms: clock.now().unix_ms, times: 1 };
    };
    let trial = { ...begun, runs: begun.runs + 1 };
    if (trial.runs > runs_max)
      return refusal("unfinished", `its trial was cut off ${runs_max} times, as by power cuts`);
    keep(trial);
    if (trial.switched_ms === undefined) {
      if (releaseIn(folder) === undefined) return refusal("unfinished", "its folder is gone");
      let fault: string | undefined;
      try {
        fault = await switchTo();
        trial = { ...trial, switched_ms: clock.now().unix_ms };
        if (fault === undefined) keep(trial);
      } finally {
        // Whatever went wrong, as with a full disk: the home is listened to.
        await service.start();
      }
      if (fault !== undefined) return refusal("disk", fault);
    }
    const began_ms = clock.now().monotonic_ms;
    let kept_ms = began_ms;
    let served_ms: number | undefined;
    let upload: Shown | undefined;
    let proof: Shown | undefined;
    for (;;) {
      if (linkedFolder(target.directory, "current") !== folder) throw new Overruled();
      const now_ms = clock.now().monotonic_ms;
      const spent_ms = Math.round(trial.spent_ms + now_ms - began_ms);
      if (now_ms - kept_ms > steady_ms) {
        kept_ms = now_ms;
        keep({ ...trial, spent_ms });
      }
      const look = (thoroughly: boolean) =>
        judge.look(trial.baseline, {
          switched_ms: trial.switched_ms ?? 0,
          listened_ms: spent_ms,
          trial_ms,
          token,
          thoroughly,
        });
      let { fault, missing } = await look(false);
      if (fault === undefined && missing.length === 0) served_ms ??= now_ms;
      else served_ms = undefined;
      const steady = served_ms !== undefined && now_ms - served_ms >= steady_ms;
      const due = (one: Shown | undefined) => steady && !one?.succeeded && now_ms >= (one?.again_ms ?? 0);
      if (trial.baseline.uploads && due(upload)) upload = await this.#upload(trial, now_ms + steady_ms);
      if ((upload?.succeeded || !trial.baseline.uploads) && due(proof))
        proof = await this.#prove(trial, proof, now_ms + steady_ms);
      if (steady && proof?.succeeded) {
        ({ fault, missing } = await look(true));
        if (fault === undefined && missing.length === 0) return undefined;
      }
      if (upload?.isCertain) fault ??= upload.said;
      if (proof !== undefined && proof.faults >= proof_faults_max) fault ??= proof.said;
      if (fault !== undefined) return refusal("went_back", fault);
      if (spent_ms >= trial_ms) {
        if (missing.length > 0) return refusal("went_back", missing.join("; "));
        if (upload !== undefined && !upload.succeeded && upload.faults > 0)
          return refusal("went_back", `it cannot upload: ${upload.said}`);
        return refusal("unfinished", proof?.said || upload?.said || "it served too late");
      }
      log.debug(missing.join("; "));
      await this.#options.pause(Math.min(poll_ms, steady_ms / 2));
    }
  }

  async #upload({ version, baseline }: Trial, again_ms: number): Promise<Shown> {
    const { target, own, judge, data } = this.#options;
    const { gateway } = await judge.seen(baseline, target.watch_ms);
    const had = { epoch: gateway?.epoch ?? "", seq: gateway?.last_seq ?? 0 };
    try {
      await data.uploadTruly(join(target.directory, version, "lintel"), own.launcher, had);
      return { succeeded: true, faults: 0, said: "", again_ms };
    } catch (thrown) {
      const unreachable = thrown instanceof CommandFailed && thrown.later;
      const isCertain = thrown instanceof NothingUploaded;
      return { succeeded: false, faults: unreachable ? 0 : 1, isCertain, said: messageOf(thrown), again_ms };
    }
  }

  /** Has the updater of the new release fetch and unpack its own package. It is at fault where this updater could do so at the same time. */
  async #prove({ version, sha256 }: Trial, before: Shown | undefined, again_ms: number): Promise<Shown> {
    const { config, source, own, log } = this.#options;
    const { directory } = this.#options.target;
    const release = releaseIn(join(directory, version));
    const downloads = downloadsIn(directory);
    const said =
      release === undefined
        ? "its folder is gone"
        : await faultOfUpdater({ directory, release, downloads, config });
    const faults = before?.faults ?? 0;
    if (said === undefined) return { succeeded: true, faults, said: "", again_ms };
    log.warn(said);
    try {
      const releases = await readRepository(source, { directory, root: own.root ?? "" });
      const listed = releases.find((one) => one.sha256 === sha256);
      if (listed === undefined)
        return { succeeded: false, faults, said: `${version} was withdrawn`, again_ms };
      dropProof(directory);
      await requireRoomFor(directory, listed, undefined);
    } catch (thrown) {
      return { succeeded: false, faults, said: messageOf(thrown), again_ms };
    }
    return { succeeded: false, faults: faults + 1, said, again_ms };
  }
}

/** A package was installed in the middle of a trial: it has removed the links, and runs itself. */
export class Overruled extends Error {}

/** Something that a new release has to do once, as it went the last time. */
interface Shown {
  readonly succeeded: boolean;
  /** How many times it failed by the release's own fault, and not by that of central or of the network. */
  readonly faults: number;
  /** No second try can go otherwise. */
  readonly isCertain?: boolean;
  readonly said: string;
  /** When to try again, monotonic. */
  readonly again_ms: number;
}

/** A new release has to serve, with everything it should hear, for this part of its trial in one piece: 5 minutes of 4 hours. */
const steady_part = 48;
/** Times that a trial is gone on with after the power or the updater was cut off. */
const runs_max = 6;
/** A proof of the updater that fails may be the network's fault; twice it is not. */
const proof_faults_max = 2;
export const poll_ms = 5_000;

/** Where packages are downloaded to in a directory of releases. */
export const downloadsIn = (directory: string) => join(directory, "download");
