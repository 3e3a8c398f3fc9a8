import { type AdvertisingData, adType, encodeAdvertisingData, legacy_bytes_max } from "../advertising.ts";
import type { Report } from "../hci.ts";
import { typedAddress } from "../security/bonds.ts";
import type { SimulatedService } from "./attributes.ts";
import { type SecuredLink, SimulatedSecurity, type SimulatedSecurityOptions } from "./security.ts";

export interface SimulatedPeripheralOptions {
  /** Printed order: `54:48:e6:8f:80:a5`. */
  readonly address: string;
  readonly addressType?: "public" | "random";
  /** Its advertisement: fields, or the bytes as they are. Flags are put before fields while there is room. */
  readonly advertisement?: AdvertisingData | Uint8Array;
  /** Its scan response to an active scanner. */
  readonly scanResponse?: AdvertisingData | Uint8Array;
  /** Without this, a device with services is connectable and one without is not. */
  readonly connectable?: boolean;
  readonly services?: readonly SimulatedService[];
  /** It pairs, and keeps keys; without this it does neither. */
  readonly security?: SimulatedSecurityOptions;
  /** dBm; -60 unless said. */
  readonly rssi?: number;
  /** The largest ATT MTU it agrees to; 23 unless said. */
  readonly mtu_max?: number;
  /** Told when a central has connected, and when it is gone. */
  readonly onConnected?: () => void;
  readonly onDisconnected?: () => void;
}

/** The controller, as a device on the air knows it. */
export interface Air {
  /** Reports packets to the host; false when it does not scan. */
  report(reports: readonly Report[]): boolean;
  /** Tells that the device can be connected to now. */
  reachable(peripheral: SimulatedPeripheral): void;
}

/** A connection, as the device at its end knows it. */
export interface LinkEnd extends SecuredLink {
  notify(service: string, uuid: string, value: Uint8Array): boolean;
  indicate(service: string, uuid: string, value: Uint8Array): Promise<void>;
  end(): void;
}

/** A device on the air around a simulated controller. */
export class SimulatedPeripheral {
  /** Under which it speaks; one with an identity key changes it. */
  address: string;
  readonly options: SimulatedPeripheralOptions;
  readonly security: SimulatedSecurity | undefined;
  /** How many times a central asked for a connection, and how many it got. */
  attempts = 0;
  connections = 0;
  readonly #air: Air;
  #advertisement: Uint8Array;
  #scanResponse: Uint8Array | undefined;
  #reachable = true;
  #link: LinkEnd | undefined;

  constructor(air: Air, options: SimulatedPeripheralOptions) {
    this.#air = air;
    this.options = options;
    this.address = options.address.toLowerCase();
    if (options.security !== undefined) this.security = new SimulatedSecurity(options.security);
    if (this.security !== undefined)
      this.security.identity = typedAddress(this.address, options.addressType ?? "random");
    this.changeAddress();
    this.#advertisement = bytesOf(options.advertisement ?? {}, true);
    this.#scanResponse =
      options.scanResponse === undefined ? undefined : bytesOf(options.scanResponse, false);
  }

  get connectable(): boolean {
    return this.options.connectable ?? (this.options.services ?? []).length > 0;
  }

  get connected(): boolean {
    return this.#link !== undefined;
  }

  get addressType(): "public" | "random" {
    const { security, addressType = "random" } = this.options;
    return security?.identityKey === undefined ? addressType : "random";
  }

  /** A device with an identity key speaks under a new address from now on, as every quarter of an hour. */
  changeAddress(): void {
    const key = this.options.security?.identityKey;
    if (key !== undefined) this.address = SimulatedSecurity.changingAddress(key);
  }

  /** Changes its broadcasts from now on. */
  say(advertisement: AdvertisingData | Uint8Array): void {
    this.#advertisement = bytesOf(advertisement, true);
  }

  /**
   * Sends one advertising packet, and the scan response to an active scanner. False when the host did not
   * hear it: no scan is on, or the device is connected and therefore silent.
   */
  advertise(): boolean {
    if (this.connected) return false;
    const { rssi = -60 } = this.options;
    const from = { address: this.address, addressType: this.addressType, rssi };
    const kind = this.connectable
      ? "connectable"
      : this.#scanResponse === undefined
        ? "nonconnectable"
        : "scannable";
    const reports: Report[] = [{ ...from, kind, data: this.#advertisement }];
    if (this.#scanResponse !== undefined) {
      reports.push({ ...from, kind: "scanResponse", data: this.#scanResponse });
    }
    return this.#air.report(reports);
  }

  /** Whether connection requests reach it: false makes each of them last until the central gives up. */
  get reachable(): boolean {
    return this.#reachable;
  }

  set reachable(is: boolean) {
    this.#reachable = is;
    if (is) this.#air.reachable(this);
  }

  /** Sends a notification. False when no central has switched them on for this characteristic. */
  notify(service: string, uuid: string, value: Uint8Array): boolean {
    return this.#link?.notify(service, uuid, value) ?? false;
  }

  /**
   * Sends an indication. Resolves when the central has confirmed it. Rejects when none has switched indications
   * on, when another one is not confirmed yet, and when the connection ends before the confirmation.
   */
  async indicate(service: string, uuid: string, value: Uint8Array): Promise<void> {
    if (this.#link === undefined) throw new Error(`${this.address} is not connected`);
    await this.#link.indicate(service, uuid, value);
  }

  /** Ends the connection from the device's side. */
  disconnect(): void {
    this.#link?.end();
  }

  /** For the controller: a central has connected, or is gone. */
  linked(link: LinkEnd | undefined): void {
    this.#link = link;
    this.security?.linked(link);
    if (link === undefined) this.options.onDisconnected?.();
    else {
      this.connections += 1;
      this.options.onConnected?.();
    }
  }
}

/** General discoverable, no classic Bluetooth: Supplement to the Core Specification, Part A, 1.3. */
const flags = Uint8Array.of(2, adType.flags, 0x06);

function bytesOf(data: AdvertisingData | Uint8Array, flagged: boolean): Uint8Array {
  if (data instanceof Uint8Array) return data;
  const bytes = encodeAdvertisingData(data, legacy_bytes_max);
  return flagged && bytes.length + flags.length <= legacy_bytes_max
    ? new Uint8Array(Buffer.concat([flags, bytes]))
    : bytes;
}
