/**
 * The burn-in of a box on disks that lie, on a real kernel
 *
 *   sudo ./scripts/trials burn-in [--disks good,late,lying,losing] [--seed N] [--cache DIR]
 *
 * Boots Debian 13 in qemu with this checkout's release and an ext4 on a disk of NBD, and runs `lintel burn-in` there at the serial console. The technician pulls the
 * plug when the box asks for it (qemu is killed, and the disk loses what it had not brought to disk), boots again, and types the last number of the console. A good disk has to pass,
 * and each other one to be named. Takes twenty minutes, and some more the first time. Exits with 1 where that does not hold, with 2 where tools are missing.
 */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../../testbed/numbers.ts";
import { root } from "../../testbed/source-files.ts";
import { makeDisk } from "../debian-machine/disk.ts";
import { requireTools, run } from "../debian-machine/tools.ts";
import { optionsOf } from "../program-options.ts";
import { type BenchMachine, bootBench } from "./burn-in/bench-machine.ts";
import { type DiskKind, diskKinds, LyingDisk } from "./burn-in/lying-disk.ts";

const kinds = Object.keys(diskKinds) as DiskKind[];
const options = optionsOf(
  "sudo ./scripts/trials burn-in [--disks good,late,lying,losing] [--seed N] [--cache DIR]",
  { disks: kinds.join(), seed: 1, cache: join(tmpdir(), "lintel-trial-burn-in") },
  ({ disks }) => disks.split(",").every((kind) => kinds.includes(kind as DiskKind)),
);
const { cache, seed } = options;
const say = (line: string) => console.log(`  ${line}`);

try {
  requireTools("amd64");
} catch (thrown) {
  console.error(`burn-in: ${(thrown as Error).message}`);
  process.exit(2);
}
mkdirSync(cache, { recursive: true, mode: 0o700 });
const disk = await makeDisk({ cache, architecture: "amd64", say });
say("the release");
const packages = join(cache, "packages");
const build = [join(root, "scripts/build"), "--arch", "amd64", "--out", packages];
const deb = (await run("env", "DPKG_DEB_COMPRESSOR_TYPE=gzip", ...build)).trim().split("\n").at(-1) ?? "";
const release = join(cache, "release.ext4");
rmSync(release, { force: true });
await run("mkfs.ext4", "-q", "-d", deb.replace(/\.deb$/, ""), release, "256M");

/** Boots of one disk at most: five rounds, and one to end with. */
const boots_max = 8;
const image_bytes = 128 * 1024 * 1024;
const skipped = "power,stick,sensors,radio,clock,upload,restore";
const burnIn = `/mnt/lintel burn-in --data /data --skip ${skipped} --reason trial </dev/ttyS0 >/dev/ttyS0 2>&1`;

/** A technician with a random hand, who has the number that the console showed last. */
class Technician {
  #last = "";
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Boots a machine and sits at it until the power goes, or there is a record: the lines of that. */
  async sit(machine: BenchMachine, cut: () => void): Promise<string[] | undefined> {
    await this.#shell(machine);
    machine.type(burnIn);
    const record: string[] = [];
    for (;;) {
      const line = await machine.line();
      if (line === undefined) return record.length > 0 ? record : undefined;
      const [, code] = /^on disk: (\d-\d+-[A-Z]{2})$/.exec(line) ?? [];
      if (code !== undefined) this.#last = code;
      else if (line !== "") say(`    ${line}`);
      if (line.includes("type it now")) machine.type(this.#last);
      if (line.includes("stood last on the screen")) machine.type(this.#last);
      if (line.startsWith("Pull the plug of the box now")) {
        const isHeld = !line.includes("while");
        setTimeout(() => void machine.cut().then(cut), isHeld ? 1_000 : 200 + 2_000 * this.#random());
      }
      if (record.length > 0 || /^(This box may not|What was checked|Every check)/.test(line))
        record.push(line);
      if (line.includes("Signed by")) {
        await machine.cut();
        return record;
      }
      if (line.startsWith("lintel: ")) throw new Error(line);
    }
  }

  /** Waits for a shell, in which a line is typed until it is answered: what comes before the kernel listens is lost. */
  async #shell(machine: BenchMachine): Promise<void> {
    const prepare =
      "stty cols 500 </dev/ttyS0; mount /dev/vdb /mnt; mkdir -p /data; mount /dev/vdc /data; export TERM=dumb NO_COLOR=1 HOME=/root; echo bench ''ready";
    const typing = setInterval(() => machine.type("echo shell ''here"), 2_000);
    try {
      await until(machine, "shell here");
    } finally {
      clearInterval(typing);
    }
    machine.type(prepare);
    await until(machine, "bench ready");
  }
}

async function until(machine: BenchMachine, text: string): Promise<void> {
  for (;;) {
    const line = await machine.line();
    if (line === undefined) throw new Error(`the machine is off before it says ${text}`);
    if (line.endsWith(text)) return;
  }
}

/** The course of a burn-in on one disk. */
interface Tried {
  readonly found: string;
  readonly boots: number;
  readonly flushes: number;
  readonly lies: number;
}

async function tried(kind: DiskKind): Promise<Tried> {
  const work = join(cache, `work-${process.pid}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  const file = join(work, "data.ext4");
  await run("mkfs.ext4", "-q", file, `${image_bytes / 1024}k`);
  const socket = join(work, "disk.sock");
  const random = seeded(seed);
  const lying = new LyingDisk({ kind, image: new Uint8Array(readFileSync(file)), socket, random });
  const technician = new Technician(random);
  try {
    for (let boot = 1; boot <= boots_max; boot++) {
      const record = await technician.sit(bootBench({ disk, release, socket }), () => lying.cut());
      if (record === undefined) continue;
      const found = record.find((line) => line.includes("Disk: ")) ?? "";
      return { found, boots: boot, flushes: lying.flushes, lies: lying.lies };
    }
    throw new Error(`no record after ${boots_max} boots`);
  } finally {
    lying.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

const table = ["| a disk that … | power cuts | flushes | lies | found |", "|---|---:|---:|---:|---|"];
let held = true;
for (const kind of options.disks.split(",") as DiskKind[]) {
  say(`a disk that ${diskKinds[kind]}`);
  const { found, boots, flushes, lies } = await tried(kind);
  const isRight = found.startsWith(kind === "good" ? "✓" : "✗");
  if (!isRight) say(`WRONG: ${found}`);
  held &&= isRight;
  table.push(`| ${diskKinds[kind]} | ${boots - 1} | ${flushes} | ${lies} | ${found} |`);
}
for (const line of table) console.log(line);
console.log(held ? "burn-in: all held" : "burn-in: a disk was misjudged");
process.exit(held ? 0 : 1);
