import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { eventually, type MachineSize, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { linesOf } from "../../../testbed/lines.ts";
import { peakOf, residentOf } from "../../benchmarks/api/process-usage.ts";
import { addressOf, makeYear, nameOf, type Year } from "../../benchmarks/pages/home.ts";
import { StickHome } from "../../benchmarks/stick/home.ts";
import type { Answered, Order } from "./greedy-client.ts";

/** How a gateway came through somebody who asks for everything at once. */
export interface Greed {
  /** Events that sensors sent meanwhile, and how many of them were served at the end. */
  readonly sent: number;
  readonly served: number;
  /** Pages that the holder of another token asked for at the same time, their statuses, and how long the slowest took. */
  readonly pages: number;
  readonly refused: number;
  readonly slowest_ms: number;
  /** Resident memory before it, and at most, MB. */
  readonly before_mb: number;
  readonly peak_mb: number;
  readonly answered: Answered;
}

const sensors = 3;
/** The holder of the other token asks from another machine of the home. */
const other_address = "127.0.0.2";
const event_interval_ms = 200;
const page_interval_ms = 250;

/** On a busy machine it takes longer than that until a refusal has come of each kind of path. */
const refused_s_max = 120;

/**
 * Has a gateway that keeps a year asked for `paths`, by one token and so many at once, for some seconds, and until each of `kinds` was refused.
 */
export async function beset(options: {
  at_once: number;
  seconds: number;
  year: Year;
  machine: MachineSize;
  kinds?: readonly string[];
  told?: (line: string) => void;
}): Promise<Greed> {
  const { at_once, seconds, year, machine, kinds = [], told = () => {} } = options;
  const site = new Site({ machine });
  let home: StickHome | undefined;
  try {
    await makeYear(site.data, year);
    const records = join(site.directory, "home.json");
    writeFileSync(records, JSON.stringify({ homes: [{ homeid: 1 }] }));
    await site.answer("import", records, "--data", site.data, "--json");
    home = await StickHome.start(sensors, {
      site,
      sections: "[home]\nid = 1",
      ieeeOf: (index) => addressOf(index + 1),
    });
    const { gateway, stick, sensors: heard } = home;
    const [greedy, other] = [await site.token(), await site.token()];
    const pid = gateway.process.pid;
    await gateway.records("/items", other);
    const names = heard.map((sensor) => nameOf(Number.parseInt(sensor.ieee.slice(-2), 16)));
    const countsOf = () => Promise.all(names.map((name) => eventsSince(gateway, other, name, began_s)));
    const began_s = Math.floor(Date.now() / 1000) - 1;
    const before = (await countsOf()).reduce((sum, count) => sum + count, 0);
    const looks = looksAt(names);
    // The first look of all has the scripts of the pages made.
    for (const path of looks) await askFrom(other_address, gateway.origin + path, other);
    const before_mb = residentOf(pid);
    told(`before: ${before_mb.toFixed(1)} MB`);
    const client = Bun.spawn([process.execPath, join(import.meta.dir, "greedy-client.ts")], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "1000" },
    });
    const order: Order = {
      origin: gateway.origin,
      token: greedy,
      at_once,
      paths: dearPaths(year),
      kinds,
    };
    client.stdin.write(JSON.stringify(order));
    client.stdin.flush();
    const lines = linesOf(client.stdout);
    await lines.next();
    let isRefused = false;
    const refusal = lines.next().then(() => {
      isRefused = true;
    });
    const start_ms = performance.now();
    const elapsed_ms = () => performance.now() - start_ms;
    let [sent, pages, refused, slowest_ms, peak_mb] = [0, 0, 0, 0, before_mb];
    const until = async (interval_ms: number, act: () => unknown) => {
      while (elapsed_ms() < (isRefused ? seconds : refused_s_max) * 1000) {
        await act();
        await Bun.sleep(interval_ms);
      }
    };
    await Promise.all([
      until(event_interval_ms, () => heard[sent % sensors]?.notify(sent++ & 1)),
      until(100, () => {
        peak_mb = Math.max(peak_mb, residentOf(pid));
      }),
      until(page_interval_ms, async () => {
        const asked_ms = performance.now();
        const path = looks[pages % looks.length] as string;
        const status = await askFrom(other_address, gateway.origin + path, other);
        if (status !== 200) {
          refused += 1;
          told(`${path}: ${status ?? "the connection was closed"}`);
        }
        const took = performance.now() - asked_ms;
        if (took > slowest_ms) {
          told(`${path}: ${took.toFixed(0)} ms at ${elapsed_ms().toFixed(0)}`);
          slowest_ms = took;
        }
        pages += 1;
      }),
    ]);
    client.stdin.end();
    await refusal;
    const { value } = await lines.next();
    await client.exited;
    await stick.drained();
    let served = 0;
    for (let tries = 0; tries < 200 && served < sent; tries++) {
      served = (await countsOf()).reduce((sum, count) => sum + count, 0) - before;
      await Bun.sleep(50);
    }
    peak_mb = Math.max(peak_mb, peakOf(pid));
    return {
      sent,
      served,
      pages,
      refused,
      slowest_ms,
      before_mb,
      peak_mb,
      answered: JSON.parse(value ?? "{}"),
    };
  } finally {
    await home?.close().catch(() => undefined);
    await site.remove();
  }
}

