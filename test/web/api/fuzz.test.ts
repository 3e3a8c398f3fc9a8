import { expect, test } from "bun:test";
import {
  faultsOf,
  type Trial,
  Trials,
  trialText,
} from "../../../scripts/trial-programs/with-source/requests/random-requests.ts";
import {
  alwaysPossible,
  ofParameters,
  ofUnknownParameters,
} from "../../../src/web/api/contract/openapi-components.ts";
import { errorTable } from "../../../src/web/server/http-errors.ts";
import { fill, knownOf } from "../../../testbed/programme.ts";
import { serve } from "../../../testbed/serving.ts";

const requests = 5000;
const atOnce = 16;

test(`${requests} random requests to all versions are each answered as the order of checks and the contracts say`, async () => {
  await using serving = await serve({ attempts_max: requests });
  await fill(serving.store);
  const trials = new Trials({ seed: 20_261_120, known: knownOf(serving) });
  const origin = new URL(serving.api.url).origin;
  const sent: Trial[] = Array.from({ length: requests }, () => trials.next());
  const wrong: string[] = [];
  const queue = sent.values();
  const work = async () => {
    for (const trial of queue) {
      const { faults } = await faultsOf(trial, origin);
      if (faults.length > 0) wrong.push(`${trialText(trial)}: ${faults.join("; ")}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  expect(wrong.slice(0, 5)).toEqual([]);
  // A line for each failure and no other; and the trials held each error many times, and successes as often.
  const counts = new Map<number | undefined, number>();
  for (const { code } of sent) counts.set(code, (counts.get(code) ?? 0) + 1);
  const successes = counts.get(undefined) ?? 0;
  expect(serving.lines).toHaveLength(requests - successes);
  expect(successes).toBeGreaterThan(requests / 10);
  const codes = [...counts.keys()].filter((code) => code !== undefined).sort((one, other) => one - other);
  const outside: readonly number[] = [
    // Only a raw socket can send the first three; the others come of load and of faults inside.
    errorTable.host_malformed.code,
    errorTable.accept_missing.code,
    errorTable.url_too_long.code,
    errorTable.attempts_exceeded.code,
    errorTable.too_busy.code,
    errorTable.budget_spent.code,
    errorTable.unknown.code,
  ];
  const possible = [...alwaysPossible, ...ofParameters, ...ofUnknownParameters, ...ofPaths];
  const all = possible.map((name): number => errorTable[name].code);
  expect(codes).toEqual(all.filter((code) => !outside.includes(code)).sort((one, other) => one - other));
  expect(Math.min(...counts.values())).toBeGreaterThan(10);
});

/** Refusals that come of what stands in the path. */
const ofPaths = [
  "parameters_exclusive",
  "path_unknown",
  "method_not_allowed",
  "typename_unknown",
  "item_unknown",
  "record_unknown",
] as const;
