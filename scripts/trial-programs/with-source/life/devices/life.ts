import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { day_ms, hour_ms } from "../../../../../src/base/time.ts";
import { withBlocksOf } from "../../../../../testbed/block-sizes.ts";
import { below, seeded } from "../../../../../testbed/sample.ts";
import { Diary, type Lived } from "../diary.ts";
import type { Disks } from "../disk.ts";
import { Broken } from "../judge.ts";
import { World } from "../world.ts";
import { type Look, wrongCoverageIn } from "./coverage-truth.ts";
import { FactBook, type Section, sectionNames } from "./fact-book.ts";
import { GatewayBox } from "./gateway.ts";
import { Household } from "./household.ts";
import { MemoryLine, openLinesOfMemory } from "./line.ts";
import type { Deed, DevicesPlan } from "./plan.ts";
import { takeOverTimers } from "./processes.ts";
import { coverageOf, readingsOf } from "./served.ts";
import { type Knowledge, wrongIn } from "./truth.ts";

let present: World | undefined;
let isWithoutDisk = () => false;

/** Lives a plan from the bytes of devices, all of it in this thread. @param trace called with each line of what happens */
export async function liveDevices(
  plan: DevicesPlan,
  disks: Disks,
  trace?: (line: string) => void,
): Promise<Lived> {
  await loadLibraries();
  using _sizes = withBlocksOf({ rows_max: 60, rows_kept: 20, block_max: 40 });
  const world = new World(plan.start_ms, still_turns);
  const diary = new Diary(world, disks, trace);
  return await diary.of(await DevicesLife.make(plan, { world, disks, diary }));
}

/** Loads the libraries of drivers before they open: that takes real time. */
async function loadLibraries(): Promise<void> {
  if (present !== undefined) return;
  await Promise.all([
    import("zigbee-herdsman"),
    import("serialport"),
    import("@stoprocent/noble/lib/resolve-bindings.js" as string),
  ]);
  takeOverTimers(() => present as World);
  openLinesOfMemory();
  // A program that lives on for a moment after its power failed finds no disk, and what it makes of that is nothing.
  process.on("uncaughtException", (thrown) => {
    if (!isWithoutDisk()) throw thrown;
  });
}

class DevicesLife {
  readonly #plan: DevicesPlan;
  readonly #world: World;
  readonly #box: GatewayBox;
  readonly #home: Household;
  readonly #lines: Readonly<Record<Section, MemoryLine>>;
  readonly #book: FactBook;
  readonly #known: Knowledge[];
  readonly #looks: Look[] = [];
  readonly #diary: Diary;
  #boots = 0;
  #settling = false;
  #over = false;

  private constructor(of: {
    plan: DevicesPlan;
    world: World;
    box: GatewayBox;
    home: Household;
    book: FactBook;
    known: Knowledge[];
    lines: Readonly<Record<Section, MemoryLine>>;
    diary: Diary;
  }) {
    this.#plan = of.plan;
    this.#world = of.world;
    this.#box = of.box;
    this.#home = of.home;
    this.#book = of.book;
    this.#known = of.known;
    this.#lines = of.lines;
    this.#diary = of.diary;
  }

  static async make(
    plan: DevicesPlan,
    { world, disks, diary }: { world: World; disks: Disks; diary: Diary },
  ): Promise<DevicesLife> {
    present = world;
    const log = diary.log();
    const directory = join(disks.root, "lines");
    mkdirSync(directory, { recursive: true });
    const lines = Object.fromEntries(
      sectionNames.map((name) => [name, new MemoryLine(world, join(directory, name))]),
    ) as Record<Section, MemoryLine>;
    const sections = Household.sections(lines);
    const [random, ofBox] = [seeded(plan.seed * 31 + 5), seeded(plan.seed * 31 + 6)];
    const of = { world, log, disk: disks.make(), random: ofBox, sections, lines: Object.values(lines) };
    const box = new GatewayBox(of);
    isWithoutDisk = () => box.disk.ended;
    const book = new FactBook(world, (section) => box.listens(section));
    const known: Knowledge[] = [];
    const knowsTime = () => known.at(-1)?.clock !== "unknown";
    const home = await Household.make({ world, seed: plan.seed, random, lines, book, knowsTime });
    return new DevicesLife({ plan, world, box, home, book, known, lines, diary });
  }

