/**
 * 200 homes that overlap, move, lie and replay, 1,000,000 random calls: is anything of one ever shown as another's, or lost?
 *
 *   ./scripts/trials homes calls [--calls 1000000] [--homes 200] [--seed N] [--database sqlite|postgres] [--in-flight 24]
 *
 * Central is the one that people start; homes/model.ts says what it has to answer. The same seed makes the same calls; with --in-flight 1 in
 * the same order too. Ctrl-C ends the calls, and the account is made of what there is. Exits with 1 at any fault, and says how to make it again.
 */
import { figuresText } from "../../figures.ts";
import { optionsOf } from "../../program-options.ts";
import type { Kept } from "./central.ts";
import { tryHomes } from "./run.ts";

const {
  calls,
  homes,
  seed,
  database,
  "in-flight": in_flight,
} = optionsOf(
  "./scripts/trials homes calls [--calls 1000000] [--homes 200, at least 7] [--seed N] [--database sqlite|postgres] [--in-flight 24]",
  {
    calls: 1_000_000,
    homes: 200,
    seed: Math.floor(Math.random() * 2 ** 31),
    database: "sqlite",
    "in-flight": 24,
  },
  ({ calls, homes, seed, database, "in-flight": in_flight }) =>
    [calls, homes, in_flight, seed].every(Number.isInteger) &&
    homes >= 7 &&
    /^(sqlite|postgres)$/.test(database),
);
const again = `./scripts/trials homes calls --calls ${calls} --homes ${homes} --seed ${seed} --database ${database} --in-flight ${in_flight}`;
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
    database: database as Kept,
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
