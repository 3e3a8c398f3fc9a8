import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { Clock, Moment } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Kind } from "../../src/domain/kinds.ts";
import type { Driver, DriverDefinition, DriverStatus, Host, PairingPerson } from "../driver.ts";
import type { Advertisement, Peripheral, PeripheralDefinition } from "../peripheral.ts";
import { Reconnect, type RetryBounds, type Session } from "../wire/reconnect.ts";
import { advertisementOf } from "./advertisement.ts";
import { GattConnection } from "./connection.ts";
import { Devices } from "./devices.ts";
import type { Report } from "./hci.ts";
import { readKeys } from "./keys.ts";
import { silentFault } from "./line.ts";
import { PairingWindow } from "./pairing-window.ts";
import { productHost } from "./product-host.ts";
import { Radio } from "./radio.ts";
import { type Bond, Bonds, deviceKeyOf, isResolvable } from "./security/bonds.ts";
import { LinkSecurity } from "./security/link-security.ts";
import { secured } from "./security/secured.ts";
import { Turns } from "./turns.ts";

const address = Type.String({ pattern: "^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$" });

const ownSection = {
  port: Type.String({
    minLength: 1,
    description:
      "an adapter of the kernel such as hci0, the device path of a Bluetooth controller, best below /dev/serial/by-id, or tcp://host:port",
  }),
  baud: Type.Optional(
    Type.Integer({ minimum: 9_600, maximum: 4_000_000, description: "the controller's bits per second" }),
  ),
  allow: Type.Optional(
    Type.Array(address, {
      maxItems: 1_000,
      description: 'a list of the only addresses to listen to, such as ["54:48:e6:8f:80:a5"]',
    }),
  ),
  ignore: Type.Optional(
    Type.Array(address, {
      maxItems: 1_000,
      description: 'a list of addresses that are not listened to, such as ["54:48:e6:8f:80:a5"]',
    }),
  ),
  admit: Type.Optional(
    Type.Union([Type.Literal("known"), Type.Literal("all")], {
      description:
        '"known", or "all" to make an item of every device that is heard, also of the neighbours\': at most 256 of them',
    }),
  ),
  // Its values are checked by readKeys: a fault found here would print the key.
  keys: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "a table of addresses and the bind keys of their devices",
    }),
  ),
  keys_file: Type.Optional(
    Type.String({
      pattern: "^/",
      description: "the absolute path of a file with an address and a key a line",
    }),
  ),
};

type OwnSection = Static<TObject<typeof ownSection>>;
type Section = OwnSection & Readonly<Record<string, unknown>>;

const baud_default = 1_000_000;
const connection_default_ms = 60_000;
const connection_most_ms = 600_000;
/** Time that a person has for a pairing, besides what the product has. */
const pairing_most_ms = 90_000;
/** Time that a product may take to finish after its connection has ended. */
const settle_max_ms = 2_000;

/** Bluetooth LE, for these products: the first that recognises a device has it. */
export function bleDriver(products: readonly PeripheralDefinition[]): DriverDefinition {
  const sections = products.map(({ name, section }) => [name, Type.Optional(section)] as const);
  return {
    name: "ble",
    section: Type.Object({ ...ownSection, ...Object.fromEntries(sections) }, { additionalProperties: false }),
    create: ({ config, host }) => new BleDriver({ config: config as Section, host, products }),
  };
}

interface Product {
  readonly definition: PeripheralDefinition;
  readonly peripheral: Peripheral;
  /** Its table of the configuration. */
  readonly config: NonNullable<unknown>;
}

/** The one owner of a Bluetooth controller: hands products what their devices broadcast, and connections in turn. */
export class BleDriver implements Driver {
  readonly #host: Host;
  readonly #products: readonly Product[];
  readonly #devices: Devices<Product>;
  readonly #turns: Turns;
  readonly #bonds: Bonds;
  readonly #window: PairingWindow;
  /** The address under which a bonded device was heard last, where that is a changing one. */
  readonly #onAir = new Map<string, string>();
  readonly #allow: ReadonlySet<string> | undefined;
  readonly #ignore: ReadonlySet<string>;
  /** Addresses that the configuration names, which makes them the home's. */
  readonly #named: ReadonlySet<string>;
  /** Whether every device is let in. */
  readonly #welcome: boolean;
  readonly #connection: Reconnect;
  #radio: Radio | undefined;

