import type { Log } from "../../../../../src/base/log.ts";
import { day_ms, hour_ms } from "../../../../../src/base/time.ts";
import { boxClock } from "../../../../../src/cli/box-clock.ts";
import { HouseholdPause } from "../../../../../src/gateway/household-pause.ts";
import { importDocument } from "../../../../../src/import/file-import.ts";
import type { CentralStore } from "../../../../../src/store/central/central-store.ts";
import { beginPause, endPauses, isTimeKnown } from "../../../../../src/store/pause-requests.ts";
import { openStoreBeside } from "../../../../../src/store/sqlite/open-store.ts";
import type { Store } from "../../../../../src/store/store.ts";
import { below, item } from "../../../../../testbed/sample.ts";
import type { SimulatedCentral } from "../central.ts";
import type { World } from "../world.ts";
import type { ConsentModel, Side, Why } from "./model.ts";
import { knowsTime, type Place } from "./place.ts";
import type { ConsentStep } from "./plan.ts";

/** People of homes and of the programme: what they ask for they ask of the program, and the model is told. */
export class People {
  readonly #world: World;
  readonly #central: SimulatedCentral;
  readonly #model: ConsentModel;
  readonly #log: Log;
  readonly #zone: string;
  readonly #say: (line: string) => void;

  /** @param of.zone in which enrollments end at midnight */
  constructor(of: {
    world: World;
    central: SimulatedCentral;
    model: ConsentModel;
    log: Log;
    zone: string;
    say: (line: string) => void;
  }) {
    this.#world = of.world;
    this.#central = of.central;
    this.#model = of.model;
    this.#log = of.log;
    this.#zone = of.zone;
    this.#say = of.say;
  }

