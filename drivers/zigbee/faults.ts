import { existsSync, readdirSync } from "node:fs";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import { type AdapterLine, adapterNames, lineSettings } from "./adapters.ts";

/** Errors of zigbee-herdsman and the system when an adapter can't be used, with their meaning and remedy. */
const faults: readonly {
  says: RegExp;
  what: (line: AdapterLine) => string;
  remedy: (line: AdapterLine) => string;
}[] = [
  {
    says: /ECONNREFUSED|Failed to connect$|ConnectionRefused/,
    what: ({ port }) => `nothing listens at ${port}`,
    remedy: () => "start the serial server there, or correct the port in [zigbee]",
  },
  {
    says: /ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/,
    what: ({ port }) => `${port} cannot be reached`,
    remedy: () => "check the network and the host name of the port in [zigbee]",
  },
  {
    says: /EACCES|EPERM|[Pp]ermission denied/,
    what: ({ port }) => `the Zigbee adapter ${port} may not be opened`,
    remedy: () => "add the user that runs Lintel to the group dialout",
  },
  {
    says: /EBUSY|[Cc]annot lock|temporarily unavailable|in use|another process/,
    what: ({ port }) => `the Zigbee adapter ${port} is held by another program`,
    remedy: () => "stop that program (`fuser` on the port names it)",
  },
  {
    says: /ENOENT|No such file/,
    what: ({ port }) => `the Zigbee adapter ${port} is not there`,
    remedy: () => `plug it in, or correct the port in [zigbee]${presentAdapters()}`,
  },
  {
    says: /other side closed the connection/,
    what: ({ port }) => `${port} closes the connection at once`,
    remedy: () => "stop whatever else uses the adapter there; some servers need half a minute to notice",
  },
  {
    says: /EZSP protocol version \(([0-9]|1[0-2])\) is not supported|old-style version number/,
    what: ({ port }) => `the firmware of the Zigbee adapter ${port} is too old`,
    remedy: () =>
      "write a newer firmware onto it with its maker's tool: EmberZNet 7.4 or later; its network stays",
  },
  {
    says: /EZSP protocol version \(\d+\) is not supported/,
    what: ({ port }) => `the firmware of the Zigbee adapter ${port} is newer than this release knows`,
    remedy: () => "update Lintel, or write an older firmware onto it: EmberZNet 7.4 to 8",
  },
  {
    says: /configuration-adapter mismatch/,
    what: ({ port }) => `the Zigbee adapter ${port} and its backup hold another network than this gateway's`,
    remedy: () =>
      "put back the adapter or the data directory that belongs here; to start over, delete the driver's directory and pair every sensor again",
  },
  {
    says: /panId collision|same panId/,
    what: () => "another Zigbee network nearby has the same identifiers",
    remedy: () => "another network is made up for the next try while no sensor is paired",
  },
];

/** The error line for an adapter that can't be used: from the error, and from the messages logged before it. */
export function startFault(line: AdapterLine, thrown: unknown, logged: readonly string[]): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  const said = [messageOf(thrown), ...logged].join(" ");
  const fault = faults.find(({ says }) => says.test(said));
  if (fault === undefined) return silentFault(line, messageOf(thrown, 120));
  return new OperatorError(fault.what(line), fault.remedy(line), { cause: thrown });
}

/** Nothing that speaks the configured protocol is at the other end. */
export function silentFault(line: AdapterLine, said?: string): OperatorError {
  const { port, adapter } = line;
  const others = adapterNames.filter((name) => name !== adapter).join(", ");
  const { baudRate } = lineSettings(line);
  const rate = baudRate === undefined ? "the usual one" : `${baudRate} baud`;
  return new OperatorError(
    `nothing on ${port} answers as a ${adapter} adapter${said === undefined ? "" : ` (${said})`}`,
    `check that the port is the Zigbee adapter's, that its type is ${adapter}, not ${others}, and that its rate (baudrate in [zigbee], now ${rate}) is the one that its maker names; then unplug it and plug it in again`,
  );
}

/** Throws when the device file is missing, before zigbee-herdsman goes looking for it. */
export function requirePort(line: AdapterLine): void {
  if (line.port.startsWith("/") && !existsSync(line.port)) {
    throw startFault(line, new Error("ENOENT"), []);
  }
}

export function unpluggedFault({ port }: AdapterLine): OperatorError {
  return port.startsWith("/")
    ? new OperatorError(`the Zigbee adapter ${port} was unplugged`, "plug it in again")
    : new OperatorError(
        `the connection to ${port} has broken`,
        "check the serial server there and the network",
      );
}

export function deafFault({ port }: AdapterLine): OperatorError {
  return new OperatorError(
    `the Zigbee adapter ${port} has stopped answering`,
    "unplug it and plug it in again if that does not mend itself",
  );
}

const serialDirectory = "/dev/serial/by-id";

function presentAdapters(): string {
  if (!existsSync(serialDirectory)) return "";
  const names = readdirSync(serialDirectory);
  return names.length === 0
    ? ""
    : ` (there is ${names.map((name) => `${serialDirectory}/${name}`).join(", ")})`;
}
