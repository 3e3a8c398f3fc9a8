import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { type AcceptedSocket, acceptedAt, end, OpenFiles, openFiles_max } from "./sockets.ts";

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
