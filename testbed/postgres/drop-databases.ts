import { dropFrom, givenUrl, nodesOf, runOn } from "./given-server.ts";

// Waits for the end of its standard input, and drops the databases of the tests' server whose names begin with the given word, on each of its nodes.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
for await (const _ of Bun.stdin.stream());
const prefix = process.argv[2];
const nodes = await nodesOf(givenUrl ?? "");
const left = new Set<string>();
for (const node of nodes) {
  const rows = await runOn(node, `SELECT datname FROM pg_database WHERE datname LIKE '${prefix}\\_%'`);
  for (const { datname } of rows) left.add(String(datname));
}
for (const database of left) await dropFrom(nodes, database);
