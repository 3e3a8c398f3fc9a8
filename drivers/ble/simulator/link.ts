import { type AttUnit, attError, decodeAtt, encodeAtt } from "../att.ts";
import { decodeAcl, encodeAcl, encodeEncryptionChange, encodeKeyRefreshed, status } from "../hci.ts";
import { channel, encodeL2cap, L2capReader } from "../l2cap.ts";
import { typedAddress } from "../security/bonds.ts";
import type { LinkKey } from "../security/pairing.ts";
import { encodeSecurity, type SecurityUnit } from "../security/protocol.ts";
import type { TypedAddress } from "../security/toolbox.ts";
import { AttributeServer } from "./attributes.ts";
import type { SimulatedPeripheral } from "./peripheral.ts";

/** The largest piece of data that the simulated controller sends and takes: small, so that frames are cut. */
export const acl_piece_bytes = 64;

/** The controller's functions that a link uses. */
export interface LinkEnds {
  /** The central's address. */
  readonly central: TypedAddress;
  send(packet: Buffer): void;
  /** Takes the link off the list and tells the host. */
  ended(link: Link, reason: number): void;
}

/** One connection of the central with a simulated device: L2CAP over ACL pieces, and the device's ATT server. */
export class Link {
  readonly #ends: LinkEnds;
  readonly #reader = new L2capReader();
  readonly #server: AttributeServer;
  #unconfirmed: { confirmed: () => void; lost: (reason: Error) => void } | undefined;

  constructor(
    readonly handle: number,
    readonly peripheral: SimulatedPeripheral,
    ends: LinkEnds,
  ) {
    this.#ends = ends;
    const { services = [], mtu_max = 23 } = peripheral.options;
    this.#server = new AttributeServer(services, mtu_max, peripheral.security);
  }

  /** For the device's security: the addresses of this link. */
  get central(): TypedAddress {
    return this.#ends.central;
  }

  get own(): TypedAddress {
    const { address, addressType } = this.peripheral;
    return typedAddress(address, addressType);
  }

  /** The central begins encryption: the event that tells how it went, or the end of the link when the keys differ. */
  encrypt(key: LinkKey): void {
    const { handle } = this;
    const before = this.peripheral.security?.level ?? "no";
    const became = this.peripheral.security?.encrypt(key) ?? "missing";
    if (became === "wrong") this.end(status.wrongKey);
    else if (became === "missing")
      this.#ends.send(encodeEncryptionChange({ handle, status: status.keyMissing }));
    else {
      const encode = before === "no" ? encodeEncryptionChange : encodeKeyRefreshed;
      this.#ends.send(encode({ handle, status: status.success }));
    }
  }

  /** Takes an ACL packet of the host. */
  receive(packet: Buffer): void {
    const frame = this.#reader.read(decodeAcl(packet));
    if (frame?.channel === channel.security) this.peripheral.security?.take(frame.data);
    if (frame?.channel !== channel.att) return;
    const unit = decodeAtt(frame.data);
    if (unit === undefined) {
      const [request = 0] = frame.data;
      this.#send({ op: "error", request, handle: 0, code: attError.notSupported });
    } else if (unit.op === "confirmation") this.#confirmed();
    else {
      const answer = this.#server.answer(unit);
      if (answer !== undefined) this.#send(answer);
    }
  }

  notify(service: string, uuid: string, value: Uint8Array): boolean {
    const handle = this.#server.handleOf(service, uuid);
    if (this.#server.modeOf(handle) !== "notify") return false;
    this.#send({ op: "notification", handle, value: value.slice(0, this.#server.mtu - 3) });
    return true;
  }

  indicate(service: string, uuid: string, value: Uint8Array): Promise<void> {
    const handle = this.#server.handleOf(service, uuid);
    if (this.#server.modeOf(handle) !== "indicate") throw new Error(`${uuid} is not subscribed to`);
    if (this.#unconfirmed !== undefined) throw new Error("an indication is not confirmed yet");
    return new Promise((confirmed, lost) => {
      this.#unconfirmed = { confirmed, lost };
      this.#send({ op: "indication", handle, value: value.slice(0, this.#server.mtu - 3) });
    });
  }

  end(reason: number = status.remoteEnded): void {
    this.#ends.ended(this, reason);
  }

  /** For the controller: the connection is gone. */
  lost(): void {
    this.#unconfirmed?.lost(new Error("the connection ended before the confirmation"));
    this.#unconfirmed = undefined;
    this.peripheral.linked(undefined);
  }

  #confirmed(): void {
    this.#unconfirmed?.confirmed();
    this.#unconfirmed = undefined;
  }

  sendSecurity(unit: SecurityUnit): void {
    this.#sendFrame(channel.security, encodeSecurity(unit));
  }

  #send(unit: AttUnit): void {
    this.#sendFrame(channel.att, encodeAtt(unit));
  }

  #sendFrame(to: number, bytes: Uint8Array): void {
    const frame = encodeL2cap({ channel: to, data: bytes });
    for (let at = 0; at < frame.length; at += acl_piece_bytes) {
      const data = frame.subarray(at, at + acl_piece_bytes);
      this.#ends.send(encodeAcl({ handle: this.handle, first: at === 0, data }, "host"));
    }
  }
}
