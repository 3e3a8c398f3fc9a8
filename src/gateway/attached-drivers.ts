import type {
  Driver,
  DriverDefinition,
  DriverStatus,
  Host,
  Lamp,
  PairingPerson,
} from "../../drivers/driver.ts";
import { type Clock, repeat } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { plainWords } from "../base/text.ts";
import type { ChannelNoise, MeshScan } from "../domain/mesh.ts";

/**
 * A driver as the gateway holds it. Its words come in here as plain lines. Its errors are caught here: each becomes one log line
 * and the problem in its status, and never ends the gateway or another driver.
 */
export class AttachedDriver {
  readonly name: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #create: () => Driver;
  #driver: Driver | undefined;
  #crash: { readonly problem: string; readonly since_ms: number } | undefined;

  constructor(options: {
    definition: DriverDefinition;
    config: unknown;
    host: Host;
    clock: Clock;
    log: Log;
  }) {
    this.name = options.definition.name;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#create = () =>
      options.definition.create({ config: options.config as never, host: plainHost(options.host) });
    this.#setUp();
  }

  /** Ends the driver and begins it anew, as a restart of the gateway would; also one that has crashed. */
  async restart(): Promise<void> {
    await this.stop();
    this.#crash = undefined;
    this.#setUp();
    this.start();
  }

  #setUp(): void {
    this.#guarded("could not be set up", () => {
      this.#driver = this.#create();
    });
  }

  start(): void {
    this.#guarded("could not start", () => this.#driver?.start());
  }

  /** Waits for the driver to end, `stop_max_ms` at most. */
  async stop(): Promise<void> {
    const driver = this.#driver;
    if (driver === undefined) return;
    let giveUp = () => {};
    const late = new Promise<never>((_, reject) => {
      giveUp = this.#clock.after(stop_max_ms, () => reject(new Error(`not within ${stop_max_ms} ms`)));
    });
    try {
      await Promise.race([driver.stop(), late]);
    } catch (error) {
      this.#log.warn(`did not stop cleanly (${messageOf(error)})`);
    } finally {
      giveUp();
    }
  }

  status(): DriverStatus {
    if (this.#crash === undefined) {
      const status = this.#guarded("could not say how it is", () => this.#driver?.status());
      if (status !== undefined) return plainWords(status);
    }
    const { problem, since_ms } = this.#crash ?? { problem: "", since_ms: 0 };
    return { state: "stopped", since_ms, detail: "", problem };
  }

  busy(): string | undefined {
    return plainWords(this.#guarded("could not say whether it is busy", () => this.#driver?.busy?.()));
  }

  get joins(): boolean {
    return this.#driver?.openJoining !== undefined;
  }

  /** Rejects with the driver's reason where it cannot open. */
  async openJoining(seconds: number, person?: PairingPerson): Promise<void> {
    await this.#driver?.openJoining?.(seconds, person);
  }

  /** Throws the driver's reason where it cannot. Does nothing in a driver whose adapter has no network of its own. */
  formNewNetwork(): void {
    this.#driver?.formNewNetwork?.();
  }

  async closeJoining(): Promise<void> {
    try {
      await this.#driver?.closeJoining?.();
    } catch (error) {
      this.#log.warn(
        `could not close joining (${messageOf(error)}): it closes by itself when its time is over`,
      );
    }
  }

  get scans(): boolean {
    return this.#driver?.scanMesh !== undefined;
  }

  /** Rejects with the driver's reason where it cannot. */
  async scanMesh(): Promise<MeshScan | undefined> {
    return plainWords(await this.#driver?.scanMesh?.());
  }

  get measures(): boolean {
    return this.#driver?.measureNoise !== undefined;
  }

  /** Rejects with the driver's reason where it cannot. */
  async measureNoise(): Promise<ChannelNoise | undefined> {
    return await this.#driver?.measureNoise?.();
  }

  show(lamp: Lamp): void {
    this.#guarded("could not show its lamp", () => this.#driver?.show?.(lamp));
  }

  #guarded<Result>(what: string, action: () => Result): Result | undefined {
    if (this.#crash !== undefined) return undefined;
    try {
      return action();
    } catch (error) {
      const problem = `${what} (${messageOf(error)}): the other drivers go on; restart the gateway to try again`;
      this.#crash = { problem, since_ms: this.#clock.now().unix_ms };
      this.#log.error(problem);
      return undefined;
    }
  }
}

/** A driver has 5 s by its contract; the rest is for a busy machine. */
const stop_max_ms = 7_000;

/** A host that gets every text of its driver as one plain line: devices and their makers write what they like into names and models. */
function plainHost(host: Host): Host {
  const services = Object.entries(host).map(([name, service]) => [
    name,
    typeof service === "function"
      ? (...said: readonly unknown[]) => service.apply(host, said.map(plainWords))
      : service,
  ]);
  return Object.fromEntries(services);
}

/** Has the lamps of all drivers show the state of the gateway. */
export class LampKeeper {
  readonly #options: LampOptions;
  #shown: Lamp | undefined;
  #joinedUntil_ms = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => {};

  constructor(options: LampOptions) {
    this.#options = options;
  }

  show(lamp: Lamp): void {
    if (lamp === this.#shown) return;
    this.#shown = lamp;
    for (const driver of this.#options.drivers()) driver.show(lamp);
  }

  /** A device has just joined: says so for a moment that a person can see. */
  joined(): void {
    this.#joinedUntil_ms = this.#options.clock.now().monotonic_ms + joined_ms;
    this.show("joined");
  }

  /** Shows the present state, and again every `refresh_ms` until `stop`. */
  keep(): void {
    this.#cancel();
    this.refresh();
    this.#cancel = repeat(this.#options.clock, refresh_ms, () => this.refresh());
  }

  refresh(): void {
    const { drivers, clock, isJoining, isPaused } = this.#options;
    if (clock.now().monotonic_ms < this.#joinedUntil_ms) return;
    if (isJoining()) this.show("joining");
    else if (isPaused()) this.show("paused");
    else if (drivers().some((driver) => driver.status().problem !== undefined)) this.show("fault");
    else this.show("ready");
  }

  stop(): void {
    this.#cancel();
    this.show("off");
  }
}

interface LampOptions {
  readonly drivers: () => readonly AttachedDriver[];
  readonly clock: Clock;
  readonly isJoining: () => boolean;
  readonly isPaused: () => boolean;
}

const joined_ms = 3_000;
const refresh_ms = 2_000;
