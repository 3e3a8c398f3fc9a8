/**
 * Builds the package, installs it by README's own lines in two fresh Debians, a gateway and a central server, boots them, and tries what
 * happens to a box in a home
 *
 *   sudo ./scripts/trials boot [--cache DIR] [--hold]
 *
 * The Debian is this machine's own release, from the mirror that apt has here, and is kept in --cache for the next run. It is booted in a
 * container by systemd-nspawn, with systemd as its first process and no network but one loopback for both. With --hold they
 * stay there after a fault, to be looked into, until Ctrl-C. Exits with 1 at the first step that does not hold, with 2 where it cannot run here.
 */

import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { figuresText } from "../figures.ts";
import { optionsOf } from "../program-options.ts";
import { runApart } from "./boot/apart.ts";
import { Box } from "./boot/box.ts";
import { installCentral, tryByHand, tryCentral } from "./boot/central.ts";
import { tryFaults } from "./boot/faults.ts";
import { tryFound } from "./boot/found.ts";
import { installGateway } from "./boot/gateway.ts";
import { buildPackages, packagesPath, tryRepository } from "./boot/packages.ts";
import { untried } from "./boot/readme.ts";
import { makeRoot } from "./boot/root.ts";
import { bunPath, checkoutPath, SimulatedStick } from "./boot/stick.ts";
import { step, stepsHeld, type Trial } from "./boot/trial.ts";
import { tryRemoval, tryUpgrade } from "./boot/upgrade.ts";

/** Where it works; given by itself to the process that has mounts and processes of its own. */
const within = undefined;
const options = optionsOf("sudo ./scripts/trials boot [--cache DIR] [--hold]", {
  cache: join(tmpdir(), "lintel-trial-boot"),
  hold: false,
  within,
});
process.exit(
  options.within === undefined
    ? await runApart({ name: "boot", program: import.meta.path, boxes: ["gateway", "central"] })
    : await runWithin(options.within),
);

async function runWithin(directory: string): Promise<number> {
  const checkout = normalize(join(import.meta.dir, "../.."));
  const packages = join(directory, "packages");
  await step("two versions of the package", async () => buildPackages({ checkout, directory: packages }));
  const gateway = join(directory, "gateway");
  await step("a fresh Debian", async () => makeRoot({ directory: gateway, cache: options.cache }));
  makeRoot({ directory: join(directory, "central"), cache: options.cache });
  const mounts = {
    [packages]: packagesPath,
    [checkout]: checkoutPath,
    [dirname(process.execPath)]: dirname(bunPath),
  };
  const boxOf = (name: string, beside?: Box) =>
    new Box({
      name,
      directory: join(directory, name),
      mounts,
      console: join(directory, `${name}.console`),
      group: `${directory}-${name}`,
      ...(beside && { beside }),
    });
  const central = boxOf("central");
  // Its network is there as long as one of both is on.
  const box = boxOf("gateway", central);
  try {
    await step("it boots", () => central.boot());
    await step("and another one", () => box.boot());
    const stick = new SimulatedStick(box);
    const trial: Trial = { box, central, stick, token: "", atCentral: "", item: "", events: 0 };
    await installCentral(trial);
    await installGateway(trial);
    await tryFaults(trial);
    await tryCentral(trial);
    await tryByHand(trial);
    await tryUpgrade(trial);
    await tryRemoval(trial);
    await tryRepository(trial);
    await tryFound(trial);
    const rest = untried();
    if (rest.length > 0) throw new Error(`no step runs the printed commands ${rest.join(", ")}`);
    console.log(figuresText({ "steps, each of which held": stepsHeld() }));
    console.log("trial boot: all of it holds");
    return 0;
  } catch (thrown) {
    console.error(`trial boot: ${thrown instanceof Error ? thrown.message : thrown}`);
    console.error(await box.journal("lintel", "-2min").catch(() => ""));
    if (options.hold) await holding();
    return 1;
  } finally {
    await box.close();
    await central.close();
  }
}

function holding(): Promise<never> {
  console.error("held until Ctrl-C");
  return new Promise(() => setInterval(() => undefined, 3_600_000));
}
