import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { type CentralPlace, openCentral } from "../../../src/cli/store-place.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { Site } from "../../../testbed/front-door.ts";
import { homeReadings } from "../../../testbed/home-readings.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { below, keptLog, seeded } from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { CentralProcess } from "../../../testbed/uploader-processes.ts";
import { testAtNight } from "../../at-night.ts";
import { rowsAt } from "./pulled-home.ts";

const readings = 60_000;
const kills_max = nightly ? 6 : 3;
const clock = new SystemClock();
const { log } = keptLog("error");

/** Passes requests on to a server, and says when so many batches have been asked for. */
class Relay {
  readonly #server: Bun.Server<undefined>;
  #left = Number.POSITIVE_INFINITY;
  #reached = () => {};

  constructor(origin: string) {
    this.#server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => {
        const { pathname, search } = new URL(request.url);
        if (pathname.endsWith("/batches")) {
          this.#left -= 1;
          if (this.#left === 0) this.#reached();
          // This one stays without an answer.
          if (this.#left <= 0) return new Promise<Response>(() => {});
        }
        return fetch(origin + pathname + search, { headers: request.headers, decompress: false });
      },
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Resolves when a batch is asked for the `number`th time from now on; no more are answered then, until `passAll`. */
  batchAsked(number: number): Promise<void> {
    this.#left = number;
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  passAll(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
  }
}

interface Listed extends AsyncDisposable {
  readonly site: Site;
  readonly relay: Relay;
  /** The path of the list. */
  readonly list: string;
}

/** A gateway with a backlog, as a process, and a list that names it. */
async function listedGateway(): Promise<Listed> {
  const site = new Site();
  const source = homeReadings(seeded(4), Date.UTC(2026, 9, 1));
  const store = await openGatewayStore({ directory: site.data, clock, log, home: 12, ...writerOfTests() });
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
  const relay = new Relay(new URL(url).origin);
  writeFileSync(
    list,
    `every = "1m"\n[[gateway]]\nhome = 12\nurl = "${relay.origin}"\ntoken_file = "token"\n`,
  );
  return {
    ...{ site, relay, list },
    async [Symbol.asyncDispose]() {
      await site.remove();
      await relay[Symbol.asyncDispose]();
    },
  };
}

/** Readings at central while it runs, counted by its own command. */
async function heldBy(site: Site, place: CentralPlace): Promise<number> {
  const words = "directory" in place ? ["--data", place.directory] : ["--database", place.database];
  const { out } = await site.lintel("fleet", "--json", ...words);
  const [home] = JSON.parse(out === "" ? "[]" : out);
  return home === undefined || home.last_report_ms === null || home.backlog !== 0 ? -1 : readings;
}

async function pullThroughKills(place: CentralPlace, { site, relay, list }: Listed): Promise<void> {
  const random = seeded(9);
  let asked = relay.batchAsked(2);
  const central = await CentralProcess.start(place, site.directory, ["--gateways", list]);
  // Each time it is killed while it asks for a batch and may still be writing the one before: none of its lives gets to the end.
  for (let kills = 0; kills < kills_max; kills += 1) {
    await asked;
    asked = relay.batchAsked(1 + below(random, 3));
    if (kills === kills_max - 1) relay.passAll();
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
  await using listed = await listedGateway();
  await pullThroughKills({ directory: join(listed.site.directory, "central") }, listed);
});

testAtNight(
  "central that is killed again and again while it reads a gateway has every reading once (PostgreSQL)",
  async () => {
    await using database = await (await postgresServer()).database();
    await using listed = await listedGateway();
    await pullThroughKills({ database: database.url }, listed);
  },
);
