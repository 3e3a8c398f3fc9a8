import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { deviceAddresses } from "../../../testbed/ble-devices.ts";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { inHome } from "../../../testbed/uploading.ts";
import { memoryOf } from "../../benchmarks/memory/samples.ts";

/** How a gateway came through a flood of Bluetooth devices that it had never heard before. */
export interface Siege {
  /** Doors of the home's pill box that turned, and the events of it that were served at the end. */
  readonly turns: number;
  readonly events: number;
  /** Pages that were asked for meanwhile, and how long the slowest took. */
  readonly pages: number;
  readonly slowest_ms: number;
  readonly seconds: number;
  /** Resident memory before it, and how much more it was at most, MB. */
  readonly before_mb: number;
  readonly growth_mb: number;
  /** Items of every kind at the end. */
  readonly items: number;
  /** The error of the upload afterwards; empty where it succeeded. */
  readonly upload: string;
  /** Strangers of the home as `lintel fleet` shows them then. */
  readonly strangers: number | null;
}

const home = 12;
const turn_interval_ms = 2_000;
const page_interval_ms = 500;
const flood_interval_ms = 50;

/** Has `devices` pass a gateway in `seconds`, while its pill box is used and researchers ask for pages. */
export async function besiege(options: {
  devices: number;
  seconds: number;
  told?: (line: string) => void;
}): Promise<Siege> {
  const { devices, seconds, told = () => {} } = options;
  const site = new Site();
  const centralSite = new Site();
  try {
    const air = await site.simulator("air");
    const central = await centralSite.central("--data", centralSite.data);
    const placed = await inHome(home, site, { site: centralSite, central });
    site.configure({ sections: `${placed}\n[ble]\nport = "${air.path}"` });
    const gateway = await site.run();
    const token = await site.token();
    await adopt(site);
    await site.listening();
    let turns = 0;
    const turn = () => air.tell({ do: "turn", door: turns++ % 7 });
    for (let count = 0; count < warm_turns; count += 1) await turn();
    await eventually(
      async () => ((await eventsOf(gateway, token)) === turns ? true : undefined),
      "the box is heard",
    );

    const { pid } = gateway.process;
    const before_mb = memoryOf(pid).rss_mb;
    let most_mb = before_mb;
    let pages = 0;
    let slowest_ms = 0;
    let passed = 0;
    const start_ms = performance.now();
    const elapsed_ms = () => performance.now() - start_ms;
    const until = async (interval_ms: number, act: () => Promise<unknown>) => {
      for (let count = 1; elapsed_ms() < seconds * 1_000; count += 1) {
        await act();
        await Bun.sleep(Math.max(0, count * interval_ms - elapsed_ms()));
      }
    };
    await Promise.all([
      until(flood_interval_ms, async () => {
        const due = Math.min(devices, Math.round((devices * elapsed_ms()) / (seconds * 1_000)));
        await air.tell({ do: "strangers", count: due - passed });
        passed = due;
      }),
      until(turn_interval_ms, turn),
      until(page_interval_ms, async () => {
        const asked_ms = performance.now();
        await gateway.records(`/items/pillboxes/${box.itemname}/events?limit=1000`, token);
        const took_ms = performance.now() - asked_ms;
        slowest_ms = Math.max(slowest_ms, took_ms);
        pages += 1;
        most_mb = Math.max(most_mb, memoryOf(pid).rss_mb);
        if (pages % pages_a_line === 0)
          told(
            `${(elapsed_ms() / 1_000).toFixed(0)} s: ${passed} devices, ${most_mb.toFixed(1)} MB at most, slowest page ${slowest_ms.toFixed(0)} ms`,
          );
      }),
    ]);
    await air.tell({ do: "strangers", count: devices - passed });
    await turn();
    const took_s = elapsed_ms() / 1_000;
    const events = await eventually(async () => {
      const count = await eventsOf(gateway, token);
      return count === turns ? count : undefined;
    }, "every event").catch(() => eventsOf(gateway, token));
    const types = await gateway.records<{ count: number }[]>("/items", token);
    const sent = await site.lintel("upload", "--config", site.config, "--json");
    const fleet = await centralSite.answer("fleet", "--json", "--data", centralSite.data);
    await gateway.stop();
    await central.stop();
    return {
      turns,
      events,
      pages,
      slowest_ms,
      seconds: took_s,
      before_mb,
      growth_mb: most_mb - before_mb,
      items: types.reduce((sum, { count }) => sum + count, 0),
      upload: sent.code === 0 ? "" : sent.said,
      strangers: fleet[0]?.strangers ?? null,
    };
  } finally {
    await site.remove();
    await centralSite.remove();
  }
}

/** Imports the inventory: the pill box is the home's. */
async function adopt(site: Site): Promise<void> {
  const file = join(site.directory, "items.json");
  writeFileSync(file, JSON.stringify({ items: [box] }));
  const { code, said } = await site.lintel("import", file, "--data", site.data);
  if (code !== 0) throw new Error(said);
}

async function eventsOf(gateway: RunningServer, token: string): Promise<number> {
  const events = await gateway.records<object[]>(`/items/pillboxes/${box.itemname}/events?limit=1000`, token);
  return events.length;
}

const box = {
  itemid: 7,
  itemname: "supper-box",
  macaddress: deviceAddresses.box,
  typename: "pillboxes",
  subtypename: "broadcasting",
};
const warm_turns = 20;
const pages_a_line = 20;
