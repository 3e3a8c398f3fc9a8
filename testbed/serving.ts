import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clockQuality, SystemClock } from "../src/base/clock.ts";
import { type Level, lineLog } from "../src/base/log.ts";
import type { Device, Reading } from "../src/domain/reading.ts";
import type { SeriesName, Value } from "../src/domain/series.ts";
import { mintToken, type Scope } from "../src/domain/token.ts";
import type { SettingOf } from "../src/store/derived/home-readings.ts";
import type { GatewayStore } from "../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../src/store/sqlite/open-store.ts";
import type { Store } from "../src/store/store.ts";
import type { ServerBounds } from "../src/web/server/http-server.ts";
import type { MachineScale } from "../src/web/server/request-costs.ts";
import { type Api, startApi } from "./api-server.ts";
import { SettableClock } from "./settable-clock.ts";
import { writerOfTests } from "./sqlite/writer-here.ts";

/** The interface on a free port, over a real store in a directory of its own. */
export interface Serving extends AsyncDisposable {
  readonly api: Api;
  readonly store: GatewayStore;
  /** Where the store is. */
  readonly directory: string;
  /** The clock of the interface; the store has the machine's. */
  readonly clock: SettableClock;
  /** The log of the interface so far, without colours. */
  readonly lines: string[];
  /** A token of each kind, by name, as its holder has it. */
  readonly tokens: Readonly<Record<Scope | "expired", string>>;
  /** Asks with a read token and an Accept header, below the version; `headers` replace them. */
  ask(path: string, options?: { method?: string; headers?: Record<string, string> }): Promise<Response>;
}

/** When the tests take place. */
export const now_ms = Date.UTC(2026, 10, 20, 12, 0, 0) + 250;

export async function serve(
  options: Partial<ServerBounds> & {
    cache_bytes_max?: number;
    tls?: { certificate: string; key: string };
    hostname?: string;
    least?: Level;
    /** Whose budget callers have; absent: a gateway's. */
    scale?: MachineScale;
    /** The number of the home that the gateway is in. */
    home?: number;
    /** The configuration of the gateway, as far as it is about its home. */
    settingOf?: SettingOf;
    /** Wraps the store that the interface reads. */
    through?: (store: GatewayStore) => Store;
  } = {},
): Promise<Serving> {
  const directory = await mkdtemp(join(tmpdir(), "lintel-api-"));
  const clock = new SettableClock(now_ms);
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = lineLog({ write, clock, least: options.least ?? "info" });
  const quiet = lineLog({ write: () => {}, clock });
  const { through = (same: Store) => same, hostname = "127.0.0.1", home, ...rest } = options;
  const store = await openGatewayStore({
    directory,
    clock: new SystemClock(),
    log: quiet,
    home,
    ...writerOfTests(),
  });
  const api = await startApi({
    store: through(store),
    clock,
    log,
    listen: { hostname, port: 0 },
    realm: "lintel",
    ...rest,
  });
  const mint = async (name: string, scope: Scope, expires_ms?: number) => {
    const { token, text } = mintToken({
      name,
      scope,
      clock,
      ...(expires_ms === undefined ? {} : { expires_ms }),
    });
    await store.addToken(token);
    return text;
  };
  const tokens = {
    read: await mint("reader", "read"),
    admin: await mint("keeper", "admin"),
    sync: await mint("box", "sync"),
    expired: await mint("late", "read", now_ms),
  };
  return {
    api,
    store,
    directory,
    clock,
    lines,
    tokens,
    ask: (path, request = {}) =>
      fetch(`${api.url}${path}`, {
        method: request.method ?? "GET",
        headers: request.headers ?? {
          Authorization: `bearer ${tokens.read}`,
          Accept: "application/json",
        },
      }),
    async [Symbol.asyncDispose]() {
      await api.stop();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function reading(
  device: Device,
  series: SeriesName,
  stamp_ms: number,
  values: Record<string, Value>,
): Reading {
  return { device, series, stamp_ms, clock: clockQuality.synchronised, values };
}

/** Appends and answers the names of the items that this made. */
export async function append(store: GatewayStore, readings: readonly Reading[]): Promise<readonly string[]> {
  return (await store.append(readings)).created;
}

/** Sends bytes as they are, and answers everything that came back until the server closed the connection. */
export async function rawExchange(port: number, text: string): Promise<string> {
  const received: Uint8Array[] = [];
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, bytes) => void received.push(bytes.slice()),
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  socket.write(text);
  await closed;
  return Buffer.concat(received).toString("latin1");
}
