/**
 * Walks 1,000,000 records by Link while 100 a second arrive: each that was there at the start comes exactly once
 *
 *   ./scripts/trials requests paging [--records 1000000] [--limit 20]
 *
 * Of those that arrive, half are of now, some late by anything, and some of the very second that the walk stands in.
 * Exits with 1 when a record is missed, repeated or out of order.
 */

import { serve } from "../../../../testbed/serving.ts";
import { figuresText } from "../../../figures.ts";
import { optionsOf } from "../../../program-options.ts";
import { event, fillForWalk, walkedPath, walkLinks } from "./paging-links.ts";

const { records: total, limit } = optionsOf(
  "./scripts/trials requests paging [--records 1000000] [--limit 20]",
  {
    records: 1_000_000,
    limit: 20,
  },
);
const commits_per_s = 10;
const readings_per_commit = 10;

await using serving = await serve();
const start_ms = serving.clock.now().unix_ms - total * 700 - 60_000;
await fillForWalk(serving.store, total, start_ms);
console.log(`${total} records on disk; walking in pages of ${limit}`);

let number = total;
let second = 0;
let arriving: Promise<unknown> = Promise.resolve();
const timer = setInterval(() => {
  const newest_ms = serving.clock.now().unix_ms;
  const batch = Array.from({ length: readings_per_commit }, (_, index) => {
    if (index < 5) return event(newest_ms, number++);
    if (index < 8) return event(start_ms + ((number * 7_919_003) % (total * 700)), number++);
    return event(second * 1000 + ((number * 37) % 1000), number++);
  });
  arriving = serving.store.append(batch);
}, 1000 / commits_per_s);

const started = performance.now();
const walk = await walkLinks({
  first: `${serving.api.url}${walkedPath}?limit=${limit}`,
  token: serving.tokens.read,
  total,
  pages_max: total,
  onPage: async (page, last) => {
    second = last;
    if (page % 1_000 === 0)
      console.log(`${page} pages, ${number - total} records arrived, ${resident_mb()} MB resident`);
  },
});
clearInterval(timer);
await arriving;
const elapsed_s = (performance.now() - started) / 1000;
console.log(
  figuresText({
    "records walked": walk.records,
    pages: walk.pages,
    "records that arrived meanwhile": number - total,
    seconds: elapsed_s,
    missed: walk.missed,
    repeated: walk.repeated,
    "out of order": walk.disordered,
  }),
);
process.exitCode = walk.missed + walk.repeated + walk.disordered === 0 ? 0 : 1;

function resident_mb(): string {
  return (process.memoryUsage.rss() / 1e6).toFixed(0);
}
