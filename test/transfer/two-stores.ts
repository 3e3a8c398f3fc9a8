import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { day_ms } from "../../src/base/time.ts";
import { StoreTarget } from "../../src/central/pull/store-target.ts";
import { HomeAllowances, ReceivedCounts } from "../../src/central/receiver/home-allowances.ts";
import type { Reading } from "../../src/domain/reading.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { defaultQuotas, type Quotas } from "../../src/store/exchange.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import type { UploadStore } from "../../src/store/gateway/upload-store.ts";
import { databasePath } from "../../src/store/sqlite/connection.ts";
import { beginEpochIn } from "../../src/store/sqlite/role-and-epoch.ts";
import { TouchedDays } from "../../src/transfer/days.ts";
import {
  type Earlier,
  type TransferOptions,
  type Transferred,
  transfer,
} from "../../src/transfer/transfer.ts";
import { StoreSource, type TransferSource, type TransferTarget } from "../../src/transfer/transfer-ends.ts";
import { keptLog, sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { openCentral, openGateway } from "../../testbed/sqlite/opening.ts";
import { openUpload } from "../store/upload/opening.ts";

/** The home that the gateway is in. */
export const home = 12;

/** A gateway's store and central's in one process, with nothing between them but a transfer, and what is remembered from one to the next. */
export class TwoStores implements AsyncDisposable {
  readonly clock = new SettableClock(start_ms);
  readonly counts = new ReceivedCounts();
  /** The log of the transfers, as `level text`. */
  readonly lines: string[];
  readonly #log: TransferOptions["log"];
  /** Every day was compared a moment ago, unless a test says otherwise. */
  earlier: Earlier = { confirmed_seq: 0, verified_seq: 0, verified_all_ms: start_ms };
  touched = new TouchedDays(0, 100);

  private constructor(
    readonly directory: string,
    readonly gateway: GatewayStore,
    readonly store: UploadStore,
    readonly central: CentralStore,
  ) {
    const { log, lines } = keptLog();
    this.#log = log;
    this.lines = lines;
  }

  /** Both are empty, but for events of a sensor, each list of them in an epoch of its own. */
  static async open(...epochs: (readonly Reading[])[]): Promise<TwoStores> {
    const directory = mkdtempSync(join(tmpdir(), "lintel-two-stores-"));
    const home = join(directory, "home");
    let gateway = await openGateway(home);
    for (const [index, events] of epochs.entries()) {
      if (index > 0) {
        await gateway.close();
        beginEpochIn(home, `${index}`.padStart(32, "0"));
        gateway = await openGateway(home);
      }
      await gateway.append(events);
    }
    const store = await openUpload(home);
    return new TwoStores(directory, gateway, store, await openCentral(join(directory, "central")));
  }

  source(home?: number): StoreSource {
    const describe = async () => ({ ...description, now_ms: this.clock.now().unix_ms });
    return new StoreSource({ store: this.store, describe, ...(home === undefined ? {} : { home }) });
  }

  target(options: { home?: number; quotas?: Quotas } = {}): StoreTarget {
    const { clock, central, counts } = this;
    return new StoreTarget({
      store: central,
      home: options.home ?? home,
      clock,
      allowances: new HomeAllowances({ quotas: options.quotas ?? defaultQuotas, clock }),
      counts,
      title: "The gateway of home 12",
      place: "gateways.toml:3",
      remarks: () => ({ failure: "a remark" }),
    });
  }

  /** A transfer, after which what it has remembered holds; `source` and `target` may do some things otherwise than the stores. */
  async transfer({
    source,
    target,
    ...options
  }: Partial<Omit<TransferOptions, "source" | "target">> & {
    source?: Partial<TransferSource>;
    target?: Partial<TransferTarget>;
  } = {}): Promise<Transferred> {
    return transfer({
      source: otherwise<TransferSource>(this.source(), source),
      target: otherwise<TransferTarget>(this.target(), target),
      clock: this.clock,
      log: this.#log,
      gateway: "this box",
      earlier: () => this.earlier,
      touched: this.touched,
      held_note: 0,
      remember: async (changed) => {
        this.earlier = { ...this.earlier, ...changed };
      },
      batches_max: 100,
      checkTime: () => undefined,
      ...options,
    });
  }

  /** The events that central has, the oldest first, as the page of the sensor shows them. */
  async held(): Promise<number[]> {
    const item = await this.central.item("wirelesssensors", "wirelesssensor-000d6f0005a10001");
    if (item === undefined) return [];
    const { records } = await this.central.page({
      series: "wirelesssensor_events",
      item: item.key,
      before_ms: start_ms * 2,
      skip: 0,
      limit: 10_000,
      precision: "ms",
      oldestFirst: true,
    });
    return records.map(({ event }) => Number(event));
  }

  /** Changes what one of them has on disk, behind its back. */
  change(whose: "home" | "central", sql: string): void {
    using database = new Database(databasePath(join(this.directory, whose)));
    database.run(sql);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    await this.gateway.close();
    await this.central.close();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Events `from` to `to` of a sensor, one an hour, from a noon on. */
export function hourly(from: number, to: number): Reading[] {
  return Array.from({ length: to - from + 1 }, (_, index) =>
    sensorEvent(sensor(1), start_ms + (from + index) * 3_600_000, from + index),
  );
}

export const numbersTo = (to: number) => Array.from({ length: to }, (_, index) => index + 1);

/** The day of an event of `hourly`, counted from 1970 in UTC. */
export const dayOf = (event: number) => Math.floor((start_ms + event * 3_600_000) / day_ms);

/** An end of a transfer of which some calls are other ones. */
function otherwise<End extends object>(end: End, other: Partial<End> = {}): End {
  return new Proxy(end, {
    get: (_, name) => {
      const own = Reflect.get(end, name);
      return name in other ? Reflect.get(other, name) : typeof own === "function" ? own.bind(end) : own;
    },
  });
}

const description = {
  version: "0.1.0",
  clock_synchronised: true,
  timezone: "UTC",
  differing_days: 0,
  last_seq: 0,
  waiting: 0,
  disk_free_bytes: 1_000_000,
  bytes_on_disk: 1_000,
  machine: {},
  dropped: {},
};
