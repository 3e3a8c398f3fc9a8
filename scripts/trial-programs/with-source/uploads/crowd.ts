/**
 * 1,000 gateways upload one night at once to one central: none fails, none starves, central's memory is bounded
 *
 *   ./scripts/trials uploads crowd [--gateways 1000] [--database sqlite|postgres|URL] [--processes 4]
 *
 * Each gateway has 1,300 readings of days as the demo's in a store of its own in memory, and does all that `lintel upload` does: reports, readings,
 * comparison of the days, home records, files. All begin in the same second. At the end central must have every reading of every home exactly once. Both stores
 * without --database; a URL is that of an empty database, a cluster for example, which keeps what comes. Exits with 1 when anything is missed.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { day_ms } from "../../../../src/base/time.ts";
import type { CentralPlace } from "../../../../src/cli/store-place.ts";
import { linesOf } from "../../../../testbed/lines.ts";
import { quantile, Report, sum } from "../../../benchmarks/api/report.ts";
import {
  CentralServer,
  type Kept,
  keptIn,
  openStore,
  wordsOf,
} from "../../../benchmarks/with-source/central/central-server.ts";
import { optionsOf } from "../../../program-options.ts";
import type { CrowdOrder, HomeUpload } from "./crowd-gateways.ts";
import { nightOf } from "./home-night.ts";

const options = optionsOf(
  "./scripts/trials uploads crowd [--gateways 1000] [--database sqlite|postgres|URL] [--processes 4]",
  { gateways: 1_000, database: undefined, processes: 4 },
);
const time_ms_max = 100_000 * day_ms;
const sample_ms = 1_000;
/** Of central, whatever comes: its own 100 MB, 64 MiB of bodies that wait, and what is decoded of those under way. */
const memory_mb_max = 512;
/** A turn comes to everybody: nobody waits for many times as long as others. */
const last_times_median_max = 3;

const report = new Report();
const homes = Array.from({ length: options.gateways }, (_, index) => index + 1);
const given = options.database?.includes("://") ? options.database : undefined;
const kinds: readonly Kept[] =
  options.database === undefined
    ? ["sqlite", "postgres"]
    : [given === undefined ? (options.database as Kept) : "postgres"];
for (const kept of kinds) await night(kept);
process.exit(report.missed === 0 ? 0 : 1);

async function night(kept: Kept): Promise<void> {
  await using central = await CentralServer.start({ kept, homes, database: given });
  await importProgramme(central);
  const processes = Math.min(options.processes, homes.length);
  const crowds = Array.from({ length: processes }, (_, place) =>
    Crowd.start({
      origin: central.origin,
      homes: homes
        .filter((home) => home % processes === place)
        .map((home) => ({ home, token: central.tokens.get(home) ?? "" })),
    }),
  );
  await Promise.all(crowds.map((crowd) => crowd.ready()));
  const memory_mb = [central.resident_mb()];
  const timer = setInterval(() => void memory_mb.push(central.resident_mb()), sample_ms);
  const began_ms = performance.now();
  const uploads = (await Promise.all(crowds.map((crowd) => crowd.upload()))).flat();
  const took_s = (performance.now() - began_ms) / 1000;
  clearInterval(timer);
  memory_mb.push(central.resident_mb());
  await central.stop();
  tell(kept, { uploads, took_s, memory_mb });
  await compare(kept, central.place);
}

