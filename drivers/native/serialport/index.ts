import type { BindingInterface, OpenOptions, PortInfo } from "./interface.ts";
import { type LinuxOpenOptions, LinuxPortBinding, openLinuxPort } from "./linux-port.ts";
import { listPorts } from "./list.ts";
import { isTcpPath, openTcpPort, TcpPortBinding } from "./tcp-port.ts";

export { BindingsError } from "./errors.ts";
export type * from "./interface.ts";
export type { LinuxPortStatus, LinuxSetOptions } from "./modem.ts";
export { type LinuxOpenOptions, LinuxPortBinding, TcpPortBinding };

export type LinuxBindingInterface = BindingInterface<LinuxPortBinding | TcpPortBinding, LinuxOpenOptions>;
export type AutoDetectTypes = LinuxBindingInterface;

/** The binding of this machine: what serialport asks for. */
export function autoDetect(): AutoDetectTypes {
  return LinuxBinding;
}

/** Opens device paths, and `tcp://host:port` for a port that is offered over the network. */
export const LinuxBinding: LinuxBindingInterface = {
  async list(): Promise<PortInfo[]> {
    return listPorts();
  },

  async open(options: LinuxOpenOptions): Promise<LinuxPortBinding | TcpPortBinding> {
    if (typeof options !== "object" || options === null || Array.isArray(options)) {
      throw new TypeError('"options" is not an object');
    }
    if (!options.path) throw new TypeError('"path" is not a valid port');
    if (!options.baudRate) throw new TypeError('"baudRate" is not a valid baudRate');
    const complete: Required<LinuxOpenOptions> = { ...defaults, ...options };
    return isTcpPath(complete.path) ? openTcpPort(complete) : openLinuxPort(complete);
  },
};

const defaults: Omit<Required<LinuxOpenOptions>, keyof Pick<OpenOptions, "path" | "baudRate">> = {
  dataBits: 8,
  stopBits: 1,
  parity: "none",
  lock: true,
  rtscts: false,
  xon: false,
  xoff: false,
  xany: false,
  hupcl: true,
  vmin: 1,
  vtime: 0,
};