  /** Asks. Answers when else something changes because of it. */
  async asked(
    place: Place,
    what: ConsentStep["what"],
    random: () => number,
  ): Promise<readonly number[] | undefined> {
    const { home } = place;
    const of = home.home;
    const now_ms = this.#world.now_ms;
    const box = { clock: home.machine.clock({ alive: true }), directory: home.disk.directory };
    const { store } = this.#central;
    switch (what) {
      case "pause":
      case "pauseKind":
      case "pauseFor": {
        const kind = what === "pauseKind" ? "pillboxes" : undefined;
        const for_ms = what === "pauseFor" ? hour_ms * (1 + below(random, 30)) : undefined;
        const done = await this.#atBox(place, (beside) =>
          beginPause(beside, boxClock(box), { home: 0, for_ms, kind }),
        );
        if (done) this.#begun(place, "box", for_ms, kind);
        return done && for_ms !== undefined ? [now_ms + for_ms] : undefined;
      }
      case "press": {
        const { store: gateway, ingest } = home;
        // A gateway that ends hears no button.
        if (gateway === undefined || ingest === undefined) return undefined;
        const household = new HouseholdPause({
          ...{ store: gateway, clock: ingest.clock, log: this.#log },
          changed: () => {},
        });
        await this.#world.until(household.keep(), 1_000);
        household.stop();
        const wasPaused = household.isPaused;
        await this.#world.until(household.press(), 10_000);
        if (wasPaused) {
          // It may have been stopped besides, and then is paused all the same.
          if (isTimeKnown(ingest.clock)) this.#model.end(of, "box", ["pause"], now_ms);
          return undefined;
        }
        if (!household.isPaused) return undefined;
        this.#begun(place, "box", knowsTime(place) ? day_ms : undefined, undefined);
        return [now_ms + day_ms];
      }
      case "resume":
        if (await this.#atBox(place, (beside) => endPauses(beside, boxClock(box), { home: 0 })))
          this.#model.end(of, "box", ["pause"], now_ms);
        return undefined;
      default:
        return store === undefined ? undefined : this.#askedAtCentral(place, what, { store, random });
    }
  }

  async #askedAtCentral(
    place: Place,
    what: ConsentStep["what"],
    { store, random }: { store: CentralStore; random: () => number },
  ): Promise<readonly number[] | undefined> {
    const of = place.home.home;
    const now_ms = this.#world.now_ms;
    const clock = this.#central.clock;
    const done = async (work: Promise<unknown>) => {
      if (!(await this.#world.until(work, 60_000))) throw new Error(`central does not ${what}`);
      return work;
    };
    switch (what) {
      case "centralPause":
        await done(beginPause(store, clock, { home: of }));
        this.#begun(place, "central", undefined, undefined);
        return undefined;
      case "centralResume":
        await done(endPauses(store, clock, { home: of }));
        this.#model.end(of, "central", ["pause"], now_ms);
        return undefined;
      case "withdraw":
      case "withdrawDevices": {
        const time = { from_ms: now_ms, at_ms: now_ms };
        const devices = what === "withdrawDevices";
        const subject = devices ? this.#holderOf(place) : (place.subjects[below(random, 2)] as number);
        await done(store.withdraw({ subject, devices, ...time }));
        this.#withdrawn(place, subject, devices);
        return place.handOver_ms === undefined ? undefined : [place.handOver_ms];
      }
      case "again":
        if (place.leave_s.some((left) => left !== null)) await this.#prolong(place);
        await done(endPauses(store, clock, { home: of, again: true }));
        this.#model.end(of, "central", ["pause", "withdrawn"], now_ms);
        return undefined;
      case "restrict":
        await done(store.restrict(requestOf(of, now_ms)));
        this.#model.ask({ home: of, why: "restricted", side: "central", now_ms });
        return undefined;
      case "lift":
        await done(store.liftRestriction(requestOf(of, now_ms)));
        if (this.#model.open(of, "central", "restricted", now_ms).length === 0) return undefined;
        this.#model.end(of, "central", ["restricted"], now_ms);
        this.#model.ask({ home: of, why: "withdrawn", side: "central", now_ms });
        return undefined;
      case "erase":
        await done(
          store.erase({
            target: { home: of },
            id: below(random, 2 ** 31)
              .toString(16)
              .padStart(32, "0"),
            at_ms: now_ms,
          }),
        );
        this.#model.erase(of, now_ms);
        // The programme enrolls them anew.
        await this.import(place);
        return undefined;
      case "enrollmentEnds":
      case "enrollmentOfOneEnds":
        return this.#end(place, what === "enrollmentOfOneEnds", random);
      case "prolong":
        await this.#prolong(place);
        return undefined;
      case "handOver":
        return this.#handOver(place, random);
      default:
        throw new Error(`nobody can ask for ${what}`);
    }
  }

  #begun(place: Place, side: Side, for_ms: number | undefined, kind: "pillboxes" | undefined): void {
    const { home } = place;
    const now_ms = this.#world.now_ms;
    const until_ms = for_ms === undefined ? undefined : now_ms + for_ms;
    const devices = kind === undefined ? undefined : new Set([home.boxAddress]);
    // Those of the same devices that are known end with it, at the latest.
    const isOfThem = (ask: { readonly devices: unknown }) =>
      (ask.devices === undefined) === (devices === undefined);
    const known = this.#model.open(home.home, side, "pause", now_ms).filter(isOfThem);
    if (known.length > 0 && until_ms !== undefined)
      this.#model.end(home.home, side, ["pause"], now_ms, { at_ms: until_ms, isOfThem });
    const early_ms = side === "central" || knowsTime(place) ? now_ms : place.heard_ms + 1;
    this.#model.ask({ home: home.home, why: "pause", side, now_ms, early_ms, until_ms, devices });
  }

  #withdrawn(place: Place, subject: number, devices: boolean): void {
    const { home } = place;
    const now_ms = this.#world.now_ms;
    const lives = place.leave_s.map((left) => left === null || left * 1000 > now_ms);
    const whole = !devices && lives[place.subjects.indexOf(subject)] === true;
    const why: Why = "withdrawn";
    const ask = { home: home.home, why, side: "central", now_ms } as const;
    if (whole) this.#model.ask(ask);
    else if (subject === this.#holderOf(place)) {
      const until_ms =
        place.handOver_ms !== undefined && place.handOver_ms > now_ms ? place.handOver_ms : undefined;
      this.#model.ask({ ...ask, until_ms, devices: new Set([home.boxAddress]) });
    }
  }

  /** The enrollments of a home, or of who holds its pill box, end at a midnight there. */
  async #end(place: Place, one: boolean, random: () => number): Promise<readonly number[] | undefined> {
    const now_ms = this.#world.now_ms;
    if (place.leave_s.some((left) => left !== null) || place.handOver_ms !== undefined) return undefined;
    const today = Temporal.Instant.fromEpochMilliseconds(now_ms).toZonedDateTimeISO(this.#zone);
    const midnight = today.add({ days: 1 + below(random, 5) }).startOfDay();
    const ends_ms = midnight.epochMilliseconds;
    const leaves = place.subjects.map((subject) => !one || subject === place.holder);
    for (const [index, does] of leaves.entries()) place.leave_s[index] = does ? ends_ms / 1000 : null;
    await this.import(place);
    const devices = one ? new Set([place.home.boxAddress]) : undefined;
    this.#model.ask({
      ...{ home: place.home.home, why: "ended", side: "central", now_ms },
      from_ms: ends_ms,
      devices,
    });
    return [ends_ms];
  }

  async #prolong(place: Place): Promise<void> {
    if (place.leave_s.every((left) => left === null)) return;
    place.leave_s.fill(null);
    const now_ms = this.#world.now_ms;
    await this.import(place);
    this.#model.end(place.home.home, "central", ["ended"], now_ms);
  }

  /** The pill box goes into other hands on a later day. */
  async #handOver(place: Place, random: () => number): Promise<readonly number[] | undefined> {
    const now_ms = this.#world.now_ms;
    if (place.leave_s.some((left) => left !== null) || place.handOver_ms !== undefined) return undefined;
    place.handOver_ms = Math.ceil(now_ms / 1000) * 1000 + (1 + below(random, 4)) * day_ms;
    await this.import(place);
    return [place.handOver_ms];
  }

  #holderOf({ subjects, holder, handOver_ms }: Place): number {
    const other = subjects.find((subject) => subject !== holder) as number;
    return handOver_ms !== undefined && handOver_ms <= this.#world.now_ms ? other : holder;
  }

  /** Imports at central what is known of a home, as `lintel import` does. */
  async import(place: Place): Promise<void> {
    const { store } = this.#central;
    if (store === undefined) throw new Error("central does not run");
    const { home, subjects, leave_s, holder, handOver_ms } = place;
    const homeid = home.home;
    const other = subjects.find((subject) => subject !== holder) as number;
    const text = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace("T", " ");
    const box = item(homeid, {
      ...{ typename: "pillboxes", typeid: 1, subtypename: "polled", itemname: `box-${homeid}` },
      ...{ macaddress: home.boxAddress, currenthomeid: homeid },
    });
    const stop = handOver_ms === undefined ? null : text(handOver_ms);
    const held = [
      { subjectid: holder, itemid: homeid, start: null, stop },
      ...(stop === null ? [] : [{ subjectid: other, itemid: homeid, start: stop, stop: null }]),
    ];
    const document = {
      homes: [{ homeid }],
      items: [box],
      subjects: subjects.map((subjectid) => ({ subjectid })),
      projects: [{ projectid: 1 }],
      project_enrollments: subjects.map((subjectid, index) => {
        return { subjectid, projectid: 1, homeid, start: 1_700_000_000, stop: leave_s[index] ?? null };
      }),
      subject_inventory: held,
    };
    const work = (async () => {
      await importDocument({ name: "programme", text: JSON.stringify(document), store, dryRun: false });
      await store.followEnrollments(this.#central.now_ms);
    })();
    await this.#world.until(work, 60_000);
    await work;
  }

  /** Does what a command at the box does, where its time is known; answers whether it was done. */
  async #atBox(place: Place, work: (beside: Store) => Promise<unknown>): Promise<boolean> {
    const { home } = place;
    const clock = home.machine.clock({ alive: true });
    try {
      const beside = await openStoreBeside({ directory: home.disk.directory, clock, log: this.#log });
      try {
        await work(beside);
      } finally {
        await beside.close();
      }
      return true;
    } catch (thrown) {
      this.#say(`at the box: ${(thrown as Error).message}`);
      return false;
    }
  }
}

function requestOf(home: number, at_ms: number) {
  return { target: { home }, at_ms, who: "a coordinator", reason: "a letter" };
}
