import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Server } from "bun";
import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";

/** Names of a server's settings, for messages that say which one to change. */
export interface SettingNames {
  readonly address: string;
  readonly port: string;
  readonly certificate: string;
  readonly key: string;
}

/** As a gateway's configuration has them. */
export const configuredSettings: SettingNames = {
  address: "listen in [api]",
  port: "listen in [api]",
  certificate: "tls_certificate in [api]",
  key: "tls_key in [api]",
};

/**
 * Ciphers of TLS 1.2 that encrypt and authenticate in one; Bun would also take those in CBC mode. TLS 1.3 has no others, and older versions
 * are refused by Bun.
 */
const ciphers = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
].join(":");

/** Starts Bun's server. @throws OperatorError when the address cannot be had */
export function listen(options: {
  hostname: string;
  port: number;
  tls?: Pick<Tls, "certificate" | "key">;
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
      tls: tls && { cert: tls.certificate, key: tls.key, ciphers },
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

/**
 * Takes an address and lets go of it again, for what would otherwise have made its data before it finds that it cannot be served.
 *
 * @throws OperatorError when the address cannot be had
 */
export async function requireListenable(address: {
  hostname: string;
  port: number;
  settings: SettingNames;
}): Promise<void> {
  const fetch = async () => new Response(null, { status: 503 });
  await listen({ ...address, idle_s: 1, body_bytes_max: 0, fetch }).stop(true);
}

export interface Tls {
  readonly certificate: string;
  readonly key: string;
  /** SHA-256 of the certificate, as 32 pairs of hex digits with colons. */
  readonly fingerprint: string;
}

/** Reads PEM files and holds them against each other. @throws OperatorError that names the file at fault */
export async function readTls(
  paths: { certificate: string; key: string },
  options: { clock: Clock; log: Log; settings?: SettingNames },
): Promise<Tls> {
  const settings = options.settings ?? configuredSettings;
  const ofCertificate = {
    path: paths.certificate,
    part: "certificate",
    setting: settings.certificate,
  } as const;
  const ofKey = { path: paths.key, part: "key", setting: settings.key } as const;
  const certificate = await readPem(ofCertificate);
  const key = await readPem(ofKey);
  const parsed = understood(() => new X509Certificate(certificate), ofCertificate);
  const parsedKey = understood(() => createPrivateKey(key), ofKey);
  if (!parsed.checkPrivateKey(parsedKey))
    throw new OperatorError(
      `TLS key ${paths.key} does not belong to certificate ${paths.certificate}`,
      "give a certificate and a key that were made together",
    );
  if (Date.parse(parsed.validTo) < options.clock.now().unix_ms)
    options.log.warn(
      `TLS certificate ${paths.certificate} expired on ${parsed.validTo}: clients will refuse it, renew it`,
    );
  return { certificate, key, fingerprint: parsed.fingerprint256 };
}

/** One of the two files, and what the setting that names it is called. */
interface PemFile {
  readonly path: string;
  readonly part: "certificate" | "key";
  readonly setting: string;
}

async function readPem({ path, part, setting }: PemFile): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    throw new OperatorError(
      `TLS ${part} ${path} cannot be read (${messageOf(thrown)})`,
      `let ${setting} name a PEM file that this user may read`,
      { cause: thrown },
    );
  }
}

function understood<Parsed>(parse: () => Parsed, { path, part, setting }: PemFile): Parsed {
  try {
    return parse();
  } catch (thrown) {
    throw new OperatorError(
      `TLS ${part} ${path} is not a PEM ${part === "key" ? "private key without passphrase" : "certificate"} (${messageOf(thrown)})`,
      `let ${setting} name a file that is one`,
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
