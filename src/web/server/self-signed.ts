import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { isIP, isIPv4 } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { type Clock, clockQuality, sane_unix_ms } from "../../base/clock.ts";
import { readIfThere, writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { day_ms } from "../../base/time.ts";
import { isOwnHost, isServerName, type TlsFiles, type TlsSetting } from "../../config/server-access.ts";

export interface KeepingOptions {
  /** Where certificate and key are kept; made if it is missing. */
  readonly directory: string;
  /** Name of the setting that gives the directory, for messages. */
  readonly directorySetting: string;
  /** The address that the server listens on. */
  readonly listen: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: as the system says. */
  readonly machine?: Machine;
}

/**
 * The files to serve TLS with: those that are given, or the certificate of this server's own, which is made where there is none.
 *
 * The own one stays the same over restarts, because clients were given it. No clock takes its key away: where the certificate is missing, or has expired by
 * a clock that is believed, another is made for the same key; another key only where that is missing. It is valid from before any
 * clock without a battery begins, so that the first start need not know the time.
 *
 * @throws OperatorError where the files of the own one are damaged, are no pair, or cannot be read or written: nothing is replaced
 */
export async function tlsFilesOf(setting: TlsSetting, options: KeepingOptions): Promise<TlsFiles> {
  if ("certificate" in setting) return setting;
  const { directory, listen, clock, log, machine = thisMachine() } = options;
  const names = serverNames({ given: setting.names, listen, machine });
  const files = ownFiles(directory);
  let { certificate, key, fault } = heldIn(files);
  if (certificate !== undefined && hasExpired(certificate, clock))
    fault = `the TLS certificate ${files.certificate} expired on ${certificate.validTo}`;
  if (fault !== undefined)
    log.warn(
      key === undefined
        ? `${fault}: another is made, with another key, and clients that were told the old one refuse it`
        : `${fault}: another is made for the same key, and clients that were given the old certificate refuse it, but not those that pin the key`,
    );
  if (certificate !== undefined && fault === undefined) warnOfNames(certificate, names, files, log);
  else {
    await makePair(files, { names, key, valid_ms }, options);
    certificate = heldIn(files).certificate;
    if (certificate === undefined) throw new Error(`${files.certificate} has gone`);
  }
  log.info(`TLS by the certificate ${files.certificate}, SHA-256 fingerprint ${certificate.fingerprint256}`);
  return files;
}

/** The self-signed certificate in a directory, for commands that show it. */
export function ownCertificateIn(
  directory: string,
): { readonly certificate: string; readonly fingerprint: string } | { readonly problem: string } | undefined {
  const files = ownFiles(directory);
  try {
    const { certificate } = heldIn(files);
    return certificate && { certificate: files.certificate, fingerprint: certificate.fingerprint256 };
  } catch (thrown) {
    return { problem: messageOf(thrown) };
  }
}

/** Where an own certificate and its key are kept. */
export function ownFiles(directory: string): TlsFiles {
  return { certificate: join(directory, "tls-certificate.pem"), key: join(directory, "tls-key.pem") };
}

/**
 * The certificate of a pair of files, and the key in PEM. Without one, the fault says which of the two is missing; there is none where both are.
 *
 * @throws OperatorError where the stored certificate or key is not sound
 */
function heldIn(files: TlsFiles): { certificate?: X509Certificate; key?: string; fault?: string } {
  const [certificateText, keyText] = [readPem(files.certificate), readPem(files.key)];
  if (certificateText === undefined) {
    if (keyText === undefined) return {};
    sound(files.key, files, () => ownKey(keyText));
    return { key: keyText, fault: `the TLS certificate ${files.certificate} is missing` };
  }
  if (keyText === undefined) return { fault: `the TLS key ${files.key} is missing` };
  const certificate = sound(files.certificate, files, () => new X509Certificate(certificateText));
  const key = sound(files.key, files, () => createPrivateKey(keyText));
  if (certificate.checkPrivateKey(key)) return { certificate, key: keyText };
  throw new OperatorError(
    `TLS key ${files.key} does not belong to certificate ${files.certificate}`,
    remedyOf(files),
  );
}

/** The kind of key that certificates are made for here. */
function ownKey(text: string): void {
  const { asymmetricKeyDetails } = createPrivateKey(text);
  if (asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error("it is no key of P-256");
}

/** Whether a certificate has expired by a clock that is known to be right. */
export function hasExpired(certificate: X509Certificate, clock: Clock): boolean {
  const { unix_ms, quality } = clock.now();
  return certificate.validToDate.getTime() < unix_ms && quality === clockQuality.synchronised;
}

/** Makes a certificate for these names, and its key where there is none, valid for this long. @throws OperatorError where they cannot be written */
export async function makePair(
  files: TlsFiles,
  { names, key, valid_ms }: { names: readonly string[]; key: string | undefined; valid_ms: number },
  options: KeepingOptions,
): Promise<void> {
  const { directory, directorySetting, machine = thisMachine(), clock, log } = options;
  // Asked for once in ten years: a gateway has better uses for the memory.
  const { issueCertificate } = await import("./tls-certificate.ts");
  const { unix_ms, quality } = clock.now();
  // By a clock that is not believed it begins at the least date that there can be.
  const from_ms = quality === clockQuality.synchronised ? Math.max(unix_ms, sane_unix_ms) : sane_unix_ms;
  const notAfter_ms = from_ms + valid_ms;
  const issued = issueCertificate({
    key,
    subject: `Lintel ${machine.hostname}`.slice(0, subject_length_max).trim(),
    names,
    serial: crypto.getRandomValues(new Uint8Array(16)),
    notBefore_ms,
    notAfter_ms,
  });
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Cut off at any point, the key is there, or neither of the two.
    if (key === undefined) {
      rmSync(files.certificate, { force: true });
      writeDurably(files.key, issued.key);
    }
    writeDurably(files.certificate, issued.certificate);
  } catch (thrown) {
    throw new OperatorError(
      `the TLS certificate cannot be kept in ${directory} (${messageOf(thrown)})`,
      `give this user write access to it, or set ${directorySetting} to another directory`,
      { cause: thrown },
    );
  }
  const until = new Date(notAfter_ms).toISOString().slice(0, 10);
  log.info(`made a self-signed TLS certificate, valid until ${until}, for ${names.join(", ")}`);
}

/** Logs a warning where clients that use a name of this machine would refuse the certificate. */
function warnOfNames(
  certificate: X509Certificate,
  names: readonly string[],
  files: TlsFiles,
  log: Log,
): void {
  const missing = namesMissing(certificate, names);
  if (missing.length > 0)
    log.warn(
      `the TLS certificate ${files.certificate} is not for ${missing.join(", ")}: clients that ask by that name refuse it; to have another made, remove it and ${files.key} and start again`,
    );
}

/** Names that a certificate is not for. The last part of an IPv6 address changes by itself, so nobody writes one down. */
export function namesMissing(certificate: X509Certificate, names: readonly string[]): string[] {
  return names.filter((name) => isIP(name) !== 6 && !isFor(certificate, name));
}

function isFor(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined;
}

function readPem(path: string): string | undefined {
  try {
    return readIfThere(path);
  } catch (thrown) {
    throw new OperatorError(
      `${path} cannot be read (${messageOf(thrown)})`,
      "make it a file that this user may read",
      { cause: thrown },
    );
  }
}

function sound<Parsed>(path: string, files: TlsFiles, parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (thrown) {
    throw new OperatorError(`${path} is damaged (${messageOf(thrown)})`, remedyOf(files), { cause: thrown });
  }
}

function remedyOf({ certificate, key }: TlsFiles): string {
  return `put both back from a backup, or remove ${certificate} and ${key}: another certificate is made then, which clients have to be told`;
}

/** Before every clock that this program can meet: one without a battery begins at the last date that its system knew. */
const notBefore_ms = Date.UTC(2020, 0, 1);
/** Ten years. */
const valid_ms = 3_652 * day_ms;
/** X.520 has no room for more. */
const subject_length_max = 64;

/** Names and addresses of a machine in its network. */
export interface Machine {
  readonly hostname: string;
  /** IP addresses that others reach it at, without brackets. */
  readonly addresses: readonly string[];
}

/** @param first name of the network interface whose addresses come first; absent: in the order of the system */
export function thisMachine(first = ""): Machine {
  const { [first]: preferred, ...others } = networkInterfaces();
  const addresses = [preferred, ...Object.values(others)]
    .flatMap((interfaces) => interfaces ?? [])
    // An address of one link alone means nothing without the name of the link.
    .filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address))
    .map(({ address }) => address);
  return { hostname: hostname(), addresses };
}

