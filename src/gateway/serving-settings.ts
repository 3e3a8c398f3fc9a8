import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/gateway-config.ts";
import type { TlsFiles } from "../config/server-access.ts";

/** Paths of the PEM files that TLS is served with: given ones, or those that the gateway makes. */
export async function tlsOf({ api, data }: Config, clock: Clock, log: Log): Promise<TlsFiles | undefined> {
  if (api.tls === undefined || "certificate" in api.tls) return api.tls;
  const { tlsFilesOf } = await import("../web/server/self-signed.ts");
  return tlsFilesOf(api.tls, { directory: data, directorySetting: "data", listen: api.hostname, clock, log });
}

/** Where a gateway sends its readings, and how long they stay, for its pages. */
export function keepingOf({ upload }: Config) {
  return upload === undefined
    ? {}
    : { upload: { url: upload.url, at: upload.at || undefined }, keep_days: upload.keep_days };
}