function tell(
  kept: Kept,
  { uploads, took_s, memory_mb }: { uploads: HomeUpload[]; took_s: number; memory_mb: number[] },
): void {
  const took = uploads.map(({ took_ms }) => took_ms / 1000).sort((one, other) => one - other);
  const sent = sum(uploads.map((one) => one.sent));
  const [median, last] = [quantile(took, 0.5), took.at(-1) ?? Number.NaN];
  const faults = uploads.flatMap(({ home, fault }) =>
    fault === undefined ? [] : [`home ${home}: ${fault}`],
  );
  report.note(
    `${uploads.length} gateways at once to central on ${keptIn[kept]}: ${sent} readings in ${took_s.toFixed(1)} s`,
  );
  report.note(
    `  the first took ${took[0]?.toFixed(1)} s, the median ${median.toFixed(1)}, p99 ${quantile(took, 0.99).toFixed(1)}, the last ${last.toFixed(1)}`,
  );
  report.note(
    `  told «later» ${sum(uploads.map(({ later }) => later))} times (at most ${Math.max(...uploads.map(({ later }) => later))} one gateway), requests that failed otherwise and were made again: ${sum(uploads.map(({ failed }) => failed))}`,
  );
  report.note(`  central's memory each second, MB: ${memory_mb.map((mb) => mb.toFixed(0)).join(" ")}`);
  for (const fault of faults.slice(0, 10)) report.note(`  ${fault}`);
  report.bar("uploads that failed", { value: faults.length, most: 0 });
  report.bar("days that differed", { value: sum(uploads.map((one) => one.differing_days)), most: 0 });
  report.bar("gateways without home records", {
    value: uploads.filter(({ records_bytes }) => records_bytes === 0).length,
    most: 0,
  });
  report.bar("the last upload took, times the median", { value: last / median, most: last_times_median_max });
  report.bar("MB of central's memory at most", { value: Math.max(...memory_mb), most: memory_mb_max });
}

/** Every reading of every home, by count and digest, and no other. */
async function compare(kept: Kept, place: CentralPlace): Promise<void> {
  const store = await openStore(place);
  let [wrong, readings] = [0, 0];
  for (const home of homes) {
    const gateway = nightOf(home);
    const { epoch, last_seq: through_seq } = gateway;
    const request = { epoch, through_seq, from_ms: 0, before_ms: time_ms_max };
    const words = (digests: ReturnType<typeof gateway.digests>) =>
      digests.map(({ series, address, day, count, hash }) => `${series} ${address} ${day} ${count} ${hash}`);
    const [here, there] = [gateway.digests(request), await store.digests(request)];
    if (
      words(here).sort().join() !==
      words([...there])
        .sort()
        .join()
    )
      wrong += 1;
    readings += through_seq;
  }
  const { items } = await store.overview();
  const rows = sum(items.flatMap(({ series }) => series.map(({ count }) => count)));
  await store.close();
  report.bar(`${keptIn[kept]}: homes whose readings are not there exactly once`, { value: wrong, most: 0 });
  report.bar(`${keptIn[kept]}: rows beyond the ${readings} readings`, {
    value: Math.abs(rows - readings),
    most: 0,
  });
}

/** A programme with a subject in every home, so that each has home records. */
async function importProgramme(central: CentralServer): Promise<void> {
  const document = {
    projects: [{ projectid: 1 }],
    homes: homes.map((homeid) => ({ homeid })),
    subjects: homes.map((subjectid) => ({ subjectid })),
    project_enrollments: homes.map((home) => ({ subjectid: home, projectid: 1, homeid: home, start: 10 })),
  };
  const file = join(central.site.directory, "programme.json");
  writeFileSync(file, JSON.stringify(document));
  const { code, said } = await central.site.lintel("import", file, "--new", ...wordsOf(central.place));
  if (code !== 0) throw new Error(`the programme was not imported: ${said}`);
}

/** A process of gateways. */
class Crowd {
  readonly #child: Subprocess<"pipe", "pipe", "inherit">;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: Subprocess<"pipe", "pipe", "inherit">) {
    this.#child = child;
    this.#lines = linesOf(child.stdout);
  }

  static start(order: CrowdOrder): Crowd {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "crowd-gateways.ts")], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    child.stdin.write(`${JSON.stringify(order)}\n`);
    void child.stdin.flush();
    return new Crowd(child);
  }

  async ready(): Promise<void> {
    const { value } = await this.#lines.next();
    if (value !== "ready") throw new Error(`gateways did not start: ${value}`);
  }

  async upload(): Promise<HomeUpload[]> {
    this.#child.stdin.write("go\n");
    void this.#child.stdin.flush();
    const { value } = await this.#lines.next();
    await this.#child.exited;
    return JSON.parse(value);
  }
}
