import type { Socket } from "bun";

/** Faults of a line, as client and server see them. */
export const faultKinds = ["cut", "reset", "stall", "truncate", "duplicate", "late duplicate"] as const;
export type FaultKind = (typeof faultKinds)[number];

/**
 * A line between a client and a server of HTTP, on raw sockets, that fails at random bytes in either direction:
 *
 * | fault | what happens |
 * |---|---|
 * | cut | both sides see the connection end in the middle of what was said |
 * | reset | both sides get a reset |
 * | stall | nothing moves for a while, then it goes on as if nothing had been |
 * | truncate | one direction ends after some bytes of a piece; the rest of it is lost, and the other direction stays |
 * | duplicate | a whole request is given to the server twice, the second time on a connection of its own |
 * | late duplicate | the same, after other requests have passed |
 *
 * Everything random comes from `random`, but sockets and processes keep their own time.
 */
export class FaultyProxy {
  readonly #listener: Bun.TCPSocketListener<Line>;
  readonly #options: FaultyProxyOptions;
  readonly #lines = new Set<Line>();
  readonly #counts = new Map<FaultKind, number>();
  #kept: Uint8Array | undefined;
  /** While true, nothing fails. */
  calm = false;

  constructor(options: FaultyProxyOptions) {
    this.#options = options;
    this.#listener = Bun.listen<Line>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          const line = new Line(socket, this);
          socket.data = line;
          this.#lines.add(line);
          line.connect(options.port);
        },
        data: ({ data: line }, bytes) => line.up.take(bytes),
        drain: ({ data: line }) => line.down.flush(),
        close: ({ data: line }) => line.ended("up"),
        error: ({ data: line }) => line.ended("up"),
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  /** How often each fault has happened. */
  get counts(): ReadonlyMap<FaultKind, number> {
    return this.#counts;
  }

