import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "bun";
import type { Clock } from "../clock.ts";
import { messageOf, OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";

/** What whoever sets a server up calls its settings: for messages that say what to change. */
export interface SettingNames {
  readonly address: string;
  readonly port: string;
}

/** As a gateway's configuration has them. */
export const configuredSettings: SettingNames = { address: "listen in [api]", port: "listen in [api]" };

/** Starts Bun's server. @throws OperatorError when the address cannot be had */
export function listen(options: {
  hostname: string;
  port: number;
  tls?: Tls;
  idle_s: number;
  body_bytes_max: number;
  settings: SettingNames;
  fetch: (request: Request, server: Server<undefined>) => Promise<Response>;
}): Server<undefined> {
  const { hostname, port, tls, settings } = options;
  try {
    return Bun.serve({
      hostname,
      port,
      ...(tls === undefined ? {} : { tls: { cert: tls.certificate, key: tls.key } }),
      // Two servers on one port would each get some of the requests.
      reusePort: false,
      development: false,
      idleTimeout: options.idle_s,
      maxRequestBodySize: options.body_bytes_max,
      fetch: options.fetch,
    });
  } catch (thrown) {
    throw listeningFault({ hostname, port, settings }, thrown);
  }
}

/** What is between `http://` and the port for a client on this machine. */
export function reachableHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "127.0.0.1";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

export interface Tls {
  readonly certificate: string;
  readonly key: string;
}

/** Reads PEM files and holds them against each other. @throws OperatorError that names the file at fault */
export async function readTls(
  paths: { certificate: string; key: string },
  options: { clock: Clock; log: Log },
): Promise<Tls> {
  const certificate = await readPem(paths.certificate, "certificate");
  const key = await readPem(paths.key, "key");
  const parsed = understood(() => new X509Certificate(certificate), paths.certificate, "certificate");
  const parsedKey = understood(() => createPrivateKey(key), paths.key, "key");
  if (!parsed.checkPrivateKey(parsedKey))
    throw new OperatorError(
      `TLS key ${paths.key} does not belong to certificate ${paths.certificate}`,
      "give a certificate and a key that were made together",
    );
  if (Date.parse(parsed.validTo) < options.clock.now().unix_ms)
    options.log.warn(
      `TLS certificate ${paths.certificate} expired on ${parsed.validTo}: clients will refuse it, renew it`,
    );
  return { certificate, key };
}

async function readPem(path: string, part: "certificate" | "key"): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    throw new OperatorError(
      `TLS ${part} ${path} cannot be read (${messageOf(thrown)})`,
      `name a PEM file as TLS ${part} that this user may read`,
      { cause: thrown },
    );
  }
}

function understood<Parsed>(parse: () => Parsed, path: string, part: "certificate" | "key"): Parsed {
  try {
    return parse();
  } catch (thrown) {
    throw new OperatorError(
      `TLS ${part} ${path} is not a PEM ${part === "key" ? "private key without passphrase" : "certificate"} (${messageOf(thrown)})`,
      `name a file as TLS ${part} that is one`,
      { cause: thrown },
    );
  }
}

function listeningFault(
  { hostname, port, settings }: { hostname: string; port: number; settings: SettingNames },
  thrown: unknown,
): OperatorError {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const [what, remedy] = remediesFor(settings)[code] ?? [
    messageOf(thrown),
    `set ${settings.address} to another address`,
  ];
  return new OperatorError(`cannot listen on ${hostname}:${port}: ${what}`, remedy, { cause: thrown });
}

function remediesFor(settings: SettingNames): Record<string, readonly [what: string, remedy: string]> {
  return {
    EADDRINUSE: [
      "another program has the port",
      `stop that program, or set ${settings.port} to another port, such as 0 for a free one`,
    ],
    EADDRNOTAVAIL: [
      "this machine does not have that address",
      `set ${settings.address} to an address of this machine, or to 0.0.0.0 for all of them`,
    ],
    EACCES: [
      "this user may not take that port",
      `set ${settings.port} to a port from 1024 on, or grant CAP_NET_BIND_SERVICE`,
    ],
    ERR_OUT_OF_RANGE: ["there is no such port", `set ${settings.port} to a port from 0 to 65535`],
  };
}
