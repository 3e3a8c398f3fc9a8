import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { jsonIfReadable, writeDurably } from "../../base/disk/safe-files.ts";
import type { Log } from "../../base/log.ts";
import type { CentralCertificateReport } from "../../transfer/protocol.ts";

/** As it is kept: certificates in PEM. `configured` is the fingerprint of the one that the configuration named then, `granted` of one that the study has signed for. */
const Kept = Type.Object({
  configured: Type.String(),
  in_use: Type.String(),
  next: Type.Optional(Type.String()),
  granted: Type.Optional(Type.String()),
});

/**
 * The certificates that a gateway knows central by, where no authority vouches for it: the one in use, and the one that follows it. Central names the next one over a
 * connection that the one in use has proved. A second next one of another key is refused: who has stolen the key in use cannot put his own in its place.
 * Once central has shown the next one, it is the one in use, and the one before is worth nothing any more.
 */
export class CentralCertificates {
  readonly #path: string;
  readonly #log: Log;
  #kept: Static<typeof Kept>;

  /**
   * @param options.configured certificate in PEM that the configuration names; another than before is a person's word, and begins afresh
   * @param options.directory the data directory
   */
  constructor({ configured, directory, log }: { configured: string; directory: string; log: Log }) {
    this.#path = join(directory, certificatesName);
    this.#log = log;
    const kept = keptIn(this.#path);
    const fingerprint = fingerprintOf(configured);
    this.#kept = kept?.configured === fingerprint ? kept : { configured: fingerprint, in_use: configured };
  }

  get inUse(): string {
    return this.#kept.in_use;
  }

  get next(): string | undefined {
    return this.#kept.next;
  }

  /** Central has shown the next one. */
  changed(): void {
    const { configured, next } = this.#kept;
    if (next === undefined) return;
    this.#keep({ configured, in_use: next });
    this.#log.info(`central has changed to its next certificate, SHA-256 fingerprint ${fingerprintOf(next)}`);
  }

  /** Central has named its next certificate, in PEM. */
  offer(offered: string): void {
    const certificate = parsed(offered);
    const { in_use, next } = this.#kept;
    if (certificate === undefined || offered === in_use || offered === next) return;
    const named = `next certificate, SHA-256 fingerprint ${certificate.fingerprint256}`;
    const isGranted = certificate.fingerprint256 === this.#kept.granted;
    if (next !== undefined && !isGranted && !isOfKey(certificate, next)) {
      this.#log.warn(
        `central names another ${named}, than this gateway holds, ${fingerprintOf(next)}: it is not taken; ask whoever runs central which one is right`,
      );
      return;
    }
    const { granted: _, ...kept } = this.#kept;
    this.#keep({ ...kept, next: offered });
    this.#log.info(`took central's ${named}`);
  }

  /** The study has signed that this is the next certificate, whatever other one is known: a SHA-256 fingerprint. */
  grant(fingerprint: string): void {
    this.#keep({ ...this.#kept, granted: fingerprint });
  }

  /** For the report to central, which changes when its homes hold the next one. */
  get report(): CentralCertificateReport {
    const { in_use, next } = this.#kept;
    return { in_use: fingerprintOf(in_use), next: next && fingerprintOf(next) };
  }

  #keep(kept: Static<typeof Kept>): void {
    writeDurably(this.#path, JSON.stringify(kept));
    this.#kept = kept;
  }
}

/** Undefined where none is kept, or nothing that can be read: then the configuration's holds. */
function keptIn(path: string): Static<typeof Kept> | undefined {
  const kept = jsonIfReadable(path);
  return Value.Check(Kept, kept) && parsed(kept.in_use) !== undefined ? kept : undefined;
}

function parsed(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

function isOfKey({ publicKey }: X509Certificate, other: string): boolean {
  return parsed(other)?.publicKey.equals(publicKey) === true;
}

function fingerprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256;
}

const certificatesName = "central-certificates.json";
