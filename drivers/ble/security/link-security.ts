import type { Clock } from "../../../src/base/clock.ts";
import { messageOf, OperatorError } from "../../../src/base/errors.ts";
import type { Kind } from "../../../src/domain/kinds.ts";
import { conflictRemedy } from "../../../src/domain/reading.ts";
import type { PairingPerson } from "../../driver.ts";
import { attError } from "../att.ts";
import { status } from "../hci.ts";
import { type Bond, type Bonds, bondOf, bonds_max, keyOf, lastingAddress } from "./bonds.ts";
import { PairingError, SecurityChannel } from "./channel.ts";
import { type LinkKey, pair } from "./pairing.ts";
import { reasons, type SecurityUnit } from "./protocol.ts";
import type { TypedAddress } from "./toolbox.ts";

/** Joining, as one device may use it. */
export interface PairingPermit {
  readonly person?: PairingPerson | undefined;
  /** A pairing begins, has ended well, or failed. */
  started(): void;
  paired(bond: Bond): void;
  failed(reason: string, remedy: string): void;
}

/** The secure side of a link, as the controller has it. */
export interface SecureLink {
  readonly own: TypedAddress;
  readonly other: TypedAddress;
  readonly gone: Promise<never>;
  sendSecurity(unit: SecurityUnit): void;
  /** Where bytes of the security channel go. */
  onSecurity: (bytes: Uint8Array) => void;
  /** Has the link encrypted; resolves to the controller's status, 0 when it is. */
  encrypt(key: LinkKey): Promise<number>;
}

export interface LinkSecurityOptions {
  readonly clock: Clock;
  readonly link: SecureLink;
  /** The device by the address that the gateway knows it by. */
  readonly address: string;
  readonly kind: Kind;
  readonly bonds: Bonds;
  /** Whether a device with this bond may be the one of its address; `proven`: it has just shown that it holds the bond before. */
  isSame(bond: Bond, proven: boolean): boolean;
  /** The permit to pair with this device now; undefined while joining is closed. */
  permit(): PairingPermit | undefined;
}

/**
 * The security of one link: encrypts it at once with a device that is bonded, and pairs with one that asks for it, as long as
 * joining is open. With a bonded device nothing is spoken in the clear, whatever it asks for.
 */
export class LinkSecurity {
  readonly #options: LinkSecurityOptions;
  readonly #channel: SecurityChannel;
  #encrypted: Bond | undefined;
  #pairing: Promise<void> | undefined;

  constructor(options: LinkSecurityOptions) {
    const { clock, link } = options;
    this.#options = options;
    this.#channel = new SecurityChannel({ clock, gone: link.gone, send: (unit) => link.sendSecurity(unit) });
    this.#channel.onRequest = () => this.#requested();
    link.onSecurity = (bytes) => this.#channel.take(bytes);
  }

  /** Encrypts the link with a bonded device. To be called before the device is asked for anything. */
  async begin(): Promise<void> {
    const { bonds, address, link, permit } = this.#options;
    const bond = bonds.of(address);
    if (bond === undefined) return;
    const said = await link.encrypt(keyOf(bond));
    if (said === status.success) this.#encrypted = bond;
    else if (said !== status.keyMissing) throw new Error(`the link was not encrypted, error ${inHex(said)}`);
    else if (permit() === undefined) {
      throw new OperatorError(
        "it has forgotten its pairing with this gateway",
        "run lintel pair and put it into its pairing mode",
      );
    } else await this.pair();
  }

  /** The device has refused a request by this ATT error. Resolves when the request may be tried once more. */
  async raise(code: number): Promise<void> {
    if (
      this.#encrypted !== undefined &&
      (code === attError.insufficientEncryption || this.#encrypted.byNumber)
    ) {
      throw new Error(`it refuses with ATT error ${inHex(code)} although the link is encrypted`);
    }
    if (this.#pairing === undefined && this.#options.permit() === undefined) {
      throw new OperatorError(
        "it speaks only to a paired gateway",
        "run lintel pair and put it into its pairing mode",
      );
    }
    const before = this.#encrypted;
    await this.pair();
    // It asks for a number, and there was nobody to read or type one, or it has no way to show one.
    if (before !== undefined && this.#encrypted?.byNumber !== true)
      throw new OperatorError("it needs a number for pairing", "run lintel pair in a terminal");
  }

  /** Pairs, or waits for the pairing that is under way. Rejects when it fails. */
  pair(): Promise<void> {
    const permit = this.#options.permit();
    this.#pairing ??= this.#pair(permit).finally(() => {
      this.#pairing = undefined;
    });
    return this.#pairing;
  }

  async #pair(permit: PairingPermit | undefined): Promise<void> {
    const { link, bonds, address, kind } = this.#options;
    if (permit === undefined) throw new Error("joining is closed");
    permit.started();
    try {
      if (!bonds.hasRoomFor(address))
        throw new Error(`${bonds_max} devices are bonded, which is as many as are kept`);
      const { own, other } = link;
      const pairing = await pair({
        channel: this.#channel,
        own,
        other,
        address,
        person: permit.person,
        encrypt: (key) => this.#encrypt(key),
      });
      const lasting = lastingAddress(other, pairing);
      if (lasting === undefined) throw new Error("its keys do not fit the address under which it speaks");
      const bond = bondOf(lasting, kind, pairing);
      if (!this.#options.isSame(bond, this.#encrypted?.address === bond.address)) {
        bonds.putAside(bond);
        throw new ConflictError(bond.address);
      }
      bonds.keep(bond);
      this.#encrypted = bond;
      permit.paired(bond);
    } catch (thrown) {
      const reason = messageOf(thrown);
      permit.failed(reason, remedyOf(thrown));
      throw new OperatorError(`it could not be paired (${reason})`, remedyOf(thrown), { cause: thrown });
    }
  }

  async #encrypt(key: LinkKey): Promise<void> {
    const said = await this.#options.link.encrypt(key);
    if (said !== status.success)
      throw new PairingError(`the link was not encrypted, error ${inHex(said)}`, reasons.unspecified);
  }

  /** The device asks to be made safe: a bonded one is encrypted already, or will be. */
  #requested(): void {
    const { bonds, address, link, permit } = this.#options;
    if (this.#encrypted !== undefined || bonds.of(address) !== undefined) return;
    if (permit() === undefined) link.sendSecurity({ op: "failed", reason: reasons.notSupported });
    // It is told through the permit when this fails, and what the device then refuses fails too.
    else this.pair().catch(() => {});
  }
}

/** Another device is known under the address that was paired. */
class ConflictError extends Error {
  constructor(readonly address: string) {
    super(`${address} is known with another key`);
  }
}

function remedyOf(thrown: unknown): string {
  if (thrown instanceof ConflictError) return conflictRemedy(thrown.address);
  const reason = thrown instanceof PairingError ? thrown.reason : undefined;
  return (
    (reason === undefined ? undefined : remedies.get(reason)) ??
    "keep it near, put it into its pairing mode and run lintel pair again"
  );
}

const remedies: ReadonlyMap<number, string> = new Map([
  [
    reasons.notSupported,
    "put it into its pairing mode, where needed after removing its other partners, and pair again",
  ],
  [reasons.repeatedAttempts, "leave it alone for a minute, and pair again"],
  [reasons.keySize, "it cannot be used safely, and so not at all"],
  [reasons.confirmFailed, "pair again and type the digits as they are shown"],
  [reasons.passkeyEntryFailed, "run lintel pair in a terminal, and type within 30 s"],
]);

function inHex(code: number): string {
  return `0x${code.toString(16).padStart(2, "0")}`;
}
