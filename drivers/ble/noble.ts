import type { EventEmitter } from "node:events";
import type { Noble, Peripheral as NoblePeripheral } from "@stoprocent/noble";
import { OperatorError } from "../../src/base/errors.ts";
import type { ControllerLine } from "./line.ts";

/**
 * The parts of noble 2.8.0 that are used beyond its documented interface, all of them here. Its GATT calls never settle
 * when a device answers with an error, and they confirm an indication before anyone has seen it. Its tables of devices
 * only grow. The layer below those calls has all that is needed.
 */
export interface OpenNoble {
  readonly noble: Noble;
  readonly hci: Hci;
  /** Drops all that noble remembers of a device: every address on the street is kept for ever otherwise. */
  forget(id: string): void;
  peripheralOf(id: string): NoblePeripheral | undefined;
  /** Whether the controller was told to connect to a device and has not said how that ended. */
  isConnecting(id: string): boolean;
  /** The ATT queue and the data of an open connection, rid of the pairing that noble would begin by itself. */
  linkOf(id: string): { gatt: Gatt; stream: AclStream; handle: number } | undefined;
  stop(): void;
}

/** noble's host side of HCI. */
export interface Hci extends EventEmitter {
  readonly address: string | undefined;
  readonly addressType: "public" | "random" | undefined;
  /** Resets the controller and sets its event masks again; emits `reset` then. */
  reset(): void;
}

/** noble's ATT queue of one connection: one request at a time, each answered with a unit or never. */
export interface Gatt {
  /** The MTU that the device said it has; noble sends no more than `_desired_mtu` itself. */
  readonly _mtu: number;
  readonly _desired_mtu: number;
  /** The security of the link, as noble believes: at `medium` it hands errors of security on, else it pairs at them. */
  _security: string;
  /** With `answered`, a request; with `written`, a unit that has no answer. */
  _queueCommand(
    unit: Buffer,
    answered: ((unit: Buffer) => void) | null,
    written?: (() => void) | undefined,
  ): void;
}

/** The data of one connection; emits `data` with channel and bytes. */
export interface AclStream extends EventEmitter {
  readonly _smp: { readonly onAclStreamDataBinded: (channel: number, bytes: Buffer) => void };
  write(channel: number, bytes: Buffer): void;
}

interface Bindings {
  readonly _hci: Hci;
  readonly _gap: { readonly _discoveries: Record<string, unknown> };
  readonly _gatts: Record<string, Gatt>;
  readonly _handles: Record<string, number>;
  readonly _aclStreams: Record<number, AclStream>;
  readonly _addresses: Record<string, string>;
  readonly _addresseTypes: Record<string, unknown>;
  readonly _connectable: Record<string, unknown>;
  readonly scannable: Record<string, unknown>;
  readonly _pendingConnectionUuid: string | null;
  readonly _sigIntHandler: () => void;
  readonly _exitHandler: () => void;
}

interface Inner {
  readonly _bindings: Bindings;
  readonly _peripherals: Map<string, NoblePeripheral>;
  _cleanupPeriperals(id: string): void;
}

type WithBindings = (type: "hci", options: Record<string, unknown>) => Noble;

/**
 * A noble of its own for one session with a controller: nothing of it is shared between sessions, so the
 * next one begins with an empty memory.
 */
export async function startNoble(
  line: ControllerLine,
  warned: (message: string) => void,
): Promise<OpenNoble> {
  // Otherwise it keeps advertisements back until the scan response. Read at each report.
  process.env["NOBLE_REPORT_ALL_HCI_EVENTS"] = "1";
  const withBindings = await loadNoble();
  const noble = withBindings("hci", {
    bindParams: { line },
    // The line is nobody else's: noble then answers L2CAP signalling itself and does not poll the port.
    userChannel: true,
    // A controller refuses older commands after one of the extended kind; noble sends both when left to choose.
    extended: false,
  });
  noble.removeAllListeners("warning");
  noble.on("warning", warned);
  // Reading it starts the bindings, which is not otherwise possible without waiting for an event.
  void noble.state;
  const inner = noble as unknown as Inner;
  const bindings = requireBindings(inner);
  // Its own would end the process at the first SIGINT.
  process.removeListener("SIGINT", bindings._sigIntHandler);
  process.removeListener("exit", bindings._exitHandler);
  return {
    noble,
    hci: bindings._hci,
    peripheralOf: (id) => inner._peripherals.get(id),
    isConnecting: (id) => bindings._pendingConnectionUuid === id,
    forget: (id) => forget(inner, id),
    linkOf: (id) => {
      const handle = bindings._handles[id] ?? -1;
      const stream = bindings._aclStreams[handle];
      const gatt = bindings._gatts[id];
      if (gatt === undefined || stream === undefined) return undefined;
      withoutPairing(gatt, stream);
      return { gatt, stream, handle };
    },
    stop: () => noble.stop(),
  };
}

/** Loads the function that makes a noble. The first call reads its source. */
export async function loadNoble(): Promise<WithBindings> {
  const { default: withBindings } = (await import(bindingsModule)) as { default: WithBindings };
  return withBindings;
}

/** Not noble's index, which makes bindings of its own for whatever the machine has. */
const bindingsModule = "@stoprocent/noble/lib/resolve-bindings.js";

/** Its own pairing trusts whatever answers, keeps no key, and takes encryption as a sign to repeat a request that is not there. */
function withoutPairing(gatt: Gatt, stream: AclStream): void {
  gatt._security = "medium";
  stream.removeAllListeners("encrypt");
  stream.removeListener("data", stream._smp.onAclStreamDataBinded);
}

function forget(inner: Inner, id: string): void {
  const bindings = inner._bindings;
  const address = bindings._addresses[id];
  inner._cleanupPeriperals(id);
  if (address !== undefined) delete bindings._gap._discoveries[address];
  for (const table of [
    bindings._addresses,
    bindings._addresseTypes,
    bindings._connectable,
    bindings.scannable,
  ]) {
    delete table[id];
  }
}

function requireBindings({ _bindings: bindings, _peripherals }: Inner): Bindings {
  const parts: unknown[] = [
    bindings?._hci,
    bindings?._gap?._discoveries,
    bindings?._gatts,
    bindings?._aclStreams,
  ];
  if (parts.includes(undefined) || !(_peripherals instanceof Map)) {
    throw new OperatorError("this version of noble is another one than Lintel knows", "install 2.8.0");
  }
  return bindings;
}
