import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Data } from "../api/data.ts";
import type { Report } from "../api/report.ts";
import { startCommand } from "../api/server-process.ts";

/** Fastify on Node, serving pages of the rowid table at `/events/{item}?before=`. */
export interface FastifyServer {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Installs the newest Fastify and better-sqlite3 that this machine's Node runs, once, beside other temporary
 * files, and starts them on the rowid table. Where better-sqlite3 can be neither downloaded nor built, Node's own
 * SQLite takes its place; without Node and npm there is no comparison. Both are said.
 */
export async function fastifyServer(data: Data, report: Report): Promise<FastifyServer | undefined> {
  if (Bun.which("node") === null || Bun.which("npm") === null) {
    report.absent("Fastify", "sudo apt-get install nodejs npm; npm then installs it");
    return undefined;
  }
  const directory = join(tmpdir(), "lintel-bench-fastify");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{ "private": true }\n');
  if (!install(directory, "fastify")) {
    report.absent("Fastify", "npm could not install it");
    return undefined;
  }
  const driver = install(directory, "better-sqlite3") ? "better-sqlite3" : "node:sqlite";
  if (driver === "node:sqlite")
    report.note("better-sqlite3 could be neither downloaded nor built: Node's own SQLite takes its place");
  const script = join(directory, "server.cjs");
  writeFileSync(script, serverSource(driver));
  const started = await startCommand(["node", script, data.rowid]);
  const { port, versions } = started.said as { port: number; versions: string };
  return { name: versions, port, pid: started.pid, stop: started.stop };
}

/** Whether the package is there and loads. */
function install(directory: string, name: string): boolean {
  const loads = () =>
    Bun.spawnSync(
      ["node", "-e", `const it = require("${name}"); if ("${name}" !== "fastify") new it(":memory:")`],
      {
        cwd: directory,
        stderr: "ignore",
      },
    ).success;
  if (loads()) return true;
  console.log(`installing ${name} for Node in ${directory}, once`);
  // The headers of a Node from a distribution's package: node-gyp would download them.
  const headers = existsSync("/usr/include/node/node.h") ? { npm_config_nodedir: "/usr" } : {};
  Bun.spawnSync(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", name], {
    cwd: directory,
    env: { ...process.env, ...headers },
    stdout: "ignore",
    stderr: "ignore",
    timeout: install_ms_max,
  });
  return loads();
}

const install_ms_max = 600_000;

function serverSource(driver: "better-sqlite3" | "node:sqlite"): string {
  const open =
    driver === "better-sqlite3"
      ? 'new (require("better-sqlite3"))(process.argv[2], { readonly: true })'
      : 'new (require("node:sqlite").DatabaseSync)(process.argv[2], { readOnly: true })';
  const version = driver === "better-sqlite3" ? 'require("better-sqlite3/package.json").version' : '""';
  return `const database = ${open};
const select = database.prepare(
  "SELECT stamp, event FROM events WHERE item = ? AND stamp < ? ORDER BY stamp DESC LIMIT 1000");
const app = require("fastify")();
app.get("/events/:item", (request, reply) =>
  reply.send(select.all(Number(request.params.item), Number(request.query.before))));
app.listen({ port: 0, host: "127.0.0.1" }).then(() => console.log(JSON.stringify({
  port: app.server.address().port,
  versions: "Fastify " + app.version + ", ${driver} " + ${version} + ", Node " + process.versions.node.split(".")[0],
})));
process.on("SIGTERM", () => process.exit());
`;
}
