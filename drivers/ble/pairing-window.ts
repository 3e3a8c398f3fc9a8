import type { Host, PairingPerson } from "../driver.ts";
import type { PairingPermit } from "./security/link-security.ts";

/** Pairings of one device that may fail while joining is open once; whoever guesses numbers has no more. */
export const attempts_max = 3;
/** Devices whose attempts are counted; while joining is open no more of them are paired with. */
const devices_max = 64;

/** Joining, as far as it lets devices be paired with. Says how each pairing went. */
export class PairingWindow {
  readonly #host: Host;
  #opening:
    | { readonly person: PairingPerson | undefined; readonly attempts: Map<string, number> }
    | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  open(person: PairingPerson | undefined): void {
    this.#opening = { person, attempts: new Map() };
  }

  close(): void {
    this.#opening = undefined;
  }

  /** Whether joining is open and the device that speaks under this address was not tried too often. */
  hasAttemptsFor(address: string): boolean {
    const { attempts } = this.#opening ?? {};
    if (attempts === undefined) return false;
    const made = attempts.get(address);
    return made === undefined ? attempts.size < devices_max : made < attempts_max;
  }

  /** The permit to pair with the device that speaks under this address; undefined while joining is closed, and after too many attempts. */
  permitFor(address: string): PairingPermit | undefined {
    if (this.#opening === undefined || !this.hasAttemptsFor(address)) return undefined;
    const { person, attempts } = this.#opening;
    return {
      person,
      started: () => {
        attempts.set(address, (attempts.get(address) ?? 0) + 1);
        this.#host.joining({ state: "started", address });
      },
      paired: (bond) => {
        attempts.set(address, 0);
        this.#host.joining({ state: "bonded", address: bond.address });
      },
      failed: (reason, remedy) => this.#host.joining({ state: "failed", address, reason, remedy }),
    };
  }
}
