import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../../../../src/base/log.ts";
import { hour_ms } from "../../../../../src/base/time.ts";
import type { Store } from "../../../../../src/store/store.ts";
import type { SimulatedCentral } from "../central.ts";
import type { Diary } from "../diary.ts";
import type { Disk } from "../disk.ts";
import type { World } from "../world.ts";
import { type HappenedFact, owedOf, requireAll, requireNone } from "./judge.ts";
import type { ConsentModel, Side } from "./model.ts";
import { knowsTime, type Place } from "./place.ts";
import { type Kept, keptIn, keptOnPostgres, serialsIn, serialsOnPostgres } from "./remains.ts";
import { type Found, Shown } from "./shown.ts";

/** Looks for what must not be, and for what must be, in what boxes and central keep and show, and holds it to the model. What is against it fails the diary. */
export class Looks {
  readonly #of: LooksOptions;
  readonly #shown = new WeakMap<Store, Shown>();
  /** Serials of readings that were looked for because they are owed. */
  readonly #asked = new Set<number>();

  constructor(of: LooksOptions) {
    this.#of = of;
  }

  end(): void {
    rmSync(this.#of.scratch, { recursive: true });
  }

  /** Looks at all files of the box of a home and of central, at what they owe, and at what they show. Time stands still meanwhile. */
  look(place: Place, shows = false): Promise<void> {
    const { diary, central, database, world } = this.#of;
    diary.count("looks");
    const { home } = place;
    this.#judge(place, "box", () => ({ found: serialsIn(home.disk.directory), whose: `box ${home.home}` }));
    if (central.store !== undefined && database === undefined)
      this.#judge(place, "central", () => ({ found: serialsIn(central.disk.directory), whose: "central" }));
    const owing = this.#lookAtRows(place, database).then(() => this.requireOwed(place));
    if (!shows) return world.hold(owing);
    diary.count("looks at what is shown");
    const looking = owing.then(() => this.#lookAtShown(place)).catch((thrown) => diary.fail(thrown));
    return world.hold(looking);
  }

  /** Looks at all rows of a server. Its files are not looked at: it keeps removed rows in them for a while. */
  async #lookAtRows(place: Place, database: string | undefined): Promise<void> {
    if (database === undefined || this.#of.central.store === undefined) return;
    const found = await serialsOnPostgres(database);
    this.#judge(place, "central", () => ({ found, whose: "central" }));
  }

  /**
   * Requires that the box or central has what was acknowledged, the box alone what has happened with its card, and central what was sent. To be called before
   * anything of it may go, too.
   */
  async requireOwed(place: Place): Promise<void> {
    const { diary, central, model, facts } = this.#of;
    const { home, disk } = place.home;
    if (central.store === undefined || !this.#isSettled(place)) return;
    const owed = owedOf(
      model,
      [...facts.values()].filter((fact) => fact.home === home),
    );
    for (const { happening } of owed) this.#asked.add(happening.serial);
    diary.counts["asked"] = this.#asked.size;
    const there = keptIn(disk.directory);
    const ofCard = owed.filter(({ happening }) => happening.at_ms > place.card_ms);
    try {
      requireAll(there, ofCard, { model, whose: `box ${home}` });
      const kept = await this.keptAtCentral();
      const sent = owed.filter((fact) => fact.sent);
      requireAll(kept, sent, { model, whose: "central, to which it was sent," });
      requireAll(new Map([...there, ...kept]), owed, { model, whose: `box ${home} together with central` });
    } catch (thrown) {
      diary.fail(thrown);
    }
  }

  /** Looks at a backup that has just been made. */
  atBackup(place: Place, side: Side, copy: Disk | undefined): void {
    const whose = `the backup of ${side === "box" ? `box ${place.home.home}` : "central"}`;
    if (copy !== undefined) this.#judge(place, side, () => ({ found: serialsIn(copy.directory), whose }));
  }

  /** Readings that central has. */
  keptAtCentral(): Promise<Kept> {
    const { database, world, central } = this.#of;
    if (database !== undefined) return world.hold(keptOnPostgres(database));
    return Promise.resolve(keptIn(central.disk.directory));
  }

  /** Readings in pages and a package of central, and in its mirror. */
  async shownAtCentral(): Promise<readonly Found[]> {
    const { store } = this.#of.central;
    if (store === undefined) return [];
    const shown = this.#shownOf(store, "central");
    return [await shown.readings(), await shown.mirror(join(this.#of.scratch, "mirror"))];
  }

  /** Readings, of those given, that a side shows: of homes that are not restricted. */
  shownOf(owed: readonly HappenedFact[], side: Side = "central"): HappenedFact[] {
    const { model, world } = this.#of;
    return owed.filter(({ home }) => model.open(home, side, "restricted", world.now_ms).length === 0);
  }

  /** Requires that a side shows what it has where that is owed. */
  #requireShown(found: Found, side: Side, { kept, whose }: { kept: Kept; whose: string }): void {
    const { model, facts } = this.#of;
    const owed = owedOf(
      model,
      [...facts.values()].filter(({ happening, unsure }) => kept.has(happening.serial) && !unsure),
    );
    requireAll(found, this.shownOf(owed, side), { model, whose });
  }

  async #lookAtShown(place: Place): Promise<void> {
    const { store, home } = place.home;
    if (store !== undefined) {
      const found = await this.#shownOf(store, "gateway").readings();
      this.#judge(place, "box", () => ({ found, whose: `box ${home}`, shown: true }));
      const kept = keptIn(place.home.disk.directory);
      if (this.#isSettled(place)) this.#requireShown(found, "box", { kept, whose: `what box ${home} shows` });
    }
    const kept = await this.keptAtCentral();
    const readings = [...kept.keys()].map((serial) => [serial, "its readings"] as const);
    this.#judge(place, "central", () => ({ found: readings, whose: "central" }));
    for (const found of await this.shownAtCentral()) {
      this.#judge(place, "central", () => ({ found, whose: "central", shown: true }));
      this.#requireShown(found, "central", { kept, whose: "what central shows" });
    }
  }

  /** One for each time that a server runs: it keeps pages as long. */
  #shownOf(store: Store, role: "gateway" | "central"): Shown {
    const known = this.#shown.get(store);
    if (known !== undefined) return known;
    const { central, log, scratch } = this.#of;
    const shown = new Shown({ store, clock: central.clock, log, role, scratch });
    this.#shown.set(store, shown);
    return shown;
  }

  /** At a box that learns the time, what has waited for it is stored or dropped first. */
  #isSettled(place: Place): boolean {
    const { home, known_ms } = place;
    return home.running && knowsTime(place) && this.#of.world.now_ms - known_ms > hour_ms;
  }

  /** Holds what was read at a side to the model. */
  #judge(
    place: Place,
    side: Side,
    read: () => { found: Iterable<readonly [number, string]>; whose: string; shown?: boolean },
  ): void {
    const { world, model, facts, diary } = this.#of;
    const { now_ms } = world;
    if (side === "box" && !this.#isSettled(place)) return;
    try {
      const { found, ...of } = read();
      requireNone(found, { model, facts, now_ms, side, ...of });
    } catch (thrown) {
      diary.fail(thrown);
    }
  }
}

interface LooksOptions {
  readonly world: World;
  readonly diary: Diary;
  readonly central: SimulatedCentral;
  readonly log: Log;
  /** The URL of central's database where that is PostgreSQL. */
  readonly database: string | undefined;
  readonly model: ConsentModel;
  readonly facts: ReadonlyMap<number, HappenedFact>;
  /** A directory of its own, for files that are thrown away, and central's mirror. */
  readonly scratch: string;
}
