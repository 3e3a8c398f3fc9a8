import { day_ms, hour_ms } from "../../../../src/base/time.ts";
import { importDocument } from "../../../../src/import/file-import.ts";
import { withBlocksOf } from "../../../../testbed/block-sizes.ts";
import { below, item, seeded } from "../../../../testbed/sample.ts";
import { SimulatedCentral } from "./central.ts";
import { countsOf, Diary, type Lived } from "./diary.ts";
import type { Disks } from "./disk.ts";
import { SimulatedHome, serials_of_home, shared_from } from "./home.ts";
import { Broken, Judge } from "./judge.ts";
import type { Plan, Step, What } from "./plan.ts";
import { World } from "./world.ts";

/** Lives a plan: all of it in this thread and by its seed. @param trace called with each line of what happens */
export async function live(plan: Plan, disks: Disks, trace?: (line: string) => void): Promise<Lived> {
  // So few that what a home hears in days makes many blocks.
  using _sizes = withBlocksOf({ rows_max: 12, rows_kept: 4, block_max: [8, 40][plan.seed % 2] ?? 8 });
  const world = new World(plan.start_ms);
  const diary = new Diary(world, disks, trace);
  return await diary.of(new Life(plan, { world, disks, diary }));
}

class Life {
  readonly #plan: Plan;
  readonly #disks: Disks;
  readonly #diary: Diary;
  readonly #world: World;
  readonly #central: SimulatedCentral;
  readonly #homes: SimulatedHome[];
  readonly #judge: Judge;
  /** How and where from each disk ends that is to end at an operation. */
  readonly #ends = new Map<
    SimulatedHome | SimulatedCentral,
    { kind: "kill" | "cut"; seed: number; off_ms: number }
  >();

