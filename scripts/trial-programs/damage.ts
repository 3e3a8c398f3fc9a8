/**
 * 1 % of the pages of a gateway's 1,000,000 events is overwritten: what does it serve within 60 s, and is all back after the next upload?
 *
 *   ./scripts/trials damage [--rows 1000000] [--pages 1] [--seed 1] [--seeds 3]
 *
 * Of the program that people start, whose readings are all at central. Any page may be hit; besides, three seeds of four aim at page 1, at another page of the
 * schema, or at all pages of a table that has no readings. The gateway ends where it has to be started again, and is, as
 * late as its unit does. Exits with 1 where less than 99.9 % of the readings on other pages is served within 60 s of the first start, it asks for a person, or anything is missing,
 * twice or out of order after the upload. --pages is in per cent.
 */

import { numbers } from "../../testbed/numbers.ts";
import { figuresText } from "../figures.ts";
import { optionsOf } from "../program-options.ts";
import { aims, type Damage, DamagedHome } from "./damage/trial.ts";

const {
  rows,
  pages: percent,
  seed,
  seeds,
} = optionsOf(
  "./scripts/trials damage [--rows 1000000] [--pages 1] [--seed 1] [--seeds 3]   rows by 5,000",
  { rows: 1_000_000, pages: 1, seed: 1, seeds: 3 },
  ({ rows, pages, seed, seeds }) =>
    [rows, seed, seeds].every(Number.isInteger) && rows >= 10_000 && rows % 5_000 === 0 && pages > 0,
);
const done: Damage[] = [];
await using home = await DamagedHome.furnished(rows);
for (let one = seed; one < seed + seeds; one += 1) {
  const aim = aims[one % aims.length] ?? "nothing";
  const damage = await home.damage({ share: percent / 100, aim, seed: one, random: randomOf(one) });
  done.push(damage);
  const { pages, hit, mended, seconds, saved, undamaged, others, faults } = damage;
  console.log(
    `  seed ${one}, aimed at ${aim}: ${pages} pages with ${hit} readings, mended by ${mended}, ${seconds.toFixed(1)} s, ${saved} of ${undamaged} others served${others.length === 0 ? "" : `; also hit: ${others.join(", ")}`}`,
  );
  for (const fault of faults) console.error(`damage: ${fault}`);
}
const least = Math.min(...done.map(({ saved, undamaged }) => Math.min(100, (100 * saved) / undamaged)));
const slowest_s = Math.max(...done.map(({ seconds }) => seconds));
const itself = done.filter(({ mended }) => mended === "itself").length;
const faults = done.reduce((sum, one) => sum + one.faults.length, 0);
console.log(
  figuresText({
    "readings, all at central": rows,
    "pages overwritten, each time": done[0]?.pages ?? 0,
    times: done.length,
    ...Object.fromEntries(
      aims
        .slice(1)
        .map((aim) => [
          `of these with ${aim} among the pages on purpose`,
          done.filter((one) => one.aim === aim).length,
        ]),
    ),
    "mended by the gateway itself": itself,
    "readings on other pages that were served, at least": `${(Math.floor(least * 1000) / 1000).toFixed(3)} %`,
    "seconds from the first start until they were served, at most": slowest_s,
    "times that anything was missing, twice or out of order after the upload": faults,
  }),
);
process.exitCode = faults === 0 && itself === done.length && least >= 99.9 && slowest_s <= 60 ? 0 : 1;

/** The first numbers of small seeds are all small: these are left out. */
function randomOf(seed: number): () => number {
  const random = numbers(seed);
  for (let left_out = 0; left_out < 100; left_out += 1) random();
  return random;
}
