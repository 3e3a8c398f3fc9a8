import { Database } from "bun:sqlite";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../../../src/store/sqlite/schema.ts";
import { listening } from "../../faults/gateway.ts";
import { counted, doorsTo, type HomeBefore, range, sectionsFor } from "../../faults/home.ts";
import { openedGateway, requireFirst, requireNetwork } from "./judge.ts";
import { endedWell, type Homes, type Judge, type Place, small_doors } from "./scene.ts";

/** A gateway reads a box and hears a sensor, on the disk of a home that has its network. */
export async function gateway(place: Place, homes: Homes): Promise<Judge> {
  const small = await homes.small();
  cpSync(small.directory, join(place.disk, "data"), { recursive: true });
  await live(place, small);
  return lived(small_doors.length, small);
}

/** The first start, on an empty disk. */
export async function firstStart(place: Place, homes: Homes): Promise<Judge> {
  const small = await homes.small();
  await live(place, small, false);
  return lived(0);
}

/** A start on the database of an older version. */
export async function oldVersion(place: Place, homes: Homes): Promise<Judge> {
  const small = await homes.small();
  const data = join(place.disk, "data");
  cpSync(small.directory, data, { recursive: true });
  const database = new Database(join(data, "lintel.db"));
  for (const [, table] of migrations
    .slice(old_version)
    .join("\n")
    .matchAll(/CREATE TABLE (\w+)/g))
    database.run(`DROP TABLE ${table}`);
  database.run(`PRAGMA user_version = ${old_version}`);
  database.close();
  await live(place, small);
  return lived(small_doors.length, small);
}

/** A schema version: a gateway has no rows of what later versions added. */
const old_version = 3;

/** Holds a gateway's disk to what it has said that it has, and to the network of the home that it was before. */
function lived(doors_before: number, home?: HomeBefore): Judge {
  return async (disk, owed) => {
    const data = join(disk, "data");
    if (home !== undefined) requireNetwork(data, home.directory);
    const { doors, events } = await openedGateway(data);
    const from = Math.max(doors_before, owed("doors"));
    requireFirst(doors, { all: all_doors, from, what: "events of the box" });
    requireFirst(events, { all: heard, from: owed("events"), what: "events of the sensor" });
  };
}

/** Runs a gateway on the disk until it says that it has everything. A reading is owed from when it was said to be there. @param knows whether the sensor has been let in */
async function live(place: Place, home: HomeBefore, knows = true): Promise<void> {
  const { site } = place;
  const data = join(place.disk, "data");
  const { stick, bridge } = await home.devices(all_doors.length);
  try {
    site.configure({ data, sections: sectionsFor(stick, bridge) });
    const process = place.start("run", "--config", site.config, "--json");
    if ((await process.line()) === undefined) throw new Error(await process.said());
    await listening(data);
    let told = 0;
    for (let tries = 0; tries < tries_max; tries += 1) {
      const { doors, events } = await counted(data);
      place.owe("doors", doors);
      place.owe("events", events);
      if (doors === all_doors.length && events === (knows ? heard.length : 0)) break;
      // One after the other, so that each has a commit of its own.
      if (knows && events === told) {
        told += 1;
        stick.devices[0]?.notify(told);
      }
      await Bun.sleep(pause_ms);
    }
    process.kill("SIGTERM");
    await endedWell(process);
  } finally {
    await stick.close();
    await bridge.close();
  }
}

const all_doors = doorsTo(40);
const heard = range(1, 20);
const tries_max = 2_000;
const pause_ms = 10;
