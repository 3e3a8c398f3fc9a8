import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import postgres from "postgres";
import type { MachineSize } from "../../../testbed/front-door.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { type Data, madeData } from "../api/data.ts";
import { Gateway } from "../api/gateway.ts";
import { type Load, loadOf } from "../api/load.ts";
import { parentOf, processorOf } from "../api/process-usage.ts";
import { LivePages, pathOf } from "../api/repeated-pages.ts";
import { quantile, type Report, sum } from "../api/report.ts";
import { startCommand } from "../api/server-process.ts";
import { fastifyServer } from "./fastify.ts";

/**
 * Pages of 1,000 records over loopback from `lintel run` with its token, links and tags; from Fastify with better-sqlite3, and from Bun and PostgreSQL, which encodes
 * them itself, with none of these; and the bytes of a page from the memory of a server that does nothing else, which nothing can pass. The same 1,000,000 events, 16
 * connections, in turns. The processor's time is that of all processes of a side.
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

/** Gateways as on a machine with 4 GB of memory, and with 1 GB: the launcher gives each its runtime. */
const gateways: Readonly<Record<string, MachineSize>> = { live: "large", small: "small" };

/** One side of the comparison: how it is loaded, and the processes whose children count with them. */
interface Side {
  readonly load: () => Promise<Load>;
  readonly pids: readonly number[];
}

interface Measured extends Load {
  readonly processor_us: number;
}

async function compare(options: {
  data: Data;
  directory: string;
  report: Report;
  rounds: number;
  seconds: number;
}): Promise<void> {
  const { data, directory, report, rounds, seconds } = options;
  await using stack = new AsyncDisposableStack();
  const sides: Record<string, Side> = {};
  for (const [name, machine] of Object.entries(gateways)) {
    const store = join(directory, name);
    cpSync(data.store, store, { recursive: true });
    const gateway = stack.use(await Gateway.start(store, machine));
    const live = new LivePages(data, gateway);
    sides[name] = { load: () => live.load("", seconds), pids: [gateway.pid] };
    if (name !== "live") continue;
    const known = pathOf(data.pages[0] ?? { item: 1, before_s: 0 });
    await Bun.write(join(directory, "page.json"), await (await gateway.ask(known)).bytes());
    sides["repeated"] = {
      load: () => loadOf({ port: gateway.port, seconds, requests: [gateway.get(known)] }),
      pids: [gateway.pid],
    };
  }
  const database = stack.use(await (await postgresServer()).database());
  const server_pid = await copyEvents(data, database.url);
  const program = join(import.meta.dir, "page-server.ts");
  const other = await startCommand([process.execPath, program, database.url, join(directory, "page.json")]);
  stack.defer(() => other.stop());
  const { port } = other.said as { port: number };
  const fastify = await fastifyServer(data, report);
  stack.defer(async () => fastify?.stop());
  const asked = data.pages.map(({ item, before_s }) => get(`/events/${item}?before=${before_s}`));
  if (fastify)
    sides["fastify"] = {
      load: () => loadOf({ port: fastify.port, seconds, requests: asked }),
      pids: [fastify.pid],
    };
  sides["postgres"] = {
    load: () => loadOf({ port, seconds, requests: asked }),
    pids: [other.pid, server_pid],
  };
  sides["static"] = {
    load: () => loadOf({ port, seconds, requests: [get("/static")] }),
    pids: [other.pid],
  };
  const loads: Record<string, Measured[]> = {};
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, side] of Object.entries(sides)) {
      const done = await measured(side);
      if (done.bytes_per_request < page_bytes_min) throw new Error(`${name} serves less than a page`);
      if (round > 0) loads[name] = [...(loads[name] ?? []), done];
    }
  tell(report, loads, fastify?.name);
}

async function measured({ load, pids }: Side): Promise<Measured> {
  const processor_s = () => sum(pids.map(processorOf));
  const before_s = processor_s();
  const done = await load();
  return { ...done, processor_us: ((processor_s() - before_s) * 1e6) / done.requests };
}

function tell(
  report: Report,
  loads: Readonly<Record<string, readonly Measured[]>>,
  fastify = "Fastify",
): void {
  const names: Record<string, string> = {
    fastify,
    postgres: "Bun and json_agg of PostgreSQL",
    static: "static bytes from Bun.serve",
  };
  const middle = (side: string, of: (load: Measured) => number) => quantile((loads[side] ?? []).map(of), 0.5);
  const took = (side: string, q: number) =>
    quantile(
      (loads[side] ?? []).flatMap(({ took_ms }) => took_ms),
      q,
    );
  const others = ["fastify", "postgres", "static"].filter((side) => Object.hasOwn(loads, side));
  for (const [ours, { what, least }] of Object.entries(asking))
    for (const other of others) {
      const name = names[other] ?? other;
      const used = (side: string) => middle(side, ({ processor_us }) => processor_us);
      const value = used(other) / used(ours);
      const figures = [`${used(ours).toFixed(0)} µs`, `${used(other).toFixed(0)} µs (${name})`] as const;
      const bound = least[other];
      if (bound !== undefined)
        report.bar(`${what}, processor, beside ${name}`, { value, least: bound, of: figures });
      else report.beside(`${what}, processor, µs`, used(ours), { name, figure: used(other) });
      const rate = (side: string) => middle(side, ({ requests_per_s }) => requests_per_s);
      report.beside(`${what}, a second`, rate(ours), { name, figure: rate(other) });
      if (other === "static") continue;
      report.beside(`${what}, 99 of 100, ms`, took(ours, 0.99), { name, figure: took(other, 0.99) });
    }
  report.figure(
    "page never asked before, of a gateway as on a machine with 1 GB, processor, µs",
    middle("small", ({ processor_us }) => processor_us),
  );
}

/** The pages that are compared, and how many times the processor of another side one may take at most. */
const asking: Readonly<Record<string, { what: string; least: Readonly<Record<string, number>> }>> = {
  live: { what: "page never asked before", least: { fastify: 5, postgres: 3 } },
  repeated: { what: "page asked again", least: { fastify: 12 } },
};

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`;
}

/** Copies the events of the rowid table, with an index in the order of pages; the process of the server. */
async function copyEvents(data: Data, url: string): Promise<number> {
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
  const [backend] = await sql`SELECT pg_backend_pid() AS pid`;
  // Every connection has a process, whose parent is the server.
  const server_pid = parentOf(backend?.["pid"]);
  await sql.end();
  return server_pid;
}

/** Of 1,000 records in JSON. */
const page_bytes_min = 25_000;
