import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import postgres from "postgres";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { type Data, madeData } from "../api/data.ts";
import { Gateway } from "../api/gateway.ts";
import { type Load, loadOf } from "../api/load.ts";
import { LivePages, pathOf } from "../api/repeated-pages.ts";
import { quantile, type Report } from "../api/report.ts";
import { startCommand } from "../api/server-process.ts";
import { fastifyServer } from "./fastify.ts";

/**
 * Pages of 1,000 records over loopback from `lintel run` with its token, links and tags; from Fastify with better-sqlite3, and from Bun and PostgreSQL, which encodes
 * them itself, with none of these; and the bytes of a page from the memory of a server that does nothing else, which nothing can pass. The same 1,000,000 events, 16
 * connections, in turns.
 */
export async function pages(report: Report, { quick }: { quick: boolean }): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-pages-"));
  try {
    const data = await madeData({ directory, events: quick ? 100_000 : 1_000_000, items: 20 });
    await compare({
      data,
      directory,
      report,
      ...(quick ? { rounds: 1, seconds: 1 } : { rounds: 3, seconds: 5 }),
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function compare(options: {
  data: Data;
  directory: string;
  report: Report;
  rounds: number;
  seconds: number;
}): Promise<void> {
  const { data, directory, report, rounds, seconds } = options;
  await using gateway = await Gateway.start(data.store);
  await using database = await (await postgresServer()).database();
  await copyEvents(data, database.url);
  const file = join(directory, "page.json");
  const known = pathOf(data.pages[0] ?? { item: 1, before_s: 0 });
  await Bun.write(file, await (await gateway.ask(known)).bytes());
  const program = join(import.meta.dir, "page-server.ts");
  const other = await startCommand([process.execPath, program, database.url, file]);
  const { port } = other.said as { port: number };
  const fastify = await fastifyServer(data, report);
  try {
    const live = new LivePages(data, gateway);
    const asked = data.pages.map(({ item, before_s }) => get(`/events/${item}?before=${before_s}`));
    const sides: Record<string, () => Promise<Load>> = {
      live: () => live.load("", seconds),
      repeated: () => loadOf({ port: gateway.port, seconds, requests: [gateway.get(known)] }),
      ...(fastify && { fastify: () => loadOf({ port: fastify.port, seconds, requests: asked }) }),
      postgres: () => loadOf({ port, seconds, requests: asked }),
      static: () => loadOf({ port, seconds, requests: [get("/static")] }),
    };
    const loads: Record<string, Load[]> = {};
    // The first round warms up.
    for (let round = 0; round <= rounds; round += 1)
      for (const [side, load] of Object.entries(sides)) {
        const done = await load();
        if (done.bytes_per_request < page_bytes_min) throw new Error(`${side} serves less than a page`);
        if (round > 0) loads[side] = [...(loads[side] ?? []), done];
      }
    tell(report, loads, fastify?.name);
  } finally {
    await fastify?.stop();
    await other.stop();
  }
}

function tell(report: Report, loads: Readonly<Record<string, readonly Load[]>>, fastify = "Fastify"): void {
  const names: Record<string, string> = {
    fastify,
    postgres: "Bun and json_agg of PostgreSQL",
    static: "static bytes from Bun.serve",
  };
  const rate = (side: string) =>
    quantile(
      (loads[side] ?? []).map(({ requests_per_s }) => requests_per_s),
      0.5,
    );
  const took = (side: string, q: number) =>
    quantile(
      (loads[side] ?? []).flatMap(({ took_ms }) => took_ms),
      q,
    );
  const others = ["fastify", "postgres", "static"].filter((side) => Object.hasOwn(loads, side));
  for (const [ours, what] of Object.entries({
    live: "page never asked before",
    repeated: "page asked again",
  })) {
    for (const other of others) {
      const name = names[other] ?? other;
      report.beside(`${what}, a second`, rate(ours), { name, figure: rate(other) });
      if (other === "static") continue;
      report.beside(`${what}, 99 of 100, ms`, took(ours, 0.99), { name, figure: took(other, 0.99) });
    }
  }
}

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`;
}

/** Copies the events of the rowid table, with an index in the order of pages. */
async function copyEvents(data: Data, url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`CREATE TABLE events (item integer NOT NULL, stamp bigint NOT NULL, event integer NOT NULL)`;
  const rowid = new Database(data.rowid, { readonly: true });
  const rows = rowid.query<{ item: number; stamp: number; event: number }, []>(
    "SELECT item, stamp, event FROM events",
  );
  const lines = function* () {
    for (const { item, stamp, event } of rows.iterate()) yield `${item}\t${stamp}\t${event}\n`;
  };
  await pipeline(Readable.from(lines()), await sql`COPY events (item, stamp, event) FROM STDIN`.writable());
  rowid.close();
  await sql`CREATE INDEX ON events (item, stamp DESC) INCLUDE (event)`;
  await sql`VACUUM (ANALYZE) events`;
  await sql.end();
}

/** Of 1,000 records in JSON. */
const page_bytes_min = 25_000;
