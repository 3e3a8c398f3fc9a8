import { randomBytes } from "node:crypto";
import { typedAddress } from "../security/bonds.ts";
import type { LinkKey } from "../security/pairing.ts";
import {
  authentication,
  capability,
  checkedFeatures,
  decodeSecurity,
  keyKinds,
  type Method,
  methodOf,
  type PairingFeatures,
  reasons,
  type SecurityUnit,
  wholeUnit,
} from "../security/protocol.ts";
import {
  ah,
  areEqual,
  c1,
  f4,
  f5,
  f6,
  g2,
  KeyPair,
  newPasskey,
  passkeyKey,
  s1,
  type TypedAddress,
} from "../security/toolbox.ts";

export interface SimulatedSecurityOptions {
  /** Legacy pairing only, as devices before Bluetooth 4.2. */
  readonly legacy?: boolean;
  /** How it talks to people; not at all unless said. */
  readonly capability?: keyof typeof capability;
  /** Whether it asks for a number. */
  readonly protected?: boolean;
  /** False: it pairs and keeps no key. */
  readonly bonding?: boolean;
  readonly key_bytes_max?: number;
  /** It speaks under changing addresses, which this key resolves; its lasting one is that of its options. */
  readonly identityKey?: Uint8Array;
  /** Asks to be made safe as soon as it is connected to. */
  readonly asks?: boolean;
  /** The person at the device: is shown these digits and, without them, types those that the other end shows. */
  readonly person?: (digits: string | undefined) => string | Promise<string>;
  /** A misbehaviour of the device. */
  fault?: SecurityFault;
}

export type SecurityFault =
  /** Its proofs are of another number or key. */
  | "wrongConfirm"
  | "wrongCheck"
  | "keyBesideCurve"
  | "keySentBack"
  | "proofSentBack"
  /** It sends its keys before the link is encrypted. */
  | "keysInClear"
  /** Instead of this unit it refuses, says nothing, or is gone. */
  | { readonly at: SecurityUnit["op"]; readonly instead: "refuses" | "silent" | "leaves" };

/** The link, as the device's security uses it. */
export interface SecuredLink {
  readonly central: TypedAddress;
  /** The device's address on this link. */
  readonly own: TypedAddress;
  sendSecurity(unit: SecurityUnit): void;
  end(): void;
}

/** The security of a simulated device: answers pairings, and keeps their keys from one connection to the next. */
export class SimulatedSecurity {
  readonly options: SimulatedSecurityOptions;
  /** Pairings that ended well. */
  pairings = 0;
  /** Reasons for which a central ended a pairing. */
  readonly refusals: number[] = [];
  #bond: { readonly key: LinkKey; readonly byNumber: boolean } | undefined;
  #paired: { readonly key: LinkKey; readonly byNumber: boolean } | undefined;
  #link: SecuredLink | undefined;
  #units: SecurityUnit[] = [];
  #wake = () => {};
  #encrypted: "no" | "yes" | "byNumber" = "no";

  constructor(options: SimulatedSecurityOptions) {
    this.options = options;
  }

  get bonded(): boolean {
    return this.#bond !== undefined;
  }

  /** How safe the link is now. */
  get level(): "no" | "yes" | "byNumber" {
    return this.#encrypted;
  }

  /** Loses its keys, as by a new battery. */
  forget(): void {
    this.#bond = undefined;
  }

