/**
 * 100,000 random requests to a running server, every version, every answer held to its contract
 *
 *   ./scripts/trials requests random [--requests 100000] [--seed 1] [--at-once 16]
 *
 * Methods, paths, queries, headers and tokens are drawn, right and wrong. The server is a process of its own on a
 * real store, into which readings arrive meanwhile. Exits with 1 when an answer is not what the order of checks or
 * the contract says, any has a status from 500 on, the log warns of anything, or the server does not end cleanly, as after
 * a rejection that nobody handled.
 */

import type { Known } from "../../../../testbed/programme.ts";
import { residentOf } from "../../../benchmarks/api/process-usage.ts";
import { figuresText } from "../../../figures.ts";
import { optionsOf } from "../../../program-options.ts";
import { faultsOf, Trials, trialText } from "./random-requests.ts";

const {
  requests,
  seed,
  "at-once": at_once,
} = optionsOf("./scripts/trials requests random [--requests 100000] [--seed 1] [--at-once 16]", {
  requests: 100_000,
  seed: 1,
  "at-once": 16,
});
const faultsShown_max = 20;

const server = Bun.spawn([process.execPath, new URL("server.ts", import.meta.url).pathname], {
  stdout: "pipe",
  stderr: "pipe",
});
const warnings = new Response(server.stderr).text();
const { origin, known } = await firstLine(server.stdout);
console.log(`${requests} requests from seed ${seed} to ${origin}, process ${server.pid}`);

const trials = new Trials({ seed, known });
const statuses = new Map<number, number>();
const wrong: string[] = [];
let sent = 0;
const memory_start_mb = residentOf(server.pid);
const start_ns = Bun.nanoseconds();
await Promise.all(Array.from({ length: at_once }, work));
const seconds = (Bun.nanoseconds() - start_ns) / 1e9;

const running = server.exitCode === null;
const memory_end_mb = running ? residentOf(server.pid) : "unknown";
server.kill("SIGTERM");
const exit = await server.exited;
const warned = await warnings;

console.log(
  figuresText({
    "random requests": sent,
    ...Object.fromEntries(
      [...statuses]
        .sort(([one], [other]) => one - other)
        .map(([status, count]) => [`answered ${status}`, count]),
    ),
    seconds,
    "memory at the start, MB": memory_start_mb,
    "memory at the end, MB": memory_end_mb,
    "wrong answers": wrong.length,
  }),
);
for (const line of wrong.slice(0, faultsShown_max)) console.error(line);
if (warned !== "") console.error(`the server said:\n${warned.slice(0, 4000)}`);
const broken = [...statuses].filter(([status]) => status >= 500).length > 0;
const failed = !running || exit !== 0 || broken || warned !== "" || wrong.length > 0 || sent !== requests;
console.log(
  failed
    ? `failed: ${wrong.length} wrong answers, server ${running ? `ended with ${exit} when told to` : "ended by itself"}`
    : "every answer was right, no status from 500 on, and the server ended cleanly when told to",
);
process.exit(failed ? 1 : 0);

async function work(): Promise<void> {
  while (sent < requests && server.exitCode === null) {
    sent += 1;
    const trial = trials.next();
    try {
      const { status, faults } = await faultsOf(trial, origin);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (faults.length > 0) wrong.push(`${trialText(trial)}: ${faults.join("; ")}`);
    } catch (thrown) {
      wrong.push(`${trialText(trial)}: no answer (${thrown})`);
    }
  }
}

async function firstLine(stdout: ReadableStream<Uint8Array>): Promise<{ origin: string; known: Known }> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) return JSON.parse(text);
  }
  throw new Error(`the server did not start: ${await warnings}`);
}
