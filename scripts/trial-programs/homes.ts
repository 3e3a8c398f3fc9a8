/**
 * 200 homes that overlap, move, lie and replay, 1,000,000 random calls: is anything of one ever shown as another's, or lost?
 *
 *   ./scripts/trials homes [--calls 1000000] [--homes 200] [--seed N] [--database sqlite|postgres] [--in-flight 24]
 *
 * Central is the one that people start; homes/model.ts says what it has to answer. The same seed makes the same calls; with --in-flight 1 in
 * the same order too. Ctrl-C ends the calls, and the account is made of what there is. Exits with 1 at any fault, and says how to make it again.
 */
import { parseArgs } from "node:util";
import { figuresText } from "../figures.ts";
import { tryHomes } from "./homes/run.ts";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000000" },
    homes: { type: "string", default: "200" },
    seed: { type: "string" },
    database: { type: "string", default: "sqlite" },
    "in-flight": { type: "string", default: "24" },
    help: { type: "boolean" },
  },
});
const { database } = values;
const [calls, homes, in_flight] = [values.calls, values.homes, values["in-flight"]].map(Number) as [
  number,
  number,
  number,
];
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const fits = [calls, homes, in_flight, seed].every(Number.isInteger) && homes >= 7;
if (values.help || !fits || (database !== "sqlite" && database !== "postgres")) {
  console.log(
    "./scripts/trials homes [--calls 1000000] [--homes 200, at least 7] [--seed N] [--database sqlite|postgres] [--in-flight 24]",
  );
  process.exit(values.help ? 0 : 2);
}
const again = `./scripts/trials homes --calls ${calls} --homes ${homes} --seed ${seed} --database ${database} --in-flight ${in_flight}`;
console.log(again);
const began_ms = performance.now();
const ended = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (signal === "SIGTERM" || ended.signal.aborted) process.exit(130);
    console.log("  no more calls: the account follows, unless Ctrl-C comes again");
    ended.abort();
  });
const onProgress = (line: string) => console.log(`  ${line}`);
try {
  const { faults, ...counts } = await tryHomes({
    calls,
    homes,
    seed,
    database,
    in_flight,
    onProgress,
    stop: ended.signal,
  });
  const { foreign, lost, wrong } = faults;
  const took_s = ((performance.now() - began_ms) / 1000).toFixed(0);
  console.log(
    figuresText({
      homes,
      "random calls": counts.calls,
      imports: counts.imports,
      "readings sent": counts.sent,
      "of them shown as an item's": counts.shown,
      "told to come later": counts.later,
      "connections lost": counts.cut,
      "pages of an uncertain moment": counts.uncertain,
      seconds: took_s,
      "answers with something of another home": foreign,
      "answers that lack something": lost,
      "answers otherwise wrong": wrong,
    }),
  );
  if (foreign + lost + wrong > 0) throw new Error(`${foreign + lost + wrong} faults`);
} catch (thrown) {
  console.error(`homes: ${thrown instanceof Error ? thrown.message : thrown}; again by ${again}`);
  process.exitCode = 1;
}
process.exit();
