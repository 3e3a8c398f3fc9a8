/**
 * An error of a port. serialport looks at two flags: `canceled` means that the port was closed under a pending call
 * (not a fault), `disconnect` that the device is gone.
 */
export class BindingsError extends Error {
  readonly canceled: boolean;
  readonly disconnect: boolean;

  constructor(message: string, { canceled = false, disconnect = false } = {}) {
    super(message);
    this.canceled = canceled;
    this.disconnect = disconnect;
  }
}

export function canceled(): BindingsError {
  return new BindingsError("Canceled: the port was closed", { canceled: true });
}

export function disconnected(path: string, why: string): BindingsError {
  return new BindingsError(`${path}: ${why}`, { disconnect: true });
}
