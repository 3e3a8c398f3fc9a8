import { day_ms, hour_ms } from "../../../src/base/time.ts";
import type { AlertNotices } from "../../../src/central/alerts/alert-notices.ts";
import { type RunningCentral, startCentral } from "../../../src/central/central.ts";
import { type Binding, mintToken, type Scope } from "../../../src/domain/token.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { configuredSettings } from "../../../src/web/server/listening.ts";
import type { Visit } from "../../../testbed/browser.ts";
import { item, keptLog, sensor, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { SimulatedGateway, wellReport } from "../../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { stay, take } from "../../store/central-sample.ts";
import { openCentral, temporaryDatabase } from "../../store/postgres/temporary-central.ts";

/** Sunday in Berlin, an hour before its midnight. */
export const now_ms = Date.UTC(2026, 10, 22, 22, 0);

/** When the gateway of home 4 did not know the time. */
export const homeFourDoubt = { from_ms: now_ms - 23 * hour_ms, to_ms: now_ms - 22 * hour_ms };

/** A central with three homes of two sensors each, on a store of its own. */
export interface HomesCentral extends AsyncDisposable {
  readonly central: RunningCentral;
  readonly clock: SettableClock;
  mint(scope: Scope, binding?: Binding): Promise<string>;
  /** Asks for a page with the session of a token. */
  page(path: string, token: string): Promise<Response>;
  /** The data of a page. */
  data(path: string, token: string): Promise<Record<string, unknown>>;
}

export const databases = ["SQLite", "PostgreSQL"] as const;

export async function serveHomes(
  kept: (typeof databases)[number] = "SQLite",
  {
    alerts,
    fill = threeHomes,
  }: {
    /** Makes its alerts. */
    alerts?: (clock: SettableClock) => AlertNotices;
    /** Fills it with other homes. */
    fill?: (store: CentralStore) => Promise<void>;
  } = {},
): Promise<HomesCentral> {
  const clock = new SettableClock(now_ms);
  const { log } = keptLog("error");
  const directory = temporaryDirectory();
  const database = kept === "SQLite" ? undefined : await temporaryDatabase();
  const store =
    database === undefined
      ? await openCentralStore({ directory: directory.path, clock, log, ...writerOfTests() })
      : await openCentral(database.url);
  await fill(store);
  const central = await startCentral({
    store,
    listen: { hostname: "127.0.0.1", port: 0 },
    settings: configuredSettings,
    realm: "lintel",
    metrics: false,
    ...(alerts === undefined ? {} : { notices: alerts(clock) }),
    clock,
    log,
  });
  const { origin } = central;
  const page = (path: string, token: string) =>
    fetch(`${origin}${path}`, {
      redirect: "manual",
      headers: { Accept: "text/html", Cookie: `lintel-${new URL(origin).port}=${token}` },
    });
  return {
    central,
    clock,
    page,
    mint: async (scope, binding) => {
      const { token, text } = mintToken({ name: scope, scope, clock, ...(binding && { binding }) });
      await store.addToken(token);
      return text;
    },
    data: async (path, token) => {
      const text = await (await page(path, token)).text();
      const island = /<script type="application\/json" id="shown">(.*?)<\/script>/s.exec(text)?.[1];
      return JSON.parse(island ?? "{}").data;
    },
    async [Symbol.asyncDispose]() {
      await central.stop();
      await database?.[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

/**
 * All is well in home 3, which also hears a sensor of home 4, and once heard one that moved there. In home 4 a sensor is silent, and another has an empty battery.
 * The gateway of home 5 has not uploaded for six days, and home 6 is new.
 */
async function threeHomes(store: CentralStore): Promise<void> {
  const items = [3, 4, 5, 6].flatMap((home) =>
    [0, 1].map((place) =>
      item(home * 10 + place, { itemname: nameOf(home, place), currenthomeid: home, currenthomestart: 1 }),
    ),
  );
  await take(store, ...items);
  await stay(
    store,
    { homeid: 3, item: 41, start: null, stop: 1_000 },
    { homeid: 4, item: 41, start: 1_000, stop: null },
  );
  const nightly = [6, 5, 4, 3, 2, 1, 0];
  await sendNights(store, { home: 3, nights: nightly, version: "3.0.0", hears: [30, 31, 40, 41] });
  // A night was missed, and the next one brought both.
  await sendNights(store, { home: 4, nights: [6, 5, 3, 2, 1, 0], version: "4.0.0", hears: [40, 41] });
  await sendNights(store, { home: 5, nights: [6], version: "5.0.0", hears: [50, 51] });
  await sendNights(store, { home: 6, nights: [0], version: "3.0.0", hears: [60, 61] });
  const differ = Math.floor(now_ms / day_ms) - 3;
  await store.noteCompared(new Map([[differ, 1]]), { home: 3, at_ms: now_ms });
}

export function nameOf(home: number, place: number): string {
  return `${["", "", "", "three", "four", "five", "six"][home]}-${place}`;
}

interface Sent {
  readonly home: number;
  /** How many days before today its gateway uploaded, the earliest first: at 02:30 there. */
  readonly nights: readonly number[];
  readonly version: string;
  /** Numbers of the sensors that it hears. */
  readonly hears: readonly number[];
}

async function sendNights(store: CentralStore, { home, nights, version, hears }: Sent): Promise<void> {
  const gateway = new SimulatedGateway(home, `home ${home}`);
  const devices = hears.map((number) => sensor(number));
  for (const night of nights) {
    const at_ms = now_ms - 20.5 * hour_ms - night * day_ms;
    const first = gateway.last_seq + 1;
    gateway.add(
      ...devices.map((device, place) => ({
        device,
        series: "wirelesssensor_events" as const,
        stamp_ms: at_ms - hour_ms,
        fields: [place],
      })),
    );
    await store.receive(gateway.batch(first, gateway.last_seq), { home, at_ms });
    const { last_seq } = gateway;
    const doubts = home === 4 ? { doubts: [homeFourDoubt] } : {};
    const report = wellReport({ version, now_ms: at_ms, timezone: "Europe/Berlin", last_seq, ...doubts });
    const first_ms = now_ms - 7 * day_ms;
    const health = {
      devices,
      listeners: [{ name: "zigbee", first_ms, last_ms: at_ms }],
      states: devices.map((_, device) => ({
        device,
        first_ms,
        // The first sensor of home 4 was last heard three days ago.
        heard_ms: home === 4 && device === 0 ? Math.min(at_ms, now_ms - 3 * day_ms) : at_ms,
        listener: "zigbee",
        battery_percent: home === 4 && device === 1 ? 9 : 80,
        history: [{ from_ms: first_ms, facts: { model: "3041", firmware: home === 4 ? "1.2.4" : "2.0.0" } }],
      })),
    };
    const as_of = { last_seq, day: Math.floor((at_ms + hour_ms) / day_ms) };
    await store.noteReport({ ...gateway.report(health, report), as_of }, { home, at_ms });
  }
}

/** Signs in with a token that reads all homes, until the page of them hears keys. */
export async function signIn({ page }: Visit, { central, mint }: HomesCentral): Promise<void> {
  await page.goto(`${central.origin}/sign-in#token=${await mint("read")}`);
  await page.locator(".homes").waitFor();
  await page.waitForLoadState();
}
