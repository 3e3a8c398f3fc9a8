import { dlopen, FFIType, ptr } from "bun:ffi";

/** The service manager's end: a unix datagram socket, bound to a path or, after @, to an abstract name. */
export class ServiceManager {
  static readonly #libc = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    recv: { args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i64 },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  }).symbols;
  readonly #socket: number;

  constructor(name: string) {
    this.#socket = ServiceManager.#libc.socket(1, 2, 0);
    const path = name.startsWith("@") ? `\0${name.slice(1)}` : `${name}\0`;
    const address = Buffer.concat([Buffer.from([1, 0]), Buffer.from(path)]);
    if (ServiceManager.#libc.bind(this.#socket, ptr(address), address.length) !== 0) {
      throw new Error(`cannot bind ${name}`);
    }
  }

  /** The next unread message; datagrams on one machine arrive before send returns. */
  next(): string | undefined {
    const bytes = Buffer.alloc(4096);
    const dontWait = 0x40;
    const length = Number(ServiceManager.#libc.recv(this.#socket, ptr(bytes), bytes.length, dontWait));
    return length < 0 ? undefined : bytes.toString("utf8", 0, length);
  }

  close(): void {
    ServiceManager.#libc.close(this.#socket);
  }
}
