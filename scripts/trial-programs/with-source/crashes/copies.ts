import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { Broken, requireSame } from "../../faults/part.ts";
import { inBackup, openedGateway } from "./judge.ts";
import { type Homes, type Judge, large_doors, type Place, small_doors } from "./scene.ts";

/** The backup of another home is replaced by one of this home. */
export async function backup(place: Place, homes: Homes): Promise<Judge> {
  const { site, disk } = place;
  const [data, into] = [join(disk, "data"), join(disk, "backup")];
  cpSync((await homes.large()).directory, data, { recursive: true });
  await site.answer("backup", into, "--data", (await homes.small()).directory, "--json");
  await place.run("backup", into, "--data", data, "--json");
  return async (state, owed) => {
    const kept = await inBackup(join(state, "backup"));
    const isOld = kept?.doors.length === small_doors.length;
    if (isOld && owed("done") > 0) throw new Broken("the older backup is there again");
    requireSame(kept?.doors, isOld ? small_doors : large_doors, "the backup");
    requireSame((await openedGateway(join(state, "data"))).doors, large_doors, "the home");
  };
}

/** A backup is restored into an empty place. */
export async function restore(place: Place, homes: Homes): Promise<Judge> {
  const { site, disk } = place;
  const [data, from] = [join(disk, "data"), join(site.directory, "backup")];
  await site.answer("backup", from, "--data", (await homes.small()).directory, "--json");
  await place.run("restore", from, "--data", data, "--json");
  return async (state, owed) => {
    const restored = join(state, "data");
    const isThere = existsSync(join(restored, "lintel.db")) || owed("done") > 0;
    const { doors } = await openedGateway(restored);
    requireSame(doors, isThere || doors.length > 0 ? small_doors : [], "what was restored");
  };
}

/** A backup takes the place of another home's data, which are set aside. */
export async function replacement(place: Place, homes: Homes): Promise<Judge> {
  const { site, disk } = place;
  const [data, from] = [join(disk, "data"), join(site.directory, "backup")];
  cpSync((await homes.large()).directory, data, { recursive: true });
  await site.answer("backup", from, "--data", (await homes.small()).directory, "--json");
  await place.run("restore", from, "--data", data, "--replace", "--json");
  return async (state, owed) => {
    const { doors } = await openedGateway(join(state, "data"));
    const isOld = doors.length === large_doors.length && owed("done") === 0;
    requireSame(doors, isOld ? large_doors : small_doors, "what was restored");
  };
}
