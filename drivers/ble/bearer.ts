import { type AttUnit, decodeAtt, encodeAtt } from "./att.ts";
import type { Bearer, ValueUnit } from "./connection.ts";
import { channel } from "./l2cap.ts";
import type { OpenNoble } from "./noble.ts";

/** A bearer on noble's ATT queue, and the end of its connection. */
export interface NobleBearer extends Bearer {
  /** Rejects when the connection ends, with the reason; never resolves. */
  readonly gone: Promise<never>;
  /** Why this side has ended it, when it has. */
  readonly failure: Error | undefined;
  /** Tells those who wait that the connection is over. */
  lost(reason: Error): void;
}

/**
 * Takes over a connection that noble has just made. `hangUp` asks the controller to end it.
 *
 * noble puts a confirmation into its queue as soon as an indication arrives. That one is thrown away here, and the
 * connection's user sends his own when the value is kept; the Attribute Protocol lets requests go on
 * meanwhile (Core 5.4, Vol 3, Part F, 3.3.2).
 *
 * @throws Error when the connection is already over.
 */
export function takeOver(open: OpenNoble, id: string, hangUp: () => void): NobleBearer {
  const link = open.linkOf(id);
  if (link === undefined) throw new Error("the connection ended at once");
  const { gatt, stream } = link;
  const { promise: gone, reject: lost } = Promise.withResolvers<never>();
  // A caller that waits gets the error. Without one, it is no fault.
  gone.catch(() => {});
  const queue = gatt._queueCommand.bind(gatt);
  const confirmation = encodeAtt({ op: "confirmation" });
  gatt._queueCommand = (unit, answered, written) => {
    if (!unit.equals(confirmation)) queue(unit, answered, written);
  };
  let failure: Error | undefined;
  const bearer: NobleBearer = {
    get failure() {
      return failure;
    },
    gone,
    lost,
    get mtu() {
      return Math.min(gatt._mtu, gatt._desired_mtu);
    },
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
    send: (unit) =>
      Promise.race([gone, new Promise<void>((resolve) => queue(encodeAtt(unit), null, resolve))]),
    end: (reason) => {
      failure ??= reason;
      lost(reason);
      hangUp();
    },
  };
  stream.on("data", (of: number, bytes: Buffer) => {
    if (of !== channel.att) return;
    const unit = decodeAtt(bytes);
    if (isValue(unit)) bearer.onValue(unit);
  });
  return bearer;
}

function isValue(unit: AttUnit | undefined): unit is ValueUnit {
  return unit?.op === "notification" || unit?.op === "indication";
}
