import { randomBytes } from "node:crypto";
import type { PairingPerson } from "../../driver.ts";
import type { SecurityChannel } from "./channel.ts";
import {
  authentication,
  capability,
  checkedFeatures,
  keyKinds,
  type Method,
  methodOf,
  type PairingFeatures,
  reasons,
  wholeUnit,
} from "./protocol.ts";
import {
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
} from "./toolbox.ts";

/** A key for a link, with the name by which the device finds it; of secure connections the name is empty. 16 and 8 bytes. */
export interface LinkKey {
  readonly value: Uint8Array;
  readonly diversifier: number;
  readonly random: Uint8Array;
}

/** The keys that a pairing has given, and how it was made. */
export interface Pairing {
  readonly key: LinkKey;
  readonly method: Method;
  readonly secureConnections: boolean;
  /** Resolves the changing addresses of the device. */
  readonly identityKey?: Uint8Array;
  readonly identityAddress?: TypedAddress;
}

export interface PairingOptions {
  readonly channel: SecurityChannel;
  /** Addresses of the link: ours, which asks, and the device's. */
  readonly own: TypedAddress;
  readonly other: TypedAddress;
  /** For `person`: the device by the address that people know it by. */
  readonly address: string;
  /** Who reads and types numbers; without one they are not asked for. */
  readonly person?: PairingPerson | undefined;
  /** Has the controller encrypt the link. Rejects when that fails. */
  encrypt(key: LinkKey): Promise<void>;
}

/**
 * Pairs and bonds with a device as initiator, Core 5.4, Vol 3, Part H, 2.3: legacy pairing or secure connections, as the device
 * can. Keys are of 16 bytes, the device keeps ours, and we give it none to find us by.
 *
 * @throws PairingError when the device refuses, or does not keep to the protocol: it has then been told.
 */
export async function pair(options: PairingOptions): Promise<Pairing> {
  const { channel } = options;
  return await channel.during(async () => {
    const request = featuresWith(options.person);
    channel.send({ op: "request", ...request });
    const response = await channel.expect("response");
    requireEnough(channel, response);
    const { method, secureConnections } = methodOf(request, response);
    const phase: Phase = { ...options, request, response, method };
    const key = secureConnections ? await bySecureConnections(phase) : await byLegacyPairing(phase);
    channel.requireNothingSaid();
    await options.encrypt(key);
    return { method, secureConnections, ...(await received(phase, secureConnections ? key : undefined)) };
  });
}

interface Phase extends PairingOptions {
  readonly request: PairingFeatures;
  readonly response: PairingFeatures;
  readonly method: Method;
}

function featuresWith(person: PairingPerson | undefined): PairingFeatures {
  const able = person?.types === true ? capability.keyboardDisplay : capability.displayOnly;
  return {
    capability: person === undefined ? capability.none : able,
    outOfBand: false,
    authentication:
      authentication.bonding |
      authentication.secureConnections |
      (person === undefined ? 0 : authentication.protected),
    key_bytes_max,
    initiatorKeys: 0,
    responderKeys: keyKinds.encryption | keyKinds.identity,
  };
}

function requireEnough(channel: SecurityChannel, response: PairingFeatures): void {
  if (response.key_bytes_max !== key_bytes_max) {
    throw channel.refusal(
      reasons.keySize,
      `it takes keys of ${response.key_bytes_max} bytes, and ${key_bytes_max} are safe`,
    );
  }
  if ((response.authentication & authentication.bonding) === 0) {
    throw channel.refusal(
      reasons.requirements,
      "it does not keep keys, so that it would have to be paired every time",
    );
  }
}

/** 2.3.5.5: each proves to the other that it has the same number, or none. */
async function byLegacyPairing(phase: Phase): Promise<LinkKey> {
  const { channel, request, response, own, other } = phase;
  const temporary =
    phase.method === "justWorks" ? new Uint8Array(key_bytes_max) : passkeyKey(await numberOf(phase));
  const units = {
    request: wholeUnit({ op: "request", ...request }),
    response: wholeUnit({ ...response, op: "response" }),
  };
  const confirmOf = (random: Uint8Array) =>
    c1(temporary, random, units, { initiator: own, responder: other });
  const random = randomBytes(key_bytes_max);
  const confirm = confirmOf(random);
  channel.send({ op: "confirm", value: confirm });
  const theirs = (await channel.expect("confirm")).value;
  requireNoEcho(channel, confirm, theirs);
  channel.send({ op: "random", value: random });
  const theirRandom = (await channel.expect("random")).value;
  requireConfirmed(channel, confirmOf(theirRandom), theirs);
  return unnamed(s1(temporary, theirRandom, random));
}

/** 2.3.5.6: a shared secret, of which both prove that nobody stands between them. */
async function bySecureConnections(phase: Phase): Promise<LinkKey> {
  const { channel, own, other, request, response } = phase;
  const keys = new KeyPair();
  channel.send({ op: "publicKey", x: keys.x, y: keys.y });
  const theirs = await channel.expect("publicKey");
  if (areEqual(theirs.x, keys.x)) {
    throw channel.refusal(reasons.invalidParameters, "it sends our own public key back");
  }
  const secret = keys.secretWith(theirs);
  if (secret === undefined) {
    throw channel.refusal(reasons.invalidParameters, "its public key is no point of the curve");
  }
  const exchange: Exchange = { ...phase, ownX: keys.x, otherX: theirs.x };
  const byNumber = phase.method === "shown" || phase.method === "typed";
  const { r, random, theirRandom } = byNumber ? await exchangeBits(exchange) : await exchangeOnce(exchange);
  const addresses = { initiator: own, responder: other };
  const { checkKey, longTermKey } = f5(secret, { initiator: random, responder: theirRandom }, addresses);
  const check = f6(checkKey, [random, theirRandom], r, checkedFeatures(request), [own, other]);
  channel.send({ op: "check", value: check });
  const expected = f6(checkKey, [theirRandom, random], r, checkedFeatures(response), [other, own]);
  if (!areEqual(expected, (await channel.expect("check")).value)) {
    throw channel.refusal(reasons.checkFailed, "its check of the keys is wrong");
  }
  return unnamed(longTermKey);
}

