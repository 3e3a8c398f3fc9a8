import { randomBytes } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import type { Controller } from "zigbee-herdsman";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import { day_ms } from "../../src/base/time.ts";
import type { ChannelNoise, MeshScan } from "../../src/domain/mesh.ts";
import type { Driver, DriverDefinition, DriverStatus, Host } from "../driver.ts";
import { Reconnect, type RetryBounds, type Session } from "../wire/reconnect.ts";
import { type AdapterName, adapterNames } from "./adapters.ts";
import type { Arrivals } from "./arrivals.ts";
import { measureEnergies } from "./channel.ts";
import { silentFault } from "./faults.ts";
import { NetworkFiles } from "./files.ts";
import { HerdsmanLog } from "./herdsman-log.ts";
import { Joining } from "./joining.ts";
import { LastStatuses } from "./last-status.ts";
import { openRadio, type Radio, type RadioOptions } from "./radio.ts";
import { Sensors } from "./sensors.ts";
import { isStray } from "./stray-faults.ts";

/** The highest rate that serial drivers of Linux have a name for. */
const baud_max = 4_000_000;

const section = Type.Object(
  {
    port: Type.String({
      minLength: 1,
      description: "the device path of a Zigbee adapter, best below /dev/serial/by-id, or tcp://host:port",
    }),
    adapter: Type.Optional(
      Type.Union(
        adapterNames.map((name) => Type.Literal(name)),
        { description: `the type of the adapter: ${adapterNames.join(", ")}` },
      ),
    ),
    baudrate: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: baud_max,
        description: "the rate of the line in baud; without it, that of the stick or of its type",
      }),
    ),
    rtscts: Type.Optional(
      Type.Boolean({
        description: "whether the line has flow control by RTS and CTS; without it, as the stick wants it",
      }),
    ),
  },
  { additionalProperties: false },
);

export const zigbeeDriver: DriverDefinition<typeof section> = {
  name: "zigbee",
  section,
  create: ({ config, host }) => new ZigbeeDriver({ config, host }),
  isStray,
};

export interface ZigbeeOptions {
  readonly config: Static<typeof section>;
  readonly host: Host;
  /** For tests: how long to wait between attempts, and where the network's identity comes from. */
  readonly bounds?: Partial<RetryBounds>;
  readonly random?: (bytes: number) => Uint8Array;
}

/** A changed network is copied this long after the change, so that several are one copy, … */
const keep_after_change_ms = 5_000;
/** … and an unchanged one daily, because its counters move on. */
const keep_interval_ms = day_ms;

/**
 * Zigbee sensors through a coordinator that zigbee-herdsman drives. One driver a process: zigbee-herdsman
 * keeps its devices in module variables.
 */
export class ZigbeeDriver implements Driver {
  readonly #host: Host;
  readonly #files: NetworkFiles;
  readonly #statuses: LastStatuses;
  readonly #sensors: Sensors;
  readonly #joining: Joining;
  readonly #connection: Reconnect;
  #radio: Radio | undefined;
  #cancelKeep = () => {};
  readonly #port: string;
  readonly #adapter: AdapterName;
  /** Whether the last try found the adapter with another network, … */
  #refused = false;
  /** … and whether the next one may have it give that one up. */
  #mayLeaveNetwork = false;

