import type { Clock } from "../../base/clock.ts";
import { GuardedClock } from "../../base/guarded-clock.ts";
import type { Log } from "../../base/log.ts";
import { version } from "../../base/version.ts";
import type { UpdateTarget, UploadTarget } from "../../config/gateway-config.ts";
import { certificateIn, tokenIn } from "../../config/server-access.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import { takeLock, uploadPost } from "../../store/sqlite/data-directory.ts";
import { openUploadStore } from "../../store/sqlite/open-store.ts";
import { CentralClient } from "../../transfer/central-client.ts";
import { ControlClient } from "../control-client.ts";
import { describeGateway } from "../gateway-status.ts";
import { ringOf } from "../update/remote-ring.ts";
import { updateReportOf } from "../update/update-state.ts";
import { CentralCertificates } from "./central-certificates.ts";
import { recordsExchange } from "./home-at-central.ts";
import { gatherHomeFiles } from "./home-files.ts";
import { type Uploaded, type UploadProgress, upload } from "./upload.ts";

/** A gateway's data directory, and where its readings go. */
export interface UploadSite {
  readonly data: string;
  readonly timezone: string;
  /** The number of the home, where the configuration has it. */
  readonly home?: number;
  readonly target: UploadTarget;
  /** Lines of curtain sensors. */
  readonly walking?: readonly WalkingLine[];
  /** Where its releases come from, where it updates itself. */
  readonly update?: UpdateTarget;
}

/**
 * Puts an upload together and runs it, as the only upload on its data directory. The gateway may be running.
 *
 * @param run.stop ends it where it leaves things in order; the call rejects with the signal's reason
 * @throws TryAgainLater where that may go better by itself; OperatorError where somebody has to do something
 */
export async function uploadFrom(
  site: UploadSite,
  run: {
    readonly everyDay: boolean;
    readonly stop: AbortSignal;
    readonly clock: Clock;
    readonly log: Log;
    readonly onProgress?: (progress: UploadProgress) => void;
  },
): Promise<Uploaded> {
  const { everyDay, stop, log, onProgress = () => {} } = run;
  const { data, target, timezone } = site;
  const clock = new GuardedClock({ clock: run.clock, directory: data });
  const store = await openUploadStore({ directory: data, clock, log });
  let certificates: CentralCertificates | undefined;
  try {
    using _lock = takeLock(data, uploadPost);
    // Gathered before anything is sent: central then gets every reading before the cursors among these files.
    const homeFiles = gatherHomeFiles(data);
    return await upload({
      store,
      connect: () => {
        certificates = centralCertificates(site, log);
        return connect(site, { stop, clock, log }, certificates);
      },
      clock,
      log,
      stop,
      everyDay,
      keep_days: target.keep_days,
      describe: async () => {
        const running = await new ControlClient(data).statusIfRunning().catch(() => undefined);
        const update = site.update && updateReportOf(site.update.directory, ringOf(data, site.update.ring));
        const described = await describeGateway({
          ...{ store, clock, directory: data, version, timezone },
          ...{ running, update, upload_at: target.at, walking: site.walking },
        });
        return { ...described, central_certificate: certificates?.report };
      },
      homeFiles,
      // A time over plain HTTP is as trustworthy as the time of any time server.
      onCentralTime: target.url.startsWith("https:") ? (unix_ms) => clock.confirm(unix_ms) : undefined,
      onNextCertificate: (certificate) => certificates?.offer(certificate),
      ...recordsExchange({ store, directory: data, home: site.home }),
      onProgress,
    });
  } finally {
    await store.close();
  }
}

type CentralSite = Pick<UploadSite, "data" | "target" | "home">;

/** Central, asked with the token and at the pace of a site. @throws OperatorError where a file of it cannot be read */
export function connect(
  site: CentralSite,
  run: {
    readonly stop: AbortSignal;
    readonly clock: Clock;
    readonly log: Log;
    readonly onRetry?: (reason: string) => void;
    readonly failures_max?: number;
    readonly answer_ms_max?: number;
  },
  certificates = centralCertificates(site, run.log),
): CentralClient {
  const { target, home } = site;
  const { stop, clock, log } = run;
  const { url, bytes_per_s } = target;
  return new CentralClient({
    url,
    token: tokenIn(target.token_file),
    home,
    certificate: certificates?.inUse,
    nextCertificate: certificates?.next,
    onNextCertificate: () => certificates?.changed(),
    ...{ bytes_per_s, failures_max: run.failures_max, answer_ms_max: run.answer_ms_max },
    clock,
    random: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
    stop,
    onRetry:
      run.onRetry ??
      ((reason, delay_ms) => log.warn(`${reason}: asking again in ${(delay_ms / 1000).toFixed(1)} s`)),
  });
}

/** The certificates that a site knows central by; undefined where an authority vouches for it, or there is no TLS. */
export function centralCertificates(
  { data, target }: CentralSite,
  log: Log,
): CentralCertificates | undefined {
  if (target.certificate === undefined) return undefined;
  return new CentralCertificates({ configured: certificateIn(target.certificate), directory: data, log });
}
