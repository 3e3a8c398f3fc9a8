import { X509Certificate } from "node:crypto";
import { InvalidArgumentError } from "commander";
import { readIfThere } from "../base/disk/safe-files.ts";
import { OperatorError } from "../base/errors.ts";
import { findConfig, loadParts } from "../config/gateway-config.ts";
import {
  isOwnHost,
  isServerAddress,
  isServerName,
  reachableHost,
  type TlsSetting,
} from "../config/server-access.ts";
import { ControlClient } from "../gateway/control-client.ts";
import type { GatewayStatus } from "../gateway/gateway-status.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import { defaultInterface, hostInNetwork, ownFiles, thisMachine } from "../web/server/self-signed.ts";
import { type StoreOptions, storePlace } from "./store-place.ts";
import type { Terminal } from "./terminal.ts";

/** A link that opens the pages and signs in: a browser never sends what stands behind `#`, so no server or proxy on the way logs it. */
export function signInLink(origin: string, token: string): string {
  return `${origin}/#token=${token}`;
}

/** Prints the QR code of a link where a phone could use it and the terminal has room; `rows_below` lines follow it. */
export async function printQrCode(terminal: Terminal, link: string, rows_below: number): Promise<void> {
  if (opensHereAlone(link)) return;
  for (const line of await qrCode(link, terminal, rows_below)) terminal.print(line);
}

/** Whether the address in a link means this machine to whoever opens it. */
export function opensHereAlone(link: string): boolean {
  return isOwnHost(new URL(link).hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** The address of pages that `--link` names, as an origin. */
export function parseOrigin(text: string): string {
  const url = text.length <= address_length_max && isServerAddress(text) ? new URL(text) : undefined;
  if (url?.pathname === "/") return url.origin;
  throw new InvalidArgumentError(
    `It must be the address of the pages alone, such as ${centralExample}; the name of the token stands before --link.`,
  );
}

/**
 * The origin at which people in its network reach the pages of the server whose store the options name: as its gateway runs, or as its
 * configuration says.
 *
 * @throws OperatorError where neither says it
 */
export async function originOf(options: StoreOptions): Promise<string> {
  const place = storePlace(options);
  if ("database" in place || storedRole(place.directory) === "central")
    throw new OperatorError(
      "the store of central does not say where its pages are reached",
      `give the address to --link, such as --link ${centralExample}`,
    );
  const { directory } = place;
  const file = options.data === undefined ? (options.config ?? findConfig()) : undefined;
  const api = file === undefined ? undefined : loadParts(file, "api").api;
  const running = await new ControlClient(directory).statusIfRunning();
  if (running !== undefined) {
    const tls = api === undefined ? givenFiles(running, directory) : api.tls;
    return originInNetwork(running.url, running.listen, tls);
  }
  if (api !== undefined && api.port !== 0) {
    const scheme = api.tls === undefined ? "http" : "https";
    return originInNetwork(`${scheme}://${reachableHost(api.hostname)}:${api.port}`, api.hostname, api.tls);
  }
  const [why, remedy] =
    api === undefined
      ? ["nothing else says where its pages are reached", "start it, name its configuration with --config,"]
      : ["by its configuration it takes any free port", "start it,"];
  throw new OperatorError(
    `no gateway is running on ${directory}, and ${why}`,
    `${remedy} or give the address to --link, such as --link https://gateway.local:8080`,
  );
}

/**
 * The origin of a server, with a host by which others in its network reach it.
 *
 * @param url with the host that is for this machine
 * @param listen the address that it listens on
 */
export function originInNetwork(url: string, listen: string, tls?: TlsSetting): string {
  const machine = thisMachine(defaultInterface(readIfThere(routes) ?? ""));
  const host = hostInNetwork({ given: namesOf(tls), listen, machine });
  const reached = new URL(url);
  if (host !== undefined) reached.hostname = reachableHost(host);
  return reached.origin;
}

/** TLS files of a running gateway that it has not made itself. */
function givenFiles({ tls }: GatewayStatus, directory: string): TlsSetting | undefined {
  if (tls === undefined || tls.certificate === ownFiles(directory).certificate) return undefined;
  return { certificate: tls.certificate, key: "" };
}

/** Host names that TLS is for, as far as somebody gave them. */
function namesOf(tls: TlsSetting | undefined): readonly string[] {
  if (tls === undefined) return [];
  if ("names" in tls) return tls.names;
  const names = alternativeNames(tls.certificate);
  return [...names.matchAll(/DNS:([^,"]+)/g)].flatMap(([, name]) => name ?? []).filter(isServerName);
}

/** Names that a certificate is for, as Node lists them; empty where it cannot be read: the server that serves with it says so. */
function alternativeNames(file: string): string {
  try {
    return new X509Certificate(readIfThere(file) ?? "").subjectAltName ?? "";
  } catch {
    return "";
  }
}

const centralExample = "https://central.example:8090";
const routes = "/proc/net/route";
/** Of an address that is given: a host name has 253 characters at most. */
const address_length_max = 300;

/**
 * A text as a QR code of half blocks, black on white, whatever the colours of the terminal. No lines where it would not be read: in a
 * pipe, without colours, and where all of it cannot be seen at once.
 *
 * @param rows_below lines of the terminal that stand below it
 */
export async function qrCode(
  text: string,
  { width, rows, colours }: Pick<Terminal, "width" | "rows" | "colours">,
  rows_below: number,
): Promise<string[]> {
  if (width === undefined || rows === undefined || !colours.isColorSupported) return [];
  const { encode } = await import("uqr");
  // A screen is not torn or stained: the least correction makes the largest squares.
  const { data, size } = encode(text, { ecc: "L", border: quiet_modules });
  if (size > width || Math.ceil(size / 2) + rows_below > rows) return [];
  const lines: string[] = [];
  for (let row = 0; row < size; row += 2) {
    const halves = Array.from({ length: size }, (_, column) => {
      const [top, bottom] = [data[row]?.[column] === true, data[row + 1]?.[column] === true];
      return top ? (bottom ? "█" : "▀") : bottom ? "▄" : " ";
    });
    lines.push(colours.bgWhite(colours.black(halves.join(""))));
  }
  return lines;
}

/** White around the code. The standard asks for 4, phones are content with 2, and so it fits a terminal of 24 lines. */
const quiet_modules = 2;
