import { type Clock, clockQuality } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import type { Conflict } from "../../domain/identity.ts";
import type { SetupVisitState } from "../../domain/joining-state.ts";
import {
  givenMetres,
  givenText,
  type NameGiving,
  type NameStore,
  NameTaken,
} from "../../store/inventory/given-names.ts";
import type { Joining, JoiningStep } from "./joining.ts";

/** A walk through a home with the pages in hand: opens joining, remembers what came of it, and gives names. */
export class SetupVisit {
  readonly #joining: Joining;
  readonly #identities: ConflictKeeper;
  readonly #store: NameStore;
  readonly #clock: Clock;
  readonly #lines: readonly WalkingLine[];
  #state: Omit<SetupVisitState, "joining" | "opened" | "canJoin"> = {
    started: [],
    failed: [],
    problem: null,
    unnamed: null,
  };
  #changes = 0;
  #joiningWas: SetupVisitState["joining"] = "closed";

  constructor(options: {
    joining: Joining;
    identities: ConflictKeeper;
    store: NameStore;
    clock: Clock;
    lines: readonly WalkingLine[];
  }) {
    this.#joining = options.joining;
    this.#identities = options.identities;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#lines = options.lines;
  }

  /** Grows with each change of the state. */
  get changes(): number {
    // The button on the box and `lintel pair` open it too.
    if (this.#joining.state !== this.#joiningWas) this.#changes += 1;
    this.#joiningWas = this.#joining.state;
    return this.#changes + this.#identities.changes;
  }

  get state(): SetupVisitState {
    const { state: joining, opened = null, isAble: canJoin } = this.#joining;
    return { ...this.#state, joining, opened, canJoin };
  }

  /** Those that wait for a person. */
  get conflicts(): Conflict[] {
    return this.#identities.conflicts().filter(({ refused_ms }) => refused_ms === undefined);
  }

  get isTimeKnown(): boolean {
    return this.#clock.now().quality === clockQuality.synchronised;
  }

  /** Lets devices in, unless somebody else already does. The state has the reason if that fails. */
  open(): void {
    if (this.#joining.state !== "closed") return;
    this.#become({ started: [], failed: [], problem: null });
    this.#joining
      .open(page_joining_seconds, (step) => this.#note(step), { by: "page" })
      .catch((thrown) => this.#become({ problem: messageOf(thrown) }));
  }

  async close(): Promise<void> {
    await this.#joining.close();
  }

  /** Gives a device a name and a room; a name that something else has gets a number behind it. What hinders that is in the state then: false. */
  name(address: string, written: { name: string; room: string }): Promise<boolean> {
    return this.#noting(address, () => {
      const room = written.room.trim() === "" ? undefined : givenText(written.room, "room");
      return this.#give({ address, name: givenText(written.name, "name"), room, ...this.#now() });
    });
  }

  /** Gives a curtain sensor its distance from the end of the line of its room. What hinders that is in the state then: false. */
  measure(address: string, written: string): Promise<boolean> {
    return this.#noting(address, () =>
      this.#store.nameItem({ address, metres: givenMetres(written), ...this.#now() }),
    );
  }

  /** Gives a device the name and place of a broken one, by their addresses. What hinders that is in the state then: false. */
  replace(old: string, address: string): Promise<boolean> {
    return this.#noting(address, () => this.#store.replaceItem({ old, new: address, ...this.#now() }));
  }

  /** A person answers the conflict that they saw. One that came after it, or was settled meanwhile, stays as it is. */
  async settle(
    { address, first_ms }: { readonly address: string; readonly first_ms: number },
    answer: "accepted" | "refused",
    by: string,
  ): Promise<void> {
    const isOpen = this.conflicts.some((one) => one.known.address === address && one.first_ms === first_ms);
    if (!isOpen) return;
    await this.#identities.settle(address, answer, by);
    this.#become({ failed: this.#state.failed.filter((one) => one.address !== address) });
  }

  #now() {
    return { given_ms: this.#clock.now().unix_ms, lines: this.#lines };
  }

  async #noting(address: string, give: () => Promise<unknown>): Promise<boolean> {
    try {
      await give();
      this.#become({ unnamed: null });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof OperatorError)) throw thrown;
      this.#become({ unnamed: { address, why: thrown.message } });
      return false;
    }
  }

  async #give(giving: NameGiving & { readonly name: string }): Promise<void> {
    for (let number = 1; ; number++) {
      const name = number === 1 ? giving.name : givenText(`${giving.name} ${number}`, "name");
      try {
        await this.#store.nameItem({ ...giving, name });
        return;
      } catch (thrown) {
        if (!(thrown instanceof NameTaken) || number >= numbers_max) throw thrown;
      }
    }
  }

  #note(step: JoiningStep): void {
    const { started, failed } = this.#state;
    const others = (address: string) => started.filter((one) => one !== address);
    if (step.state === "open") this.#become({ problem: step.problems?.join("; ") ?? null });
    else if (step.state === "closed") this.#become({ started: [] });
    else if (step.state === "started")
      this.#become({ started: [...others(step.address), step.address].slice(-shown_max) });
    else if (step.state === "joined")
      this.#become({
        started: others(step.address),
        failed: failed.filter(({ address }) => address !== step.address),
      });
    else if (step.state === "failed") {
      const { address, reason, remedy } = step;
      const rest = failed.filter((one) => one.address !== address);
      this.#become({
        started: others(address),
        failed: [...rest, { address, reason, remedy }].slice(-shown_max),
      });
    }
  }

  #become(changed: Partial<Omit<SetupVisitState, "joining" | "opened">>): void {
    this.#state = { ...this.#state, ...changed };
    this.#changes += 1;
  }
}

interface ConflictKeeper {
  /** Grows with each conflict that is new or settled. */
  readonly changes: number;
  conflicts(): Conflict[];
  settle(address: string, answer: "accepted" | "refused", by: string): Promise<unknown>;
}

/** The time for which a tap lets devices in. */
export const page_joining_seconds = 240;
/** Devices that have not come in that are remembered of one opening. */
const shown_max = 50;
/** Names with a number that are tried. */
const numbers_max = 50;
