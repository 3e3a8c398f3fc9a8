import { day_ms } from "../../../src/base/time.ts";
import { machineTimezone } from "../../../src/base/timezone.ts";
import { curtains, demoHome } from "../../../src/demo/devices.ts";
import { appendHistory } from "../../../src/demo/history.ts";
import type { HomeOutages } from "../../../src/demo/outages.ts";
import { importProgramme } from "../../../src/demo/programme.ts";
import { type PagesServing, serveHome } from "./device-home.ts";

/** A Friday at noon, in this machine's time zone; the history of the demo goes up to it. */
export const demoNow_ms = new Date(2026, 10, 20, 13, 5).getTime();
export const demoFrom_ms = demoNow_ms - 30 * day_ms;
export const demoZone = machineTimezone();

/** Serves the home of the demo with its thirty days of history; `outages`: others than the demo has. */
export async function serveDemoHistory(outages?: HomeOutages): Promise<PagesServing> {
  const [from_ms, now_ms, zone] = [demoFrom_ms, demoNow_ms, demoZone];
  const serving = await serveHome({
    now_ms,
    home: demoHome,
    zone,
    walking: [{ name: "hall", sensors: curtains }],
  });
  const { store } = serving;
  await importProgramme(store, { installed_ms: from_ms, now_ms, timezone: zone });
  const made = { store, from_ms, until_ms: now_ms, seed: 7, progress: () => {} };
  await appendHistory({ ...made, ...(outages && { outages }) });
  return serving;
}
