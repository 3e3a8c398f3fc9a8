/**
 * The page of all homes, of a central of 2,000 homes with 20 items each, on SQLite and on PostgreSQL
 *
 *   ./scripts/bench homes-page [--homes 2000] [--items 20]
 *
 * Fills a central by its store, starts `lintel central` on it, and asks for its page as a browser does, with the fleet read anew each time: something
 * has changed, and what is kept of the last look is too old. Exits with 1 when a bar is missed: the page answers within a second, in the median of some.
 */
import { optionsOf } from "../../program-options.ts";
import { quantile, Report } from "../api/report.ts";
import { CentralServer, type Kept, keptIn, seconds, wordsOf } from "./central/central-server.ts";
import { fillFleet } from "./central/fleet-data.ts";

const options = optionsOf("./scripts/bench homes-page [--homes 2000] [--items 20]", {
  homes: 2_000,
  items: 20,
});
const samples = 5;
const warm_ms = 3_000;
/** The fleet is kept for ten seconds. */
const kept_ms = 10_500;

const report = new Report();
for (const kept of ["sqlite", "postgres"] as const) await measure(kept, report);
process.exit(report.end());

async function measure(kept: Kept, report: Report): Promise<void> {
  const { homes, items } = options;
  let filled_s = 0;
  await using central = await CentralServer.start({
    kept,
    homes: [],
    fill: async (store) => {
      filled_s = await seconds(() => fillFleet(store, { homes, items, nights_of: 100, now_ms: Date.now() }));
    },
  });
  report.note(`${keptIn[kept]}: ${homes} homes of ${items} items, filled in ${filled_s.toFixed(0)} s`);
  // The server makes ready for the first page by itself.
  await Bun.sleep(warm_ms);
  const first_s = await seconds(() => page(central, "/"));
  report.note(`  the first page after the start: ${first_s.toFixed(2)} s`);
  const spent: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    await central.site.lintel("token", "create", `sample-${sample}`, ...wordsOf(central.place));
    await Bun.sleep(kept_ms);
    spent.push(await seconds(() => page(central, "/")));
  }
  report.bar(`${keptIn[kept]}: the page of ${homes} homes, seconds`, {
    value: quantile(spent, 0.5),
    most: 1,
  });
  for (const path of ["/", "/?show=missing", "/?show=silent", "/?sort=upload&page=2"]) {
    const again: number[] = [];
    for (let sample = 0; sample < samples; sample += 1) again.push(await seconds(() => page(central, path)));
    report.note(
      `  ${path}, with the fleet as it was just read: ${(1000 * quantile(again, 0.5)).toFixed(0)} ms`,
    );
  }
  report.note(`  memory of central then: ${central.resident_mb().toFixed(0)} MB`);
}

async function page(central: CentralServer, path: string): Promise<void> {
  const cookie = `lintel-${new URL(central.origin).port}=${central.readToken}`;
  const response = await fetch(`${central.origin}${path}`, {
    headers: { accept: "text/html", cookie },
    redirect: "manual",
  });
  const text = await response.text();
  if (response.status !== 200 || !text.includes(`of ${Number(options.homes).toLocaleString("en")} homes`))
    throw new Error(`${path} answers ${response.status}: ${text.slice(0, 200)}`);
}
