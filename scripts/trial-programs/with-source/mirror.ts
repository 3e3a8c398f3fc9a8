/**
 * A year of 100 homes in a mirror: is it equal to the interface after a night with 10,000 late readings and after an erasure, and how long does that take?
 *
 *   ./scripts/trials mirror [--homes 100] [--days 365] [--events 60] [--late 10000]
 *
 * The store is filled by uploads as gateways send them. `lintel central mirror` makes the mirror and does the night, as people start it; DuckDB reads it, and every record is compared
 * with the pages of the interface. Then `lintel central --mirror` runs, and `lintel erase` takes a home away. Exits with 1 when anything differs, when a night takes 60 s or
 * longer, or when a byte of the erased home is in the mirror.
 */
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import { openCentralBeside, openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { eventually, Site } from "../../../testbed/front-door.ts";
import { keptLog } from "../../../testbed/sample.ts";
import { endWith, optionsOf } from "../../program-options.ts";
import { MirroredProgramme } from "./mirror/programme.ts";

const options = optionsOf("./scripts/trials mirror [--homes 100] [--days 365] [--events 60] [--late 10000]", {
  homes: 100,
  days: 365,
  events: 60,
  late: 10_000,
});
const { homes, days, events, late } = options;
const night_s_max = 60;
const erased = Math.ceil(homes / 2);

const site = new Site();
const clock = new SystemClock();
const mirror = join(site.directory, "mirror");
const update = async () => {
  const updating = site.spawn(["central", "mirror", "--data", site.data, "--output", mirror, "--json"]);
  const [out, said, code] = await Promise.all([updating.rest(), updating.said(), updating.exited]);
  if (code !== 0) throw new Error(`lintel central mirror ended with ${code}: ${said}`);
  const done: { written: number; rows: number; seconds: number } = JSON.parse(out);
  return { ...done, processor_s: Math.round(updating.processor_s * 10) / 10 };
};
const timeOf = ({ seconds, processor_s }: { seconds: number; processor_s: number }) =>
  `${seconds} s, ${processor_s} s of processor`;
const faults: string[] = [];
const note = async (when: string, programme: MirroredProgramme) => {
  const found = await programme.differences();
  faults.push(...found.faults.map((fault) => `${when}: ${fault}`));
  const { compared, measures } = found;
  console.log(
    `  ${when}: ${compared} records and ${measures} measures compared, ${found.faults.length} differences`,
  );
  return found;
};
try {
  const opened = { directory: site.data, clock, log: keptLog().log };
  let store = await openCentralStore(opened);
  // The year ends with the night that comes after it.
  const start_ms = (Math.floor(clock.now().unix_ms / day_ms) - days - 1) * day_ms;
  const of = { homes, days, events_a_day: events, start_ms, clock };
  const programme = new MirroredProgramme(store, mirror, of);
  const readings = await programme.fill();
  console.log(`  ${readings} readings of ${homes} homes`);
  const first = await update();
  console.log(`  the first update: ${first.written} files in ${timeOf(first)}`);
  const every = Array.from({ length: homes }, (_, place) => place + 1);
  await programme.late(homes * events, every, { from_ms: of.start_ms + days * day_ms, for_ms: day_ms });
  await programme.late(late, every);
  const night = await update();
  console.log(`  a night with ${late} late readings: ${night.written} files in ${timeOf(night)}`);
  if (night.seconds >= night_s_max) faults.push(`a night took ${night.seconds} s`);
  await note("after a night", programme);
  const idle = await update();
  await store.close();
  const central = await site.central("--data", site.data, "--mirror", mirror);
  const erased_ms = performance.now();
  const erasing = await site.lintel("erase", "--home", String(erased), "--yes", "--data", site.data);
  if (erasing.code !== 0) faults.push(`lintel erase: ${erasing.said}`);
  await eventually(() => !programme.hasFilesOf(erased) || undefined, "the erased home's files are gone");
  const gone_s = (performance.now() - erased_ms) / 1000;
  await central.stop();
  store = await openCentralBeside(opened);
  const rest = programme.at(store);
  // The update that the stop of central has ended.
  await update();
  faults.push(...rest.tracesOf(erased).map((name) => `home ${erased} is erased, and in ${name}`));
  const { compared, measures } = await note("after an erasure", rest);
  await store.close();
  endWith(
    "mirror",
    {
      homes,
      readings,
      "records compared": compared,
      "measures compared": measures,
      "first update, s": first.seconds,
      "first update, processor, s": first.processor_s,
      "files of the first update": first.written,
      "a night, s": night.seconds,
      "a night, processor, s": night.processor_s,
      "files of a night": night.written,
      "an update without news, s": idle.seconds,
      "an update without news, processor, s": idle.processor_s,
      "from the erasure to its end in the mirror, s": gone_s,
    },
    faults,
  );
} finally {
  await site.remove();
}