interface Exchange extends Phase {
  readonly ownX: Uint8Array;
  readonly otherX: Uint8Array;
}

interface Exchanged {
  /** The number as a key; zero without one. */
  readonly r: Uint8Array;
  readonly random: Uint8Array;
  readonly theirRandom: Uint8Array;
}

/** 2.3.5.6.2: the device commits itself to its random number before it knows ours; a person may compare what comes of both. */
async function exchangeOnce(exchange: Exchange): Promise<Exchanged> {
  const { channel, ownX, otherX, method, person, address } = exchange;
  const confirm = (await channel.expect("confirm")).value;
  const random = randomBytes(key_bytes_max);
  channel.send({ op: "random", value: random });
  const theirRandom = (await channel.expect("random")).value;
  requireConfirmed(channel, f4(otherX, ownX, theirRandom, 0), confirm);
  if (method === "compared") {
    const same = await person?.compares(address, g2(ownX, otherX, random, theirRandom));
    if (same !== true) {
      throw channel.refusal(reasons.comparisonFailed, "nobody said that both show the same number");
    }
  }
  return { r: new Uint8Array(key_bytes_max), random, theirRandom };
}

/** 2.3.5.6.3: the number is proven bit by bit, so that a guess is found out before it has learnt the next one. */
async function exchangeBits(exchange: Exchange): Promise<Exchanged> {
  const { channel, ownX, otherX } = exchange;
  const passkey = await numberOf(exchange);
  let random: Uint8Array = new Uint8Array();
  let theirRandom = random;
  for (let bit = 0; bit < passkey_bits; bit += 1) {
    const z = 0x80 | ((Number(passkey) >> bit) & 1);
    random = randomBytes(key_bytes_max);
    const confirm = f4(ownX, otherX, random, z);
    channel.send({ op: "confirm", value: confirm });
    const theirs = (await channel.expect("confirm")).value;
    requireNoEcho(channel, confirm, theirs);
    channel.send({ op: "random", value: random });
    theirRandom = (await channel.expect("random")).value;
    requireConfirmed(channel, f4(otherX, ownX, theirRandom, z), theirs);
  }
  return { r: passkeyKey(passkey), random, theirRandom };
}

/** The number of this pairing: a new one that the person is shown, or the one that the person reads from the device. */
async function numberOf({ channel, person, address, method }: Phase): Promise<string> {
  if (method === "shown") {
    const passkey = newPasskey();
    person?.reads(address, passkey);
    return passkey;
  }
  const typed = await person?.typesNumber(address);
  if (typed === undefined || !/^\d{6}$/.test(typed)) {
    throw channel.refusal(reasons.passkeyEntryFailed, "nobody typed the six digits that it shows");
  }
  return typed;
}

/** 3.6.1: the keys that the device gives once the link is encrypted; of secure connections it gives none for the link. */
async function received(
  { channel, response }: Phase,
  agreed: LinkKey | undefined,
): Promise<Pick<Pairing, "key" | "identityKey" | "identityAddress">> {
  const gives = (kind: number) => (response.responderKeys & kind) !== 0;
  let key = agreed;
  if (key === undefined) {
    if (!gives(keyKinds.encryption)) throw channel.refusal(reasons.requirements, "it gives no key to keep");
    const { value } = await channel.expect("longTermKey");
    const { diversifier, random } = await channel.expect("keyName");
    key = { value, diversifier, random };
  }
  if (!gives(keyKinds.identity)) return { key };
  const identityKey = (await channel.expect("identityKey")).value;
  const identityAddress = (await channel.expect("identityAddress")).address;
  const [type = 0, first = 0] = identityAddress;
  // 2.4.2.3: public, or random and lasting.
  if (type > 1 || (type === 1 && first >> 6 !== 0b11)) {
    throw channel.refusal(reasons.invalidParameters, "its identity is no lasting address");
  }
  return { key, identityKey, identityAddress };
}

/** Whoever sends our own confirm value back knows nothing. */
function requireNoEcho(channel: SecurityChannel, own: Uint8Array, theirs: Uint8Array): void {
  if (areEqual(own, theirs)) throw channel.refusal(reasons.confirmFailed, "it sends our own proof back");
}

function requireConfirmed(channel: SecurityChannel, expected: Uint8Array, confirm: Uint8Array): void {
  if (!areEqual(expected, confirm)) {
    throw channel.refusal(
      reasons.confirmFailed,
      "its proof is wrong: another number was typed, or it is not who it says",
    );
  }
}

function unnamed(value: Uint8Array): LinkKey {
  return { value, diversifier: 0, random: new Uint8Array(8) };
}

/** 128 bits; shorter ones can be guessed. */
const key_bytes_max = 16;
const passkey_bits = 20;
