import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/clock.ts";
import { type CentralPlace, openCentral } from "../../../src/commands/central-place.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open.ts";
import { Site } from "../../shipped/front-door.ts";
import { postgresServer } from "../../store/postgres/server.ts";
import { below, keptLog, seeded } from "../../store/sample.ts";
import { homeReadings } from "../upload/home-readings.ts";
import { CentralProcess } from "../upload/trial-processes.ts";
import { rowsAt } from "./pulled-home.ts";

const readings = 60_000;
const clock = new SystemClock();
const { log } = keptLog("error");

/** A gateway with a backlog, as a process, and a list that names it. */
async function listedGateway(): Promise<{ site: Site; list: string }> {
  const site = new Site();
  const source = homeReadings(seeded(4), Date.UTC(2026, 9, 1));
  const store = await openGatewayStore({ directory: site.data, clock, log, home: 12 });
  for (let at = 0; at < readings; at += 5_000)
    await store.append(Array.from({ length: 5_000 }, () => source.next().value));
  await store.close();
  site.configure({ sections: "[home]\nid = 12" });
  const { url } = await site.run();
  const { out } = await site.lintel(
    ...["token", "create", "central", "--scope", "sync", "--home", "12", "--json", "--data", site.data],
  );
  writeFileSync(join(site.directory, "token"), JSON.parse(out).token, { mode: 0o600 });
  const list = join(site.directory, "gateways.toml");
  writeFileSync(
    list,
    `every = "1m"\n[[gateway]]\nhome = 12\nurl = "${new URL(url).origin}"\ntoken_file = "token"\n`,
  );
  return { site, list };
}

/** Readings at central while it runs, counted by its own command. */
async function heldBy(site: Site, place: CentralPlace): Promise<number> {
  const words = "directory" in place ? ["--data", place.directory] : ["--database", place.database];
  const { out } = await site.lintel("fleet", "--json", ...words);
  const [home] = JSON.parse(out === "" ? "[]" : out);
  return home === undefined || home.last_report_ms === null || home.backlog !== 0 ? -1 : readings;
}

async function pullThroughKills(place: CentralPlace, site: Site, list: string): Promise<void> {
  const random = seeded(9);
  const central = await CentralProcess.start(place, site.directory, ["--gateways", list]);
  // Each time a little later than what it does at its start, so that each has taken some of it.
  for (let kills = 0; kills < 6; kills += 1) {
    await Bun.sleep(below(random, 250));
    await central.restart();
  }
  for (let looks = 0; (await heldBy(site, place)) !== readings; looks += 1)
    if (looks > 60) throw new Error("central does not get to the end");
  await central.stop();
  const own = await openUploadStore({ directory: site.data, clock, log });
  const store = await openCentral(place, { clock, log });
  try {
    const [span] = await own.epochs();
    const request = {
      epoch: span?.epoch ?? "",
      through_seq: readings,
      from_ms: 0,
      before_ms: 1e14 - (1e14 % 86_400_000),
    };
    const text = async (from: Pick<typeof own, "digests">) =>
      (await from.digests(request))
        .map(({ series, address, day, count, hash }) => [series, address, day, count, hash].join(" "))
        .sort();
    expect(await text(store)).toEqual(await text(own));
    expect(await rowsAt(store)).toBe(readings);
  } finally {
    await own.close();
    await store.close();
  }
}

test("central that is killed again and again while it reads a gateway has every reading once (SQLite)", async () => {
  const { site, list } = await listedGateway();
  try {
    await pullThroughKills({ directory: join(site.directory, "central") }, site, list);
  } finally {
    await site.remove();
  }
}, 90_000);

test("central that is killed again and again while it reads a gateway has every reading once (PostgreSQL)", async () => {
  await using database = await (await postgresServer()).database();
  const { site, list } = await listedGateway();
  try {
    await pullThroughKills({ database: database.url }, site, list);
  } finally {
    await site.remove();
  }
}, 120_000);
