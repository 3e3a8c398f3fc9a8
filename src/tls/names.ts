import { isIPv4 } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { isOwnHost } from "../config/server-address.ts";
import { isServerName } from "../config/tls-section.ts";

/** Names and addresses of a machine in its network. */
export interface Machine {
  readonly hostname: string;
  /** IP addresses that others reach it at, without brackets. */
  readonly addresses: readonly string[];
}

/** @param first name of the network interface whose addresses come first; absent: in the order of the system */
export function thisMachine(first = ""): Machine {
  const { [first]: preferred, ...others } = networkInterfaces();
  const addresses = [preferred, ...Object.values(others)]
    .flatMap((interfaces) => interfaces ?? [])
    // An address of one link alone means nothing without the name of the link.
    .filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address))
    .map(({ address }) => address);
  return { hostname: hostname(), addresses };
}

/**
 * Every name that a client may write for this server, each once: those that were given, the machine's own, also as it is announced in
 * a home's network (`.local`), the one that it listens on, and its addresses.
 */
export function serverNames(options: {
  readonly given: readonly string[];
  readonly listen: string;
  readonly machine: Machine;
}): string[] {
  const { given, listen, machine } = options;
  const [first = ""] = machine.hostname.split(".");
  const names = [
    ...given,
    machine.hostname,
    `${first}.local`,
    "localhost",
    "127.0.0.1",
    "::1",
    ...(isEveryAddress(listen) ? [] : [listen]),
    ...machine.addresses,
  ];
  return [...new Set(names.filter(isServerName))].slice(0, names_max);
}

/**
 * The name or address by which others in its network reach this server: the first name that its certificate was given, the address that
 * it listens on, or the first of the machine. Undefined where that is in no network.
 */
export function hostInNetwork(options: {
  readonly given: readonly string[];
  readonly listen: string;
  readonly machine: Machine;
}): string | undefined {
  const { given, listen, machine } = options;
  // Names are of whatever stands before a server that only this machine reaches.
  if (isOwnHost(listen)) return listen;
  if (given[0] !== undefined) return given[0];
  if (!isEveryAddress(listen)) return listen;
  const ipv4 = machine.addresses.find((address) => isIPv4(address));
  return ipv4 ?? (listen === "::" ? machine.addresses[0] : undefined);
}

/**
 * Name of the network interface that leads out of the home, in the kernel's table of IPv4 routes: the one of a default route, and of
 * several the one that is taken. Undefined where there is none.
 *
 * @param table text of `/proc/net/route`, as proc_net(5) has it
 */
export function defaultInterface(table: string): string | undefined {
  const routes = table.split("\n").map((line) => line.trim().split(/\s+/));
  const metric = (fields: readonly string[]) => Number(fields[6]);
  const [best] = routes
    .filter(([, destination, , , , , , mask]) => destination === everywhere && mask === everywhere)
    .toSorted((one, other) => metric(one) - metric(other));
  return best?.[0];
}

const everywhere = "00000000";

function isEveryAddress(listen: string): boolean {
  return listen === "0.0.0.0" || listen === "::";
}

/** A bound on the size of the certificate, which is sent with each connection. */
const names_max = 64;