  linked(link: SecuredLink | undefined): void {
    this.#link = link;
    this.#encrypted = "no";
    this.#paired = undefined;
    this.#units = [];
    this.#wake();
    if (link === undefined) return;
    this.#answer(link).catch((thrown) => {
      if (!(thrown instanceof Ended)) throw thrown;
    });
    if (this.options.asks === true)
      link.sendSecurity({ op: "securityRequest", authentication: authentication.bonding });
  }

  take(bytes: Uint8Array): void {
    const unit = decodeSecurity(bytes);
    if (unit?.op === "failed") this.refusals.push(unit.reason);
    if (unit !== undefined) this.#units.push(unit);
    this.#wake();
  }

  /** The central begins encryption: whether the device has a key of that name, and whether it is the same. */
  encrypt(key: LinkKey): "missing" | "wrong" | "encrypted" {
    const kept = [this.#paired, this.#bond].find(
      (one) => one?.key.diversifier === key.diversifier && areEqual(one.key.random, key.random),
    );
    if (kept === undefined) return "missing";
    if (!areEqual(kept.key.value, key.value)) return "wrong";
    this.#encrypted = kept.byNumber ? "byNumber" : "yes";
    this.#wake();
    return "encrypted";
  }

  /** A new changing address, in printed order. */
  static changingAddress(identityKey: Uint8Array): string {
    const prand = randomBytes(3);
    prand[0] = ((prand[0] ?? 0) & 0x3f) | 0x40;
    return Buffer.concat([prand, ah(identityKey, prand)])
      .toString("hex")
      .replace(/(..)(?!$)/g, "$1:");
  }

  /** Answers one pairing after another, as long as the link is there. */
  async #answer(link: SecuredLink): Promise<void> {
    for (;;) {
      const request = await this.#next(link);
      if (request.op !== "request") continue;
      try {
        await this.#pair(link, request);
      } catch (thrown) {
        if (!(thrown instanceof Over)) throw thrown;
      }
    }
  }

  async #pair(link: SecuredLink, request: PairingFeatures): Promise<void> {
    const { legacy = false, bonding = true, key_bytes_max = 16, identityKey } = this.options;
    const response: PairingFeatures = {
      capability: capability[this.options.capability ?? "none"],
      outOfBand: false,
      authentication:
        (bonding ? authentication.bonding : 0) |
        (this.options.protected === true ? authentication.protected : 0) |
        (legacy ? 0 : authentication.secureConnections),
      key_bytes_max,
      initiatorKeys: 0,
      responderKeys:
        request.responderKeys & (keyKinds.encryption | (identityKey === undefined ? 0 : keyKinds.identity)),
    };
    await this.#send(link, { op: "response", ...response });
    const { method, secureConnections } = methodOf(request, response);
    const exchange = { link, request, response, method };
    const key = secureConnections ? await this.#secure(exchange) : await this.#legacy(exchange);
    this.#paired = { key, byNumber: method !== "justWorks" };
    if (this.options.fault === "keysInClear") link.sendSecurity({ op: "longTermKey", value: key.value });
    while (this.#encrypted === "no") await this.#woken(link);
    const kept = secureConnections ? key : await this.#giveKey(link);
    this.#bond = { key: kept, byNumber: method !== "justWorks" };
    if (identityKey !== undefined) {
      await this.#send(link, { op: "identityKey", value: identityKey });
      await this.#send(link, { op: "identityAddress", address: this.identity });
    }
    this.pairings += 1;
  }

  /** Its lasting address, for the device whose security this is. */
  identity: TypedAddress = typedAddress("00:00:00:00:00:00", "public");

  async #giveKey(link: SecuredLink): Promise<LinkKey> {
    const random = new Uint8Array(randomBytes(8));
    const key = {
      value: new Uint8Array(randomBytes(16)),
      diversifier: randomBytes(2).readUInt16LE(),
      random,
    };
    await this.#send(link, { op: "longTermKey", value: key.value });
    await this.#send(link, { op: "keyName", diversifier: key.diversifier, random });
    return key;
  }

  async #legacy({ link, request, response, method }: Exchange): Promise<LinkKey> {
    const temporary = method === "justWorks" ? new Uint8Array(16) : passkeyKey(await this.#number(method));
    const units = {
      request: wholeUnit({ ...request, op: "request" }),
      response: wholeUnit({ ...response, op: "response" }),
    };
    const confirmOf = (random: Uint8Array) =>
      c1(temporary, random, units, { initiator: link.central, responder: link.own });
    const theirs = await this.#expect(link, "confirm");
    const random = new Uint8Array(randomBytes(16));
    await this.#send(link, { op: "confirm", value: this.#proof(confirmOf(random), theirs.value) });
    const theirRandom = await this.#expect(link, "random");
    this.#require(link, confirmOf(theirRandom.value), theirs.value, reasons.confirmFailed);
    await this.#send(link, { op: "random", value: random });
    return unnamed(s1(temporary, random, theirRandom.value));
  }

  async #secure(exchange: Exchange): Promise<LinkKey> {
    const { link, request, response, method } = exchange;
    const keys = new KeyPair();
    const theirs = await this.#expect(link, "publicKey");
    const { fault } = this.options;
    const shown =
      fault === "keySentBack"
        ? theirs
        : { x: keys.x, y: fault === "keyBesideCurve" ? keys.y.with(0, (keys.y[0] ?? 0) ^ 1) : keys.y };
    await this.#send(link, { op: "publicKey", x: shown.x, y: shown.y });
    const secret = keys.secretWith(theirs);
    if (secret === undefined) return this.#refuse(link, reasons.invalidParameters);
    const digits = method === "shown" || method === "typed" ? await this.#number(method) : undefined;
    let random: Uint8Array = new Uint8Array();
    let theirRandom = random;
    const rounds = digits === undefined ? 1 : 20;
    for (let round = 0; round < rounds; round += 1) {
      const z = digits === undefined ? 0 : 0x80 | ((Number(digits) >> round) & 1);
      const confirm = digits === undefined ? undefined : (await this.#expect(link, "confirm")).value;
      random = new Uint8Array(randomBytes(16));
      const own = f4(keys.x, theirs.x, random, z);
      await this.#send(link, { op: "confirm", value: this.#proof(own, confirm ?? own) });
      theirRandom = (await this.#expect(link, "random")).value;
      if (confirm !== undefined)
        this.#require(link, f4(theirs.x, keys.x, theirRandom, z), confirm, reasons.confirmFailed);
      await this.#send(link, { op: "random", value: random });
    }
    if (method === "compared") await this.options.person?.(g2(theirs.x, keys.x, theirRandom, random));
    const r = digits === undefined ? new Uint8Array(16) : passkeyKey(digits);
    const { central, own } = link;
    const { checkKey, longTermKey } = f5(
      secret,
      { initiator: theirRandom, responder: random },
      { initiator: central, responder: own },
    );
    const check = await this.#expect(link, "check");
    const expected = f6(checkKey, [theirRandom, random], r, checkedFeatures(request), [central, own]);
    this.#require(link, expected, check.value, reasons.checkFailed);
    const value = f6(checkKey, [random, theirRandom], r, checkedFeatures(response), [own, central]);
    await this.#send(link, { op: "check", value: fault === "wrongCheck" ? value.toReversed() : value });
    return unnamed(longTermKey);
  }

  /** The number of this pairing: the one that the person at the device types, or the one that the device shows. */
  async #number(method: Method): Promise<string> {
    const shown = method === "typed" ? newPasskey() : undefined;
    const said = (await this.options.person?.(shown)) ?? "";
    return shown ?? said;
  }

  #proof(own: Uint8Array, theirs: Uint8Array): Uint8Array {
    const { fault } = this.options;
    if (fault === "proofSentBack") return theirs;
    return fault === "wrongConfirm" ? own.toReversed() : own;
  }

  async #send(link: SecuredLink, unit: SecurityUnit): Promise<void> {
    const { fault } = this.options;
    if (typeof fault === "object" && fault.at === unit.op) {
      if (fault.instead === "refuses") this.#refuse(link, reasons.unspecified);
      if (fault.instead === "leaves") link.end();
      throw new Over();
    }
    link.sendSecurity(unit);
  }

  #refuse(link: SecuredLink, reason: number): never {
    link.sendSecurity({ op: "failed", reason });
    throw new Over();
  }

  #require(link: SecuredLink, one: Uint8Array, other: Uint8Array, reason: number): void {
    if (!areEqual(one, other)) this.#refuse(link, reason);
  }

  async #expect<Op extends SecurityUnit["op"]>(link: SecuredLink, op: Op) {
    const unit = await this.#next(link);
    if (unit.op === "failed") throw new Over();
    if (unit.op !== op) return this.#refuse(link, reasons.unspecified);
    return unit as Extract<SecurityUnit, { readonly op: Op }>;
  }

  async #next(link: SecuredLink): Promise<SecurityUnit> {
    for (;;) {
      const unit = this.#units.shift();
      if (unit !== undefined) return unit;
      await this.#woken(link);
    }
  }

  async #woken(link: SecuredLink): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#link !== link) throw new Ended();
  }
}

interface Exchange {
  readonly link: SecuredLink;
  readonly request: PairingFeatures;
  readonly response: PairingFeatures;
  readonly method: Method;
}

/** The pairing is over. */
class Over extends Error {}
/** The link is over. */
class Ended extends Error {}

function unnamed(value: Uint8Array): LinkKey {
  return { value, diversifier: 0, random: new Uint8Array(8) };
}
