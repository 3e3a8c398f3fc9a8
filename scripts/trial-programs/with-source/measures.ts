/**
 * The error of every derived measure against a simulated household, whose life is known: a year with power cuts, visitors, strangers on the scale, empty batteries and changes of the clocks
 *
 *   ./scripts/trials measures [--months 12] [--seed 1]
 *
 * Each month is recorded in a store of its own, as the devices of the demo tell it. Exits with 1 where a measure tells a number that nobody could know.
 */
import { quartilesOf } from "../../../src/domain/derived/quartiles.ts";
import { optionsOf } from "../../program-options.ts";
import { addErrors, type Tallies, type Tally } from "./measures/errors.ts";
import { withMonth } from "./measures/simulated-month.ts";

const { months, seed } = optionsOf("./scripts/trials measures [--months 12] [--seed 1]", {
  months: 12,
  seed: 1,
});
// The household lives by the zone of this process.
const zone = "Europe/Berlin";
process.env["TZ"] = zone;
const tallies: Tallies = new Map();
for (let month = 0; month < months; month += 1) {
  await withMonth({ year: 2026, month, seed: seed + month * 100, zone }, (one) => addErrors(one, tallies));
  console.log(`  month ${month + 1} of ${months}`);
}
console.log("| measure | known | unknown | mean error | half within | 95 % within | guessed |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const [what, tally] of tallies) console.log(`| ${[what, ...cellsOf(tally)].join(" | ")} |`);
const guessed = [...tallies.values()].reduce((sum, tally) => sum + tally.guessed, 0);
if (guessed > 0) console.error(`measures: ${guessed} numbers that nobody could know`);
process.exitCode = guessed > 0 ? 1 : 0;

function cellsOf({ errors, unknown, guessed }: Tally): string[] {
  const text = (value: number) => value.toLocaleString("en-US", { maximumSignificantDigits: 2 });
  const mean = errors.reduce((sum, one) => sum + one, 0) / errors.length;
  const sizes = errors.map(Math.abs).toSorted((one, other) => one - other);
  const most = sizes[Math.ceil(0.95 * sizes.length) - 1] ?? Number.NaN;
  const all = errors.length === 0 ? ["–", "–", "–"] : [mean, quartilesOf(sizes)?.median ?? 0, most].map(text);
  return [errors.length.toLocaleString("en-US"), unknown.toLocaleString("en-US"), ...all, String(guessed)];
}
