/**
 * A download by `lintel fetch` in which nothing is new, and the same of a server that lists no marks
 *
 *   ./scripts/bench fetch [--homes 5000] [--items 20] [--beside 100]
 *
 * Fills a central with homes of some sensors and a subject each, starts `lintel central` on it, and runs `lintel fetch` twice: the second run has nothing to receive.
 * Beside it stands the same with `--beside` homes, and a second time through a proxy that knows no marks, as servers were before: then everything is asked.
 * Exits with 1 when a bar is missed: 20 seconds for all homes, on either database.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "bun";
import postgres from "postgres";
import { fieldsOf, type RecordType, type StoredRecord } from "../../../src/domain/records/record-table.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../../src/store/inventory/record-store.ts";
import { optionsOf } from "../../program-options.ts";
import { Report } from "../api/report.ts";
import { CentralServer, type Kept, keptIn, seconds } from "./central/central-server.ts";
import { fillFleet } from "./central/fleet-data.ts";

/** Runs of `lintel fetch` into a directory that is gone at the end. */
class Downloads implements Disposable {
  readonly #central: CentralServer;
  readonly #directory = mkdtempSync(join(tmpdir(), "lintel-bench-fetch-"));

  constructor(central: CentralServer) {
    this.#central = central;
  }

  /** Seconds of a run, which has to receive so many readings. */
  run(origin: string, received: number): Promise<number> {
    return seconds(async () => {
      const told = await this.#central.site.answer(
        ...["fetch", "--url", origin, "--token", this.#central.readToken, "--json"],
        ...["--output", join(this.#directory, "data")],
      );
      if (told.received !== received) throw new Error(`${told.received} readings, and not ${received}`);
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }
}

const options = optionsOf("./scripts/bench fetch [--homes 5000] [--items 20] [--beside 100]", {
  homes: 5_000,
  items: 20,
  beside: 100,
});
const { items, beside } = options;
const report = new Report();
for (const kept of ["sqlite", "postgres"] as const) {
  await measure(kept, options.homes);
  await compare(kept);
}
process.exit(report.end());

/** Downloads all homes. */
async function measure(kept: Kept, homes: number): Promise<void> {
  await using central = await centralOf(kept, homes);
  using downloads = new Downloads(central);
  const first_s = await downloads.run(central.origin, homes * items);
  report.note(`${keptIn[kept]}: the first download of ${homes} homes: ${first_s.toFixed(1)} s`);
  report.bar(`${keptIn[kept]}: nothing new in ${homes.toLocaleString("en")} homes, seconds`, {
    value: await downloads.run(central.origin, 0),
    most: 20,
  });
}

/** Downloads some homes with marks and without. */
async function compare(kept: Kept): Promise<void> {
  await using central = await centralOf(kept, beside);
  await using proxy = withoutMarks(central.origin);
  const spent: number[] = [];
  for (const origin of [central.origin, proxy.url.origin]) {
    using downloads = new Downloads(central);
    await downloads.run(origin, beside * items);
    spent.push(await downloads.run(origin, 0));
  }
  const [ours = Number.NaN, figure = Number.NaN] = spent;
  report.beside(`${keptIn[kept]}: nothing new in ${beside} homes, seconds`, ours, {
    name: "asking for everything",
    figure,
  });
}

async function centralOf(kept: Kept, homes: number): Promise<CentralServer> {
  const central = await CentralServer.start({
    kept,
    homes: [],
    fill: async (store) => {
      await fillRecords(store, homes);
      await fillFleet(store, { homes, items, nights_of: 100, now_ms: Date.now() });
    },
  });
  if ("database" in central.place) {
    // PostgreSQL does it by itself within a minute; the servers of tests do not.
    const sql = postgres(central.place.database, { max: 1, onnotice: () => {} });
    await sql`VACUUM ANALYZE`;
    await sql.end();
  }
  return central;
}

async function fillRecords(store: CentralStore, homes: number): Promise<void> {
  const numbers = Array.from({ length: homes }, (_, place) => place + 1);
  await store.importRecords([
    numbers.map((homeid) => whole("homes", { homeid })),
    numbers.map((subjectid) => whole("subjects", { subjectid })),
    numbers.map((subjectid) => whole("phones", { subjectid, phoneid: 1, phone: "555" })),
  ]);
}

/** A record with all fields of its type. */
function whole(type: RecordType, given: StoredRecord): ImportedRecord {
  const absent = Object.fromEntries(fieldsOf(type).map((name) => [name, null]));
  return { type, record: { ...absent, ...given } };
}

/** A server in front of another that knows no marks. */
function withoutMarks(origin: string) {
  return serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.includes("/marks/")) return Response.json({ code: 1, message: "no" }, { status: 404 });
      return fetch(`${origin}${pathname}${search}`, { headers: request.headers, decompress: false });
    },
  });
}
