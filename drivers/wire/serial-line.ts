import type { SerialPort } from "serialport";
import { messageOf, OperatorError } from "../../src/base/errors.ts";

/** An open serial line, eight bits without parity. */
export interface SerialLine {
  /**
   * Resolves when the line has taken the bytes. Rejects with an OperatorError when it's gone; `ended` then has
   * the same reason.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves with the reason when the line ends by itself; never rejects. */
  readonly ended: Promise<OperatorError>;
  close(): Promise<void>;
}

export interface SerialLineOptions {
  /** A device path or `tcp://host:port`. */
  readonly port: string;
  readonly baud: number;
  /** Whether both ends hold each other back by RTS and CTS; false unless said. */
  readonly rtscts?: boolean;
  /**
   * The device at the other end and the section that configures its port, for people: `the pill box bridge`,
   * `[pillbox]`.
   */
  readonly device: string;
  readonly section: string;
  /** Called for each piece that arrives; must not keep it. */
  readonly onData: (chunk: Uint8Array) => void;
}

/** Opens a line through serialport. Rejects with an OperatorError, and has then released the port. */
export async function openSerialLine(options: SerialLineOptions, signal: AbortSignal): Promise<SerialLine> {
  const { SerialPort } = await import("serialport");
  const { port: path, baud: baudRate, rtscts = false } = options;
  const port = new SerialPort({ path, baudRate, rtscts, autoOpen: false });
  const { promise: ended, resolve: end } = Promise.withResolvers<OperatorError>();
  // A failed read is an "error" without "close" on some paths and both on others: the first one counts.
  port.on("error", (error) => end(portFault(options, error)));
  port.on("close", (error: Error | null) =>
    end(error === null ? closedFault(options) : portFault(options, error)),
  );
  port.on("data", options.onData);
  await new Promise<void>((resolve, reject) => {
    port.open((error) => (error === null ? resolve() : reject(portFault(options, error))));
  });
  const line: SerialLine = {
    ended,
    close: () => closePort(port),
    write: (bytes) =>
      new Promise((resolve, reject) => {
        port.write(Buffer.from(bytes), (error) => {
          if (error === null || error === undefined) resolve();
          else reject(portFault(options, error));
        });
      }),
  };
  if (!signal.aborted) return line;
  await line.close();
  throw closedFault(options);
}

function closePort(port: SerialPort): Promise<void> {
  if (!port.isOpen) return Promise.resolve();
  return new Promise((resolve) => port.close(() => resolve()));
}

function closedFault({ device, port }: SerialLineOptions): OperatorError {
  return new OperatorError(
    `${device} on ${port} closed the connection`,
    "it is tried again by itself; check its power if it lasts",
  );
}

/** Errors of the system when a port can't be used, with their meaning and remedy. */
const faults: readonly { says: RegExp; what: string; remedy: string }[] = [
  {
    says: /ECONNREFUSED|ConnectionRefused|Failed to connect/,
    what: "nothing listens there",
    remedy: "start the serial server, or correct the port in",
  },
  {
    says: /ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|no answer/,
    what: "it cannot be reached",
    remedy: "check the network, or correct the port in",
  },
  {
    says: /EACCES|EPERM|[Pp]ermission denied/,
    what: "it may not be opened",
    remedy: "add the user that runs Lintel to the group dialout, or correct the port in",
  },
  {
    says: /EBUSY|[Cc]annot lock|temporarily unavailable|another process/,
    what: "another program holds it",
    remedy: "stop that program (`fuser` on the port names it), or correct the port in",
  },
  { says: /ENOENT|No such file/, what: "it is not there", remedy: "plug it in, or correct the port in" },
];

function portFault({ device, port, section }: SerialLineOptions, thrown: unknown): OperatorError {
  const text = messageOf(thrown);
  const { what, remedy } = faults.find(({ says }) => says.test(text)) ?? {
    what: text,
    remedy: "plug it in again, or correct the port in",
  };
  return new OperatorError(`${device} on ${port}: ${what}`, `${remedy} ${section}`, { cause: thrown });
}
