/**
 * A year of household life without a clock chip: is every reading there, in order, and dated within its bound?
 *
 *   ./scripts/trials year [--seed N] [--years N] [--days N]
 *
 * Boots without network, clocks that leap by years, changes of time zone, dongles that fail, processes that are killed,
 * all from one seed, through the real ingest and the real store. A fault ends it with exit 1 and prints the seed, which
 * brings the same year again.
 */

import { temporaryDirectory } from "../../../testbed/sample.ts";
import { figuresText } from "../../figures.ts";
import { optionsOf } from "../../program-options.ts";
import { live } from "./year/household-life.ts";

const {
  seed: first,
  years,
  days,
} = optionsOf(
  "./scripts/trials year [--seed N] [--years N] [--days N]   one household for each year, from seed N on",
  { seed: 1, years: 1, days: 365 },
);
const began_ms = performance.now();
const totals: Record<string, number> = {};
const worst_s: Record<string, number> = {};
for (let seed = first; seed < first + years; seed += 1) {
  using directory = temporaryDirectory();
  const { faults, counts, qualities } = await live({ seed, days, directory: directory.path });
  console.log(`seed ${seed}: ${days} days`);
  if (faults.length > 0) {
    for (const fault of faults) console.error(fault);
    console.error(`year: failed; ./scripts/trials year --seed ${seed} --days ${days} brings it again`);
    process.exit(1);
  }
  for (const [what, count] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + count;
  for (const [name, { count, worst_ms }] of Object.entries(qualities)) {
    totals[`stamps ${name}`] = (totals[`stamps ${name}`] ?? 0) + count;
    worst_s[name] = Math.max(worst_s[name] ?? 0, worst_ms / 1000);
  }
}
console.log(
  figuresText({
    "days lived": years * days,
    seconds: (performance.now() - began_ms) / 1000,
    ...totals,
    ...Object.fromEntries(
      Object.entries(worst_s).map(([name, off_s]) => [`stamps ${name} were off by at most, s`, off_s]),
    ),
  }),
);
