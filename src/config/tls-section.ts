import { isIP } from "node:net";
import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";

/** Keys of `[api]` for TLS. */
export const tlsKeys = {
  tls: Type.Optional(Type.Literal("self-signed", { description: '"self-signed"' })),
  tls_names: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 32,
      description: 'a list of host names and IP addresses, such as ["gateway.example", "10.8.0.12"]',
    }),
  ),
  tls_certificate: Type.Optional(Type.String({ minLength: 1, description: "the path of a PEM file" })),
  tls_key: Type.Optional(Type.String({ minLength: 1, description: "the path of a PEM file" })),
} as const;

const section = Type.Object(tlsKeys);

/** Absolute paths of PEM files. */
export interface TlsFiles {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate that the server makes itself, also for names that the machine does not know of. */
export interface OwnTls {
  readonly names: readonly string[];
}

export type TlsSetting = TlsFiles | OwnTls;

/** A fault of a section, and the key it is at. */
export interface TlsFault {
  readonly key: keyof typeof tlsKeys;
  readonly what: string;
  readonly remedy: string;
}

/**
 * The TLS setting of a section whose values have their types; undefined: plain HTTP. Relative paths start at
 * `directory`.
 */
export function tlsSettingOf(
  given: Static<typeof section>,
  directory: string,
): TlsSetting | TlsFault | undefined {
  const { tls, tls_names: names, tls_certificate: certificate, tls_key: key } = given;
  if (tls !== undefined) {
    const other = (["tls_certificate", "tls_key"] as const).find((name) => given[name] !== undefined);
    if (other !== undefined)
      return {
        key: other,
        what: `[api] has both tls = "${tls}" and ${other}`,
        remedy: "take one of them out: a certificate is made, or files are given",
      };
    const wrong = names?.find((name) => !isServerName(name));
    if (wrong === undefined) return { names: names ?? [] };
    return {
      key: "tls_names",
      what: `api.tls_names has ${JSON.stringify(wrong)}`,
      remedy: "it must be a host name or an IP address, without scheme, port or brackets",
    };
  }
  if (names !== undefined)
    return {
      key: "tls_names",
      what: '[api] has tls_names but no tls = "self-signed"',
      remedy: "add it, or take tls_names out",
    };
  if (certificate === undefined && key === undefined) return undefined;
  if (key === undefined) return lonely("tls_certificate", "tls_key");
  if (certificate === undefined) return lonely("tls_key", "tls_certificate");
  return { certificate: resolve(directory, certificate), key: resolve(directory, key) };
}

function lonely(present: keyof typeof tlsKeys, absent: string): TlsFault {
  return {
    key: present,
    what: `[api] has ${present} but no ${absent}`,
    remedy: `add ${absent}, or take ${present} out to serve without TLS`,
  };
}

/** Whether a certificate can be for this: a host name in ASCII, or an IP address without brackets. */
export function isServerName(text: string): boolean {
  return isIP(text) > 0 || /^(?=.{1,253}$)\w(?:[\w-]*\w)?(?:\.\w(?:[\w-]*\w)?)*$/.test(text);
}
