/**
 * Updates a box again and again, with power cuts and bad releases: it always ends on one that serves, and loses no reading
 *
 *   sudo ./scripts/trials update [--updates 200] [--seed N] [--cache DIR] [--hold] [--hostile] [--late]
 *
 * --hostile: every other folder of releases has another hand in it: old lists, lists that have ended, mixed ones, swapped packages, stolen keys.
 * --late: every other release has a fault that shows only in the days after its trial.
 * A Debian is booted as by `scripts/trials boot`, with the package in it, a simulated stick whose sensor says numbers all the time, and central and a
 * web server with releases outside of it. Exits with 1 at the first thing that does not hold, with 2 where it cannot run here.
 */

import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { seeded } from "../../testbed/numbers.ts";
import { figuresText } from "../figures.ts";
import { optionsOf } from "../program-options.ts";
import { runApart } from "./boot/apart.ts";
import { Box } from "./boot/box.ts";
import { makeRoot, run } from "./boot/root.ts";
import { bunPath, checkoutPath } from "./boot/stick.ts";
import { step } from "./boot/trial.ts";
import { ReleaseMaker } from "./update/releases.ts";
import { Rounds } from "./update/rounds.ts";
import { UpdatedBox } from "./update/updated-box.ts";
import { World } from "./update/world.ts";

const options = optionsOf(
  "sudo ./scripts/trials update [--updates 200] [--seed N] [--cache DIR] [--hold] [--hostile] [--late]",
  {
    updates: 200,
    seed: Math.floor(Math.random() * 1e6),
    cache: join(tmpdir(), "lintel-trial-boot"),
    hold: false,
    hostile: false,
    late: false,
    within: undefined,
  },
);
process.exit(
  options.within === undefined
    ? await runApart({ name: "update", program: import.meta.path, boxes: ["gateway"] })
    : await runWithin(options.within),
);

async function runWithin(directory: string): Promise<number> {
  const checkout = normalize(join(import.meta.dir, "../.."));
  const { seed } = options;
  console.log(`trial update: ${options.updates} updates, seed ${seed}`);
  const maker = new ReleaseMaker({ checkout, directory: join(directory, "packages"), cache: options.cache });
  const world = new World({ checkout, directory });
  const root = join(directory, "root");
  const releases = join(directory, "releases");
  mkdirSync(releases);
  // Small, so that it can be filled; and outside of the box, so that it outlives its power.
  run(["mount", "-t", "tmpfs", "-o", "size=512m,mode=755", "tmpfs", releases]);
  let file = "";
  await step("scripts/build makes the package", async () => {
    file = maker.build("0.1.0");
    return file.replace(/.*\//, "");
  });
  await step("a fresh Debian", async () => makeRoot({ directory: root, cache: options.cache }));
  await step("central, and a web server with releases", async () => void (await world.start()));
  run(["cp", file, join(root, "root/lintel.deb")]);
  const box = new Box({
    directory: root,
    name: "gateway",
    mounts: { [checkout]: checkoutPath, [dirname(process.execPath)]: dirname(bunPath) },
    console: join(directory, "console"),
    group: `${directory}-gateway`,
    network: world.network,
    disks: { [releases]: "/var/lib/lintel-releases" },
  });
  const updated = new UpdatedBox({ box, world, releases, root });
  try {
    await step("it boots", () => box.boot());
    await step("the package is installed, and hears a sensor", () => updated.install());
    const { hostile, late } = options;
    const rounds = new Rounds({ updated, world, maker, random: seeded(seed), hostile, late });
    for (let round = 1; round <= options.updates; round += 1) await rounds.round(round);
    console.log(figuresText(rounds.figures()));
    console.log("trial update: all of it holds");
    return 0;
  } catch (thrown) {
    console.error(`trial update: seed ${seed}: ${thrown instanceof Error ? thrown.message : thrown}`);
    for (const unit of ["lintel-update", "lintel"])
      console.error(await box.journal(unit, "-3min").catch(() => ""));
    console.error(JSON.stringify(updated.state(), null, 1));
    if (options.hold) {
      console.error("held until Ctrl-C");
      await new Promise(() => setInterval(() => undefined, 3_600_000));
    }
    return 1;
  } finally {
    await updated.close();
    await box.close();
    world.close();
    run(["umount", "--lazy", releases]);
  }
}
