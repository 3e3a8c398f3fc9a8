import { faults, lateFaults } from "../../../testbed/updates/release-faults.ts";
import { until } from "../boot/box.ts";
import { expect, step } from "../boot/trial.ts";
import { type Attack, attacks } from "./attacks.ts";
import type { ReleaseMaker } from "./releases.ts";
import { home, type Part, trial_s, type UpdatedBox } from "./updated-box.ts";
import type { World } from "./world.ts";

/** A kind of release, and the reason for which a box refuses it; none: it keeps it. */
interface Kind {
  readonly name: string;
  readonly reason?: string;
  /** In the message of the refusal. */
  readonly because?: RegExp;
  readonly fault?: string;
  readonly foreign?: true;
  readonly cut?: true;
  /** Done to the folder that is served. */
  readonly attack?: Attack;
  readonly older?: true;
  readonly full?: "before" | "during";
  /** Boxes of so many other homes went back from it: a third one stops it for all. */
  readonly wentBack?: number;
  /** The package of a newer version is installed by hand in the trial. */
  readonly installed?: true;
  /** A part that the first cut is to come in. */
  readonly aim?: Part;
  /** How long it is tried, where all of the trial is waited for. */
  readonly trial_s?: number;
  /** It is watched for days after that. */
  readonly watched?: true;
}

const {
  "changes what was recorded": spoils,
  "answers in riddles": riddles,
  "has an upload that does nothing": lies,
  deaf,
  ...others
} = faults;
/** docs/updates.md, "A ring stops by itself". */
const stopping_boxes = 3;
const spoiled: Kind = { name: "changes what was recorded", fault: spoils, reason: "went_back" };
/** Releases whose faults show only in the days after their trial. */
const late: readonly Kind[] = Object.entries({
  "crashes again and again": /had to be started again|does not answer/,
  leaks: /its memory grows/,
  "fills the disk slowly": /its data grow/,
  "falls deaf to a make": /nothing was heard of/,
  "stops uploading": /central holds its readings up to/,
} satisfies Record<keyof typeof lateFaults, RegExp>).map(([name, because]) => {
  const fault = lateFaults[name as keyof typeof lateFaults];
  return { name, fault, reason: "went_back", because, watched: true, aim: "watching" };
});
const kinds: readonly Kind[] = [
  ...Object.entries(others).map(([name, fault]) => ({ name, fault, reason: "went_back" })),
  ...Object.entries({ deaf, "answers in riddles": riddles, "has an upload that does nothing": lies }).map(
    ([name, fault]): Kind => ({ name, fault, reason: "went_back", trial_s: 12 }),
  ),
  ...late,
  { ...spoiled, aim: "switching" },
  { ...spoiled, aim: "putting back" },
  { ...spoiled, aim: "clearing up" },
  { name: "signed by another key", foreign: true, reason: "signature" },
  { name: "with other bytes", cut: true, reason: "damaged" },
  { name: "an older one", older: true, reason: "older" },
  { name: "too large for the disk", full: "before", reason: "disk" },
  { name: "good, and the disk fills up", full: "during" },
  { name: "good, and two boxes went back from it", wentBack: 2 },
  { name: "stopped, as three boxes went back from it", wentBack: stopping_boxes },
  { name: "deaf, and a package is installed", fault: deaf, installed: true },
];
/** Lists that somebody else than the programme has had a hand in. */
const hostile: readonly Kind[] = [
  ...Object.entries(attacks).map(([name, reason]): Kind => {
    return { name: `a folder with another hand in it: ${name}`, attack: name as Attack, reason };
  }),
  ...kinds.filter(({ foreign, cut, older }) => foreign || cut || older),
];
const good: Kind = { name: "good" };
const goodOnes: readonly Kind[] = kinds.map((_, place) => {
  const aim = (["watching", "unpacking", "copying", "switching", "proving", undefined] as const)[place % 6];
  return aim === undefined ? good : { ...good, aim, ...(aim === "watching" && { watched: true }) };
});

/** A release that is ready to be published. */
interface Made {
  readonly kind: Kind;
  readonly version: string;
  readonly file: string;
  /** Of a package to install. */
  readonly whole?: { readonly file: string; readonly version: string };
}

/** As many updates as one likes, each with a release of some kind and power cuts at some instants. */
export class Rounds {
  readonly #updated: UpdatedBox;
  readonly #world: World;
  readonly #maker: ReleaseMaker;
  readonly #random: () => number;
  readonly #isHostile: boolean;
  readonly #bad: readonly Kind[];
  readonly #counts = new Map<string, number>();
  #deck: Kind[] = [];
  #dealt = 0;
  #confirmed = "0.1.0";
  #next: Promise<Made> | undefined;

  constructor(options: {
    updated: UpdatedBox;
    world: World;
    maker: ReleaseMaker;
    random: () => number;
    hostile: boolean;
    late: boolean;
  }) {
    this.#isHostile = options.hostile;
    this.#bad = options.hostile ? hostile : options.late ? late : kinds;
    this.#updated = options.updated;
    this.#world = options.world;
    this.#maker = options.maker;
    this.#random = options.random;
  }