  /** Lives it. @throws Broken with all that is wrong at its end */
  async run(): Promise<void> {
    const { steps, start_ms, days } = this.#plan;
    const world = this.#world;
    this.#boot(start_ms);
    this.#synchronise();
    await world.pass(60_000);
    await this.#letIn();
    this.#repeat(50_000, () => {
      this.#looks.push({
        at_ms: world.now_ms,
        process: this.#box.starts,
        listens: this.#box.listens("zigbee"),
      });
      this.#home.hum();
    });
    this.#repeat(2 * hour_ms, () => this.#home.heartbeats());
    this.#repeat(600_000, () => !this.#settling && this.#home.watchBlock());
    for (const step of steps) {
      await world.pass(start_ms + settling_ms + step.at_ms - world.now_ms);
      this.#diary.say(`step ${step.what}`);
      this.#diary.count(step.what);
      await this.#do(step);
    }
    await world.pass(start_ms + settling_ms + days * day_ms - world.now_ms);
    await this.#settle();
    const wrong = await this.#wrong();
    if (wrong.length > 0) throw new Broken(`${wrong.length} wrong: ${wrong.slice(0, told_max).join("\n")}`);
  }

  async #wrong(): Promise<string[]> {
    const { parts } = this.#box;
    if (parts === undefined) return ["the gateway does not come up again"];
    const found = await readingsOf(parts.store);
    this.#diary.counts["readings"] = found.length;
    this.#diary.counts["facts"] = this.#book.facts.length;
    this.#diary.counts["owed"] = this.#book.facts.filter(({ owed }) => owed).length;
    const status = parts.ingest.status();
    if (status.queued !== 0) return [`${status.queued} readings are not written: ${status.problem}`];
    const wrong = wrongIn(this.#book.facts, found, this.#known);
    const seen = { looks: this.#looks, known: this.#known };
    for (const [address, heard_ms] of this.#book.signs)
      wrong.push(...wrongCoverageIn(address, await coverageOf(parts.store, address), heard_ms, seen));
    return wrong;
  }

  async end(): Promise<void> {
    this.#over = true;
    this.#box.crash("kill", 0);
    await this.#world.pass(1);
    this.#box.disk.end();
  }

  async #letIn(): Promise<void> {
    const joining = this.#box.parts?.joining.open(200, () => undefined);
    if (joining === undefined) throw new Error("the gateway does not start");
    await this.#world.until(joining, 30_000);
    this.#home.join();
    await this.#world.pass(settling_ms - 90_000);
  }

  async #do({ what, seed }: Deed): Promise<void> {
    const random = seeded(seed);
    const home = this.#home;
    const world = this.#world;
    const deeds: Readonly<Record<Deed["what"], () => unknown>> = {
      sense: () => home.sense(random),
      measure: () => home.measure(random),
      airMeasure: () => home.airMeasure(random),
      pill: () => home.takePill(random),
      weigh: () => home.weigh(random),
      kill: () => this.#crash("kill", random, seed),
      cut: () => this.#crash("cut", random, seed),
      restart: () => this.#restart(),
      leap: () => this.#leap(random),
      unplug: () => this.#unplug(random),
      slow: () => {
        this.#box.disk.slow_ms = 50 + below(random, 700);
        world.after(random() * 2 * hour_ms, () => {
          this.#box.disk.slow_ms = 0;
        });
      },
    };
    await deeds[what]();
  }

  #boot(shows_ms: number): void {
    this.#boots += 1;
    this.#know("unknown");
    this.#box.boot(shows_ms);
  }

  #synchronise(): void {
    this.#box.machine.synchronise();
    this.#know("right");
  }

  #know(clock: Knowledge["clock"]): void {
    this.#known.push({ from_ms: this.#world.now_ms, boot: this.#boots, clock });
  }

  /** Kills the process, or cuts the power, often in the middle of what a device tells. */
  async #crash(kind: "kill" | "cut", random: () => number, seed: number): Promise<void> {
    if (!this.#box.running) return;
    const { disk } = this.#box;
    // From here on the disk may take nothing any more.
    const from_ms = this.#world.now_ms;
    if (random() < 0.7) {
      this.#home.sense(random);
      this.#home.takePill(random);
      disk.endAfter(below(random, 150));
      await this.#world.pass(below(random, 5_000));
    }
    this.#home.forgotten();
    this.#book.crashed(from_ms - loss_ms - disk.slow_ms * 4);
    this.#box.crash(kind, seed);
    await this.#world.pass(kind === "kill" ? 1_000 : below(random, 3 * hour_ms));
    if (kind === "kill") return this.#box.start();
    this.#boot(this.#world.now_ms - below(random, 90 * day_ms));
    if (random() < 0.8) this.#world.after(20_000 + below(random, hour_ms), () => this.#synchronise());
  }

  async #restart(): Promise<void> {
    const done = this.#box.restart();
    this.#home.forgotten();
    await this.#world.until(done, 60_000);
  }

  /** The clock leaps, and is set right again before a gateway believes it. */
  #leap(random: () => number): void {
    if (this.#known.at(-1)?.clock !== "right") return;
    const boot = this.#boots;
    this.#box.machine.leap(Math.round((random() - 0.5) * 20 * hour_ms));
    this.#know("leapt");
    this.#world.after(random() * 30 * 60_000, () => {
      if (boot === this.#boots) this.#synchronise();
    });
  }

  async #unplug(random: () => number): Promise<void> {
    const name = sectionNames[below(random, sectionNames.length)] ?? "zigbee";
    const of = { zigbee: this.#home.stick, ble: this.#home.controller }[name as string] ?? this.#lines[name];
    await of.unplug();
    this.#world.after(random() * 2 * hour_ms, () => void of.replug());
  }

  /** All faults are over: what devices keep is read. */
  async #settle(): Promise<void> {
    this.#diary.say("settling");
    this.#settling = true;
    const { disk } = this.#box;
    disk.endAfter(-1);
    disk.slow_ms = 0;
    await this.#world.pass(2 * hour_ms);
    this.#synchronise();
    await this.#world.pass(settle_ms);
  }

  #repeat(every_ms: number, action: () => void): void {
    this.#world.after(every_ms, () => {
      if (this.#over) return;
      action();
      this.#repeat(every_ms, action);
    });
  }
}

/** Bytes go through several streams, and each takes turns of the event loop. */
const still_turns = 10;
const settling_ms = 600_000;
/** Longer than the window of the box on battery, and than a watch is left alone. */
const settle_ms = 5 * hour_ms;
/** Time before a crash of which nothing need be on disk that was heard: several times what a commit takes. */
const loss_ms = 2_000;
const told_max = 12;
