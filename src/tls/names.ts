import { hostname, networkInterfaces } from "node:os";
import { isServerName } from "../config/tls-section.ts";

/** Names and addresses of a machine in its network. */
export interface Machine {
  readonly hostname: string;
  /** IP addresses that others reach it at, without brackets. */
  readonly addresses: readonly string[];
}

export function thisMachine(): Machine {
  const addresses = Object.values(networkInterfaces())
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

function isEveryAddress(listen: string): boolean {
  return listen === "0.0.0.0" || listen === "::";
}

/** A bound on the size of the certificate, which is sent with each connection. */
const names_max = 64;
