import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

/** The public half of a key of Ed25519 (RFC 8032): 43 characters of base64url, as in a JSON Web Key. */
export function publicKeyText(key: KeyObject): string {
  const { x } = createPublicKey(key as never).export({ format: "jwk" });
  return String(x);
}

/** Undefined where a text is no public key of Ed25519. */
export function publicKeyIn(text: string): KeyObject | undefined {
  if (!/^[\w-]{43}$/.test(text)) return undefined;
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: text }, format: "jwk" });
  } catch {
    return undefined;
  }
}

/** The private key in a PEM text. @throws Error that says why it is none */
export function privateKeyIn(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== "ed25519") throw new Error("it is another kind of key");
  return key;
}
