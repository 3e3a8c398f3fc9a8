import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { messageOf, OperatorError } from "../base/errors.ts";

/**
 * A warning about a server that others reach by plain HTTP, in one line; undefined where there is TLS, or nobody but this machine
 * reaches it.
 *
 * @param server how the server is named, and the settings by which TLS is served
 */
export function plainHttpWarning(
  listen: { readonly hostname: string; readonly port: number },
  tls: unknown,
  server: { readonly name: string; readonly remedy: string },
): string | undefined {
  const { hostname, port } = listen;
  if (tls !== undefined || isOwnHost(hostname)) return undefined;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return `${server.name} plain HTTP on ${host}:${port}, where tokens and people's data travel in the open: ${server.remedy}`;
}

/** Whether what is sent to a server travels in the open. */
export function isInTheOpen(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isOwnHost(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** Whether a host is this machine, which nobody else reaches by that name. IPv6 without brackets. */
export function isOwnHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || /^127\./.test(hostname);
}

/** The host for the URL that a client on this machine uses. */
export function reachableHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "127.0.0.1";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** Whether a text is the address of a server, with nothing of its interface behind it: `https://central.example`. */
export function isServerAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.username === "" &&
    url.hash === ""
  );
}

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
interface OwnTls {
  readonly names: readonly string[];
}

export type TlsSetting = TlsFiles | OwnTls;

/** A fault of a section, and the key it is at. */
interface TlsFault {
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

/** A warning about the token file's mode, in one line that begins with `place`; none where the mode is right or the file is missing. */
export function tokenFileWarnings(file: string, place: string): string[] {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & others_may_read) === 0) return [];
  return [
    `${place}: ${file} can be read by every user of this machine, and holds a secret: chmod 640 ${file}`,
  ];
}

/**
 * The token that a file holds, alone.
 *
 * @param made which command makes it, and where
 * @throws OperatorError
 */
export function tokenIn(
  file: string,
  made = "`lintel token create NAME --scope sync --home ID` printed at central",
): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (thrown) {
    throw new OperatorError(
      `the token file ${file} cannot be read (${messageOf(thrown)})`,
      `write into it what ${made}, readable for the user that this runs as`,
    );
  }
  if (isToken(text)) return text;
  throw new OperatorError(
    `${file} does not hold a token alone`,
    `write into it the text that ${made}, and nothing else`,
  );
}

/** Whether a text can be a token. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]{1,500}$/.test(text);
}

/** A certificate that no authority vouches for, in PEM. @throws OperatorError where the file holds none */
export function certificateIn(file: string): string {
  try {
    const text = readFileSync(file, "utf8");
    new X509Certificate(text);
    return text;
  } catch (thrown) {
    throw new OperatorError(
      `${file} cannot be read as a certificate (${messageOf(thrown)})`,
      "name a PEM file that this user may read: `lintel status` on the other side says where its own is",
    );
  }
}

const others_may_read = 0o004;
