import { createPrivateKey, X509Certificate } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { readIfThere, syncToDisk } from "../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { day_ms } from "../base/time.ts";
import type { TlsFiles } from "../config/server-access.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import type { GatewayReport } from "../transfer/protocol.ts";
import {
  hasExpired,
  type KeepingOptions,
  makePair,
  namesMissing,
  ownFiles,
  serverNames,
  thisMachine,
} from "../web/server/self-signed.ts";

/** Where the certificate that central will have next is kept, and its key, which may lie elsewhere until then. */
function nextFiles(directory: string): TlsFiles {
  return {
    certificate: join(directory, "tls-next-certificate.pem"),
    key: join(directory, "tls-next-key.pem"),
  };
}

/**
 * Has the next certificate ready for gateways to be told of. It is made where there is none, and made again for the same key where the machine has got names since. Where the one in use has
 * expired, or its key is missing, the next one takes its place first.
 *
 * @param names host names and addresses that were given
 */
export async function keepNext(names: readonly string[], options: KeepingOptions): Promise<void> {
  const { directory, listen, clock, log, machine = thisMachine() } = options;
  finishChange(directory);
  const files = nextFiles(directory);
  const why = uselessness(ownFiles(directory), clock);
  if (why !== undefined && canChange(directory)) {
    changeCertificate(directory);
    log.warn(`${why}: the next certificate is in use, and homes that know it notice nothing`);
  }
  const next = certificateAt(files.certificate);
  const wanted = serverNames({ given: names, listen, machine });
  if (next !== undefined && (!canChange(directory) || namesMissing(next, wanted).length === 0)) return;
  const key = next && readIfThere(files.key);
  await makePair(files, { names: wanted, key, valid_ms: next_valid_ms }, options);
}

/** Why the certificate in use lets nobody in. */
function uselessness({ certificate, key }: TlsFiles, clock: Clock): string | undefined {
  if (readIfThere(key) === undefined) return `the TLS key ${key} is missing`;
  const inUse = certificateAt(certificate);
  return inUse !== undefined && hasExpired(inUse, clock)
    ? `the TLS certificate ${certificate} has expired`
    : undefined;
}

/** The next certificate in PEM, as gateways are told it; undefined where there is none. */
export function nextCertificateIn(directory: string): string | undefined {
  return readIfThere(nextFiles(directory).certificate);
}

/** Certificates of a central, and which homes know them. */
export interface CertificateChange {
  readonly in_use: KnownCertificate;
  readonly next: KnownCertificate | null;
  /** Homes that know the next one, and those that would be cut off. Those whose gateways trust an authority are in neither. */
  readonly ready: readonly number[];
  readonly not_ready: readonly number[];
}

interface KnownCertificate {
  readonly file: string;
  /** SHA-256. */
  readonly fingerprint: string;
  readonly valid_until: string;
}

/** @throws OperatorError where central has no certificate of its own */
export async function certificateChange(
  directory: string,
  store: Pick<CentralStore, "gateways" | "tokens">,
): Promise<CertificateChange> {
  finishChange(directory);
  const in_use = knownIn(ownFiles(directory).certificate);
  if (in_use === null)
    throw new OperatorError(
      `there is no certificate of central's own in ${directory}`,
      "start lintel central with --tls self-signed, or name its place with --tls-directory",
    );
  const next = knownIn(nextFiles(directory).certificate);
  const gateways = await store.gateways();
  const told = gateways.flatMap(({ home, report }) => {
    const { central_certificate: known } = report as Partial<GatewayReport>;
    return known === undefined ? [] : [{ home, is_ready: isOneOf(next, [known.in_use, known.next]) }];
  });
  const heard = new Set(gateways.map(({ home }) => home));
  // Whoever set such a box up gave it the certificate in use.
  const unheard = (await store.tokens()).flatMap(({ scope, home }) =>
    scope === "sync" && home !== undefined && !heard.has(home) ? [home] : [],
  );
  return {
    ...{ in_use, next },
    ready: told.flatMap(({ home, is_ready }) => (is_ready ? [home] : [])),
    not_ready: [...told.flatMap(({ home, is_ready }) => (is_ready ? [] : [home])), ...new Set(unheard)],
  };
}

/**
 * Puts the next certificate in the place of the one in use, whose key is gone then; the server takes it at its next start. Cut off at any point, `finishChange` does the rest.
 *
 * @throws OperatorError where the next one, or its key, is not there
 */
export function changeCertificate(directory: string): void {
  const [inUse, next] = [ownFiles(directory), nextFiles(directory)];
  if (!canChange(directory))
    throw new OperatorError(
      `${next.key} is not the key of ${next.certificate}, or one of them is missing`,
      "put the key back from where it was locked away; a central that is started makes both where neither is there",
    );
  renameSync(next.key, inUse.key);
  syncToDisk(directory);
  finishChange(directory);
}

/** The key in use is the next one's only where a change was cut off. */
function finishChange(directory: string): void {
  const [inUse, next] = [ownFiles(directory), nextFiles(directory)];
  if (!isPair({ certificate: next.certificate, key: inUse.key })) return;
  renameSync(next.certificate, inUse.certificate);
  rmSync(next.key, { force: true });
  syncToDisk(directory);
}

function canChange(directory: string): boolean {
  return isPair(nextFiles(directory));
}

function isPair({ certificate, key }: TlsFiles): boolean {
  const text = readIfThere(key);
  if (text === undefined) return false;
  return certificateAt(certificate)?.checkPrivateKey(sound(key, () => createPrivateKey(text))) === true;
}

function certificateAt(file: string): X509Certificate | undefined {
  const text = readIfThere(file);
  return text === undefined ? undefined : sound(file, () => new X509Certificate(text));
}

function sound<Parsed>(file: string, parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (thrown) {
    throw new OperatorError(
      `${file} is damaged (${messageOf(thrown)})`,
      "put it back from a backup; without one remove tls-next-certificate.pem and tls-next-key.pem: gateways that hold the next certificate take no other, so bring each the new file before it is used",
    );
  }
}

function isOneOf(next: KnownCertificate | null, known: readonly (string | undefined)[]): boolean {
  return next !== null && known.includes(next.fingerprint);
}

function knownIn(file: string): KnownCertificate | null {
  const certificate = certificateAt(file);
  if (certificate === undefined) return null;
  const valid_until = certificate.validToDate.toISOString().slice(0, 10);
  return { file, fingerprint: certificate.fingerprint256, valid_until };
}

/** Longer than the ten years of the one in use: it is made with that one, and comes after it. */
const next_valid_ms = 2 * 3_652 * day_ms;