  constructor(options: {
    config: Section;
    host: Host;
    products: readonly PeripheralDefinition[];
    /** For tests: how long to wait between attempts. */
    bounds?: Partial<RetryBounds>;
  }) {
    const { config, host, products, bounds } = options;
    const { clock, log } = host;
    const keys = readKeys({ keys: config.keys, file: config.keys_file, log });
    const keyOf = (of: string) => keys.get(of.toLowerCase());
    this.#host = host;
    this.#allow = config.allow === undefined ? undefined : lowerCased(config.allow);
    this.#ignore = lowerCased(config.ignore ?? []);
    this.#named = new Set([...(this.#allow ?? []), ...keys.keys()]);
    this.#welcome = config.admit === "all";
    this.#products = products.map((definition) => ({
      definition,
      config: config[definition.name] ?? {},
      peripheral: definition.create({
        config: config[definition.name] ?? {},
        host: productHost(host, definition.name),
        keyOf,
      }),
    }));
    this.#bonds = new Bonds(host.directory);
    this.#window = new PairingWindow(host);
    this.#devices = new Devices((gone) => this.#radio?.forget(this.#onAir.get(gone) ?? gone));
    const dropped = (what: string, count?: number) => host.dropped(what, count);
    this.#turns = new Turns({ clock, log, dropped });
    const { port, baud = baud_default } = config;
    this.#connection = new Reconnect({
      clock,
      log,
      target: `Bluetooth controller on ${port}`,
      silent: silentFault(port, "it does not start"),
      ...(bounds === undefined ? {} : { bounds }),
      open: async (signal) => {
        const onReport = (report: Report) => this.#heard(report);
        return this.#hold(await Radio.open({ port, baud, clock, log, dropped, onReport }, signal));
      },
    });
  }

  start(): void {
    this.#connection.start();
  }

  async stop(): Promise<void> {
    await this.#connection.stop();
    await Promise.all(
      this.#products.map(async ({ peripheral, definition }) => {
        try {
          await peripheral.stop?.();
        } catch (thrown) {
          this.#host.log.error(`${definition.name} does not stop cleanly: ${messageOf(thrown)}`);
        }
      }),
    );
  }

  status(): DriverStatus {
    return this.#connection.status();
  }

  /** Asks nothing of the controller: `Host.admits` lets devices in meanwhile, and those that ask for it are paired with. */
  async openJoining(_seconds?: number, person?: PairingPerson): Promise<void> {
    this.#window.open(person);
    this.#turns.endRests();
  }

  async closeJoining(): Promise<void> {
    this.#window.close();
  }

  #hold(radio: Radio): Session {
    this.#radio = radio;
    this.#turns.resume();
    return {
      detail: radio.detail,
      ended: radio.ended,
      close: async () => {
        this.#radio = undefined;
        await this.#turns.suspend();
        await radio.close();
      },
    };
  }

  /**
   * Takes a packet. A stranger's ends here, and so costs the same however many there are. Answers whether its device may be
   * connected to.
   */
  #heard(onAir: Report): boolean {
    const moment = this.#host.clock.now();
    this.#bonds.settle((bond) => this.#isSame(bond, { note: false }));
    const report = this.#identified(onAir);
    const { address: from } = report;
    if (this.#ignore.has(from) || this.#allow?.has(from) === false) return false;
    const packet = advertisementOf(report);
    const heard = this.#devices.completed(packet);
    const known = this.#devices.productsOf(from);
    const products = this.#productsOf(packet, heard, known);
    if (this.#window.isOpen && heard.addressType === "random" && isResolvable(from)) {
      const pairing = products.filter((product) => mayPair(heard, product));
      if (pairing.length > 0) return pairing.map((product) => this.#introduce(heard, product)).some(Boolean);
    }
    const listening = products.filter((product) => this.#listensTo(heard, product, known));
    if (listening.length === 0 && known.length === 0) this.#devices.pass(heard);
    return listening.map((product) => this.#handOn(heard, moment, product)).some(Boolean);
  }

  /** Whether a bond is of the device that is known under its address, as far as one is. */
  #isSame(bond: Bond, { proven = false, note = true }: { proven?: boolean; note?: boolean }): boolean {
    const { kind, address } = bond;
    const verdict = this.#host.identify(
      { device: { kind, address }, key: deviceKeyOf(bond), proven },
      { note },
    );
    return verdict === "same" || (note && verdict === "new");
  }

  /** The packet under the lasting address of its device, where that is bonded and speaks under a changing one. */
  #identified(report: Report): Report {
    const bond = report.addressType === "random" ? this.#bonds.speakingAs(report.address) : undefined;
    if (bond === undefined) return report;
    const { address, addressType } = bond;
    const before = this.#onAir.get(address);
    this.#onAir.set(address, report.address);
    if (before !== undefined && before !== report.address) this.#radio?.forget(before);
    return { ...report, address, addressType };
  }

  /**
   * Has a device that speaks under a changing address paired with, which gives its lasting one: under the changing one nobody
   * would find it again. Answers whether it may be connected to.
   */
  #introduce(heard: Advertisement, { definition }: Product): boolean {
    const { address } = heard;
    if (!this.#window.hasAttemptsFor(address)) return false;
    const take = (signal: AbortSignal) =>
      this.#withLink({ heard, kind: definition.kind, most_ms: pairing_most_ms, signal }, ({ security }) =>
        security.pair(),
      );
    this.#turns.ask({ address, name: `${definition.name} ${address}`, take });
    return true;
  }

  /** The products that a packet is for: the one that recognises it, or those that have the device where none does. */
  #productsOf(packet: Advertisement, heard: Advertisement, known: readonly Product[]): readonly Product[] {
    const recognised =
      this.#products.find(({ definition }) => definition.recognises(packet)) ??
      (known.length === 0
        ? this.#products.find(({ definition }) => definition.recognises(heard))
        : undefined);
    if (recognised === undefined) return known;
    return [known.find(({ definition }) => definition.kind === recognised.definition.kind) ?? recognised];
  }

  /** Whether a device is listened to: the configuration names it, or the gateway admits it by what it says. */
  #listensTo(heard: Advertisement, product: Product, known: readonly Product[]): boolean {
    if (this.#named.has(heard.address)) return true;
    const has = known.includes(product);
    const device = product.definition.deviceOf(heard, product.config);
    if (device === undefined) return has;
    const admitted = this.#host.admits({ device, signal_dbm: heard.rssi, welcome: this.#welcome });
    if (!admitted && has) this.#devices.forget(heard.address);
    return admitted;
  }

  /** Hands a packet to a product. Answers whether its device may be connected to. */
  #handOn(heard: Advertisement, moment: Moment, product: Product): boolean {
    const { definition, peripheral } = product;
    const { address } = heard;
    this.#devices.remember(heard, product);
    try {
      peripheral.advertised(heard, moment);
      if (!heard.connectable || peripheral.connected === undefined) return false;
      if (this.#turns.mayAsk(address) && peripheral.wantsConnection?.(heard, moment) === true)
        this.#askForTurn(heard, product);
      return true;
    } catch (thrown) {
      this.#host.dropped(`${definition.name} advertisements that could not be understood`);
      this.#host.log.debug(`${definition.name} ${address}: ${messageOf(thrown)}`);
      return false;
    }
  }

  #askForTurn(heard: Advertisement, { definition, peripheral }: Product): void {
    const { address } = heard;
    const { connected, connection_max_ms = connection_default_ms } = peripheral;
    if (connected === undefined) return;
    const take = (signal: AbortSignal) => {
      const pairing_ms = this.#window.isOpen ? pairing_most_ms : 0;
      const most_ms = Math.min(connection_max_ms, connection_most_ms) + pairing_ms;
      return this.#withLink(
        { heard, kind: definition.kind, most_ms, signal },
        async ({ security, connection, over }) => {
          await security.begin();
          await connected.call(peripheral, connection, over);
        },
      );
    };
    this.#turns.ask({ address, name: `${definition.name} ${address}`, take });
  }

  /** One turn of one device: connects, does the work within its time, and disconnects. */
  async #withLink(
    turn: {
      readonly heard: Advertisement;
      readonly kind: Kind;
      readonly most_ms: number;
      readonly signal: AbortSignal;
    },
    work: (link: { security: LinkSecurity; connection: GattConnection; over: AbortSignal }) => Promise<void>,
  ): Promise<void> {
    const { heard, kind, most_ms, signal: stop } = turn;
    const { clock } = this.#host;
    const radio = this.#radio;
    if (radio === undefined) return;
    const onAir = this.#onAir.get(heard.address) ?? heard.address;
    const bearer = await radio.connect(onAir, stop);
    const over = new AbortController();
    const end = (reason: string) => bearer.end(new Error(reason));
    const cancel = clock.after(most_ms, () => end(`not done within ${most_ms / 1_000} s`));
    const stopped = () => end("the driver stops");
    stop.addEventListener("abort", stopped, { once: true });
    if (stop.aborted) stopped();
    bearer.gone.catch((reason: unknown) => over.abort(reason));
    const { address, name } = heard;
    const permit = () => this.#window.permitFor(address);
    const security = new LinkSecurity({
      clock,
      link: bearer,
      address,
      kind,
      bonds: this.#bonds,
      isSame: (bond, proven) => this.#isSame(bond, { proven }),
      permit,
    });
    try {
      const connection = new GattConnection({ address, name, bearer: secured(bearer, security), clock });
      // A device may hang up when it is done, so the product says what its end means; it has a moment for that.
      await Promise.race([work({ security, connection, over: over.signal }), lateAfter(bearer.gone, clock)]);
      if (bearer.failure !== undefined) throw bearer.failure;
    } finally {
      cancel();
      stop.removeEventListener("abort", stopped);
      over.abort();
      await radio.disconnect(onAir);
    }
  }
}

/** Rejects when a product has not ended `settle_max_ms` after its connection has. */
async function lateAfter(gone: Promise<never>, clock: Clock): Promise<never> {
  try {
    return await gone;
  } catch (reason) {
    await new Promise<void>((resolve) => clock.after(settle_max_ms, resolve));
    throw reason;
  }
}

function lowerCased(addresses: readonly string[]): ReadonlySet<string> {
  return new Set(addresses.map((one) => one.toLowerCase()));
}

/** Whether a device may be a partner: one that only broadcasts is heard under the address that it has. */
function mayPair({ connectable }: Advertisement, { peripheral }: Product): boolean {
  return connectable && peripheral.connected !== undefined;
}
