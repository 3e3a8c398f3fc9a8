import { type Static, Type } from "@sinclair/typebox";
import type { Moment } from "../../src/base/clock.ts";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import {
  type Advertisement,
  type Connection,
  devices_max,
  type Peripheral,
  type PeripheralDefinition,
} from "../peripheral.ts";
import { products, standardFacts } from "./facts.ts";
import { Session } from "./session.ts";
import { uuids } from "./standard.ts";
import { leftBehind, Weighings } from "./weighings.ts";
import { isZone } from "./zone.ts";

const section = Type.Object(
  {
    users: Type.Optional(
      Type.Array(
        Type.Object(
          {
            address: Type.Optional(Type.String({ pattern: "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$" })),
            index: Type.Integer({ minimum: 0, maximum: 254 }),
            consent: Type.Integer({ minimum: 0, maximum: 9_999 }),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 32,
          description:
            "a list of users whose stored weighings are fetched, such as [{ index = 1, consent = 1234 }]",
        },
      ),
    ),
    timezone: Type.Optional(
      Type.String({
        description: 'the time zone that the clocks of scales show, such as "Europe/Berlin"; UTC unless said',
      }),
    ),
  },
  { additionalProperties: false },
);

/** Scales with the Weight Scale or Body Composition service of the Bluetooth SIG. */
export const standardScales: PeripheralDefinition<typeof section> = {
  name: "scale",
  section,
  kind: "scales",
  products: [products.standard],
  recognises: ({ services }) =>
    services.includes(uuids.weightService) || services.includes(uuids.compositionService),
  deviceOf: scaleOf,
  create: ({ config, host }) => new StandardScales({ config, host }),
};

/** One scale between its connections. */
interface Known {
  readonly weighings: Weighings;
  recovered: boolean;
  /** Not before this time on the monotonic clock. */
  next_ms: number;
  /** Connections in a row that brought nothing. */
  empty: number;
  /** Gives up waiting for the other halves of weighings; runs between connections. */
  cancelWait: () => void;
}

export class StandardScales implements Peripheral {
  readonly connection_max_ms = 300_000;
  readonly #config: Static<typeof section>;
  readonly #host: Host;
  readonly #scales = new Map<string, Known>();
  readonly #recovery: Promise<void>;
  #stopped = false;

  constructor(options: { config: Static<typeof section>; host: Host }) {
    this.#config = options.config;
    this.#host = options.host;
    const { timezone } = options.config;
    if (timezone !== undefined && !isZone(timezone)) {
      throw new OperatorError(
        `[ble.scale] timezone "${timezone}" is unknown`,
        'use a name such as "Europe/Berlin"',
      );
    }
    this.#recovery = this.#recoverAll();
  }

  advertised(heard: Advertisement, moment: Moment): void {
    this.#host.describe(scaleOf(heard), standardFacts);
    this.#host.heard({ device: scaleOf(heard), heard_ms: moment.unix_ms });
  }

  /** A scale advertises when somebody steps on it; one that never stops is asked less and less often. */
  wantsConnection({ address }: Advertisement, moment: Moment): boolean {
    return moment.monotonic_ms >= (this.#scaleOf(address)?.next_ms ?? Infinity);
  }

  async connected(connection: Connection, signal: AbortSignal): Promise<void> {
    const scale = this.#scaleOf(connection.address);
    if (scale === undefined) return;
    await this.#recovery;
    if (!scale.recovered) await this.#recover(scale);
    scale.cancelWait();
    const { users = [], timezone: zone = "UTC" } = this.#config;
    const { weighings } = scale;
    let measurements: number | undefined;
    try {
      measurements = await new Session({
        host: this.#host,
        connection,
        signal,
        weighings,
        users,
        zone,
      }).run();
    } finally {
      // One that failed is left alone by the Bluetooth driver, until somebody pairs with it.
      if (measurements !== undefined) scale.empty = measurements > 0 ? 0 : scale.empty + 1;
      const rest_ms =
        measurements === undefined ? 0 : rest_least_ms * rest_growth ** Math.min(scale.empty, empty_max);
      scale.next_ms = this.#host.clock.now().monotonic_ms + rest_ms;
      this.#wait(scale);
    }
  }

  async stop(): Promise<void> {
    await this.#recovery;
    for (const { cancelWait } of this.#scales.values()) cancelWait();
    this.#stopped = true;
  }

  /** The scale tells the other half of a weighing when it comes again, soon or never. */
  #wait(scale: Known): void {
    scale.cancelWait();
    if (this.#stopped || !scale.weighings.waiting) return;
    scale.cancelWait = this.#host.clock.after(other_half_ms, () => {
      scale.weighings.finish().catch((thrown: unknown) => {
        this.#host.log.warn(`a weighing is not on disk yet, trying again: ${messageOf(thrown)}`);
        this.#wait(scale);
      });
    });
  }

  #scaleOf(address: string): Known | undefined {
    const known = this.#scales.get(address);
    if (known !== undefined) return known;
    if (this.#scales.size >= devices_max) {
      this.#host.dropped("scales beyond those that can be followed");
      return undefined;
    }
    const weighings = new Weighings({ host: this.#host, device: { kind: "scales", address } });
    const scale: Known = { weighings, recovered: false, next_ms: 0, empty: 0, cancelWait: () => {} };
    this.#scales.set(address, scale);
    return scale;
  }

  async #recoverAll(): Promise<void> {
    for (const address of leftBehind(this.#host)) {
      const scale = this.#scaleOf(address);
      if (scale === undefined) continue;
      try {
        await this.#recover(scale);
      } catch (thrown) {
        this.#host.log.warn(
          `the last weighing of scale ${address} is not on disk yet, trying again with the next: ${messageOf(thrown)}`,
        );
      }
    }
  }

  async #recover(scale: Known): Promise<void> {
    await scale.weighings.recover();
    scale.recovered = true;
    this.#wait(scale);
  }
}

function scaleOf({ address, name }: Advertisement): Device {
  return { kind: "scales", address, ...(name === undefined ? {} : { model: name }) };
}

/** A scale whose connection broke advertises for less than this. */
const other_half_ms = 60_000;
const rest_least_ms = 5_000;
const rest_growth = 3;
/** 5 s, 15 s, 45 s, 135 s, 405 s, 20 min. */
const empty_max = 5;
