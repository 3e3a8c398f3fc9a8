import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunningServer } from "../../../../testbed/front-door.ts";
import { Broken, keptIn, requireSame } from "../../faults/part.ts";
import { openedCentral, openedGateway, requireFirst } from "./judge.ts";
import { endedWell, type Homes, type Judge, large_doors, type Place, small_doors } from "./scene.ts";

/** Central takes in two homes, one after the other. */
export async function central(place: Place, homes: Homes): Promise<Judge> {
  const directory = join(place.disk, "central");
  await prepareCentral(place, directory);
  await takeIn(place, homes, directory, (words) => place.start(...words));
  return async (disk, owed) => {
    const { doors } = await openedCentral(join(disk, "central"));
    const all = [...small_doors, ...large_doors];
    requireFirst(doors, { all, from: owed("doors"), what: "events of the boxes" });
  };
}

/** A home is erased at central, where another one is. */
export async function erasure(place: Place, homes: Homes): Promise<Judge> {
  const directory = join(place.disk, "central");
  await prepareCentral(place, directory);
  await takeIn(place, homes, directory, (words) => place.site.spawn(words));
  await place.run("erase", "--home", "12", "--yes", "--json", "--data", directory);
  return async (disk, owed) => {
    const { doors } = await openedCentral(join(disk, "central"));
    const erased = doors.length - large_doors.length;
    if (owed("done") > 0 && erased > 0)
      throw new Broken(`${erased} readings are there again after they were erased`);
    requireSame(doors.slice(Math.max(0, erased)), large_doors, "the other home");
  };
}

/** A gateway uploads two hundred days, and clears away those that central has confirmed and that are older than seven. */
export async function upload(place: Place, homes: Homes): Promise<Judge> {
  const { site, disk } = place;
  const [data, directory] = [join(disk, "data"), join(site.directory, "central")];
  const old = await homes.old();
  cpSync(old.directory, data, { recursive: true });
  await prepareCentral(place, directory);
  const server = await site.central("--data", directory);
  site.configure({ data, sections: sectionsOf(place, 13, server.origin, "keep_days = 7") });
  await place.run("upload", "--config", site.config, "--json");
  await server.stop();
  const all = keptIn(old.directory).doors;
  const cleared = all.length - keptIn(data).doors.length;
  if (cleared === 0) throw new Error("nothing was cleared away");
  return async (state) => {
    const { doors } = await openedGateway(join(state, "data"));
    const gone = all.length - doors.length;
    if (gone > cleared)
      throw new Broken(`${gone} readings are gone, of which ${cleared} were to be cleared away`);
    requireSame(doors, all.slice(gone), "the home");
  };
}

/** A central with tokens of homes 12 and 13. */
async function prepareCentral({ site }: Place, directory: string): Promise<void> {
  const made = await site.central("--data", directory);
  await made.stop();
  for (const home of [12, 13]) {
    const words = ["token", "create", "upload", "--scope", "sync", "--home", String(home)];
    const { token } = await site.answer(...words, "--json", "--data", directory);
    writeFileSync(join(site.directory, `token-${home}`), token, { mode: 0o600 });
  }
}

/** Has both homes upload to a central that `start` starts. */
async function takeIn(
  place: Place,
  homes: Homes,
  directory: string,
  start: (words: readonly string[]) => ReturnType<Place["start"]>,
): Promise<void> {
  const { site } = place;
  const process = start(["central", "--data", directory, "--listen", "127.0.0.1", "--port", "0", "--json"]);
  const server = new RunningServer(process, JSON.parse((await process.line()) ?? "{}"));
  let held = 0;
  for (const [home, before] of [[12, await homes.small()] as const, [13, await homes.large()] as const]) {
    const data = join(site.directory, `home-${home}`);
    cpSync(before.directory, data, { recursive: true });
    site.configure({ data, sections: sectionsOf(place, home, server.origin) });
    await site.answer("upload", "--config", site.config, "--json");
    held += keptIn(data).doors.length;
    place.owe("doors", held);
  }
  process.kill("SIGTERM");
  await endedWell(process);
}

function sectionsOf({ site }: Place, home: number, origin: string, more = ""): string {
  const tokenFile = join(site.directory, `token-${home}`);
  return `[home]\nid = ${home}\n[upload]\nurl = "${origin}"\ntoken_file = "${tokenFile}"\n${more}`;
}
