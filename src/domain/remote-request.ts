import { type KeyObject, sign, verify } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { publicKeyIn } from "../base/ed25519.ts";
import { day_ms } from "../base/time.ts";

/** A thing that the study may ask a box for from afar, and all that it may say with it. */
interface RemoteRow {
  /** The deed of the box, for the person who asks, and for the table of docs/remote.md. */
  readonly does: string;
  /** The same for the family: completes "The study asked the box to …". */
  readonly asked: string;
  /** The one word that may come with it. */
  readonly argument?: {
    readonly name: string;
    readonly form: RegExp;
    readonly expected: string;
  };
}

/**
 * Everything that the study may ask a box for from afar. Box, central, command, page and docs take it from here: what is not in this table does not exist. No row may take a path, a
 * command, an address or a text that is passed on.
 */
export const remoteRequests = {
  status: {
    does: "tells how it is: drivers, clock, disk, memory, readings that wait",
    asked: "tell how it is",
  },
  "fault-report": {
    does: "sends what `lintel report-fault` writes: technical, without names",
    asked: "send a technical report that names nobody",
  },
  "mesh-scan": {
    does: "scans which Zigbee device hears which, and sends the result",
    asked: "look how well the sensors hear each other",
  },
  "open-joining": {
    does: "lets new devices join for so many minutes",
    asked: "let new devices join for some minutes",
    argument: { name: "minutes", form: /^([1-9]|1[0-5])$/, expected: "whole minutes from 1 to 15" },
  },
  "restart-driver": {
    does: "ends the driver of a section of its configuration, and starts it again",
    asked: "restart one of its radios",
    argument: {
      name: "driver",
      form: /^[a-z]{1,20}$/,
      expected: "a driver that the box has, such as zigbee",
    },
  },
  upload: {
    does: "uploads now, as each night",
    asked: "send what it has recorded now, instead of at night",
  },
  update: {
    does: "looks for a newer release within half an hour, as each night",
    asked: "look for a newer version of its program",
  },
  blink: {
    does: "lets its lamp blink for a moment, so that somebody finds it",
    asked: "let its lamp blink",
  },
  "set-ring": {
    does: "takes releases of this ring from now on",
    asked: "change when it gets new versions of its program",
    argument: { name: "ring", form: /^[1-9]\d{0,5}$/, expected: "a number from 1 to 999999, such as 50" },
  },
  "take-certificate": {
    does: "takes this next certificate of central, in the place of another that it holds",
    asked: "accept a new proof of identity of the study’s server",
    argument: {
      name: "fingerprint",
      form: /^([0-9A-F]{2}:){31}[0-9A-F]{2}$/,
      expected: "a SHA-256 fingerprint, as lintel central certificate shows it",
    },
  },
} as const satisfies Readonly<Record<string, RemoteRow>>;

export type RemoteRequestName = keyof typeof remoteRequests;
export const remoteRequestNames = Object.keys(remoteRequests) as RemoteRequestName[];

/** The row of a request by its name; undefined where there is none. */
export function remoteRow(name: string): RemoteRow | undefined {
  return Object.hasOwn(remoteRequests, name) ? remoteRequests[name as RemoteRequestName] : undefined;
}

/** Fault of the argument of a request, in words that follow its name; undefined where it has none. */
export function argumentFault(row: RemoteRow, argument: string | undefined): string | undefined {
  if (row.argument === undefined) return argument === undefined ? undefined : "takes no argument";
  return row.argument.form.test(argument ?? "") ? undefined : `takes ${row.argument.expected}`;
}

/** A request as it is signed. `number` is above that of every request before it by the same key; the time of the signature, unix milliseconds, is. */
export const SignedRequest = Type.Object(
  {
    home: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    number: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    expires_ms: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    request: Type.String({ maxLength: 40 }),
    argument: Type.Optional(Type.String({ maxLength: 100 })),
    /** Ed25519, in base64. */
    signature: Type.String({ maxLength: 100 }),
  },
  { additionalProperties: false },
);
export type SignedRequest = Static<typeof SignedRequest>;

/** How a box dealt with a request. Only those that are `done` or `failed` were let in. */
export const remoteOutcomes = ["done", "failed", "refused"] as const;
export type RemoteOutcome = (typeof remoteOutcomes)[number];

/** A box takes no request that is valid for longer than this: a signature that lies about is worth nothing soon. */
export const remote_valid_ms_max = day_ms;

/** The bytes that are signed: the fields in a fixed order, so that there is one form of each request. */
function signedBytes({ home, number, expires_ms, request, argument }: Omit<SignedRequest, "signature">) {
  const fields = ["lintel remote 1", home, number, expires_ms, request, argument ?? null];
  return new TextEncoder().encode(JSON.stringify(fields));
}

/** @param key a private key of Ed25519 */
export function signRequest(request: Omit<SignedRequest, "signature">, key: KeyObject): SignedRequest {
  return { ...request, signature: sign(null, signedBytes(request), key).toString("base64") };
}

/** Whether a request was signed by a key of `[remote] keys`, as `publicKeyText` makes them. */
export function isSignedBy(request: SignedRequest, key: string): boolean {
  const public_key = publicKeyIn(key);
  const signature = Buffer.from(request.signature, "base64");
  return public_key !== undefined && verify(null, signedBytes(request), public_key, signature);
}