  constructor({ config, host, bounds, random = randomBytes }: ZigbeeOptions) {
    const { clock, log, directory } = host;
    const adapter = requireAdapter(config.adapter ?? "zstack");
    requireFlowControl(adapter, config.rtscts);
    const line = { ...config, adapter };
    const dropped = (what: string, count?: number) => host.dropped(what, count);
    const herdsmanLog = new HerdsmanLog({ log, clock, dropped });
    this.#host = host;
    this.#port = config.port;
    this.#adapter = adapter;
    this.#files = new NetworkFiles({ directory, log });
    this.#statuses = new LastStatuses({ directory, clock, log });
    this.#sensors = new Sensors({ host, statuses: this.#statuses, herdsmanLog });
    const changed = () => this.#keepAfter(keep_after_change_ms);
    this.#joining = new Joining({ host, sensors: this.#sensors, herdsmanLog, changed });
    this.#connection = new Reconnect({
      clock,
      log,
      target: `${adapter} adapter on ${config.port}`,
      silent: silentFault(line),
      ...(bounds === undefined ? {} : { bounds }),
      open: async (signal) => {
        const follow = (controller: Controller, arrivals: Arrivals) => this.#follow(controller, arrivals);
        const prepare = (controller: Controller) => this.#sensors.prepare(controller);
        const options = {
          ...line,
          follow,
          prepare,
          files: this.#files,
          herdsmanLog,
          clock,
          log,
          dropped,
          random,
        };
        return this.#hold(await this.#openRadio(options, signal));
      },
    });
  }

  start(): void {
    this.#connection.start();
  }

  async stop(): Promise<void> {
    await this.#connection.stop();
    await this.#sensors.close();
    this.#statuses.close();
  }

  status(): DriverStatus {
    return this.#connection.status();
  }

  openJoining(seconds: number): Promise<void> {
    return this.#joining.open(seconds);
  }

  closeJoining(): Promise<void> {
    return this.#joining.close();
  }

  formNewNetwork(): void {
    const adapter = `the Zigbee adapter ${this.#port}`;
    const { problem } = this.status();
    if (!this.#refused && problem !== undefined)
      throw new OperatorError(`${adapter} cannot form a network now`, problem);
    if (!this.#refused) {
      throw new OperatorError(
        `${adapter} holds no other network that could be given up`,
        "leave --new-network away",
      );
    }
    this.#mayLeaveNetwork = true;
    this.#connection.retry();
  }

  async scanMesh(): Promise<MeshScan> {
    const radio = this.#requireRadio();
    return (await import("./mesh-scan.ts")).scanMesh(radio, this.#host);
  }

  async measureNoise(): Promise<ChannelNoise> {
    const { controller, channel } = this.#requireRadio();
    try {
      const energies = await measureEnergies(controller, this.#adapter, this.#host.clock);
      return { channel: channel.number, energies };
    } catch (thrown) {
      throw new OperatorError(
        `the Zigbee adapter ${this.#port} does not measure noise (${messageOf(thrown)})`,
        "newer firmware may",
      );
    }
  }

  /** @throws OperatorError where the adapter does not listen */
  #requireRadio(): Radio {
    if (this.#radio !== undefined) return this.#radio;
    throw new OperatorError(
      `the Zigbee adapter ${this.#port} does not listen now`,
      this.status().problem ?? "try again in a minute",
    );
  }

  /** Listens to a controller, from before it starts: a sensor may speak while it still does. */
  #follow(controller: Controller, arrivals: Arrivals): void {
    controller.on("message", (message) => {
      this.#sensors.message(message, arrivals.momentOf(message));
    });
    controller.on("lastSeenChanged", ({ device, reason }) => {
      if (reason !== "messageEmitted") this.#sensors.alive(device, arrivals.now());
    });
    for (const step of ["deviceAnnounce", "deviceNetworkAddressChanged"] as const)
      controller.on(step, ({ device }) => this.#sensors.took(device, step));
    this.#joining.follow(controller);
  }

  /** Opens the radio. A permission to leave a network holds for one try, since the next may be with another adapter. */
  async #openRadio(options: Omit<RadioOptions, "requireLeave">, signal: AbortSignal): Promise<Radio> {
    const mayLeave = this.#mayLeaveNetwork;
    this.#mayLeaveNetwork = false;
    let refused = false;
    const requireLeave = (fault: OperatorError) => {
      refused = !mayLeave;
      if (refused) throw fault;
    };
    try {
      return await openRadio({ ...options, requireLeave }, signal);
    } finally {
      this.#refused = refused;
    }
  }

  #hold(radio: Radio): Session {
    this.#radio = radio;
    this.#joining.resume(radio.controller);
    this.#keepAfter(keep_after_change_ms);
    return {
      detail: radio.detail,
      ended: radio.ended,
      close: async () => {
        this.#cancelKeep();
        this.#radio = undefined;
        this.#joining.pause();
        await radio.close();
        this.#copy(radio);
      },
    };
  }

  #keepAfter(delay_ms: number): void {
    this.#cancelKeep();
    this.#cancelKeep = this.#host.clock.after(delay_ms, () => void this.#keep());
  }

  /** Has the coordinator backed up, and copies the files of the network as a generation. */
  async #keep(): Promise<void> {
    const radio = this.#radio;
    if (radio === undefined) return;
    try {
      await radio.controller.backup();
    } catch (thrown) {
      this.#host.log.warn(
        `the Zigbee adapter cannot be backed up, trying again tomorrow: ${messageOf(thrown)}`,
      );
    }
    if (this.#radio !== radio) return;
    this.#copy(radio);
    this.#keepAfter(keep_interval_ms);
  }

  #copy(radio: Radio): void {
    try {
      this.#files.keep(radio.network, new Date(this.#host.clock.now().unix_ms).toISOString());
    } catch (thrown) {
      this.#host.log.warn(
        `the Zigbee network cannot be copied below ${this.#host.directory}: ${messageOf(thrown)}`,
      );
    }
  }
}

/** zigbee-herdsman opens the line of these without looking at that setting. */
const withoutFlowControl: readonly AdapterName[] = ["deconz", "zigate"];

function requireFlowControl(adapter: AdapterName, rtscts: boolean | undefined): void {
  if (rtscts !== true || !withoutFlowControl.includes(adapter)) return;
  throw new OperatorError(
    `[zigbee] rtscts is true, and the adapter ${adapter} has no flow control`,
    "remove rtscts",
  );
}

function requireAdapter(name: string): AdapterName {
  const known = adapterNames.find((one) => one === name);
  if (known !== undefined) return known;
  throw new OperatorError(`[zigbee] adapter "${name}" is unknown`, `use one of ${adapterNames.join(", ")}`);
}
