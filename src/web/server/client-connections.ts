import { CString, FFIType, type Pointer, ptr } from "bun:ffi";
import type { Clock } from "../../base/clock.ts";
import { openLibc } from "../../base/libc.ts";
import type { Log } from "../../base/log.ts";

/** Bounds of the connections to a port. */
export interface ConnectionBounds {
  /** Connections at once; those beyond it that have no request under way are closed. */
  readonly connections_max: number;
  /** The same of one client: an IPv4 address, or the /64 of an IPv6 one. */
  readonly connections_of_client_max: number;
}

/**
 * The bounds of a process: a quarter of the files that it may have open at most, so that there is room for the next connections and for the files of the
 * store; of one client a quarter of that.
 */
export function boundsWithin(connections_max: number, files_max = openFiles_max()): ConnectionBounds {
  const all = Math.max(share, Math.min(connections_max, Math.floor(files_max / share)));
  return { connections_max: all, connections_of_client_max: Math.floor(all / share) };
}

const share = 4;

/**
 * Closes connections beyond the bounds, so that the next client always finds room: a process without a free file descriptor
 * accepts nobody. Bun accepts whatever comes and asks nobody, so the connections are counted four times a second, and while some have to be
 * closed a hundred times. Those on which no byte has passed for longest go first. One with a request under way stays: `requests_max` bounds these.
 */
export class ClientConnections {
  readonly #bounds: ConnectionBounds;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #files = new OpenFiles();
  /** How many requests are under way, by the client's port alone: at worst an idle connection stays. */
  readonly #underWay = new Map<number, number>();
  #closed = 0;
  #said = { closed: 0, ms: Number.NEGATIVE_INFINITY };
  #cancel = () => {};

  constructor(options: { bounds: ConnectionBounds; clock: Clock; log: Log }) {
    this.#bounds = options.bounds;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** How many were closed since the start. */
  get closed(): number {
    return this.#closed;
  }

  /** Notes that a request is under way on the connection of the client with this port; answers what notes its end. */
  begin(port: number | undefined): () => void {
    // A client that has gone already has none.
    if (port === undefined) return () => {};
    this.#underWay.set(port, (this.#underWay.get(port) ?? 0) + 1);
    return () => {
      const left = (this.#underWay.get(port) ?? 0) - 1;
      if (left > 0) this.#underWay.set(port, left);
      else this.#underWay.delete(port);
    };
  }

  /** Keeps the connections to a port of this process within the bounds, until `stop`. */
  keep(port: number, wait_ms = calm_ms): void {
    this.#cancel = this.#clock.after(wait_ms, () => {
      const surplus = this.#surplus(port);
      for (const connection of surplus) end(connection);
      this.#closed += surplus.length;
      this.#report(surplus);
      this.keep(port, surplus.length > 0 ? busy_ms : calm_ms);
    });
  }

  stop(): void {
    this.#cancel();
    this.#files.close();
  }

  #surplus(port: number): AcceptedSocket[] {
    const files = this.#files.list();
    // Nearly always: then nothing else is asked.
    if (files.length <= this.#bounds.connections_of_client_max) return [];
    return surplusOf(acceptedAt(port, files), this.#bounds, (client) => this.#underWay.has(client.port));
  }

  #report(surplus: readonly AcceptedSocket[]): void {
    const { monotonic_ms } = this.#clock.now();
    const closed = this.#closed - this.#said.closed;
    if (closed === 0 || monotonic_ms - this.#said.ms < report_ms) return;
    const { connections_max: all, connections_of_client_max: of_client } = this.#bounds;
    const example = surplus[0] === undefined ? "" : `, one of them from ${surplus[0].network}`;
    this.#log.warn(
      `closed ${closed} connections on which no request was under way${example}: there is room for ${all}, and for ${of_client} of one client`,
    );
    this.#said = { closed: this.#closed, ms: monotonic_ms };
  }
}

/** Connections to close: of each client with too many, and then of all, those that were idle for longest. */
export function surplusOf<Connection extends Pick<AcceptedSocket, "network" | "idle_ms">>(
  connections: readonly Connection[],
  bounds: ConnectionBounds,
  underWay: (connection: Connection) => boolean,
): Connection[] {
  const counts = new Map<string, number>();
  for (const { network } of connections) counts.set(network, (counts.get(network) ?? 0) + 1);
  const surplus: Connection[] = [];
  const others: Connection[] = [];
  const idle = connections.filter((connection) => !underWay(connection));
  for (const connection of idle.sort((one, other) => other.idle_ms - one.idle_ms)) {
    const count = counts.get(connection.network) ?? 0;
    const beyond = count > bounds.connections_of_client_max;
    if (beyond) counts.set(connection.network, count - 1);
    (beyond ? surplus : others).push(connection);
  }
  const beyondAll = connections.length - surplus.length - bounds.connections_max;
  return [...surplus, ...others.slice(0, Math.max(0, beyondAll))];
}

const calm_ms = 250;
const busy_ms = 10;
/** One line in the log in this time. */
const report_ms = 60_000;

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
