import type { Clock } from "../../../src/base/clock.ts";
import { decodeSecurity, reasons, reasonWords, type SecurityUnit } from "./protocol.ts";

/** A pairing that failed. `reason` is one of `reasons`, as it was told to the device or by it. */
export class PairingError extends Error {
  constructor(
    message: string,
    readonly reason: number,
  ) {
    super(message);
  }
}

type UnitOf<Op extends SecurityUnit["op"]> = Extract<SecurityUnit, { readonly op: Op }>;

/** The longest wait for a unit; after it nothing more is exchanged on the link: Core 5.4, Vol 3, Part H, 3.4. */
export const unit_max_ms = 30_000;
/** Units that wait to be read; a pairing is a dialogue, and a device that talks on by itself is ended. */
const waiting_max = 8;
/** How often a person may press a key of the device, each of which begins the wait anew. */
const keypresses_max = 64;

/** The security channel of one link, from the side of the one who asks. */
export class SecurityChannel {
  /** Told of a request of the device to be asked, which it may send when nothing else is under way. */
  onRequest: () => void = () => {};
  readonly #clock: Clock;
  readonly #send: (unit: SecurityUnit) => void;
  readonly #units: SecurityUnit[] = [];
  #reading: { take: (unit: SecurityUnit) => void; fail: (reason: Error) => void } | undefined;
  #broken: Error | undefined;
  /** A device may send these at any time, and they mean nothing later. */
  #listening = false;

  constructor(options: { clock: Clock; send: (unit: SecurityUnit) => void; gone: Promise<never> }) {
    this.#clock = options.clock;
    this.#send = options.send;
    options.gone.catch((reason: Error) => this.#break(reason));
  }

  /** Takes what the device has sent. */
  take(bytes: Uint8Array): void {
    const unit = decodeSecurity(bytes);
    if (unit?.op === "securityRequest") {
      if (!this.#listening) this.onRequest();
      return;
    }
    if (!this.#listening) return;
    if (unit === undefined || this.#units.length >= waiting_max) {
      this.#break(this.refusal(reasons.invalidParameters, "it sends what is no part of a pairing"));
    } else if (this.#reading === undefined) this.#units.push(unit);
    else {
      // Before its reader runs: the next unit may come in the same piece.
      const { take } = this.#reading;
      this.#reading = undefined;
      take(unit);
    }
  }

  send(unit: SecurityUnit): void {
    this.#send(unit);
  }

  /** Hears what the device says as long as `work` takes. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#listening = true;
    try {
      return await work();
    } finally {
      this.#listening = false;
      this.#units.length = 0;
    }
  }

  /**
   * The next unit, which must be this one.
   *
   * @throws PairingError for another one, for a refusal of the device, and when it says nothing in `unit_max_ms`.
   */
  async expect<Op extends SecurityUnit["op"]>(op: Op): Promise<UnitOf<Op>> {
    for (let keypresses = 0; keypresses < keypresses_max; keypresses += 1) {
      const unit = await this.#next();
      if (unit.op === op) return unit as UnitOf<Op>;
      if (unit.op === "failed") {
        const words = reasonWords.get(unit.reason) ?? `reason ${unit.reason}`;
        throw new PairingError(`the device refused: ${words}`, unit.reason);
      }
      if (unit.op !== "keypress") break;
    }
    throw this.refusal(reasons.unspecified, `it did not send its ${op}`);
  }

  /** The device may have said nothing so far of what is to come: what it said before the link was encrypted is anybody's. */
  requireNothingSaid(): void {
    if (this.#units.length > 0) throw this.refusal(reasons.unspecified, "it sends keys in the clear");
  }

  /** Tells the device that its pairing has failed, and gives the error for that. */
  refusal(reason: number, message: string): PairingError {
    this.#send({ op: "failed", reason });
    return new PairingError(message, reason);
  }

  #next(): Promise<SecurityUnit> {
    const waiting = this.#units.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    const { promise, resolve, reject } = Promise.withResolvers<SecurityUnit>();
    const cancel = this.#clock.after(unit_max_ms, () =>
      reject(new PairingError(`the device said nothing for ${unit_max_ms / 1000} s`, reasons.unspecified)),
    );
    this.#reading = { take: resolve, fail: reject };
    return promise.finally(() => {
      cancel();
      this.#reading = undefined;
    });
  }

  #break(reason: Error): void {
    this.#broken ??= reason;
    this.#reading?.fail(reason);
  }
}