/** Events of a sensor since a time. Asks again where the gateway is still busy with what the greedy one has left. */
function eventsSince(gateway: RunningServer, token: string, name: string, since_s: number): Promise<number> {
  const events = () =>
    gateway.all(`/items/wirelesssensors/${name}/events?after=${since_s}&limit=1000`, token);
  return eventually(async () => (await events().catch(() => undefined))?.length, `the events of ${name}`);
}

function looksAt([_, second, third]: readonly string[]): string[] {
  return ["/", `/devices/wirelesssensors/${second}`, `/v0.9/items/wirelesssensors/${third}/events?limit=100`];
}

/** The dearest paths of each kind: plots and files of 400 days, pages of people, live pages, and the longest lists of the interface. */
function dearPaths({ sensors }: Year): string[] {
  const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  const span = `from=${day(399)}&until=${day(-1)}`;
  const each = (path: (name: string, place: number) => string) =>
    Array.from({ length: sensors }, (_, place) => path(nameOf(place + 1), place));
  const items = "/v0.9/items/wirelesssensors";
  return [
    ...each((name) => `/plots/wirelesssensors/${name}/activity?${span}`),
    ...each((name) => `/downloads/wirelesssensors/${name}/events.csv?${span}`),
    ...each((name) => `/downloads/wirelesssensors/${name}/events.json?${span}`),
    ...each((name) => `/devices/wirelesssensors/${name}?${span}`),
    ...each((name) => `/live/devices/wirelesssensors/${name}?${span}`),
    ...each((name, place) => `${items}/${name}/events?limit=1000&skip=${20_000 + place}`),
    ...each((name) => `${items}/${name}/events?limit=1000&since=`),
    ...each((name) => `${items}/${name}/coverage?limit=1000`),
    ...each((_, place) => `/v0.9/homes/1/wirelesssensors/events?limit=1000&skip=${place}`),
    "/",
    "/walk",
    "/recorded",
    "/live",
    "/live/walk",
    "/sign-in",
    "/nothing",
    "/v0.9/openapi.json",
    "/v0.8/docs",
    "/v0.9/docs",
    "/v0.9/items",
    "/v0.9/inventory/wirelesssensors?limit=1000",
  ];
}

/** The status of an answer that was read whole, asked for on a connection of its own from an address of this machine; undefined where it was closed before. */
function askFrom(localAddress: string, url: string, token: string): Promise<number | undefined> {
  const { hostname, port, pathname, search } = new URL(url);
  const accept = pathname.startsWith("/v") ? "application/json" : "text/html";
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    let text = "";
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    socket.on("error", () => resolve(undefined));
    socket.on("close", () => resolve(text === "" ? undefined : Number(text.split(" ")[1])));
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\nAccept: ${accept}\r\nAuthorization: bearer ${token}\r\nCookie: lintel-${port}=${token}\r\n\r\n`,
    );
  });
}
