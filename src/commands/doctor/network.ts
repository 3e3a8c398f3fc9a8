import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { readIfThere } from "../../disk/durable-file.ts";
import { day_ms } from "../../durations.ts";
import { messageOf } from "../../errors.ts";
import { ownFiles } from "../../tls/self-signed.ts";
import { type CheckResult, type Finding, fault, fine, note, type Surroundings } from "./check.ts";

/** The API's port is free, or the gateway on this data serves on it. */
export function checkListen({ config, running }: Surroundings): CheckResult {
  if (running !== undefined) return fine(`the gateway serves ${running.url} (process ${running.pid})`);
  if (config === undefined) return note("no gateway is running on it");
  const { hostname, port } = config.api;
  const address = `${hostname}:${port}`;
  try {
    const socket = Bun.listen({ hostname, port, socket: { data: () => {} } });
    socket.stop(true);
    return fine(`[api] ${address} is free; no gateway is running`);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EADDRINUSE") {
      return fault(
        `[api] ${address} is taken by another program`,
        "stop that one, or set another port in [api] listen",
      );
    }
    if (code === "EACCES") {
      return fault(`[api] this user may not listen on ${address}`, "set a port above 1023 in [api] listen");
    }
    return fault(
      `[api] cannot listen on ${address} (${messageOf(error)})`,
      "set an address of this machine, or 0.0.0.0",
    );
  }
}

/** Certificate and key can be read, belong together, and hold for a while yet. */
export function checkTls({ config, clock }: Surroundings): CheckResult {
  if (config?.api.tls === undefined) return [];
  const own = !("certificate" in config.api.tls);
  const tls = "certificate" in config.api.tls ? config.api.tls : ownFiles(config.data);
  if (own && !existsSync(tls.certificate))
    return note(`[api] the TLS certificate ${tls.certificate} is made at the start of the gateway`);
  const unreadable = [tls.certificate, tls.key].flatMap(faultsOfReading);
  if (unreadable.length > 0) return unreadable;
  try {
    const parsed = new X509Certificate(readIfThere(tls.certificate) ?? "");
    if (!parsed.checkPrivateKey(createPrivateKey(readIfThere(tls.key) ?? ""))) {
      return fault(
        `[api] ${tls.key} is not the key of ${tls.certificate}`,
        "set the two that were made together",
      );
    }
    const left_days = Math.floor((Date.parse(parsed.validTo) - clock.now().unix_ms) / day_ms);
    if (left_days < certificate_days_min) {
      return fault(
        `[api] ${tls.certificate} ${left_days < 0 ? "has expired" : `expires in ${left_days} days`}`,
        own ? "start the gateway again once it has: it makes another" : "renew it",
      );
    }
    return fine(`[api] TLS certificate and key belong together; ${left_days} days left`);
  } catch (error) {
    return fault(
      `[api] ${tls.certificate} and ${tls.key} are not a certificate and a key in PEM (${messageOf(error)})`,
      "set such files",
    );
  }
}

function faultsOfReading(path: string): Finding[] {
  try {
    if (readIfThere(path) === undefined) throw new Error("there is no such file");
    return [];
  } catch (error) {
    const what = `[api] ${path} cannot be read (${messageOf(error)})`;
    return [fault(what, "make it readable for the gateway's user")];
  }
}

const certificate_days_min = 14;
