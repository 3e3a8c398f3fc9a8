import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../../../../src/base/log.ts";
import { day_ms, hour_ms } from "../../../../../src/base/time.ts";
import { eraseAgain } from "../../../../../src/cli/restore/restoring.ts";
import { spanOf } from "../../../../../src/store/erasure.ts";
import { pausedSpanOf, takenOver } from "../../../../../src/store/pause.ts";
import { databasePath, openForReading } from "../../../../../src/store/sqlite/connection.ts";
import { beginEpochIn, newEpoch } from "../../../../../src/store/sqlite/role-and-epoch.ts";
import { withBlocksOf } from "../../../../../testbed/block-sizes.ts";
import { below, seeded } from "../../../../../testbed/sample.ts";
import { SimulatedCentral } from "../central.ts";
import { countsOf, Diary, type Lived } from "../diary.ts";
import type { Disks } from "../disk.ts";
import type { Happening } from "../happening.ts";
import { SimulatedHome } from "../home.ts";
import { Broken } from "../judge.ts";
import { World } from "../world.ts";
import { type HappenedFact, owedOf, requireAll } from "./judge.ts";
import { Looks } from "./looks.ts";
import { ConsentModel } from "./model.ts";
import { People } from "./people.ts";
import { knowsTime, type Place } from "./place.ts";
import type { ConsentDeed, ConsentPlan, ConsentStep } from "./plan.ts";
import { hear } from "./polling.ts";
import { keptIn, serialOf, serialsInText } from "./remains.ts";

/** Lives a plan, all of it in this thread and by its seed. @param trace called with each line of what happens */
export async function liveConsent(
  plan: ConsentPlan,
  disks: Disks,
  trace?: (line: string) => void,
): Promise<Lived> {
  using _sizes = withBlocksOf({ rows_max: 6, rows_kept: 2, block_max: 4 });
  const world = new World(plan.start_ms);
  const diary = new Diary(world, disks, trace);
  return await diary.of(new ConsentLife(plan, { world, disks, diary }));
}

class ConsentLife {
  readonly #plan: ConsentPlan;
  readonly #disks: Disks;
  readonly #diary: Diary;
  readonly #world: World;
  readonly #log: Log;
  readonly #central: SimulatedCentral;
  readonly #places: readonly Place[];
  readonly #model = new ConsentModel();
  readonly #facts = new Map<number, HappenedFact>();
  readonly #random: () => number;
  readonly #people: People;
  readonly #looks: Looks;

