import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync } from "node:fs";
import { readIfThere } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { day_ms } from "../../base/time.ts";
import { tokenIn } from "../../config/server-access.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { openUploadStore } from "../../store/sqlite/open-store.ts";
import { ownFiles } from "../../web/server/self-signed.ts";
import { uploadStatus } from "../state-text.ts";
import {
  type CheckResult,
  type Finding,
  fault,
  fine,
  note,
  type Surroundings,
  silentLog,
} from "./finding.ts";
import { systemctl } from "./system-checks.ts";

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

/** The token for central can be read. */
export function checkUploadToken({ config }: Surroundings): CheckResult {
  if (config === undefined) return [];
  if (config.upload === undefined) return note("[upload] is off: nothing is sent to a central server");
  const file = config.upload.token_file;
  try {
    tokenIn(file);
    return fine(`[upload] ${file} holds a token`);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return fault(`[upload] ${error.what}`, error.remedy);
  }
}

/** A timer starts uploads at the time that the configuration names. */
export function checkUploadTimer({ config }: Surroundings): CheckResult {
  if (config?.upload === undefined || !existsSync("/run/systemd/system")) return [];
  const { at } = config.upload;
  if (systemctl("show", timer, "--property=LoadState", "--value") !== "loaded")
    return fault(`${timer} is not installed: nothing starts uploads`, "docs/install.md has the commands");
  const enabled = systemctl("is-enabled", timer);
  if (enabled !== "enabled")
    return fault(
      `${timer} does not start with the machine (${enabled})`,
      `sudo systemctl enable --now ${timer}`,
    );
  const calendar = systemctl("show", timer, "--property=TimersCalendar", "--value");
  if (calendar.includes(` ${at}:00`)) return fine(`${timer} starts an upload after ${at} each night`);
  return fault(
    `[upload] at is ${at}, and ${timer} has another time (${calendar})`,
    `sudo systemctl edit ${timer} and write [Timer], OnCalendar= and OnCalendar=*-*-* ${at}:00, each on a line of its own`,
  );
}

/** The last upload succeeded, and not too long ago. */
export async function checkLastUpload({ config, directory, clock }: Surroundings): Promise<CheckResult> {
  if (config?.upload === undefined || !existsSync(databasePath(directory))) return [];
  try {
    const store = await openUploadStore({ directory, clock, log: silentLog(clock) });
    const [state, { last_seq }] = await Promise.all([store.uploadState(), store.overview()]).finally(() =>
      store.close(),
    );
    const { text, failure, late } = uploadStatus(state, last_seq, clock.now().unix_ms);
    if (failure !== undefined)
      return fault(`uploads: ${text}; failed ${failure}`, "lintel upload tries again now");
    if (late) return fault(`uploads: ${text}`, "lintel upload sends now, and says what is in the way");
    return fine(`uploads: ${text}`);
  } catch (error) {
    // Faults of the database itself are reported by its own check.
    return note(`uploads: cannot be told (${messageOf(error)})`);
  }
}

const timer = "lintel-upload.timer";
