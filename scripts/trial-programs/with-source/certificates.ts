/**
 * Central's certificate is renewed again and again in a simulated year, while boxes are offline for a month: does each still upload, and none to a thief of an old key?
 *
 *   ./scripts/trials certificates [--boxes 50] [--days 365] [--renewals 3] [--away 20] [--every 5] [--seed 1]
 *
 * TLS, stores and uploads are real, the days are simulated. `--away` boxes are offline for a month each, the others upload each fifth night.
 */
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, clockQuality, type Moment } from "../../../src/base/clock.ts";
import { messageOf } from "../../../src/base/errors.ts";
import { day_ms } from "../../../src/base/time.ts";
import { type RunningCentral, startCentral } from "../../../src/central/central.ts";
import {
  certificateChange,
  changeCertificate,
  keepNext,
  nextCertificateIn,
} from "../../../src/central/next-certificate.ts";
import { openCentral } from "../../../src/cli/store-place.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { type UploadSite, uploadFrom } from "../../../src/gateway/uploader/uploader.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { ownFiles, tlsFilesOf } from "../../../src/web/server/self-signed.ts";
import {
  below,
  keptLog,
  seeded,
  sensor,
  sensorEvent,
  start_ms,
  temporaryDirectory,
} from "../../../testbed/sample.ts";
import { figuresText } from "../../figures.ts";
import { optionsOf } from "../../program-options.ts";

const { boxes, days, renewals, away, every, seed } = optionsOf(
  "./scripts/trials certificates [--boxes 50] [--days 365] [--renewals 3] [--away 20] [--every 5] [--seed 1]",
  { boxes: 50, days: 365, renewals: 3, away: 20, every: 5, seed: 1 },
);
const random = seeded(seed);
using temporary = temporaryDirectory();
const directory = join(temporary.path, "central");

/** Goes on as time does, and is sent ahead from night to night. */
class NightClock implements Clock {
  readonly boot = "one";
  ahead_ms = 0;

  now(): Moment {
    const monotonic_ms = performance.now() + this.ahead_ms;
    return { unix_ms: Math.floor(start_ms + monotonic_ms), monotonic_ms, quality: clockQuality.synchronised };
  }

  after(delay_ms: number, action: () => void): () => void {
    const timer = setTimeout(action, delay_ms);
    return () => clearTimeout(timer);
  }
}

const clock = new NightClock();
const { log } = keptLog("warn");
const stop = new AbortController().signal;
const began_ms = performance.now();

let port = 0;

/** Starts central as `lintel central --tls self-signed` does, on its own directory or on what a thief has copied of it. */
async function start(certificates = directory): Promise<RunningCentral> {
  const keeping = {
    ...{ directory: certificates, directorySetting: "--tls-directory", listen: "127.0.0.1", clock, log },
  };
  const started = await startCentral({
    store: await openCentral({ directory: certificates }, { clock, log }),
    listen: { hostname: "127.0.0.1", port },
    settings: { address: "--listen", port: "--port", certificate: "--tls-certificate", key: "--tls-key" },
    ...{ realm: "lintel", metrics: false, clock, log },
    tls: async () => {
      await keepNext([], keeping);
      return tlsFilesOf({ names: [] }, keeping);
    },
    nextCertificate: () => nextCertificateIn(certificates),
  });
  port = Number(new URL(started.origin).port);
  return started;
}

interface Box {
  readonly site: UploadSite;
  /** The day from which it is offline for a month. */
  readonly away_from: number;
  readings: number;
}

async function boxOf(home: number): Promise<Box> {
  const data = join(temporary.path, `box-${home}`);
  const { token, text } = mintToken({ name: `home-${home}`, scope: "sync", home, clock });
  await central.store.addToken(token);
  const beside = (name: string) => join(temporary.path, `${name}-${home}`);
  writeFileSync(beside("token"), text, { mode: 0o600 });
  cpSync(ownFiles(directory).certificate, beside("certificate"));
  const target = {
    ...{ url: central.origin, token_file: beside("token"), certificate: beside("certificate") },
    ...{ at: "", bytes_per_s: 1e9 },
  };
  const away_from = home <= away ? below(random, days - away_days) : days;
  return { site: { data, timezone: "UTC", home, target }, away_from, readings: 0 };
}

/** Records a reading and uploads. */
async function night(box: Box): Promise<void> {
  const { data: directory } = box.site;
  const store = await openGatewayStore({ directory, clock, log });
  await store.append([sensorEvent(sensor(box.site.home ?? 0), clock.now().unix_ms, box.readings % 2)]);
  await store.close();
  box.readings += 1;
  await uploadFrom(box.site, { everyDay: false, stop, clock, log });
}

const away_days = 30;
const told_days = 10;
/** Of the nights on which a box would upload, those on which its connection is down. */
const missed_share = 0.05;
const faults: string[] = [];
const figures = { uploads: 0, "days that a change waited for boxes": 0, "uploads that a thief got": 0 };

let central = await start();
const all: Box[] = [];
for (let home = 1; home <= boxes; home += 1) all.push(await boxOf(home));

/** Days on which a renewal is wanted: as soon as the boxes know the next certificate, it is made. */
const wanted = Array.from({ length: renewals }, (_, at) => Math.floor(((at + 1) * days) / (renewals + 1)));
const thieves: string[] = [];
let changed = 0;
for (let day = 0; day < days; day += 1) {
  const last = day === days - 1;
  for (const box of all) {
    const isAway = day >= box.away_from && day < box.away_from + away_days;
    if (!last && (isAway || (day + (box.site.home ?? 0)) % every > 0 || random() < missed_share)) continue;
    await night(box).then(
      () => {
        figures.uploads += 1;
      },
      (thrown) => void faults.push(`day ${day}, home ${box.site.home}: ${messageOf(thrown)}`),
    );
  }
  if ((wanted[changed] ?? days) <= day) {
    const { not_ready } = await certificateChange(directory, central.store);
    if (not_ready.length > 0) figures["days that a change waited for boxes"] += 1;
    else {
      const copy = join(temporary.path, `thief-${changed}`);
      await central.stop();
      cpSync(directory, copy, { recursive: true });
      thieves.push(copy);
      changeCertificate(directory);
      changed += 1;
      console.log(`  day ${day + 1}: certificate ${changed} of ${renewals} renewed`);
      central = await start();
    }
  }
  clock.ahead_ms += day_ms;
  if ((day + 1) % told_days === 0) console.log(`  day ${day + 1} of ${days}: ${figures.uploads} uploads`);
}

const held = await central.store.gateways();
for (const box of all) {
  const { held_seq } = held.find(({ home }) => home === box.site.home) ?? { held_seq: 0 };
  if (held_seq !== box.readings)
    faults.push(`home ${box.site.home}: central holds ${held_seq} of ${box.readings} readings`);
}
await central.stop();
// The next key was on the same disk: a thief of the last copy has what is in use now, so those before are tried.
for (const copy of thieves.slice(0, -1)) {
  central = await start(copy);
  for (const box of all) {
    const got = await night(box).then(
      () => true,
      () => false,
    );
    if (got) figures["uploads that a thief got"] += 1;
  }
  await central.stop();
  rmSync(copy, { recursive: true });
}
if (changed !== renewals) faults.push(`${changed} of ${renewals} renewals were made`);
if (figures["uploads that a thief got"] > 0) faults.push("a thief of an old key got uploads");
console.log(
  figuresText({ boxes, days, renewals: changed, ...figures, seconds: (performance.now() - began_ms) / 1000 }),
);
for (const fault of faults.slice(0, 20)) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
