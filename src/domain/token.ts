import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { Type } from "@sinclair/typebox";
import type { Clock } from "../base/clock.ts";
import { day_ms } from "../base/time.ts";
import { record } from "./records/record-field.ts";

/** Scopes of a token: reading, the upload of one home, or everything. */
export const scopes = ["read", "sync", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** Numbers of the records that a read token is bound to: it sees what belongs to one of these, and nothing else. */
export interface Binding {
  readonly homes: readonly number[];
  readonly projects: readonly number[];
  readonly studies: readonly number[];
}

/** How long a sync token is accepted after it was made or last used. One that is made to end earlier is never renewed. */
export const syncToken_ms = 365 * day_ms;

/** A token as the store keeps it: enough to recognise it, and nothing that opens anything. */
export interface Token {
  /** Public part: 12 characters, shown by `lintel token list`. */
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  /** The home a sync token is bound to. */
  readonly home?: number;
  /** Present at a read token that does not see everything. */
  readonly binding?: Binding;
  /** It sees what is restricted too, and each use of it is noted. */
  readonly restricted?: boolean;
  /** SHA-256 of the secret part. */
  readonly hash: Uint8Array;
  readonly created_ms: number;
  /** From this moment on it is refused; absent: never. See `syncToken_ms`. */
  readonly expires_ms?: number;
  readonly last_used_ms?: number;
}

/**
 * A new token: the store keeps `token`, and its holder is shown `text`, once. The text is `<id>.<secret>`: 12 characters
 * that name the token, and 256 random bits in base64url, of which the store has only the SHA-256.
 *
 * @param options.home the home that a sync token is bound to
 * @param options.binding what a read token is bound to; absent: it reads everything
 * @param options.restricted whether it sees what is restricted
 * @param options.expires_ms when it stops being accepted, unix milliseconds; absent: never
 * @param options.random this many random bytes; absent: the system's
 */
export function mintToken(options: {
  name: string;
  scope: Scope;
  home?: number;
  binding?: Binding;
  restricted?: boolean | undefined;
  expires_ms?: number;
  clock: Clock;
  random?: (length: number) => Uint8Array;
}): { token: Token; text: string } {
  const random = options.random ?? randomBytes;
  // 32 symbols, so five bits of each byte choose one without bias.
  const id = Array.from(random(idLength), (byte) => idAlphabet[byte & 31]).join("");
  const secret = Buffer.from(random(secret_bytes)).toString("base64url");
  const token: Token = {
    id,
    name: options.name,
    scope: options.scope,
    home: options.home,
    binding: options.binding,
    ...(options.restricted === true && { restricted: true }),
    hash: sha256(secret),
    created_ms: options.clock.now().unix_ms,
    expires_ms: options.expires_ms,
  };
  return { token, text: `${id}.${secret}` };
}

type TokenCheck =
  | { readonly token: Token }
  /** `expired` is said only to who holds the secret; everything else that is wrong is `invalid`. */
  | { readonly fault: "expired" | "invalid" };

/**
 * Whether `text` is a token that holds at this moment. Takes the same time whether the id or the secret is
 * wrong. What the token's scope allows is for the caller to ask.
 *
 * @param find the store's `token`
 */
export async function checkToken(
  text: string,
  options: { find: (id: string) => Promise<Token | undefined>; clock: Clock },
): Promise<TokenCheck> {
  const parts = tokenForm.exec(text);
  if (parts === null) return { fault: "invalid" };
  const token = await options.find(parts[1] ?? "");
  const same = timingSafeEqual(sha256(parts[2] ?? ""), token?.hash ?? nobody);
  if (token === undefined || !same) return { fault: "invalid" };
  const expired = token.expires_ms !== undefined && token.expires_ms <= options.clock.now().unix_ms;
  return expired ? { fault: "expired" } : { token };
}

const idLength = 12;
export const secret_bytes = 32;

/** Lower case without l and o, digits without 0 and 1: an id can be read aloud, and is never taken for an option. */
const idAlphabet = "abcdefghijkmnpqrstuvwxyz23456789";

const tokenForm = /^([a-z2-9]{12})\.([A-Za-z0-9_-]{43})$/;

/** Stands in for the hash of a token that is not there, so that the comparison is made all the same. */
const nobody = new Uint8Array(32);

function sha256(secret: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(secret, "ascii").digest());
}

/** A token, as its holder is told of it. */
export const TokenScope = record("Token", {
  scope: Type.Union([Type.Literal("read"), Type.Literal("admin")], { description: "for what it is" }),
  bound: Type.Boolean({ description: "whether it sees a part of the homes alone" }),
  leftout: Type.Array(Type.Integer(), {
    description: "homes whose consent does not cover the uses that the request names; 0: that of the gateway",
  }),
});