  constructor(plan: ConsentPlan, { world, disks, diary }: { world: World; disks: Disks; diary: Diary }) {
    this.#plan = plan;
    this.#disks = disks;
    this.#diary = diary;
    this.#world = world;
    this.#log = diary.log((line) => this.#noteLog(line));
    this.#random = seeded(plan.seed * 31 + 5);
    const bytes = seeded(plan.seed * 31 + 7);
    const random = (length: number) => Uint8Array.from({ length }, () => below(bytes, 256));
    const log = this.#log;
    const { database } = plan;
    const central = new SimulatedCentral({ world, log, disk: disks.make(), random, database });
    this.#central = central;
    this.#looks = new Looks({
      ...{ world, diary, central, log, database, model: this.#model, facts: this.#facts },
      scratch: mkdtempSync(join(disks.root, "shown-")),
    });
    const say = (line: string) => diary.say(line);
    this.#people = new People({ ...{ world, log, central, say }, model: this.#model, zone: plan.zone });
    this.#places = Array.from({ length: plan.homes }, (_, index) => {
      const of = { world, log, central, disk: disks.make(), keep_days: undefined };
      const home = new SimulatedHome({
        ...of,
        home: index + 1,
        random: seeded(plan.seed * 31 + 11 + index),
        onUploaded: () => undefined,
        listening_ms,
        serialOf: () => serialOf(this.#random),
      });
      const subjects = [home.home * 10 + 1, home.home * 10 + 2];
      const polls = index % 2 === plan.seed % 2;
      const none = {
        ...{ polls, handOver_ms: undefined },
        leapt: false,
        ...{ known_ms: 0, heard_ms: 0, card_ms: 0 },
        backup: undefined,
      };
      return { home, subjects, leave_s: [null, null], holder: subjects[0] as number, ...none };
    });
  }

  async run(): Promise<void> {
    const { steps, start_ms } = this.#plan;
    await this.#central.start();
    for (const place of this.#places) {
      const { home } = place;
      await this.#world.until(this.#central.token(home.home), hour_ms);
      await this.#people.import(place);
      home.boot(start_ms - 40 * day_ms);
      this.#world.after(20_000, () => this.#setClock(place));
    }
    await this.#world.pass(60_000);
    for (const step of steps) {
      await this.#world.pass(start_ms + step.at_ms - this.#world.now_ms);
      this.#diary.say(`step ${step.what} ${step.home}`);
      this.#diary.count(groups[step.what] ?? step.what);
      if (takes.has(step.what)) for (const place of this.#places) await this.#looks.requireOwed(place);
      await this.#do(step);
      await this.#world.pass(0);
      this.#diary.requireNoFailure();
    }
    await this.#settle();
  }

  lived(): Lived["counts"] {
    return countsOf(this.#places.map(({ home }) => home));
  }

  async end(): Promise<void> {
    for (const machine of [...this.#places.map(({ home }) => home), this.#central]) {
      machine.crash("kill", 0);
      await this.#world.pass(1);
      machine.disk.end();
    }
    for (const { backup } of this.#places) backup?.disk.end();
    this.#looks.end();
  }

  async #do({ what, home: number, seed }: ConsentStep): Promise<void> {
    const place = this.#places[number - 1] as Place;
    const { home } = place;
    const world = this.#world;
    const random = seeded(seed);
    switch (what) {
      case "visit":
        for (let left = 1 + below(random, 4); left > 0; left -= 1) {
          this.#sense(place, below(random, 3));
          await world.pass(below(random, 20 * 60_000));
        }
        return;
      case "pill":
        return this.#takePill(place);
      case "poll":
        return this.#poll(place);
      case "upload":
        return void this.#upload(place);
      case "look":
        return this.#looks.look(place, random() < shown_share);
      case "restart":
        return void home.restart();
      case "kill":
        home.crash("kill", 0);
        return void world.after(30_000, () => home.start());
      case "cut":
        return this.#cut(place, random);
      case "leap":
        return this.#leap(place, random);
      case "time":
        return this.#synchronise(place);
      case "networkFails":
        home.network = false;
        return void world.after(below(random, below(random, 20 * day_ms)), () => {
          home.network = true;
          this.#synchronise(place);
        });
      case "loseCard":
        return this.#loseCard(place);
      case "backup":
        return this.#backup(place);
      case "restoreBackup":
        return this.#restoreBackup(place, random() < 0.5);
      case "centralBackup":
        return this.#looks.atBackup(place, "central", this.#central.backup(this.#disks));
      case "centralRestored":
        return this.#restoreCentral();
      case "centralKill":
        this.#central.crash("kill", 0);
        return void world.after(1_000, () => void this.#central.start());
      default:
        return this.#ask(place, what, random);
    }
  }

  // What people ask for.

  /** Somebody asks for something while the home lives on: before it, after it, and around its end. */
  async #ask(place: Place, what: ConsentStep["what"], random: () => number): Promise<void> {
    this.#live(place);
    await this.#world.pass(2 * 60_000);
    // A pause that waits in the middle of a restart is asked of what runs.
    if (random() < 0.1) void place.home.restart();
    const ends_ms = (await this.#people.asked(place, what, random)) ?? [];
    const now_ms = this.#world.now_ms;
    for (const moment_ms of [now_ms, ...ends_ms])
      for (const by_ms of around_ms)
        if (moment_ms + by_ms > now_ms)
          this.#world.after(moment_ms + by_ms - now_ms, () => this.#live(place));
    const shows = what === "restrict" || random() < shown_share;
    for (const after_ms of [65 * 60_000, 130 * 60_000])
      this.#world.after(after_ms, () => void this.#looks.look(place, shows));
    if (place.polls) this.#world.after(20_000, () => void this.#hear(place));
    if (random() < 0.5) this.#world.after(90_000, () => void this.#upload(place));
  }

  // What devices and machines do.

  #live(place: Place): void {
    this.#sense(place, below(this.#random, 3));
    if (below(this.#random, 2) === 0) this.#takePill(place);
  }

  #sense(place: Place, sensor: number): void {
    this.#note(place, place.home.sense(sensor, sensor === 0));
    if (place.home.running && knowsTime(place)) place.heard_ms = this.#world.now_ms;
  }

  #takePill(place: Place): void {
    this.#note(place, place.home.takePill());
  }

  #poll(place: Place): void {
    const knows = knowsTime(place);
    if (place.home.running && knows) place.heard_ms = this.#world.now_ms;
    // What is read at an unknown time gets a time that is not sure.
    if (!knows)
      for (const { boxed, acknowledged, serial } of place.home.happened) {
        const fact = this.#facts.get(serial);
        if (boxed && !acknowledged && fact !== undefined) fact.unsure = true;
      }
    void place.home.pollBox();
  }

  #note({ home, ...place }: Place, happening: Happening): void {
    const unsure = !knowsTime({ home, ...place });
    this.#facts.set(happening.serial, { happening, home: home.home, unsure, sent: false });
  }

  #synchronise(place: Place): void {
    if (place.home.network) this.#setClock(place);
  }

  #setClock(place: Place): void {
    if (!knowsTime(place)) place.known_ms = this.#world.now_ms;
    place.leapt = false;
    place.home.machine.synchronise();
  }

  #leap(place: Place, random: () => number): void {
    if (!knowsTime(place)) return;
    place.leapt = true;
    place.home.machine.leap(Math.round((random() - 0.5) * 20 * hour_ms));
    // A time service that works sets it right before anybody believes it.
    this.#world.after(25 * 60_000, () => this.#setClock(place));
    for (const after_ms of [5, 10, 20, 40]) this.#world.after(after_ms * 60_000, () => this.#live(place));
  }

  /** The power fails, and comes back: the machine then does not know the time, and may not learn it. */
  #cut(place: Place, random: () => number): void {
    const { home } = place;
    if (!home.running) return;
    home.crash("cut", below(random, 2 ** 31));
    this.#world.after(below(random, 5 * hour_ms), () => {
      home.boot(this.#world.now_ms - below(random, 90 * day_ms));
      place.leapt = false;
      if (random() < 0.6) this.#world.after(20_000, () => this.#synchronise(place));
      for (const after_ms of [1, 30, 90]) this.#world.after(after_ms * 60_000, () => this.#live(place));
    });
  }

  async #upload(place: Place): Promise<void> {
    const { home } = place;
    if (!home.running || home.uploading !== undefined) return;
    const began_ms = this.#world.now_ms;
    const { done } = home.uploads;
    // What waits for the time is not sent.
    const sending = [...this.#facts.values()].filter(
      (fact) => fact.home === home.home && fact.happening.acknowledged && !fact.unsure,
    );
    this.#model.maySynchronise(home.home);
    await home.upload();
    if (home.uploads.done === done) return;
    this.#model.synchronised(home.home, began_ms, this.#world.now_ms);
    for (const fact of sending) fact.sent = true;
  }

  /** A box that polls is told within a quarter of an hour what was asked at central, where nothing is in the way. */
  async #hear(place: Place): Promise<void> {
    const { home } = place;
    const began_ms = this.#world.now_ms;
    const { store } = home;
    const { answer } = this.#central;
    if (store === undefined || answer === undefined || !home.network) return;
    const failures = this.#diary.counts["networkFails"];
    const isAwaited = this.#model.isOpen(home.home, began_ms);
    this.#model.maySynchronise(home.home);
    const isTold = await hear(home, {
      ...{ world: this.#world, log: this.#log, random: this.#random },
      for_ms: poll_ms_max,
    });
    if (isTold) this.#model.told(home.home, began_ms, this.#world.now_ms);
    if (isTold) this.#diary.count("told");
    const isUndisturbed =
      home.store === store &&
      this.#central.answer === answer &&
      this.#diary.counts["networkFails"] === failures;
    if (!isTold && isAwaited && isUndisturbed)
      this.#diary.fail(
        new Broken(`box ${home.home} was not told of pauses at central within a quarter of an hour`),
      );
  }

  #loseCard(place: Place): void {
    const { home } = place;
    if (!home.running || !home.network || home.uploading !== undefined || this.#central.store === undefined)
      return;
    // Central hands nothing of a restricted home to a spare box: nobody makes one before that is lifted.
    if (this.#model.open(home.home, "central", "restricted", this.#world.now_ms).length > 0) return;
    this.#diary.count("cards lost");
    const there = async () => {
      this.#model.boxWentBack(home.home, 0, true, this.#world.now_ms);
      place.card_ms = this.#world.now_ms;
      const kept = await this.#looks.keptAtCentral();
      return (serial: number) => kept.has(serial);
    };
    home.replaceCard(() => this.#disks.make(), there).catch((thrown) => this.#diary.fail(thrown));
  }

  #backup(place: Place): void {
    if (!place.home.running) return;
    const copy = this.#disks.make();
    const database = openForReading(databasePath(place.home.disk.directory));
    database.run("VACUUM INTO ?", [databasePath(copy.directory)]);
    database.close();
    place.backup?.disk.end();
    place.backup = { disk: copy, at_ms: this.#world.now_ms };
    this.#looks.atBackup(place, "box", copy);
  }

  /** A spare box goes on with an older backup of it, as `lintel restore` makes it. Where central is asked, it tells what nothing is kept of. */
  async #restoreBackup(place: Place, asks: boolean): Promise<void> {
    const { home, backup } = place;
    const { store } = this.#central;
    if (backup === undefined || !home.running || home.uploading !== undefined || store === undefined) return;
    this.#diary.count("backups restored");
    const asksCentral = asks && home.network;
    const card = this.#disks.make(backup.disk.directory);
    const clock = home.machine.clock({ alive: true });
    const ofHome = <Of extends { readonly home: number }>(all: readonly Of[]) =>
      asksCentral ? all.filter((one) => one.home === home.home) : [];
    const pauses = takenOver(ofHome(await store.pauses()).map(pausedSpanOf));
    const erasures = ofHome(await store.erasures()).map(spanOf);
    await eraseAgain(card.directory, { erasures, pauses }, { context: { clock }, log: this.#log });
    beginEpochIn(
      card.directory,
      newEpoch(() => Uint8Array.from({ length: 16 }, () => below(this.#random, 256))),
    );
    const [there, central] = [keptIn(card.directory), await this.#looks.keptAtCentral()];
    home.moveTo(card);
    place.card_ms = this.#world.now_ms;
    this.#setClock(place);
    this.#model.boxWentBack(home.home, backup.at_ms, asksCentral, this.#world.now_ms);
    for (const happening of home.happened)
      if (!there.has(happening.serial) && !central.has(happening.serial))
        happening.excused ??= "not in the backup";
  }

  async #restoreCentral(): Promise<void> {
    const isBusy = ({ home }: Place) => !home.running || home.uploading !== undefined;
    if (!this.#central.hasBackup || this.#places.some(isBusy)) return;
    this.#diary.count("central restored");
    await this.#central.restore(this.#disks);
    for (const fact of this.#facts.values()) fact.sent = false;
    const kept = await this.#looks.keptAtCentral();
    for (const { home } of this.#places) {
      if (!home.restored) continue;
      // What came to a spare card from central, or with a backup, is not sent again.
      for (const happening of home.happened)
        if (!kept.has(happening.serial)) happening.excused ??= "gone with central";
    }
    await this.#central.start();
    // The programme imports its records again.
    for (const place of this.#places) await this.#people.import(place);
  }

  async #settle(): Promise<void> {
    const world = this.#world;
    this.#diary.say("settling");
    await world.pass(6 * hour_ms);
    for (const place of this.#places) {
      place.home.network = true;
      this.#synchronise(place);
    }
    await world.pass(2 * hour_ms);
    // What happens from here on nobody uploads.
    const uploaded = [...this.#facts.values()];
    for (let round = 0; round < 2; round += 1)
      for (const place of this.#places) {
        const { home } = place;
        if (!home.running) throw new Broken(`home ${home.home} does not come up again`);
        await world.until(home.pollBox(), 60_000);
        await world.until(home.uploading ?? Promise.resolve(), 12 * hour_ms);
        await world.pass(2_000);
        const failed = home.uploads.failed.length;
        await world.until(this.#upload(place), 12 * hour_ms);
        if (home.uploads.failed.length > failed)
          throw new Broken(`at the end an upload of home ${home.home} fails: ${home.uploads.failed.at(-1)}`);
      }
    await world.pass(2 * hour_ms);
    for (const place of this.#places) await this.#looks.look(place, true);
    this.#diary.requireNoFailure();
    const owed = owedOf(this.#model, uploaded);
    this.#diary.counts["owed"] = owed.length;
    requireAll(await this.#looks.keptAtCentral(), owed, { model: this.#model, whose: "central" });
    for (const found of await this.#looks.shownAtCentral())
      requireAll(found, this.#looks.shownOf(owed), { model: this.#model, whose: "what central shows" });
  }

  /** No log has a reading, whatever time it is of. */
  #noteLog(line: string): void {
    const [serial] = serialsInText(line).filter((one) => this.#facts.has(one));
    if (serial !== undefined)
      this.#diary.fail(new Broken(`a line of the log has reading ${serial}: ${line}`));
    this.#diary.say(line);
  }
}

/** The home lives around each moment at which something changes: closer to it than an hour, and than half an hour. */
const around_ms = [-40, -20, -2, 2, 20, 40].map((minutes) => minutes * 60_000);

/** Rarely: coverage is made of each time between, and has no readings. */
const listening_ms = 6 * hour_ms;
const poll_ms_max = 15 * 60_000;
/** How often a look is also one at what is shown, which takes longer. */
const shown_share = 0.1;

/** Steps with which what was recorded may go, or is owed no more. */
const takes = new Set<ConsentDeed>(["erase", "restrict", "loseCard", "restoreBackup", "centralRestored"]);

/** Steps that are counted as one. */
const groups: Partial<Record<ConsentStep["what"], string>> = {
  ...{ pause: "boxPauses", pauseFor: "boxPauses", pauseKind: "boxPauses", press: "boxPauses" },
  ...{ withdraw: "withdrawals", withdrawDevices: "withdrawals" },
  ...{ enrollmentEnds: "ends", enrollmentOfOneEnds: "ends" },
};
