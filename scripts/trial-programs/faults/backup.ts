import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { doors_before, doorsTo, type HomeBefore } from "./home.ts";
import {
  Broken,
  commandEnded,
  endOf,
  keptIn,
  type Machine,
  type Part,
  preparedPart,
  requireSame,
  type Tried,
} from "./part.ts";

/** A backup that replaces an older one. */
export function backupPart(home: HomeBefore): Promise<Part> {
  return copiesPart(home, tryBackup);
}

/** A restore of a backup into an empty place. */
export function restorePart(home: HomeBefore): Promise<Part> {
  return copiesPart(home, tryRestore);
}

/** A home, and a backup of it. */
interface Copies {
  readonly home: string;
  readonly backup: string;
}

function copiesPart(
  home: HomeBefore,
  tryOut: (machine: Machine, copies: Copies) => Promise<Tried>,
): Promise<Part> {
  return preparedPart(async (site, directory) => {
    const copies = { home: home.directory, backup: join(directory, "backup") };
    await site.answer("backup", copies.backup, "--data", copies.home, "--json");
    return copies;
  }, tryOut);
}

async function tryBackup(machine: Machine, copies: Copies): Promise<Tried> {
  const data = machine.copyOf(copies.home, "data");
  const backup = machine.copyOf(copies.backup, "backup");
  const words = ["backup", backup, "--data", data, "--json"];
  const tried = commandEnded(await machine.faulty(words).end());
  // Whatever happened: what lies there is a whole backup, the older one or the new one.
  await requireRestorable(machine, backup, "after the fault");
  const again = await endOf(machine.site.spawn(words));
  if (again.code !== 0) throw new Broken(`the next backup ended with ${again.code}: ${again.said}`);
  await requireRestorable(machine, backup, "after the next backup");
  requireDoors(data, "the home");
  return tried;
}

async function tryRestore(machine: Machine, copies: Copies): Promise<Tried> {
  const backup = machine.copyOf(copies.backup, "backup");
  const data = join(machine.disk, "data");
  const words = ["restore", backup, "--data", data, "--json"];
  const end = await machine.faulty(words).end();
  const tried = commandEnded(end);
  if (end.code === 0) requireDoors(data, "what was restored");
  // All or nothing.
  const there = existsSync(join(data, "lintel.db"));
  if (there) requireDoors(data, "what was half restored");
  else {
    const again = await endOf(machine.site.spawn(words));
    if (again.code !== 0) throw new Broken(`the next restore ended with ${again.code}: ${again.said}`);
    requireDoors(data, "what was restored again");
  }
  return tried;
}

async function requireRestorable({ site }: Machine, backup: string, when: string): Promise<void> {
  const data = join(site.directory, "restored");
  const { code, said } = await endOf(site.spawn(["restore", backup, "--data", data, "--json"]));
  if (code !== 0) throw new Broken(`${when} no backup can be restored: ${said}`);
  requireDoors(data, `${when} what was restored`);
  if (!existsSync(join(data, "drivers/zigbee/network.json")))
    throw new Broken(`${when} the network is not restored`);
  rmSync(data, { recursive: true });
}

function requireDoors(directory: string, whose: string): void {
  requireSame(keptIn(directory).doors, doorsTo(doors_before), whose);
}
