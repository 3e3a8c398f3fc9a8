import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { filler } from "../../../testbed/updates/release-faults.ts";
import { type Box, until } from "../boot/box.ts";
import { SimulatedStick, stickPath } from "../boot/stick.ts";
import { eventsIn, type World } from "./world.ts";

const answer_ms_max = 90_000;
/** A part of an update, by what lies on the disk of the box. */
export type Part =
  | "looking"
  | "downloading"
  | "unpacking"
  | "copying"
  | "switching"
  | "judging"
  | "watching"
  | "proving"
  | "going back"
  | "putting back"
  | "clearing up";

/** An update with all its power cuts; a trial lasts `trial_s` at most, and begins anew a few times. */
const update_ms_max = 600_000;
const ask_ms = 300;
/** Time enough for a good release on a busy machine. */
export const trial_s = 45;
export const home = 12;
const config = "/etc/lintel/lintel.toml";
const speak_ms = 400;
/** Of the make of the first: only makes with two devices are watched. */
const other_sensor = "00:0d:6f:00:0a:0b:0c:0e";
const hour_ms = 3_600_000;
/** Events before the first update: with fewer a release has nothing to answer wrongly. */
const recorded_min = 20;

interface State {
  readonly trial?: {
    readonly phase: string;
    readonly version: string;
    readonly switched_ms?: number;
    readonly days?: { readonly last: { monotonic_ms: number; unix_ms: number } };
  };
  readonly waiting?: { readonly message: string };
  readonly refusals?: readonly {
    readonly version?: string;
    readonly reason: string;
    readonly at_ms: number;
  }[];
}

/** The box with the package of Lintel on it, and a sensor that says one number after the other. */
export class UpdatedBox {
  readonly box: Box;
  readonly #world: World;
  readonly #releases: string;
  readonly #root: string;
  readonly #data: string;
  readonly #stick: SimulatedStick;
  #plugged = false;
  #closed = false;
  #speaking: Promise<void> = Promise.resolve();
  /** The version of the package that is installed. */
  packaged = "0.1.0";
  /** The last number that the sensor has said. */
  said = 0;
  #last_seq = 0;
  /** Events that were on the disk of the box once. */
  readonly recorded = new Set<number>();

  /** @param options.releases and root are directories of the box, as this machine reaches them */
  constructor(options: { box: Box; world: World; releases: string; root: string }) {
    this.box = options.box;
    this.#world = options.world;
    this.#releases = options.releases;
    this.#root = options.root;
    this.#data = join(options.root, "var/lib/lintel");
    this.#stick = new SimulatedStick(options.box);
  }

