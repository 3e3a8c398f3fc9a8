import { SystemClock } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { Device } from "../../../src/domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../../src/domain/series.ts";
import { mintToken } from "../../../src/domain/token.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { openGatewayStore, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import type { AccountTokens } from "../../../testbed/central-account.ts";
import { items, programme } from "../../../testbed/programme.ts";
import { keptLog, seeded, temporaryDirectory } from "../../../testbed/sample.ts";
import { now_ms } from "../../../testbed/serving.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { events } from "../central-sample.ts";
import { anyReadings, send } from "../differential.ts";

/**
 * Fills the store of a central with something in each of its tables: readings of all series of three homes, some of them late and of an item that
 * moved, what is known of their devices, records, files, alerts, quotas, tokens, erasures and pauses. Answers tokens that see it all.
 */
export async function fillCentral(store: CentralStore, readings = 600): Promise<AccountTokens> {
  const random = seeded(5);
  expectNoClash(await store.importRecords([programme()]));
  for (const home of homes) {
    using directory = temporaryDirectory();
    const open = { clock: new SystemClock(), log: keptLog().log, directory: directory.path };
    const gateway = await openGatewayStore({ ...open, home, ...writerOfTests() });
    const upload = await openUploadStore(open);
    for (let round = 0; round < rounds; round += 1) {
      const device = (series: SeriesName, number: number) => deviceOf(home, series, round === 1 ? 0 : number);
      const until_ms = now_ms - (rounds - round) * day_ms;
      const taken = anyReadings(random, readings, { device, until_ms });
      await gateway.append(
        taken,
        health(
          until_ms,
          taken.map((reading) => reading.device),
        ),
      );
      await send({ home, store: gateway, upload }, { centrals: [store] }, random);
    }
    await upload.close();
    await gateway.close();
    await store.putBackup(home, "zigbee.json", new Uint8Array([home, 0, 255, 10, 92]));
    await store.putBackup(home, "empty", new Uint8Array());
    const alert = { subjectid: 3, alerttypeid: 1, alerttypename: "sensor", alertmessage: `of home ${home}` };
    await store.replaceAlerts(home, [alert]);
    await store.noteCompared(new Map([[Math.floor(now_ms / day_ms) - home, 2]]), { home, at_ms: now_ms });
  }
  // More than the tail of a series holds, so that they are counted in spans.
  const burst = new SimulatedGateway(14, "burst").add(...events(77, 1_600));
  await store.receive(burst.all(), burst.sender);
  await store.setQuotas({ devices: 900, epochs: 199, listeners: 198, readings: 10_000_001, notes: 99_999 });
  await store.erase({ target: { subject: 2 }, id: "0123456789abcdef".repeat(2), at_ms: now_ms });
  const begun = { id: "fedcba9876543210".repeat(2), at_ms: now_ms, from_ms: now_ms, before_ms: now_ms + 1 };
  await store.takePauses([{ ...begun, home: 1, own: 1 }]);
  const told = {
    home: 13,
    subject: -1,
    due_ms: now_ms + 1,
    act: "erase",
    days: 3,
    counted_ms: now_ms,
  } as const;
  await store.setRetentionNotices([told]);
  await store.noteInJournal({ id: begun.id, at_ms: now_ms, act: "use", who: "lea ü", words: "GET /" });
  const asked = { home: 13, number: 7, expires_ms: now_ms + 1, request: "status", signature: "x" };
  await store.askRemote({ request: asked, asked_by: "lea", asked_ms: now_ms });
  return addTokens(store);
}

/** Signs of life, interruptions and a gap of data, as a gateway takes them in. */
function health(until_ms: number, devices: readonly Device[]) {
  const [one, other] = devices as [Device, Device];
  const listener = "gateway";
  return {
    listening: [
      { listener, from_ms: until_ms - 9 * day_ms, to_ms: until_ms - 8 * day_ms },
      { listener, from_ms: until_ms - 3 * day_ms, to_ms: until_ms },
    ],
    states: [one, other].flatMap((device) => [
      { device, heard_ms: until_ms - 6 * day_ms, battery_percent: 71.5, listener },
      { device, heard_ms: until_ms, battery_percent: 70, listener, facts: { description: "ü", blind_s: 60 } },
    ]),
    gaps: [
      {
        device: one,
        from_ms: until_ms - day_ms,
        to_ms: until_ms - day_ms / 2,
        reason: "overwritten",
        lost: 3,
      },
    ],
  } as const;
}

async function addTokens(store: CentralStore): Promise<AccountTokens> {
  const clock = new SystemClock();
  const add = async (of: Omit<Parameters<typeof mintToken>[0], "name" | "clock">) => {
    const { token, text } = mintToken({ name: `of ${of.scope} ü`, clock, ...of });
    await store.addToken(token);
    return text;
  };
  const ofHomes = homes.map(async (home) => [home, await add({ scope: "sync", home })]);
  await add({ scope: "read", restricted: true });
  return {
    read: await add({ scope: "read" }),
    bound: await add({ scope: "read", binding: { homes: [13], projects: [1], studies: [] } }),
    admin: await add({ scope: "admin", expires_ms: now_ms + 10_000 * day_ms }),
    homes: Object.fromEntries(await Promise.all(ofHomes)),
  };
}

/** Of number 0 one that the programme knows, wherever it is heard; else one of the home itself. */
function deviceOf(home: number, series: SeriesName, number: number): Device {
  const { kind, subtypes } = seriesOf(series);
  const fits = (item: (typeof items)[number]) =>
    item.typename === kind && (subtypes === undefined || subtypes.includes(item.subtypename));
  const known = items.find(fits);
  if (number === 0 && known !== undefined) return { kind, address: `00:0d:6f:00:0a:${known.mac}` };
  const place = String(seriesNames.indexOf(series)).padStart(2, "0");
  const subtype = subtypes === undefined ? {} : { subtype: subtypes[0] as string };
  return { kind, address: `00:0d:6f:${home}:0b:${place}`, ...subtype };
}

function expectNoClash({ clashes }: { readonly clashes: readonly unknown[] }): void {
  if (clashes.length > 0) throw new Error(`the programme was not taken: ${JSON.stringify(clashes)}`);
}

const homes = [12, 13, 14];
const rounds = 3;