  get faults(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Where, and in what way, a new connection fails. */
  plan(): Plan | undefined {
    const { random, bytes_max, always } = this.#options;
    if (this.calm) return undefined;
    if (always !== undefined) return { ...always, stall_ms: 0 };
    const kind = faultKinds[Math.floor(random() * faultKinds.length)] ?? "cut";
    // As many faults in the first hundred bytes as in the next thousand: heads and bodies are both hit.
    const after_bytes = Math.floor(Math.exp(random() * Math.log(bytes_max)));
    return { kind, direction: random() < 0.5 ? "up" : "down", after_bytes, stall_ms: 20 + random() * 400 };
  }

  happened(kind: FaultKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  /** Gives the server a request that it had before, now or when the next one of these comes. */
  repeat(request: Uint8Array, late: boolean): void {
    const now = late ? this.#kept : request;
    if (late) this.#kept = request;
    if (now === undefined) return;
    this.happened(late ? "late duplicate" : "duplicate");
    // Its answer goes nowhere. A server that is down misses it.
    Bun.connect({
      hostname: "127.0.0.1",
      port: this.#options.port,
      socket: {
        open: (socket) => void socket.write(now),
        data: (socket) => void socket.end(),
        error: () => {},
      },
    }).catch(() => undefined);
  }

  forget(line: Line): void {
    this.#lines.delete(line);
  }

  stop(): void {
    this.calm = true;
    this.#listener.stop(true);
    for (const line of this.#lines) line.break(true);
  }
}

export interface FaultyProxyOptions {
  /** Of the server, on this machine. */
  readonly port: number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** A connection fails within so many bytes. */
  readonly bytes_max: number;
  /** Every connection fails like this, and in no other way. */
  readonly always?: Omit<Plan, "stall_ms">;
}

interface Plan {
  readonly kind: FaultKind;
  readonly direction: Direction;
  readonly after_bytes: number;
  readonly stall_ms: number;
}

type Direction = "up" | "down";

/** One connection of a client and the one to the server that goes with it. */
class Line {
  readonly up: Pipe;
  readonly down: Pipe;
  readonly #proxy: FaultyProxy;
  readonly #client: Socket<Line>;
  readonly #requests = new Requests();
  #server: Socket<Line> | undefined;
  #plan: Plan | undefined;
  #over = false;

  constructor(client: Socket<Line>, proxy: FaultyProxy) {
    this.#client = client;
    this.#proxy = proxy;
    this.#plan = proxy.plan();
    this.up = new Pipe("up", this);
    this.down = new Pipe("down", this);
    this.down.to = client;
  }

  connect(port: number): void {
    Bun.connect<Line>({
      hostname: "127.0.0.1",
      port,
      data: this,
      socket: {
        open: (socket) => {
          this.#server = socket;
          this.up.to = socket;
          this.up.flush();
          if (this.#over) socket.terminate();
        },
        data: (_, bytes) => this.down.take(bytes),
        drain: () => this.up.flush(),
        close: () => this.ended("down"),
        error: () => this.ended("down"),
        connectError: () => this.break(true),
      },
    }).catch(() => this.break(true));
  }

  /** Bytes of a piece that may still pass; undefined: all of it. */
  judge(direction: Direction, passed: number, bytes: Uint8Array): number | undefined {
    if (direction === "up") this.#watchRequests(bytes);
    const plan = this.#plan;
    if (plan === undefined || plan.direction !== direction || passed + bytes.length < plan.after_bytes)
      return undefined;
    if (plan.kind === "duplicate" || plan.kind === "late duplicate" || this.#proxy.calm) return undefined;
    this.#plan = undefined;
    this.#proxy.happened(plan.kind);
    const left = Math.max(0, plan.after_bytes - passed);
    const pipe = direction === "up" ? this.up : this.down;
    if (plan.kind === "cut") setTimeout(() => this.break(false), 1);
    else if (plan.kind === "reset") this.break(true);
    else if (plan.kind === "truncate") pipe.close();
    else {
      pipe.hold(plan.stall_ms);
      this.#plan = this.#proxy.plan();
      return undefined;
    }
    return left;
  }

  /** One side has ended; what came from it still goes to the other. */
  ended(from: Direction): void {
    (from === "up" ? this.up : this.down).close();
    if (from === "down") this.#over = true;
    if (from === "up") this.#server?.end();
    this.#proxy.forget(this);
  }

  /** Ends both sides, with a reset or as if they had wanted it. */
  break(hard: boolean): void {
    this.#over = true;
    for (const socket of [this.#client, this.#server])
      if (hard) socket?.terminate();
      else socket?.end();
    this.#proxy.forget(this);
  }

  #watchRequests(bytes: Uint8Array): void {
    for (const request of this.#requests.add(bytes)) {
      const kind = this.#plan?.kind;
      if ((kind !== "duplicate" && kind !== "late duplicate") || this.#proxy.calm) continue;
      this.#plan = this.#proxy.plan();
      this.#proxy.repeat(request, kind === "late duplicate");
    }
  }
}

/** One direction of a line. */
class Pipe {
  readonly #direction: Direction;
  readonly #line: Line;
  readonly #waiting: Uint8Array[] = [];
  to: Socket<Line> | undefined;
  #passed = 0;
  #held = false;
  #closed = false;

  constructor(direction: Direction, line: Line) {
    this.#direction = direction;
    this.#line = line;
  }

  take(bytes: Uint8Array): void {
    if (this.#closed) return;
    const left = this.#line.judge(this.#direction, this.#passed, bytes);
    this.#passed += bytes.length;
    this.#waiting.push(Uint8Array.from(left === undefined ? bytes : bytes.subarray(0, left)));
    this.flush();
  }

  flush(): void {
    if (this.#held) return;
    while (this.to !== undefined && this.#waiting.length > 0) {
      const next = this.#waiting[0] as Uint8Array;
      const written = this.to.write(next);
      if (written < 0) return;
      if (written < next.length) {
        this.#waiting[0] = next.subarray(written);
        return;
      }
      this.#waiting.shift();
    }
    if (this.#closed) this.to?.end();
  }

  hold(for_ms: number): void {
    this.#held = true;
    setTimeout(() => {
      this.#held = false;
      this.flush();
    }, for_ms);
  }

  /** Nothing more passes; what waits still does. */
  close(): void {
    this.#closed = true;
    setTimeout(() => this.flush(), 0);
  }
}

/** Finds whole requests in what a client sends, by their Content-Length. */
class Requests {
  #bytes = new Uint8Array();

  *add(bytes: Uint8Array): Generator<Uint8Array> {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length);
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/^content-length: *(\d+)/im.exec(text.toString("latin1", 0, end))?.[1] ?? 0);
      const whole = end + 4 + length;
      if (this.#bytes.length < whole) return;
      yield this.#bytes.slice(0, whole);
      this.#bytes = this.#bytes.slice(whole);
    }
  }
}