/**
 * Every name that a client may write for this server, each once: those that were given, the machine's own, also as it is announced in
 * a home's network (`.local`), the one that it listens on, and its addresses.
 */
export function serverNames(options: {
  readonly given: readonly string[];
  readonly listen: string;
  readonly machine: Machine;
}): string[] {
  const { given, listen, machine } = options;
  const [first = ""] = machine.hostname.split(".");
  const names = [
    ...given,
    machine.hostname,
    `${first}.local`,
    "localhost",
    "127.0.0.1",
    "::1",
    ...(isEveryAddress(listen) ? [] : [listen]),
    ...machine.addresses,
  ];
  return [...new Set(names.filter(isServerName))].slice(0, names_max);
}

/**
 * The name or address by which others in its network reach this server: the first name that its certificate was given, the address that
 * it listens on, or the first of the machine. Undefined where that is in no network.
 */
export function hostInNetwork(options: {
  readonly given: readonly string[];
  readonly listen: string;
  readonly machine: Machine;
}): string | undefined {
  const { given, listen, machine } = options;
  // Names are of whatever stands before a server that only this machine reaches.
  if (isOwnHost(listen)) return listen;
  if (given[0] !== undefined) return given[0];
  if (!isEveryAddress(listen)) return listen;
  const ipv4 = machine.addresses.find((address) => isIPv4(address));
  return ipv4 ?? (listen === "::" ? machine.addresses[0] : undefined);
}

/**
 * Name of the network interface that leads out of the home, in the kernel's table of IPv4 routes: the one of a default route, and of
 * several the one that is taken. Undefined where there is none.
 *
 * @param table text of `/proc/net/route`, as proc_net(5) has it
 */
export function defaultInterface(table: string): string | undefined {
  const routes = table.split("\n").map((line) => line.trim().split(/\s+/));
  const metric = (fields: readonly string[]) => Number(fields[6]);
  const [best] = routes
    .filter(([, destination, , , , , , mask]) => destination === everywhere && mask === everywhere)
    .toSorted((one, other) => metric(one) - metric(other));
  return best?.[0];
}

const everywhere = "00000000";

function isEveryAddress(listen: string): boolean {
  return listen === "0.0.0.0" || listen === "::";
}

/** A bound on the size of the certificate, which is sent with each connection. */
const names_max = 64;