  async install(): Promise<string> {
    const { box } = this;
    const root = { as: "root" } as const;
    await box.must("dpkg --install lintel.deb", root);
    await this.tryFor(trial_s);
    await box.write("/etc/lintel/upload-token", this.#world.syncToken(home));
    await box.must("chgrp lintel /etc/lintel/upload-token && chmod 640 /etc/lintel/upload-token", root);
    await box.write(
      "/etc/systemd/system/lintel.service.d/trial.conf",
      "[Service]\nWatchdogSec=8s\nRestartSec=1s\n",
    );
    await box.write("/etc/systemd/system/lintel-update.service.d/trial.conf", "[Service]\nRestartSec=1s\n");
    await box.write(
      "/etc/systemd/system/lintel-update-resume.timer.d/trial.conf",
      "[Timer]\nOnCalendar=\nOnBootSec=1s\nAccuracySec=100ms\n",
    );
    await box.must("systemctl daemon-reload", root);
    await box.must(
      "systemd-analyze verify --man=no lintel-update.service lintel-update-resume.service lintel-update-resume.timer lintel-update.timer",
      root,
    );
    await this.plugIn();
    await box.must("systemctl enable --now lintel && systemctl enable lintel-update-resume.timer", root);
    await this.serves();
    const pair = box.run(`sudo -u lintel lintel pair --seconds 60 --config ${config}`);
    await this.#stick.pairSensor();
    await this.#stick.pairSensor(other_sensor);
    await box.must("pkill --signal INT --full 'main.* pair '", root);
    await pair;
    await this.#stick.keep();
    this.#speaking = this.#speak();
    await until(
      "there is something to lose",
      answer_ms_max,
      () => this.recorded.size >= recorded_min || undefined,
    );
    const security = await box.must("systemd-analyze --no-pager security lintel-update", root);
    return security.trim().split("\n").at(-1) ?? "";
  }

  /** Has the box try new releases for so long, and watch them for days or not. */
  async tryFor(trial_seconds: number, { watched = false } = {}): Promise<void> {
    const { manifestUrl, centralUrl } = this.#world;
    const sections = [
      `data = "/var/lib/lintel"\n[home]\nid = ${home}\ntimezone = "Europe/London"`,
      `[api]\nlisten = "127.0.0.1:8080"\ntls = "self-signed"`,
      `[zigbee]\nport = "${stickPath}"\nadapter = "zstack"`,
      `[upload]\nurl = "${centralUrl}"\ntoken_file = "/etc/lintel/upload-token"`,
      `[update]\nmanifest = "${manifestUrl}"\nring = 500\ntrial_seconds = ${trial_seconds}${watched ? "" : "\nwatch_seconds = 0"}`,
    ];
    await this.box.write(config, `${sections.join("\n")}\n`);
  }

  async plugIn(): Promise<void> {
    await this.#stick.plugIn();
    this.#plugged = true;
  }

  /** The sensor says a number now and then, whatever happens to the box; what came on its disk is noted. */
  async #speak(): Promise<void> {
    while (!this.#closed) {
      await Bun.sleep(speak_ms);
      if (!this.#plugged) continue;
      this.said += 1;
      const address = this.said % 5 === 0 ? other_sensor : undefined;
      await this.#stick.say(this.said, address).catch(() => undefined);
      this.note();
    }
  }

  /** Notes what is on the disk of the box by now. A database that is being put back is looked at the next time. */
  note(): void {
    const path = join(this.#data, "lintel.db");
    try {
      // Numbers go on where a database was put back; a look at some before costs nothing.
      for (const [seq, event] of eventsIn(path, Math.max(1, this.#last_seq - 500))) {
        // A bad release makes up some.
        if (event <= this.said) this.recorded.add(event);
        this.#last_seq = Math.max(this.#last_seq, seq);
      }
    } catch {
      // It is not there at this instant.
    }
  }

  /** Waits until the gateway runs, serves and hears the stick. */
  async serves(): Promise<void> {
    await until("the gateway serves and hears", answer_ms_max, async () => {
      const { out, code } = await this.box.run(`sudo -u lintel lintel status --json --config ${config}`);
      if (code !== 0) return undefined;
      const { running, drivers } = JSON.parse(out) as { running: boolean; drivers: { state: string }[] };
      return running && drivers[0]?.state === "listening" ? true : undefined;
    });
  }

  state(): State {
    const path = join(this.#releases, "state.json");
    return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
  }

  /** The version that a link leads to; the package's own release where there is none. */
  link(name: "current" | "confirmed"): string {
    try {
      const to = readlinkSync(join(this.#releases, name));
      return to === "/usr/lib/lintel" ? this.packaged : basename(to);
    } catch {
      return this.packaged;
    }
  }

  /** The part of an update that is under way. */
  doing(): Part {
    const { trial } = this.state();
    const has = (name: string) => existsSync(join(this.#releases, name));
    if (trial?.phase === "back") {
      const left = this.unfinished();
      if (left.some((name) => /^(restoring|replacing|placing)/.test(name))) return "putting back";
      return left.length > 0 ? "clearing up" : "going back";
    }
    if (trial?.phase === "days") return "watching";
    if (trial !== undefined && has("proof")) return "proving";
    if (trial !== undefined) return trial.switched_ms === undefined ? "switching" : "judging";
    if (has("copy")) return "copying";
    if (has("unpacking")) return "unpacking";
    return has("download") ? "downloading" : "looking";
  }

  /** Directories that putting data back makes below them, and takes away again. */
  unfinished(): string[] {
    return namesIn(this.#data).filter((name) => /^(restoring|replacing-|placing|set-aside-)/.test(name));
  }

  /** Whether a part of the update is reached before that ends. */
  async reaches(part: Part): Promise<boolean> {
    let ended = false;
    let asking = false;
    const ask = async () => {
      asking = true;
      // A cut may come meanwhile.
      ended = await this.endedWithin(ask_ms).catch(() => false);
      asking = false;
    };
    while (this.doing() !== part) {
      if (ended) return false;
      if (!asking) void ask();
      await Bun.sleep(1);
    }
    return true;
  }

  /** The updater is killed, as where memory runs out: systemd starts it again. */
  async killUpdater(): Promise<void> {
    await this.box.run("systemctl kill --signal=KILL lintel-update", { as: "root" });
  }

  /** Installs a package by hand. */
  async installByHand(file: string, version: string): Promise<void> {
    copyFileSync(file, join(this.#root, "root/lintel.deb"));
    await this.box.must("dpkg --install lintel.deb", { as: "root" });
    this.packaged = version;
  }

  async startUpdate(): Promise<void> {
    await this.box.must("systemctl start lintel-update.service", { as: "root" });
  }

  /** Whether the update has ended within a time. */
  async endedWithin(ms: number): Promise<boolean> {
    const end_ms = performance.now() + ms;
    while (performance.now() < end_ms) {
      const state = await this.box.property("lintel-update", "ActiveState");
      if (state === "inactive" || state === "failed") return true;
      await Bun.sleep(Math.min(200, end_ms - performance.now()));
    }
    return false;
  }

  async ended(): Promise<void> {
    if (!(await this.endedWithin(update_ms_max))) throw new Error("the update did not end");
  }

  async cutPower(): Promise<void> {
    this.#plugged = false;
    await this.box.cutPower();
    await this.box.boot();
    await this.plugIn();
  }

  /** Fills the disk of releases, but for some room; answers how to take that back. */
  fillDisk(left_bytes: number): () => void {
    const path = join(this.#releases, "filler");
    Bun.spawnSync([
      "sh",
      "-c",
      'free=$(df --output=avail -B1 "$1" | tail -n 1); [ "$free" -le "$3" ] || fallocate --length "$((free - $3))" "$2"',
      "sh",
      this.#releases,
      path,
      String(left_bytes),
    ]);
    return () => rmSync(path, { force: true });
  }

  /** Waits until something that is said from now on is recorded, or for so long. */
  async hearsWithin(ms: number): Promise<void> {
    const [before, end_ms] = [this.recorded.size, performance.now() + ms];
    while (this.recorded.size === before && performance.now() < end_ms) await Bun.sleep(ask_ms);
  }

  /** The box has been on for so long since the last look of the days. */
  passHours(hours: number): void {
    const state = this.state();
    const last = state.trial?.days?.last;
    if (last === undefined) return;
    last.monotonic_ms -= hours * hour_ms;
    last.unix_ms -= hours * hour_ms;
    const path = join(this.#releases, "state.json");
    writeFileSync(`${path}.passed`, JSON.stringify(state));
    renameSync(`${path}.passed`, path);
  }

  /** Removes the file that a release has filled the disk with. */
  removeFiller(): void {
    rmSync(join(this.#data, filler), { force: true });
  }

  async upload(): Promise<void> {
    await this.box.must(`sudo -u lintel lintel upload --config ${config}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#speaking;
  }
}

const namesIn = (directory: string) => (existsSync(directory) ? readdirSync(directory) : []);
