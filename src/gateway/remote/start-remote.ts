import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/gateway-config.ts";
import type { GatewayStore } from "../../store/gateway/gateway-store.ts";
import type { ActionParts } from "./remote-actions.ts";
import { remoteEntriesIn } from "./remote-journal.ts";

/** Means of the process that a gateway runs in. */
export type RemoteMeans = Pick<ActionParts, "command" | "recentLog">;

/**
 * Starts the channel from the study to a gateway whose configuration has `[remote]`, and answers how it ends. Where it has not, nothing of it is loaded: a
 * gateway has better uses for the memory.
 */
export async function startRemote(
  parts: Omit<ActionParts, "certificates" | keyof RemoteMeans> & {
    readonly store: Pick<GatewayStore, "takePauses">;
    readonly clock: Clock;
    readonly log: Log;
    readonly means?: RemoteMeans;
  },
): Promise<{ readonly name: string; stop(): Promise<void> }> {
  const { config, store, clock, means } = parts;
  const { data, home, upload: target, remote: settings } = config;
  const name = "channel from the study";
  if (settings === undefined || target === undefined || home.id === undefined || means === undefined)
    return { name, stop: async () => {} };
  const { centralCertificates, connect } = await import("../uploader/uploader.ts");
  const { remote_hold_ms } = await import("../../transfer/protocol.ts");
  const { eraseInHomeFiles } = await import("../uploader/home-files.ts");
  const { remoteActions } = await import("./remote-actions.ts");
  const { RemoteChannel } = await import("./remote-channel.ts");
  const log = parts.log.named("remote");
  const site = { data, home: home.id, target };
  const channel = new RemoteChannel({
    ...{ home: home.id, settings, directory: data, clock, log, random: Math.random },
    connect: (stop) =>
      connect(site, {
        ...{ stop, clock, log },
        // The channel asks again by itself, ever more seldom.
        failures_max: 1,
        answer_ms_max: remote_hold_ms + answer_late_ms,
        onRetry: () => {},
      }),
    takePauses: async (pauses) => {
      await store.takePauses(pauses);
      eraseInHomeFiles(data, pauses);
    },
    actions: remoteActions({ ...parts, ...means, certificates: () => centralCertificates(site, log) }),
  });
  channel.start();
  return { name, stop: () => channel.stop() };
}

/** Requests of the study to this box, for the page that shows them; undefined where it cannot ask for anything. */
export function remoteHistoryOf({ remote, data }: Config) {
  return remote && { allow: remote.allow, asked: remoteEntriesIn(data) };
}

/** On top of the time for which central keeps a box waiting. */
const answer_late_ms = 30_000;
