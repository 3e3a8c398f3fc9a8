import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import { plainJson, shortLine } from "../../base/text.ts";
import type { Config } from "../../config/gateway-config.ts";
import { reachableHost } from "../../config/server-access.ts";
import { seriesOf } from "../../domain/series.ts";
import { silence_max_ms } from "../../store/series/coverage-intervals.ts";
import { ControlClient } from "../control-client.ts";
import type { GatewayStatus } from "../gateway-status.ts";
import { restartsIn } from "../starts.ts";
import { isWatched, type Seen } from "./release-days.ts";
import type { Baseline } from "./update-state.ts";
import type { Service } from "./updated-home.ts";

/** How a release on trial does. */
interface Looked {
  /** Why it has failed for good. */
  readonly fault?: string;
  /** Parts of the baseline that it has not shown yet, one line each, without uploads. */
  readonly missing: readonly string[];
}

/** The gateway as it runs now, asked by its control socket and by its interface. */
export class Judge {
  readonly #service: Service;
  readonly #data: string;
  readonly #control: ControlClient;
  readonly #clock: Clock;
  readonly #api: ConfiguredApi;
  #answered = false;

  /** @param options.api where the configuration has the gateway serve */
  constructor(options: { service: Service; data: string; clock: Clock; api: ConfiguredApi }) {
    this.#service = options.service;
    this.#data = options.data;
    this.#control = new ControlClient(options.data);
    this.#clock = options.clock;
    this.#api = options.api;
  }

  /** Why the gateway should not be restarted now; undefined where it may be. */
  async busy(): Promise<string | undefined> {
    const status = await this.#status();
    if (status === undefined) return undefined;
    if (status.joining) return "devices are being let in";
    if (status.paused) return "recording is paused, so that no device can be heard";
    // What does not listen yet would not be asked of the new release.
    const isYoung = this.#clock.now().unix_ms - status.started_ms < settled_ms;
    const driver = status.drivers.find(
      ({ state }) => state === "starting" || (state === "retrying" && isYoung),
    );
    if (driver !== undefined) return `the driver ${driver.name} does not hear its device yet`;
    return status.busy?.[0];
  }

