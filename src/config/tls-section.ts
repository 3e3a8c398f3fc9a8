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

/** Values of the keys, each of its type. */
type TlsKeys = Omit<Static<typeof section>, "tls_names"> & { readonly tls_names?: readonly string[] };

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
 * The TLS setting of keys whose values have their types; undefined: plain HTTP.
 *
 * @param options.directory where relative paths start
 * @param options.nameOf the name of a key in messages
 */
export function tlsSettingOf(
  given: TlsKeys,
  { directory, nameOf }: { readonly directory: string; readonly nameOf: (key: TlsFault["key"]) => string },
): TlsSetting | TlsFault | undefined {
  const { tls, tls_names: names, tls_certificate: certificate, tls_key: key } = given;
  const fault = (key: TlsFault["key"], what: string, remedy: string) => ({ key, what, remedy });
  if (tls !== undefined) {
    const other = (["tls_certificate", "tls_key"] as const).find((name) => given[name] !== undefined);
    if (other !== undefined)
      return fault(
        other,
        `${nameOf("tls")} and ${nameOf(other)} both say what TLS is served with`,
        "leave one of them out: a certificate is made, or files are given",
      );
    const wrong = names?.find((name) => !isServerName(name));
    if (wrong === undefined) return { names: names ?? [] };
    return fault(
      "tls_names",
      `${nameOf("tls_names")} has ${JSON.stringify(wrong)}`,
      "it must be a host name or an IP address, without scheme, port or brackets",
    );
  }
  if (names !== undefined) return fault("tls_names", ...onlyForOwn(nameOf("tls_names"), nameOf("tls")));
  if (certificate !== undefined && key !== undefined)
    return { certificate: resolve(directory, certificate), key: resolve(directory, key) };
  const lone = certificate !== undefined ? "tls_certificate" : key !== undefined ? "tls_key" : undefined;
  if (lone === undefined) return undefined;
  return fault(
    lone,
    `TLS needs a certificate and a key, and there is ${nameOf(lone)} alone`,
    `give both ${nameOf("tls_certificate")} and ${nameOf("tls_key")}, or neither to serve without TLS`,
  );
}

/** The fault of a setting that only a certificate of the server's own has, and its remedy. */
export function onlyForOwn(name: string, tls: string): [what: string, remedy: string] {
  return [
    `${name} is for a certificate that the server makes`,
    `give ${tls} "self-signed" too, or leave it out`,
  ];
}

/** Whether a certificate can be for this: a host name in ASCII, or an IP address without brackets. */
export function isServerName(text: string): boolean {
  return isIP(text) > 0 || /^(?=.{1,253}$)\w(?:[\w-]*\w)?(?:\.\w(?:[\w-]*\w)?)*$/.test(text);
}
