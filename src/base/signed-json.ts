import { type KeyObject, sign, verify } from "node:crypto";
import { type TSchema, Type } from "@sinclair/typebox";
import { publicKeyIn, publicKeyText } from "./ed25519.ts";

/** A value, with the Ed25519 signature (RFC 8032) of it as JSON without spaces, its keys in the order in which they stand. Key and signature are base64. */
export interface SignedJson<Value> {
  readonly signed: Value;
  readonly key: string;
  readonly signature: string;
}

/** The schema of a signed value. */
export function signedSchema<Schema extends TSchema>(signed: Schema) {
  return Type.Object({
    signed,
    key: Type.String({ minLength: 44, maxLength: 44 }),
    signature: Type.String({ minLength: 88, maxLength: 88 }),
  });
}

/** @param key a private key of Ed25519 */
export function signedJson<Value>(value: Value, key: KeyObject): SignedJson<Value> {
  return {
    signed: value,
    key: signerOf(key),
    signature: new Uint8Array(sign(null, bytesOf(value), key)).toBase64(),
  };
}

/** The `key` of what a private key of Ed25519 signs. */
export function signerOf(key: KeyObject): string {
  return Uint8Array.fromBase64(publicKeyText(key), { alphabet: "base64url" }).toBase64();
}

/** Whether a value is as it was when the owner of its key signed it. Whose key it is has to be known from elsewhere. */
export function isAsSigned({ signed, key, signature }: SignedJson<unknown>): boolean {
  try {
    const text = Uint8Array.fromBase64(key).toBase64({ alphabet: "base64url", omitPadding: true });
    const known = publicKeyIn(text);
    return known !== undefined && verify(null, bytesOf(signed), known, Uint8Array.fromBase64(signature));
  } catch {
    // No base64.
    return false;
  }
}

function bytesOf(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