  async round(number: number): Promise<void> {
    const made = await (this.#next ?? this.#make(number));
    const { kind, version } = made;
    const cuts = Math.floor(this.#random() * (cuts_max + 1));
    await step(`${number}. ${kind.name}`, async () => {
      const called = await this.#maker.publish(this.#world.releases, made.file, kind);
      const release = this.#maker.published;
      for (let other = 1; other <= (kind.wentBack ?? 0); other += 1)
        if (release !== undefined) this.#world.reportBack(home + other, release);
      const next = this.#make(number + 1);
      this.#next = next;
      const began_ms = Date.now();
      let done: string;
      try {
        done = await this.#update(made, kind.aim === undefined ? cuts : Math.max(1, cuts));
        await this.#check(
          called === undefined ? made : { ...made, kind: { ...kind, reason: called } },
          began_ms,
        );
      } catch (thrown) {
        throw new Error(`update ${number}, ${version}, ${kind.name}: ${thrown}`);
      } finally {
        await next.catch(() => undefined);
      }
      this.#count(isStopped(kind) ? "stopped" : isKept(kind) ? "kept" : "refused");
      return [done, `${this.#confirmed} runs`].filter((text) => text !== "").join("; ");
    });
  }

  /** The release of a round: made while the one before is tried. */
  async #make(number: number): Promise<Made> {
    const kind = this.#deal();
    const version = kind.older ? "0.0.1" : `0.${number + 1}.0`;
    const file = await this.#maker.make({ version, ...kind });
    if (!kind.installed) return { kind, version, file };
    const installed = `0.${number + 1}.1`;
    return { kind, version, file, whole: { version: installed, file: await this.#maker.whole(installed) } };
  }

  /** The next kind, of a shuffled deck: each comes once in it, and as many good ones as bad ones. */
  #deal(): Kind {
    // A list can be old only where two were read before it.
    if (this.#isHostile && this.#dealt++ < 2) return good;
    if (this.#deck.length === 0)
      this.#deck = [...this.#bad, ...goodOnes.slice(0, this.#bad.length)]
        .map((kind) => ({ kind, place: this.#random() }))
        .toSorted((one, other) => one.place - other.place)
        .map(({ kind }) => kind);
    return this.#deck.pop() ?? good;
  }

  /** One update, with cuts; what was cut. */
  async #update({ kind, whole }: Made, cuts: number): Promise<string> {
    const updated = this.#updated;
    const cut: string[] = [];
    const full_bytes = kind.full === "before" ? 4e6 : 2e6;
    let emptied = kind.full === "before" ? updated.fillDisk(full_bytes) : () => {};
    try {
      if (kind.trial_s !== undefined || kind.watched) await updated.tryFor(kind.trial_s ?? trial_s, kind);
      await updated.startUpdate();
      if (kind.full === "during") {
        await updated.endedWithin(this.#random() * 3_000);
        emptied = updated.fillDisk(full_bytes);
      }
      if (whole !== undefined && (await updated.reaches("judging")))
        await updated.installByHand(whole.file, whole.version);
      for (let left = whole === undefined ? cuts : 0; left > 0; left -= 1) {
        const aim = left === cuts ? kind.aim : undefined;
        if (!(await this.#isUnderWay(aim))) break;
        cut.push(await this.#cut(aim));
      }
      await updated.ended();
    } finally {
      emptied();
    }
    // What was put off, or could not be finished, is tried in the next nights.
    for (let night = 0; ; night += 1) {
      await this.#passDays();
      const waits = updated.state().waiting?.message;
      const isOver = isStopped(kind)
        ? waits?.includes(`${stopping_boxes} boxes went back`)
        : isKept(kind)
          ? updated.link("confirmed") !== this.#confirmed
          : waits === undefined;
      if (isOver || night === nights_max) break;
      await updated.startUpdate();
      await updated.ended();
      this.#count("one more night");
    }
    if (kind.trial_s !== undefined || kind.watched) await updated.tryFor(trial_s);
    return cut.join(", ");
  }

  /** Looks at a release in its days as the timer would; the hours between are not waited for. */
  async #passDays(): Promise<void> {
    const updated = this.#updated;
    for (let looks = 0; updated.state().trial?.phase === "days"; looks += 1) {
      expect(looks < looks_max, "a verdict", `none after ${looks} looks`);
      // A box hears its sensors in such hours, unless its release keeps it from that.
      await updated.hearsWithin(hears_ms_max);
      updated.passHours(look_hours);
      await updated.startUpdate();
      await updated.ended();
      this.#count("look at a release in its days");
    }
  }

  /** Waits for some instant of the part, or of all of the update; whether that goes on then. */
  async #isUnderWay(aim: Part | undefined): Promise<boolean> {
    const updated = this.#updated;
    if (aim === undefined) return !(await updated.endedWithin(this.#random() ** 2 * cut_ms_max));
    if (!(await updated.reaches(aim))) return false;
    await Bun.sleep(this.#random() * (aim_ms_max[aim] ?? 0));
    return true;
  }

  async #cut(aim: Part | undefined): Promise<string> {
    const updated = this.#updated;
    const doing = updated.doing();
    // A killed updater is one more way in which unpacking ends in the middle.
    const killed = aim === "unpacking" && this.#random() < 0.5;
    const cut = `${killed ? "killed" : "power cut"} while ${doing}`;
    this.#count(cut);
    if (killed) {
      await updated.killUpdater();
      return cut;
    }
    const looked = lastLook(updated);
    await updated.cutPower();
    // As its timer would in the night; a trial goes on by itself.
    if (updated.state().trial === undefined) await updated.startUpdate();
    else await until("the trial goes on by itself", resume_ms_max, () => this.#resumed(looked));
    return cut;
  }

  /** A look of the days is soon over, and systemd then forgets that the unit ran: the state tells. */
  async #resumed(looked: string | undefined): Promise<true | undefined> {
    if (looked !== undefined) return lastLook(this.#updated) !== looked || undefined;
    const { box } = this.#updated;
    if ((await box.property("lintel-update", "ActiveEnterTimestampMonotonic")) !== "0") return true;
    return undefined;
  }

  async #check({ kind, version, whole }: Made, began_ms: number): Promise<void> {
    const updated = this.#updated;
    const confirmed = whole?.version ?? (isKept(kind) ? version : this.#confirmed);
    if (isStopped(kind))
      expect(
        updated.state().waiting !== undefined,
        "a stopped release to wait",
        JSON.stringify(updated.state()),
      );
    expect(updated.state().trial === undefined, "no trial under way", JSON.stringify(updated.state()));
    expect(updated.link("confirmed") === confirmed, `${confirmed} confirmed`, updated.link("confirmed"));
    expect(updated.link("current") === confirmed, `${confirmed} to run`, updated.link("current"));
    this.#confirmed = confirmed;
    await updated.serves();
    const pid = await updated.box.property("lintel", "MainPID");
    const command = await updated.box.must(`tr '\\0' ' ' </proc/${pid}/cmdline`, { as: "root" });
    const folder =
      confirmed === updated.packaged ? "/usr/lib/lintel/" : `/var/lib/lintel-releases/${confirmed}/`;
    expect(command.includes(folder), `a gateway from ${folder}`, command);
    const left = updated.unfinished();
    expect(left.length === 0, "nothing left of putting data back", `${left}`);
    updated.removeFiller();
    updated.note();
    // What comes after this goes up with the next one.
    const recorded = [...updated.recorded];
    await updated.upload();
    const { update } = this.#world.fleet(home);
    if (kind.reason !== undefined) {
      const told = update.refusals.some(
        (one: { reason: string; message: string; version?: string; at_ms: number }) =>
          one.reason === kind.reason &&
          (kind.because ?? /^/).test(one.message) &&
          one.at_ms >= began_ms &&
          (kind.foreign || kind.attack || one.version === version),
      );
      expect(told, `central to be told of ${kind.because ?? kind.reason}`, JSON.stringify(update.refusals));
    }
    const there = this.#world.events();
    const once = new Set(there);
    expect(once.size === there.length, "every event at central once", `${there.length - once.size} twice`);
    const madeUp = there.filter((event) => event > updated.said);
    expect(madeUp.length === 0, "no event at central that nobody has said", `${madeUp.slice(0, 20)}`);
    const lost = recorded.filter((event) => !once.has(event));
    expect(
      lost.length === 0,
      "every event that was on the disk to be at central",
      `without ${lost.slice(0, 20)}`,
    );
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  figures(): Record<string, number> {
    return {
      ...Object.fromEntries([...this.#counts].toSorted()),
      "events, each at central once": this.#updated.recorded.size,
    };
  }
}

const isStopped = ({ wentBack = 0 }: Kind) => wentBack >= stopping_boxes;
const isKept = (kind: Kind) => kind.reason === undefined && !isStopped(kind);

const lastLook = (updated: UpdatedBox) => {
  const { days } = updated.state().trial ?? {};
  return days && JSON.stringify(days.last);
};

/** In one update, and the time within which one comes: most of them soon, as a trial is the longest part. */
const cuts_max = 2;
const cut_ms_max = 8_000;
/** After a part was reached. Those that are not here last for some milliseconds. */
const aim_ms_max: Partial<Record<Part, number>> = {
  unpacking: 100,
  copying: 300,
  switching: 800,
  "putting back": 600,
  watching: 3_000,
  proving: 300,
};
/** Between two looks, and so many as make the days several times. */
const look_hours = 5;
const looks_max = 60;
const hears_ms_max = 45_000;
const resume_ms_max = 60_000;
const nights_max = 3;
