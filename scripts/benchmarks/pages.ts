/**
 * Pages of a gateway with a year of readings: first paint, also by a slow line and processor, a year drawn, bytes, what moves, and memory of pages that are open
 *
 *   ./scripts/bench pages [--store DIRECTORY] [--busiest 500000] [--each 54750]
 *
 * Debian's Chromium looks at `lintel run` as people start it, on a store of 40 motion sensors: the first with 500,000 events in the year, the others with 150 a day.
 * Exits with 1 when a bar is missed. --store keeps the year there, or takes the one that is there.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromiumPath, TestBrowser } from "../../testbed/browser.ts";
import { loadOf, most_kB, shift_most, shiftOf } from "../../testbed/page-load.ts";
import { optionsOf } from "../program-options.ts";
import { quantile, Report } from "./api/report.ts";
import { PagesGateway } from "./pages/gateway.ts";
import { makeYear, nameOf } from "./pages/home.ts";
import { type Look, lookAt, openPages, slowDown, watchFor } from "./pages/looks.ts";

const options = optionsOf("./scripts/bench pages [--store DIRECTORY] [--busiest 500000] [--each 54750]", {
  store: undefined,
  busiest: 500_000,
  each: 54_750,
});
if (chromiumPath === undefined) {
  console.error("bench: pages are looked at with Chromium: sudo apt-get install chromium");
  process.exit(2);
}

const sensors = 40;
const looks = 5;
const pages_open = 20;
const report = new Report();
const directory = options.store ?? mkdtempSync(join(tmpdir(), "lintel-bench-pages-"));
try {
  const { busiest, each } = options;
  if (!existsSync(join(directory, "lintel.db"))) {
    mkdirSync(directory, { recursive: true });
    await makeYear(directory, { sensors, busiest, each });
  }
  report.note(`${sensors} sensors, a year: ${busiest} events of one, ${each} of each of the others`);
  await using gateway = await PagesGateway.start(directory);
  await looksAt(gateway);
  const grown_mb = await openPages(gateway, pages_open, [
    `/devices/wirelesssensors/${nameOf(1)}?span=1y`,
    "/?span=day",
    `/devices/wirelesssensors/${nameOf(2)}?span=8w`,
    "/?span=year",
  ]);
  report.bar(`what ${pages_open} open pages take of memory, MB`, { value: grown_mb, most: 10 });
} finally {
  if (options.store === undefined) rmSync(directory, { recursive: true, force: true });
}
process.exit(report.end());

async function looksAt(gateway: PagesGateway): Promise<void> {
  await using browser = await TestBrowser.start();
  const kinds = [
    { what: "the home, a day", path: "/", drawn: ".strip" },
    {
      what: "a year of one sensor",
      path: `/devices/wirelesssensors/${nameOf(1)}?span=1y`,
      drawn: "canvas[data-drawn]",
      most_s: 1,
    },
    { what: `a year of a home of ${sensors} sensors`, path: "/?span=year", drawn: ".strip", most_s: 2 },
    { what: "the day of the home", path: "/day", drawn: ".day-strips" },
    { what: "what is recorded", path: "/recorded", drawn: "h1" },
    { what: "something found", path: "/find?q=wireless", drawn: ".found" },
  ];
  for (const { what, path, drawn, most_s = 1 } of kinds) {
    await using visit = await browser.visit({ viewport: { width: 1280, height: 900 } });
    await visit.page.goto(`${gateway.origin}/sign-in#token=${gateway.token}`);
    await visit.page.waitForURL(`${gateway.origin}/`);
    await watchFor(visit.page, drawn);
    const before_ms = gateway.processor_ms();
    const all: Look[] = [];
    for (let look = 0; look < looks; look++) all.push(await lookAt(visit.page, gateway.origin + path));
    const spent_ms = (gateway.processor_ms() - before_ms) / looks;
    const [first] = all;
    const median_s = (of: keyof Look) =>
      quantile(
        all.map((look) => look[of]),
        0.5,
      ) / 1_000;
    const part = (name: string, of: keyof Look) => `${name} ${median_s(of).toFixed(2)} s`;
    report.note(`${what}: the first look took ${((first?.drawn_ms ?? 0) / 1_000).toFixed(2)} s`);
    report.bar(`${what}: first paint, s`, { value: median_s("painted_ms"), most: 0.3 });
    report.bar(`${what}: drawn, s`, { value: median_s("drawn_ms"), most: most_s });
    report.note(
      `  ${part("document there after", "document_ms")}, ${part("plot asked for", "asked_ms")}, ${part("answered", "answered_ms")}`,
    );
    const { script_kB, style_kB } = await loadOf(visit.page);
    report.bar(`${what}: script and style, gzip, kB`, { value: script_kB + style_kB, most: most_kB });
    report.note(`  the gateway's processor time: ${spent_ms.toFixed(0)} ms a look`);
    report.bar(`${what}: layout shift`, { value: (await shiftOf(visit.page)).sum, most: shift_most });
    await slowDown(visit.page);
    const { painted_ms } = await lookAt(visit.page, gateway.origin + path);
    report.bar(`${what}: first paint by a slow phone, s`, { value: painted_ms / 1_000, most: 1.5 });
    if (visit.faults.length > 0) throw new Error(visit.faults.join("\n"));
  }
}
