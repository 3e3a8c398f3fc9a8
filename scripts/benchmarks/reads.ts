/**
 * How long pages take while a gateway hears its sensors, writes its log back and uploads, beside the same gateway at rest
 *
 *   ./scripts/bench reads [--events 1000000] [--rounds 5] [--seconds 10] [--per-s 100] [--slow]
 *
 * Clients ask at moments that do not depend on answers, and a page's time counts from the moment at which it was due. The states come in turns, round after round. The
 * box (the gateway, and the upload as its unit has it) has one core, and the world (stick, clients, central) another. --slow has
 * each synchronisation of the box's files take 100 ms more, as on a slow SD card. Exits with 1 where 99 of 100
 * pages take more than twice as long as at rest.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { optionsOf } from "../program-options.ts";
import { madeData } from "./api/data.ts";
import { quantile } from "./api/report.ts";
import { atRest, burdens, type Span } from "./reads/burdens.ts";
import { MeasuredHome } from "./reads/home.ts";

const {
  events,
  rounds,
  seconds,
  "per-s": per_s,
  slow,
} = optionsOf(
  "./scripts/bench reads [--events 1000000] [--rounds 5] [--seconds 10] [--per-s 100] [--slow]   events by 100,000",
  { events: 1_000_000, rounds: 5, seconds: 10, "per-s": 100, slow: false },
  (given) =>
    [given.events, given.rounds, given.seconds, given["per-s"]].every((value) => value > 0) &&
    given.events % 100_000 === 0,
);

if (availableParallelism() < 2) {
  console.error("the box and the world need a core each");
  process.exit(2);
}

const ratio_max = 2;
const settling_ms = 1_000;
const warming_ms = 10_000;
const directory = mkdtempSync(join(tmpdir(), "lintel-bench-reads-"));
const took = new Map<string, { ms: number[]; spans: number }>();
let home: MeasuredHome | undefined;
try {
  home = await MeasuredHome.start(await madeData({ directory, events, items: 20 }), { slow });
  await asked(home, () => Bun.sleep(warming_ms));
  for (let round = 1; round <= rounds; round += 1) {
    for (const burden of burdens) {
      const { done, times } = await asked(home, () => burden(home as MeasuredHome, seconds));
      for (const { name, spans } of done) {
        const state = took.get(name) ?? { ms: [], spans: 0 };
        took.set(name, state);
        state.spans += spans.length;
        for (const [due_ms, took_ms] of times)
          if (spans.some(([from_ms, to_ms]: Span) => due_ms >= from_ms && due_ms < to_ms))
            state.ms.push(took_ms);
      }
      await Bun.sleep(settling_ms);
    }
    console.log(`round ${round}`);
  }
} finally {
  await home?.close();
  rmSync(directory, { recursive: true, force: true });
}

/** Does something while clients ask. */
async function asked<Done>(at: MeasuredHome, work: () => Promise<Done>) {
  const end = at.ask(per_s);
  await Bun.sleep(settling_ms);
  const done = await work();
  return { done, times: await end() };
}

const rest = took.get(atRest)?.ms ?? [];
const shown = (value: number) => value.toFixed(value < 100 ? 2 : 0);
console.log(
  [
    "| while | times | pages | median, ms | 99 of 100, ms | the slowest, ms | 99 of 100, beside at rest |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
  ].join("\n"),
);
for (const [name, { ms, spans }] of took) {
  const ratio = quantile(ms, 0.99) / quantile(rest, 0.99);
  if (!(ratio <= ratio_max)) process.exitCode = 1;
  const bound =
    name === atRest ? "" : `${shown(ratio)} (at most ${ratio_max}${ratio <= ratio_max ? "" : ", missed"})`;
  const times = [0.5, 0.99, 1].map((q) => shown(quantile(ms, q)));
  console.log(`| ${[name, spans, ms.length.toLocaleString("en"), ...times, bound].join(" | ")} |`);
}
