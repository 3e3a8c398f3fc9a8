import type { Static, TSchema } from "@sinclair/typebox";
import type { Moment } from "../src/base/clock.ts";
import type { Kind } from "../src/domain/kinds.ts";
import type { Device } from "../src/domain/reading.ts";
import type { Host, Product } from "./driver.ts";

/**
 * A Bluetooth product that Lintel understands: one entry of the list that `bleDriver([…])` is given in
 * `drivers/index.ts`. Products know nothing of the controller, and the controller's driver nothing of them.
 *
 * `name` is the product's table below `[ble]` in the configuration (`[ble.watch]`), `section` what that table
 * may hold. Every key of it is optional: without the table the product is created with `{}`.
 */
export interface PeripheralDefinition<Section extends TSchema = TSchema> {
  readonly name: string;
  readonly section: Section;
  /** The kind of its devices. */
  readonly kind: Kind;
  /** Devices of this that can be bought. */
  readonly products?: readonly Product[];
  /**
   * Whether an advertisement comes from this product. A device that was recognised once stays recognised, so
   * that a scan response or a packet without the telling field is handed on as well. The first definition of
   * the list that recognises a device has it, of its kind: whoever speaks under its address as another kind takes nothing from
   * it. Must not throw, keeps nothing.
   */
  recognises(advertisement: Advertisement): boolean;
  /**
   * The device of an advertisement that was recognised, as far as that tells it without a key; undefined where it has nothing of
   * interest. `config` is the product's table. A device is handed to the product only once the gateway admits what this says. Must not
   * throw, keeps nothing.
   */
  deviceOf(advertisement: Advertisement, config: Static<Section>): Device | undefined;
  create(options: {
    config: Static<Section>;
    /** The gateway; `directory` is the product's own and exists. */
    host: Host;
    /** The bind key that the configuration holds for an address, 16 bytes. */
    keyOf: (address: string) => Uint8Array | undefined;
  }): Peripheral;
}

/** A product at work: one object for all devices of the product, told apart by `address`. */
export interface Peripheral {
  /**
   * Takes an advertisement. Every packet that the controller hears comes here, repeated ones as well; `moment`
   * was taken when it arrived. Must not throw. Work that it starts ends by itself or in `stop`.
   */
  advertised(advertisement: Advertisement, moment: Moment): void;
  /**
   * Whether the device is to be connected to now. Asked after `advertised`, for a connectable device that
   * is neither connected, nor waiting for its turn, nor being left alone after a failure.
   */
  wantsConnection?(advertisement: Advertisement, moment: Moment): boolean;
  /**
   * Talks to a device; the connection is closed when this settles. One device at a time is connected, so
   * work that is done is returned from at once. `signal` is raised when the device is gone, the time is up or the
   * driver stops; every call that then waits on the connection rejects. A rejection is logged with
   * the address and the device is left alone for a while, longer each time.
   */
  connected?(connection: Connection, signal: AbortSignal): Promise<void>;
  /** The longest that `connected` may take, milliseconds; 60,000 unless said, and at most 600,000. */
  readonly connection_max_ms?: number;
  /** Ends cleanly within 2 s. Nothing is called afterwards. */
  stop?(): Promise<void>;
}

/**
 * Devices that are followed at once, in all and of one product; the longest unheard is forgotten first. Only those that the
 * gateway lets in come so far, so that no stranger can take the place of one.
 */
export const devices_max = 1_000;

/**
 * An advertisement of a device. UUIDs, here and everywhere below, are lower case: four hex digits for one of the
 * Bluetooth SIG (`181d`), else the whole in its printed form (`6e400001-b5a3-f393-e0a9-e50e24dcca9e`).
 */
export interface Advertisement {
  /** Printed order, lower case, joined by colons: `54:48:e6:8f:80:a5`. */
  readonly address: string;
  readonly addressType: "public" | "random";
  /** Local name, from this packet or an earlier one of the device. */
  readonly name?: string;
  /** Services the device says it has, in this packet or an earlier one. */
  readonly services: readonly string[];
  /** Service data of this packet alone, by UUID. */
  readonly serviceData: ReadonlyMap<string, Uint8Array>;
  /** Manufacturer data of this packet alone; `company` is the SIG's number of the manufacturer. */
  readonly manufacturerData?: { readonly company: number; readonly data: Uint8Array };
  /** Signal strength in dBm. */
  readonly rssi: number;
  readonly connectable: boolean;
}

/** An open connection to a device: its GATT server, as far as products need it. */
export interface Connection {
  readonly address: string;
  readonly name?: string;
  /**
   * Finds a characteristic by the UUIDs of its service and its own. Undefined when the device does not have it.
   * The device is asked once for each service.
   */
  characteristic(service: string, uuid: string): Promise<Characteristic | undefined>;
}

export interface Characteristic {
  readonly uuid: string;
  readonly properties: ReadonlySet<CharacteristicProperty>;
  read(): Promise<Uint8Array>;
  /** Writes at most `write_bytes_max` bytes. Resolves when the device has confirmed it, or, with
   * `response: false`, when it is on its way. */
  write(value: Uint8Array, options?: { response?: boolean }): Promise<void>;
  /** Size of the largest write on this connection, bytes: 20 at least. */
  readonly write_bytes_max: number;
  /**
   * Has the device send changes of the value, by indication where it can, else by notification. `handler` gets
   * them one after another, in the order of their arrival; `moment` is the arrival.
   *
   * An indication is confirmed to the device only when the handler's promise has resolved: a handler that
   * awaits `host.accept` makes the device keep its measurement until it is on disk. When the promise
   * rejects, nothing is confirmed and the connection ends, so that the device sends the value again
   * next time. A device waits 30 s at most for the confirmation.
   */
  subscribe(handler: (value: Uint8Array, moment: Moment) => Promise<void>): Promise<void>;
}

export type CharacteristicProperty = "read" | "write" | "writeWithoutResponse" | "notify" | "indicate";
