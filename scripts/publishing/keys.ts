/** Keys of a programme: one file a key, which signs for one role of its repository. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Key, Signature } from "@tufjs/models";

/** The public half of a key, as the ledger and the repository have it. */
export interface PublicKey {
  /** SHA-256 of the public key, in hex. */
  readonly id: string;
  /** The 32 bytes of the Ed25519 key, in hex. */
  readonly public: string;
}

/** Makes a key in a file that only its owner may read. @throws where the file exists */
export function makeKey(directory: string, name: string): PublicKey {
  const path = join(directory, `${name}.pem`);
  if (existsSync(path)) throw new Error(`${path} exists already: move it away first`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync("ed25519");
  writeFileSync(path, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flush: true });
  return publicOf(privateKey);
}

/** The keys that lie in some directories, by their ids. A directory that is not there has none. */
export function keysIn(directories: readonly string[]): Map<string, KeyObject> {
  const found = new Map<string, KeyObject>();
  for (const directory of directories.filter((one) => existsSync(one)))
    for (const name of readdirSync(directory).filter((one) => one.endsWith(".pem"))) {
      const key = createPrivateKey(readFileSync(join(directory, name)));
      found.set(publicOf(key).id, key);
    }
  return found;
}

export function signatureBy(id: string, key: KeyObject, bytes: Buffer): Signature {
  return new Signature({ keyID: id, sig: sign(null, bytes, key).toString("hex") });
}

export function keyOf({ id, public: hex }: PublicKey): Key {
  return new Key({ keyID: id, keyType: "ed25519", scheme: "ed25519", keyVal: { public: hex } });
}

function publicOf(key: KeyObject): PublicKey {
  const der = createPublicKey(key).export({ type: "spki", format: "der" });
  // The key itself is the end of its DER form (RFC 8410, section 4).
  const raw = der.subarray(-32);
  return { id: createHash("sha256").update(raw).digest("hex"), public: raw.toString("hex") };
}
