import type { Clock } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import {
  acceptedIdentity,
  type Conflict,
  conflicts_max,
  conflictText,
  decide,
  type Identity,
  identities_max,
  isSameClaim,
} from "../../domain/identity.ts";
import { conflictRemedy, type IdentityClaim, type Verdict } from "../../domain/reading.ts";
import type { AdmissionStore, IdentityNotes, IdentityStore } from "../../store/gateway/gateway-store.ts";

/**
 * Who the devices of a gateway are: adds those that are new, and keeps a claim to be one of them that differs as a conflict, until a person settles it. Answers
 * from memory; what is new is on disk with the next commit, and so no later than the reading that told it.
 */
export class Identities {
  readonly #options: IdentitiesOptions;
  /** By address, one a kind. */
  readonly #known = new Map<string, readonly Identity[]>();
  /** By address: the first claim until it is settled, since a person is to accept what they have seen. */
  readonly #conflicts = new Map<string, Conflict>();
  /** Addresses of which something is to be kept. */
  #changed = new Set<string>();
  #count = 0;
  #changes = 0;

  constructor(options: IdentitiesOptions) {
    this.#options = options;
  }

  /** Reads what was kept. Rejects with an OperatorError. */
  async start(): Promise<void> {
    const { identities, conflicts } = await this.#options.store.identities();
    for (const identity of identities) this.#put(identity);
    for (const conflict of conflicts) this.#conflicts.set(conflict.known.address, conflict);
    this.#changed.clear();
  }

  /** See `Host.identify`. `adds: false` takes a new device for one that may be, and does not keep it. */
  identify(
    claim: IdentityClaim,
    driver: string,
    { note = true, adds = note }: { readonly note?: boolean; readonly adds?: boolean } = {},
  ): Verdict {
    const { clock, openedAt_ms, dropped } = this.#options;
    const known = this.#known.get(claim.device.address) ?? [];
    const now_ms = clock.now().unix_ms;
    const decision = decide(known, claim, { driver, now_ms, opened_ms: openedAt_ms() });
    if (decision.verdict === "conflict") {
      if (note) this.#note(decision, now_ms);
      return "conflict";
    }
    if (!adds) return decision.verdict;
    if (decision.verdict === "new" && this.#count >= identities_max) {
      dropped("devices beyond those whose identity can be kept");
      return "conflict";
    }
    const before = known.find(({ kind }) => kind === decision.identity.kind);
    if (JSON.stringify(before) !== JSON.stringify(decision.identity)) this.#put(decision.identity);
    return decision.verdict;
  }

  /** The conflict at an address, open or refused. */
  conflictAt(address: string): Conflict | undefined {
    return this.#conflicts.get(address);
  }

  /** Grows with each conflict that is new or settled. */
  get changes(): number {
    return this.#changes;
  }

  /** Conflicts, the one that was claimed last first: open ones, and refused ones after them. */
  conflicts(): Conflict[] {
    return [...this.#conflicts.values()].sort(
      (one, other) =>
        Number(one.refused_ms !== undefined) - Number(other.refused_ms !== undefined) ||
        other.last_ms - one.last_ms,
    );
  }

  /** A person accepts or refuses the device that claims an address. Throws an OperatorError where none does. */
  async settle(address: string, answer: "accepted" | "refused", by: string): Promise<Conflict> {
    const conflict = this.#conflicts.get(address);
    if (conflict === undefined) throw noConflict(address);
    const { clock, store, log } = this.#options;
    const at_ms = clock.now().unix_ms;
    await store.settleConflict({ conflict, answer, at_ms, by });
    if (answer === "refused")
      this.#conflicts.set(address, { ...conflict, refused_ms: at_ms, refused_by: by });
    else {
      this.#conflicts.delete(address);
      this.#count -= this.#known.get(address)?.length ?? 0;
      this.#known.delete(address);
      this.#put(acceptedIdentity(conflict, at_ms, by));
    }
    this.#changes += 1;
    log.info(`${by} has ${answer} the device that claims ${address}`);
    return conflict;
  }

  /** Forgets the known device of an address, and any conflict about it. The device may come back as a new one. */
  async forget(address: string): Promise<void> {
    this.#count -= this.#known.get(address)?.length ?? 0;
    this.#known.delete(address);
    this.#conflicts.delete(address);
    // Also what this process kept after another one had removed it. The store writes in turn: nothing of the old comes after.
    await this.#options.store.forgetDevice(address);
  }

  /** Everything that has changed since it was taken last; undefined where nothing has. */
  take(): IdentityNotes | undefined {
    if (this.#changed.size === 0) return undefined;
    const addresses = [...this.#changed];
    this.#changed = new Set();
    return {
      identities: addresses.flatMap((address) => this.#known.get(address) ?? []),
      conflicts: addresses.flatMap((address) => this.#conflicts.get(address) ?? []),
    };
  }

  /** Takes back what could not be kept: what is known by now is kept with the next commit. */
  giveBack({ identities, conflicts }: IdentityNotes): void {
    for (const { address } of identities) this.#changed.add(address);
    for (const { known } of conflicts) this.#changed.add(known.address);
  }

  #put(identity: Identity): void {
    const { address, kind } = identity;
    const others = (this.#known.get(address) ?? []).filter((one) => one.kind !== kind);
    this.#count += 1 + others.length - (this.#known.get(address)?.length ?? 0);
    this.#known.set(address, [...others, identity]);
    this.#changed.add(address);
  }

  #note(found: Pick<Conflict, "known" | "claimed" | "differs" | "why">, now_ms: number): void {
    const { address } = found.known;
    const before = this.#conflicts.get(address);
    const { dropped, log, onConflict } = this.#options;
    dropped("claims to be a device that they are not");
    if (
      before !== undefined &&
      (before.refused_ms === undefined || isSameClaim(before.claimed, found.claimed))
    ) {
      // The counter of a device goes on while it waits.
      const { counter = -1 } = isSameClaim(before.claimed, found.claimed) ? found.claimed : before.claimed;
      const claimed = { ...before.claimed, ...(counter < 0 ? {} : { counter }) };
      this.#conflicts.set(address, { ...before, claimed, last_ms: now_ms, count: before.count + 1 });
    } else {
      if (before === undefined && this.#conflicts.size >= conflicts_max) {
        const [oldest] = [...this.#conflicts].find(([, { refused_ms }]) => refused_ms !== undefined) ?? [];
        // It is refused all the same, and counted.
        if (oldest === undefined) return;
        this.#conflicts.delete(oldest);
      }
      this.#conflicts.set(address, { ...found, first_ms: now_ms, last_ms: now_ms, count: 1 });
      this.#changes += 1;
      log.warn(`${conflictText(found)} Nothing is recorded of it: ${conflictRemedy(address)}`);
      onConflict();
    }
    this.#changed.add(address);
  }
}

export function noConflict(address: string): OperatorError {
  return new OperatorError(`no other device claims ${address}`, "lintel items conflicts lists those that do");
}

interface IdentitiesOptions {
  readonly store: IdentityStore & Pick<AdmissionStore, "forgetDevice">;
  readonly clock: Clock;
  readonly log: Log;
  /** Since when joining is open, unix milliseconds; undefined while it is not. */
  readonly openedAt_ms: () => number | undefined;
  readonly dropped: (what: string) => void;
  /** A conflict is new: it should be kept at once. */
  readonly onConflict: () => void;
}
