import { CString, FFIType, type Pointer, ptr } from "bun:ffi";
import { openLibc } from "../libc.ts";

/** A connection that a server of this process has accepted. */
export interface AcceptedSocket {
  /** Its file descriptor, which stays its own until the event loop turns: only the loop closes what a server accepted. */
  readonly fd: number;
  /** Of the client: an IPv4 address, or the /64 of an IPv6 one, which is what one household or host has. */
  readonly network: string;
  /** Of the client. */
  readonly port: number;
  /** Time since a byte came or went, milliseconds. */
  readonly idle_ms: number;
}

/**
 * The open file descriptors of this process, by a directory that stays open: where there is no descriptor left, no other could
 * be opened.
 */
export class OpenFiles {
  readonly #directory: Pointer;

  constructor() {
    const directory = calls().opendir(ptr(Buffer.from("/proc/self/fd\0")));
    if (directory === null) throw new Error("/proc/self/fd cannot be read");
    this.#directory = directory as Pointer;
  }

  list(): number[] {
    const { readdir, rewinddir } = calls();
    const files: number[] = [];
    rewinddir(this.#directory);
    for (let entry = readdir(this.#directory); entry !== null; entry = readdir(this.#directory)) {
      const fd = Number(new CString(entry, name_at));
      // The directory itself and the one above it are `.` and `..`.
      if (!Number.isNaN(fd)) files.push(fd);
    }
    return files;
  }

  close(): void {
    calls().closedir(this.#directory);
  }
}

/** How many files this process may have open at once, sockets among them (RLIMIT_NOFILE). */
export function openFiles_max(): number {
  const limits = new BigUint64Array(limits_bytes / 8);
  if (calls().getrlimit(RLIMIT_NOFILE, ptr(limits)) !== 0) throw new Error("getrlimit is refused");
  return Number(limits[0]);
}

/** Those of the files that are connections which a server at this port of TCP has accepted. */
export function acceptedAt(port: number, files: readonly number[]): AcceptedSocket[] {
  return files.flatMap((fd) => acceptedBy(fd, port) ?? []);
}

/** Ends a connection in both directions. The server sees that its client has gone, and closes it. */
export function end({ fd }: AcceptedSocket): void {
  calls().shutdown(fd, SHUT_RDWR);
}

function acceptedBy(fd: number, port: number): AcceptedSocket | undefined {
  const { getsockname, getpeername, getsockopt } = calls();
  if (addressBy(getsockname, fd)?.port !== port) return undefined;
  const client = addressBy(getpeername, fd);
  // The listening socket has none.
  if (client === undefined) return undefined;
  const info = new DataView(new ArrayBuffer(info_bytes));
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, ptr(info), ptr(Uint32Array.of(info_bytes))) !== 0)
    return undefined;
  const idle_ms = Math.min(info.getUint32(lastDataSent_at, true), info.getUint32(lastDataReceived_at, true));
  return { fd, ...client, idle_ms };
}

/** One end of a connection; undefined for anything else than one by IP. */
function addressBy(
  ask: ReturnType<typeof load>["getpeername"],
  fd: number,
): { readonly network: string; readonly port: number } | undefined {
  const address = Buffer.alloc(address_bytes);
  if (ask(fd, ptr(address), ptr(Uint32Array.of(address_bytes))) !== 0) return undefined;
  const family = address.readUInt16LE(0);
  const port = address.readUInt16BE(port_at);
  const dotted = (from: number) => address.subarray(from, from + 4).join(".");
  if (family === AF_INET) return { network: dotted(ipv4_at), port };
  if (family !== AF_INET6) return undefined;
  const hex = address.toString("hex", ipv6_at, ipv6_at + 16);
  // An IPv4 address written within IPv6 (RFC 4291, 2.5.5.2).
  if (hex.startsWith("00000000000000000000ffff")) return { network: dotted(ipv6_at + 12), port };
  return { network: `${hex.slice(0, 16).match(/.{4}/g)?.join(":")}::/64`, port };
}

let libc: ReturnType<typeof load> | undefined;

function calls(): ReturnType<typeof load> {
  libc ??= load();
  return libc;
}

function load() {
  const name = { args: [FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 } as const;
  return openLibc({
    opendir: { args: [FFIType.ptr], returns: FFIType.ptr },
    readdir: { args: [FFIType.ptr], returns: FFIType.ptr },
    rewinddir: { args: [FFIType.ptr], returns: FFIType.void },
    closedir: { args: [FFIType.ptr], returns: FFIType.i32 },
    getrlimit: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    getsockname: name,
    getpeername: name,
    getsockopt: {
      args: [FFIType.i32, FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr],
      returns: FFIType.i32,
    },
    shutdown: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  });
}

/** Numbers of Linux's socket(2), tcp(7), shutdown(2) and getrlimit(2), the same on x86-64 and arm64. */
export const AF_INET = 2;
export const AF_INET6 = 10;
export const IPPROTO_TCP = 6;
export const TCP_INFO = 11;
export const SHUT_RDWR = 2;
export const RLIMIT_NOFILE = 7;
/** `struct sockaddr_in6`, the longest address asked for; its port is where that of `struct sockaddr_in` is. */
export const address_bytes = 28;
export const port_at = 2;
export const ipv4_at = 4;
export const ipv6_at = 8;
/** `struct tcp_info`, as far as it is asked for. */
export const lastDataSent_at = 44;
export const lastDataReceived_at = 52;
export const info_bytes = 56;
/** `struct rlimit`: what the process has, then what it may raise that to. */
export const limits_bytes = 16;
/** `struct dirent`: where its name begins. */
export const name_at = 19;