  constructor(plan: Plan, { world, disks, diary }: { world: World; disks: Disks; diary: Diary }) {
    this.#plan = plan;
    this.#disks = disks;
    this.#diary = diary;
    this.#world = world;
    const log = diary.log();
    const bytes = (length: number, random: () => number) =>
      Uint8Array.from({ length }, () => below(random, 256));
    const forCentral = seeded(plan.seed * 31 + 7);
    const central = new SimulatedCentral({
      world,
      log,
      disk: disks.make(),
      random: (length) => bytes(length, forCentral),
    });
    this.#central = central;
    this.#homes = Array.from(
      { length: plan.homes },
      (_, index) =>
        new SimulatedHome({
          world,
          log,
          central,
          home: index + 1,
          disk: disks.make(),
          random: seeded(plan.seed * 31 + 11 + index),
          keep_days: plan.keep_days,
          onUploaded: () => undefined,
        }),
    );
    this.#judge = new Judge(this.#homes, central);
    world.onRest = () => this.#look();
  }

  async run(): Promise<void> {
    const { steps, start_ms } = this.#plan;
    await this.#restartCentral();
    for (const home of this.#homes) {
      await this.#world.until(this.#central.token(home.home), hour_ms);
      home.boot(start_ms - 40 * day_ms);
      this.#world.after(20_000, () => home.machine.synchronise());
    }
    let steps_done = 0;
    for (const step of steps) {
      await this.#world.pass(start_ms + step.at_ms - this.#world.now_ms);
      this.#diary.say(`step ${step.what} ${step.home}`);
      this.#diary.count(step.what);
      await this.#do(step);
      await this.#world.pass(0);
      this.#diary.requireNoFailure();
      steps_done += 1;
      if (steps_done % steps_per_look === 0 || looking.has(step.what))
        this.#judge.home(this.#homes[step.home - 1] as SimulatedHome);
    }
    await this.#settle();
    this.#judge.atTheEnd();
    for (const { home } of this.#homes) await this.#requireOwnHistory(home);
  }

  /** A spare box of a home would get what is its own. */
  async #requireOwnHistory(home: number): Promise<void> {
    const request = { home, from_ms: 0, readings_max: 100_000 };
    const { batch } = (await this.#central.store?.history(request)) ?? {};
    for (const { values } of Object.values(batch?.series ?? {}))
      for (const event of values[0] ?? [])
        if (Math.floor(Number(event) / serials_of_home) !== home)
          throw new Broken(`the history of home ${home} has reading ${event} of another`);
  }

  lived(): Lived["counts"] {
    return countsOf(this.#homes);
  }

  async end(): Promise<void> {
    this.#judge.leaveAll();
    this.#world.onRest = () => undefined;
    for (const machine of [...this.#homes, this.#central]) {
      machine.crash("kill", 0);
      await this.#world.pass(1);
      machine.disk.end();
    }
  }

  async #do({ what, home: number, seed }: Step): Promise<void> {
    const home = this.#homes[number - 1] as SimulatedHome;
    const world = this.#world;
    const random = seeded(seed);
    if (what === "visit") return this.#visit(home, random);
    if (what === "burst") {
      for (let left = 100 + below(random, 1_400); left > 0; left -= 1) home.sense(4);
      return;
    }
    if (what === "pill") return void home.takePill();
    if (what === "poll") return void home.pollBox();
    if (what === "time") return home.network ? home.machine.synchronise() : undefined;
    if (what === "loseCard") return this.#loseCard(home, random);
    if (what === "erase") return this.#erase(home, seed);
    if (what === "name") return home.name(below(random, 4), `room ${below(random, 3)}`);
    if (what === "centralBackup") return void this.#central.backup(this.#disks);
    if (what === "centralRestored") {
      // Often something was erased since the backup.
      if (random() < 0.5) await this.#erase(home, seed);
      await world.pass(60_000);
      return this.#restoreCentral();
    }
    if (what === "restart") return void home.restart();
    if (what === "move") return this.#move(number);
    if (what === "kill" || what === "cut") {
      if (!home.running) return;
      const off_ms = what === "kill" ? 1_000 : below(random, 3 * hour_ms);
      this.#ends.set(home, { kind: what, seed, off_ms });
      // Often in the middle of a commit, which is made for it.
      if (home.running && random() < 0.8) home.sense(below(random, 4));
      home.disk.endAfter(below(random, random() < 0.5 ? 12 : 150));
      return;
    }
    if (what === "clock") return home.machine.leap(Math.round((random() - 0.5) * 20 * hour_ms));
    if (what === "networkFails") {
      home.network = false;
      return void world.after(random() * random() * 48 * hour_ms, () => {
        home.network = true;
      });
    }
    if (what === "troubled") {
      home.troubled = random() * 0.6;
      return void world.after(random() * 12 * hour_ms, () => {
        home.troubled = 0;
      });
    }
    if (what === "slow") return this.#slow(home, random);
    if (what === "centralSlow") return this.#slow(this.#central, random);
    if (what === "full") {
      home.disk.limit(below(random, random() < 0.5 ? 3_000 : 30_000));
      this.#newDevices(home, random);
      return void world.after(random() * 5 * hour_ms, () => home.disk.limit());
    }
    if (what === "failingSync") {
      home.disk.failSyncs(1 + below(random, 3));
      return this.#newDevices(home, random);
    }
    if (what === "upload" || what === "extraUpload") {
      void home.upload(random() < 0.1);
      // The home lives on meanwhile.
      for (let each = 0; each < 8; each += 1)
        this.#world.after(random() * random() * 90_000, () => home.sense(below(random, 4)));
      return;
    }
    if (what === "killUploader") {
      void home.upload();
      await world.pass(below(random, 2_000));
      home.killUploader();
      // Its timer starts the next one, and what this one has sent may still be on the way.
      home.sense(below(random, 4));
      return void home.upload();
    }
    this.#ends.set(this.#central, {
      kind: what === "centralKill" ? "kill" : "cut",
      seed,
      off_ms: below(random, hour_ms),
    });
    this.#central.disk.endAfter(below(random, random() < 0.5 ? 12 : 150));
    if (random() < 0.7) void home.upload();
  }

  async #visit(home: SimulatedHome, random: () => number): Promise<void> {
    const readings = 1 + below(random, 6);
    for (let each = 0; each < readings; each += 1) {
      // Now and then it is a device that was never heard before.
      const place = random() < 0.05 ? 10 + below(random, 60) : below(random, 4);
      home.sense(random() < 0.1 ? shared_from : place);
      await this.#world.pass(random() < 0.3 ? 0 : below(random, 400));
    }
  }

  /** Devices that were never heard before, one of which comes again. */
  #newDevices(home: SimulatedHome, random: () => number): void {
    const place = 10 + below(random, 60);
    for (const after_ms of [0, 300, 5_000, 60_000])
      this.#world.after(after_ms, () => home.sense(after_ms === 300 ? place + 1 : place));
  }

  async #loseCard(home: SimulatedHome, random: () => number): Promise<void> {
    if (!home.running || !home.network) return;
    // Often while it uploads what was read of the box.
    home.takePill();
    void home.pollBox();
    await this.#world.pass(1_000);
    if (random() < 0.7) void home.upload();
    await this.#world.pass(below(random, 2_000));
    if (!home.running) return;
    this.#diary.count("cards lost");
    this.#judge.leave(home.disk.directory);
    const atCentral = async () => {
      this.#judge.central();
      this.#judge.cardLost(home);
      return (serial: number) => this.#judge.atCentral(serial);
    };
    home.replaceCard(() => this.#disks.make(), atCentral).catch((thrown) => this.#diary.fail(thrown));
    // Often the power fails while the spare one is made, or soon after.
    if (random() < 0.3) return;
    this.#ends.set(home, { kind: "cut", seed: below(random, 2 ** 31), off_ms: 1_000 });
    home.disk.endAfter(below(random, restore_operations));
  }

  /** Erases at central what a home has sent. */
  async #erase(home: SimulatedHome, seed: number): Promise<void> {
    const id = seed.toString(16).padStart(32, "0");
    // The gateway hears of it, and of an event of that time only after it.
    home.takePill();
    await this.#world.pass(1_000);
    this.#world.after(5_000, () => void home.upload());
    this.#world.after(600_000, () => void home.pollBox());
    const at_ms = this.#central.now_ms;
    this.#central.store?.erase({ target: { home: home.home }, id, at_ms }).then(
      (plan) => plan !== undefined && this.#judge.erased(home.home, at_ms),
      (thrown) => this.#diary.say(`erase: ${thrown}`),
    );
  }

  /** Another machine becomes central, by the last backup of it. */
  async #restoreCentral(): Promise<void> {
    if (!this.#central.hasBackup || !this.#homes.every(({ running }) => running)) return;
    this.#judge.leave(this.#central.disk.directory);
    await this.#central.restore(this.#disks);
    this.#diary.count("central restored");
    this.#judge.centralWentBack();
    await this.#restartCentral();
  }

  /** The inventory says that a device, which any home may hear, lives in this home now. */
  #move(home: number): void {
    const { store } = this.#central;
    if (store === undefined) return;
    const now_s = Math.floor(this.#world.now_ms / 1_000);
    const moved = item(shared_from, { currenthomeid: home, currenthomestart: now_s });
    const stays = [{ homeid: home, item: moved, start: now_s, stop: null }];
    const text = JSON.stringify({ homes: [{ homeid: home }], items: [moved], home_inventory: stays });
    importDocument({ name: "inventory", text, store, dryRun: false }).catch((thrown) =>
      this.#diary.say(`move: ${thrown}`),
    );
  }

  #slow(of: SimulatedHome | SimulatedCentral, random: () => number): void {
    of.disk.slow_ms = 50 + below(random, 1_500);
    this.#world.after(random() * 4 * hour_ms, () => {
      of.disk.slow_ms = 0;
    });
  }

  /** Crashes the machines whose disks have ended, and starts them again later. */
  #look(): void {
    for (const machine of [...this.#homes, this.#central]) {
      if (!machine.disk.ended) continue;
      const { kind, seed, off_ms } = this.#ends.get(machine) ?? { kind: "cut", seed: 1, off_ms: 1_000 };
      this.#diary.count(`${kind}s`);
      this.#diary.say(`${kind} ${machine instanceof SimulatedHome ? machine.home : "central"}`);
      this.#judge.leave(machine.disk.directory);
      machine.crash(kind, seed);
      this.#world.after(off_ms, () => this.#startAgain(machine, kind, seed));
    }
  }

  #startAgain(machine: SimulatedHome | SimulatedCentral, kind: "kill" | "cut", seed: number): void {
    if (!(machine instanceof SimulatedHome)) {
      void this.#restartCentral();
      return;
    }
    if (kind === "kill") {
      void machine.start();
      return;
    }
    const random = seeded(seed + 1);
    machine.boot(this.#world.now_ms - below(random, 90 * day_ms));
    const synchronise = () => machine.network && machine.machine.synchronise();
    const draw = random();
    if (draw < 0.6) this.#world.after(20_000, synchronise);
    else if (draw < 0.8)
      // Somebody starts the gateway again because it does not know the time, which comes just then.
      this.#world.after(300_000, () => {
        machine.sense(0);
        this.#world.after(5_000, () => void machine.restart());
        this.#world.after(10_000, synchronise);
      });
  }

  async #restartCentral(): Promise<void> {
    if (!(await this.#central.start())) {
      this.#world.after(30_000, () => void this.#restartCentral());
      return;
    }
    // What it said before it crashed must be there.
    try {
      this.#judge.central();
    } catch (thrown) {
      this.#diary.fail(thrown);
    }
  }

  /** All faults are over: everything is started, numbered, read and uploaded. */
  async #settle(): Promise<void> {
    const world = this.#world;
    this.#diary.say("settling");
    for (const machine of [...this.#homes, this.#central]) {
      machine.disk.endAfter(-1);
      machine.disk.limit();
      machine.disk.failSyncs(0);
      machine.disk.slow_ms = 0;
    }
    await world.pass(4 * hour_ms);
    for (const home of this.#homes) {
      home.network = true;
      home.troubled = 0;
      home.machine.synchronise();
    }
    await world.pass(2 * hour_ms);
    for (let round = 0; round < 2; round += 1)
      for (const home of this.#homes) {
        if (!home.running) throw new Broken(`home ${home.home} does not come up again`);
        await world.until(home.pollBox(), 60_000);
        await world.pass(2_000);
        await world.until(home.uploading ?? Promise.resolve(), 12 * hour_ms);
        const failed = home.uploads.failed.length;
        if (!(await world.until(home.upload(round === 0), 12 * hour_ms)))
          throw new Broken(`an upload of home ${home.home} does not end`);
        if (home.uploads.failed.length > failed)
          throw new Broken(`at the end an upload of home ${home.home} fails: ${home.uploads.failed.at(-1)}`);
      }
  }
}

/** Operations on the disk of a restore and of the start after it, about. */
const restore_operations = 600;
/** Rows of a home are read after so many steps, and after those that are likely to harm them. */
const steps_per_look = 8;
const looking: ReadonlySet<What> = new Set([
  "kill",
  "cut",
  "full",
  "failingSync",
  "upload",
  "erase",
  "loseCard",
]);
