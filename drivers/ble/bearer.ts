import { type AttUnit, decodeAtt, encodeAtt } from "./att.ts";
import type { Bearer, ValueUnit } from "./connection.ts";
import { channel } from "./l2cap.ts";
import type { OpenNoble } from "./noble.ts";
import { typedAddress } from "./security/bonds.ts";
import type { SecureLink } from "./security/link-security.ts";
import type { LinkKey } from "./security/pairing.ts";
import { encodeSecurity } from "./security/protocol.ts";

/** A bearer on noble's ATT queue, the security of its link, and the end of its connection. */
export interface NobleBearer extends Bearer, SecureLink {
  /** Rejects when the connection ends, with the reason; never resolves. */
  readonly gone: Promise<never>;
  /** Why this side has ended it, when it has. */
  readonly failure: Error | undefined;
  /** Tells those who wait that the connection is over. */
  lost(reason: Error): void;
}

/** The controller's part in a connection: to end it, and to encrypt it, which resolves to its status. */
export interface LinkControl {
  hangUp(): void;
  encrypt(handle: number, key: LinkKey): Promise<number>;
}

/**
 * Takes over a connection that noble has just made with a device at this address.
 *
 * noble puts a confirmation into its queue as soon as an indication arrives. That one is thrown away here, and the
 * connection's user sends his own when the value is kept; the Attribute Protocol lets requests go on
 * meanwhile (Core 5.4, Vol 3, Part F, 3.3.2).
 *
 * @throws Error when the connection is already over.
 */
export function takeOver(
  open: OpenNoble,
  to: { readonly id: string; readonly address: string; readonly addressType: "public" | "random" },
  control: LinkControl,
): NobleBearer {
  const link = open.linkOf(to.id);
  if (link === undefined) throw new Error("the connection ended at once");
  const { gatt, stream, handle } = link;
  const { promise: gone, reject: lost } = Promise.withResolvers<never>();
  // A caller that waits gets the error. Without one, it is no fault.
  gone.catch(() => {});
  const queue = gatt._queueCommand.bind(gatt);
  const confirmation = encodeAtt({ op: "confirmation" });
  gatt._queueCommand = (unit, answered, written) => {
    if (!unit.equals(confirmation)) queue(unit, answered, written);
  };
  let failure: Error | undefined;
  // A device may ask for security before anybody listens.
  const early: Buffer[] = [];
  let onSecurity: (bytes: Uint8Array) => void = (bytes) => {
    if (early.length < early_max) early.push(Buffer.from(bytes));
  };
  const bearer: NobleBearer = {
    get failure() {
      return failure;
    },
    gone,
    lost,
    get mtu() {
      return Math.min(gatt._mtu, gatt._desired_mtu);
    },
    own: typedAddress(open.hci.address ?? "", open.hci.addressType ?? "public"),
    other: typedAddress(to.address, to.addressType),
    get onSecurity() {
      return onSecurity;
    },
    set onSecurity(take) {
      onSecurity = take;
      for (const bytes of early.splice(0)) take(bytes);
    },
    encrypt: (key) => Promise.race([gone, control.encrypt(handle, key)]),
    onValue: () => {},
    request: (unit) =>
      Promise.race([
        gone,
        new Promise<AttUnit>((resolve, reject) => {
          queue(encodeAtt(unit), (bytes) => {
            const answer = decodeAtt(bytes);
            if (answer === undefined) reject(new Error(`an answer to ${unit.op} that cannot be read`));
            else resolve(answer);
          });
        }),
      ]),
    sendSecurity: (unit) => stream.write(channel.security, Buffer.from(encodeSecurity(unit))),
    send: (unit) =>
      Promise.race([gone, new Promise<void>((resolve) => queue(encodeAtt(unit), null, resolve))]),
    end: (reason) => {
      failure ??= reason;
      lost(reason);
      control.hangUp();
    },
  };
  stream.on("data", (of: number, bytes: Buffer) => {
    if (of === channel.security) bearer.onSecurity(bytes);
    if (of !== channel.att) return;
    const unit = decodeAtt(bytes);
    if (isValue(unit)) bearer.onValue(unit);
  });
  return bearer;
}

/** Units of security that are kept until somebody listens; a device has no reason to send more than one. */
const early_max = 4;

function isValue(unit: AttUnit | undefined): unit is ValueUnit {
  return unit?.op === "notification" || unit?.op === "indication";
}
