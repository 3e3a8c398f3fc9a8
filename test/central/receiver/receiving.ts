import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, SystemClock } from "../../../src/base/clock.ts";
import { lineLog } from "../../../src/base/log.ts";
import { type RunningCentral, startCentral } from "../../../src/central/central.ts";
import type { AdmissionBounds } from "../../../src/central/receiver/admission-queue.ts";
import { type Binding, mintToken, type Scope } from "../../../src/domain/token.ts";
import type { Batch } from "../../../src/store/batch.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { nothingNoted, type Quotas } from "../../../src/store/exchange.ts";
import { encodeBatch } from "../../../src/transfer/batch-codec.ts";
import { batchHeader, batchType } from "../../../src/transfer/protocol.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway, wellReport } from "../../../testbed/simulated-gateway.ts";
import { openCentral } from "../../../testbed/sqlite/opening.ts";

/** A central server on a free port, over a real store. */
export interface Receiving extends AsyncDisposable {
  readonly central: RunningCentral;
  readonly store: CentralStore;
  /** Where sync is: `http://127.0.0.1:1234/sync/v1`. */
  readonly url: string;
  readonly port: number;
  /** Its log, without time. */
  readonly lines: string[];
  token(scope: Scope, home?: number, expires_ms?: number): Promise<string>;
  /** A read token that is bound. */
  boundToken(binding: Partial<Binding>): Promise<string>;
  /** A sync token of the home, the same each time. */
  homeToken(home: number): Promise<string>;
  /** Asks as the gateway of a home. */
  ask(home: number, method: string, path: string, sent?: Sent): Promise<Response>;
  /** Sends a batch as the gateway of a home. */
  send(home: number, batch: Batch, headers?: Record<string, string>): Promise<Response>;
}

export interface Sent {
  readonly body?: Uint8Array<ArrayBuffer> | string;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

export async function receive(
  options: {
    clock?: Clock;
    /** Opens the store in a directory; SQLite unless said otherwise. */
    open?: (directory: string) => Promise<CentralStore>;
    directory?: string;
    metrics?: boolean;
    admission?: Partial<AdmissionBounds>;
    quotas?: Partial<Quotas>;
  } = {},
): Promise<Receiving> {
  const { clock = new SystemClock(), metrics = false } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "lintel-central-")));
  const lines: string[] = [];
  const log = lineLog({ write: (line) => void lines.push(line.slice(25).trimEnd()), clock });
  const store = await (options.open ?? openCentral)(directory);
  const central = await startCentral({
    store,
    listen: { hostname: "127.0.0.1", port: 0 },
    settings: { address: "--listen", port: "--port", certificate: "--tls-certificate", key: "--tls-key" },
    realm: "lintel",
    metrics,
    admission: options.admission,
    quotas: options.quotas,
    clock,
    log,
  });
  const made = async (options: Omit<Parameters<typeof mintToken>[0], "name" | "clock">) => {
    const { token, text } = mintToken({ name: "test", clock, ...options });
    await store.addToken(token);
    return text;
  };
  const token = (scope: Scope, home?: number, expires_ms?: number) =>
    made({
      scope,
      ...(home === undefined ? {} : { home }),
      ...(expires_ms === undefined ? {} : { expires_ms }),
    });
  const homes = new Map<number, Promise<string>>();
  const homeToken = (home: number) => {
    const made = homes.get(home) ?? token("sync", home);
    homes.set(home, made);
    return made;
  };
  const url = `${central.origin}/sync/v1`;
  const ask: Receiving["ask"] = async (home, method, path, sent = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `bearer ${await homeToken(home)}`,
        ...(sent.body === undefined ? {} : { "content-type": sent.type ?? "application/json" }),
        ...sent.headers,
      },
      ...(sent.body === undefined ? {} : { body: sent.body }),
    });
  return {
    central,
    store,
    url,
    port: Number(new URL(url).port),
    lines,
    token,
    boundToken: (binding) =>
      made({ scope: "read", binding: { homes: [], projects: [], studies: [], ...binding } }),
    homeToken,
    ask,
    send: (home, batch, headers = { [batchHeader]: headerOf(batch) }) =>
      ask(home, "POST", "/batches", { body: encoded(batch), type: batchType, headers }),
    async [Symbol.asyncDispose]() {
      await central.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function headerOf({ epoch, from_seq, to_seq }: Batch): string {
  return `${epoch} ${from_seq} ${to_seq}`;
}

export function encoded(batch: Batch): Uint8Array<ArrayBuffer> {
  const bytes = encodeBatch(batch);
  if (bytes === null) throw new Error("the sample is too large");
  return bytes;
}

/** A gateway of a home with this many readings of a sensor of its own, ten seconds apart. */
export function gatewayOf(home: number, readings: number): SimulatedGateway {
  const gateway = new SimulatedGateway(home, `gateway of ${home}`);
  const device = sensor(home);
  for (let index = 0; index < readings; index += 1)
    gateway.add({
      device,
      series: "wirelesssensor_events",
      stamp_ms: start_ms + index * 10_000,
      fields: [index % 4],
    });
  return gateway;
}

/** A report of a gateway that holds what is given. */
export function reportBody({ epoch, first_seq, last_seq }: SimulatedGateway) {
  return {
    epochs: [{ epoch, first_seq, last_seq }],
    condition: nothingNoted,
    report: wellReport({ now_ms: start_ms, last_seq, disk_free_bytes: 1e9 }),
  };
}