  /**
   * Everything that the release that runs serves and hears: a new one will have to. Undefined where no gateway runs.
   *
   * @param of.listened_ms how long that will be listened for: only devices that are sure to be heard within it are asked for
   */
  async baseline(of: {
    token: string;
    uploads: boolean;
    listened_ms: number;
  }): Promise<Baseline | undefined> {
    const { token, uploads, listened_ms } = of;
    const status = await this.#status();
    if (status === undefined) return undefined;
    const now_ms = this.#clock.now().unix_ms;
    const heard = status.store.items.filter((item) => {
      const silence_ms = silence_max_ms(cadenceIn(item));
      return silence_ms <= listened_ms && now_ms - (item.heard_ms ?? 0) <= silence_ms;
    });
    const before_s = Math.floor(now_ms / 1000);
    const paths = status.store.items
      .flatMap(({ record, series }) => series.map((one) => ({ record, ...one })))
      .toSorted((one, other) => other.newest_ms - one.newest_ms)
      .slice(0, series_max)
      .flatMap(({ record, series, count }) => {
        const item = `${record.typename}/${encodeURIComponent(record.itemname)}`;
        const path = `/items/${item}/${seriesOf(series).path}?before=${before_s}`;
        const skips = new Set(parts.map((part) => Math.floor(part * Math.max(0, count - records_max))));
        return [...skips].map((skip) => `${path}&skip=${skip}`);
      });
    const pages: Baseline["pages"] = [];
    for (const path of paths) {
      const records = await this.#page(status, path, token, records_max);
      if (records !== undefined) pages.push({ path, records });
    }
    return {
      heard: [...Map.groupBy(heard, makeOf)].map(([name, items]) => ({
        name,
        items: items.map(nameOf),
        silence_ms: Math.min(...items.map((item) => silence_max_ms(cadenceIn(item)))),
      })),
      restarts_a_day: restartsIn(this.#data, now_ms),
      drivers: status.drivers.filter(({ state }) => state === "listening").map(({ name }) => name),
      pages,
      uploads,
    };
  }

  /**
   * How a release on trial does. Pages are compared until they were the same once, and with `thoroughly` again.
   *
   * @param at.switched_ms readings count from here on
   * @param at.listened_ms how long it has run since
   * @param at.trial_ms how long it may run: devices that may be silent for longer are not asked for
   */
  async look(
    baseline: Baseline,
    at: { switched_ms: number; listened_ms: number; trial_ms: number; token: string; thoroughly: boolean },
  ): Promise<Looked> {
    const { switched_ms, listened_ms, trial_ms, token, thoroughly } = at;
    const { failed, restarts, serving } = await this.#service.state();
    if (failed) return { fault: "it does not start", missing: [] };
    if (restarts > 0) return { fault: "it ended, or fell silent, and had to be started again", missing: [] };
    if (!serving) return { missing: ["it does not serve"] };
    const status = await this.#status().catch(() => undefined);
    if (status === undefined) return { missing: ["it does not answer on its control socket"] };
    const { other, unread } =
      thoroughly || !this.#answered ? await this.#compared(status, baseline, token) : {};
    if (other !== undefined)
      return { fault: `it does not answer ${other} as the release before did`, missing: [] };
    this.#answered = unread === undefined;
    const silent = baseline.drivers.filter(
      (name) => !status.drivers.some((one) => one.name === name && one.state === "listening"),
    );
    // The wall clock may have been set back since the switch.
    const since_ms = Math.min(switched_ms, this.#clock.now().unix_ms - listened_ms);
    const heard = new Set(status.store.items.filter((item) => (item.heard_ms ?? 0) >= since_ms).map(nameOf));
    const unheard = baseline.heard.filter(
      ({ items, silence_ms }) =>
        silence_ms <= trial_ms && !status.paused && !items.some((item) => heard.has(item)),
    );
    // One device may have died in these hours. Of two, one would have spoken.
    const deafTo = unheard.find(({ items, silence_ms }) => items.length > 1 && listened_ms > silence_ms);
    if (deafTo !== undefined) return { fault: `nothing was heard of ${deafTo.name}`, missing: [] };
    return {
      missing: [
        ...silent.map((name) => `the driver ${name} does not hear its device`),
        ...unheard.map(({ name }) => `nothing was heard of ${name}`),
        ...(unread === undefined ? [] : [`it does not answer ${unread}`]),
      ],
    };
  }

  /** The gateway as it is judged in the days after its trial. */
  async seen({ heard }: Baseline, watch_ms: number): Promise<Omit<Seen, "data_bytes">> {
    const { restarts } = await this.#service.state();
    const status = await this.#status().catch(() => undefined);
    const { memory_bytes = Number.NaN, store } = status ?? {};
    const watched = heard.filter((make) => isWatched(make, watch_ms));
    const gateway = {
      paused: status?.paused === true,
      memory_bytes,
      epoch: store?.epoch ?? "",
      last_seq: store?.last_seq ?? Number.NaN,
      heard: Object.fromEntries(watched.map((make) => [make.name, markOf(make, store?.items ?? [])])),
    };
    // A release may answer in another form.
    const isWhole = Number.isSafeInteger(memory_bytes) && Number.isSafeInteger(gateway.last_seq);
    const { boot } = this.#clock;
    return { boot, now: this.#clock.now(), restarts, ...(isWhole && { gateway }) };
  }

  /** The path of a page that lacks a record which the release before served, and of one that cannot be read. Readings that came late may be in them too. */
  async #compared(
    status: GatewayStatus,
    { pages }: Baseline,
    token: string,
  ): Promise<{ readonly other?: string; readonly unread?: string }> {
    for (const { path, records } of pages) {
      const found = await this.#page(status, path, token, late_max * records_max).catch(() => undefined);
      if (found === undefined) return { unread: path };
      if (!records.every((record) => found.includes(record))) return { other: path };
    }
    return {};
  }

  /** Digests of the records of a page; undefined where it is not served. */
  async #page(
    status: GatewayStatus,
    path: string,
    token: string,
    limit: number,
  ): Promise<string[] | undefined> {
    const response = await fetch(`${status.url}${path}&limit=${limit}`, {
      headers: { authorization: `bearer ${token}`, accept: "application/json" },
      signal: AbortSignal.timeout(answer_ms_max),
      redirect: "error",
      // The port is that of the gateway which answers on the control socket, on this machine.
      tls: { rejectUnauthorized: false },
    });
    if (!response.ok) return undefined;
    const records: unknown = await response.json();
    if (!Array.isArray(records)) return undefined;
    return records.map((record) =>
      createHash("sha256").update(JSON.stringify(record)).digest("hex").slice(0, 16),
    );
  }

  /** @throws OperatorError where the gateway names another place than its configuration: the token goes nowhere else */
  async #status(): Promise<GatewayStatus | undefined> {
    const status = await this.#control.statusIfRunning();
    if (status === undefined || isServedBy(this.#api, status.url)) return status;
    throw new OperatorError(
      `the gateway says that it serves ${shortLine(plainJson(status.url), url_length_max)}, and its configuration says otherwise`,
      "restart the gateway; if it says so again, somebody else answers in its place",
    );
  }
}

type ConfiguredApi = Pick<Config["api"], "hostname" | "port" | "tls">;

/** Whether an address is the one that a gateway with this configuration has on its machine. Port 0 is any port. */
function isServedBy({ hostname, port, tls }: ConfiguredApi, address: string): boolean {
  const url = URL.parse(address);
  const [protocol, usual] = tls === undefined ? ["http:", "80"] : ["https:", "443"];
  return (
    url?.protocol === protocol &&
    url.hostname === URL.parse(`${protocol}//${reachableHost(hostname)}`)?.hostname &&
    url.username === "" &&
    (port === 0 || (url.port || usual) === String(port))
  );
}

const url_length_max = 100;

/** How often a device is heard although nothing happens: as its model is known to be, or else as its kind is. */
function cadenceIn({ history, expected_ms }: GatewayStatus["store"]["items"][number]): {
  readonly expected_ms?: number;
} {
  const { cadence_s } = history?.[0]?.facts ?? {};
  const told_ms = cadence_s === undefined ? expected_ms : cadence_s * 1000;
  return told_ms === undefined ? {} : { expected_ms: told_ms };
}

/** Devices of one kind and model that one driver hears: a release may be deaf to these alone. */
function makeOf({ record, listener }: GatewayStatus["store"]["items"][number]): string {
  const words = [record.typename, record.modelname, listener && `by ${listener}`];
  return words.filter((word) => word).join(" ");
}

/** A text that differs once one of some devices was heard again: by a sign of life, or by a reading of any time. */
function markOf({ items }: Baseline["heard"][number], all: GatewayStatus["store"]["items"]): string {
  const own = all.filter((item) => items.includes(nameOf(item)));
  const counts = own.flatMap(({ series }) => series.map(({ count }) => count));
  const heard_ms = own.map((item) => item.heard_ms ?? 0);
  return `${Math.max(0, ...heard_ms)} ${counts.reduce((sum, count) => sum + count, 0)}`;
}

function nameOf({ record }: GatewayStatus["store"]["items"][number]): string {
  return `${record.typename} ${record.itemname}`;
}

/** Series that are compared, those with the newest readings; where in each of them, from the newest on; and records of each page. */
const series_max = 8;
const parts = [0, 0.25, 0.5, 0.75] as const;
const records_max = 50;
/** So many times more records are looked through for those: some may have come late, with stamps between them. */
const late_max = 10;
const answer_ms_max = 30_000;
/** After so long a driver that hears nothing has no device. */
const settled_ms = 600_000;
