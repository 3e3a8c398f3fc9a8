import { basename, join } from "node:path";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { plainJson } from "../../base/text.ts";
import { DeviceRecord } from "../../domain/device-facts.ts";
import { quantities, usualQuantities } from "../../domain/quantities.ts";
import { Item } from "../../domain/records/item.ts";
import { type SeriesName, seriesOf } from "../../domain/series.ts";
import type { InterfaceReader } from "../answers.ts";
import type { ReadingSource } from "../columns.ts";
import { deviceKey, type Pseudonyms } from "../pseudonyms.ts";
import { PartFile } from "../table-file.ts";
import { deviceOf } from "../tables.ts";
import { type MeasuredFact, readingFacts, sleepFacts, type Whereabouts, whereaboutsOf } from "./facts.ts";
import { type Mapping, mappings, unmapped } from "./standard-mapping.ts";
import {
  type Measurement,
  type Standard,
  type StandardFiles,
  type StandardName,
  standards,
} from "./standards.ts";

export interface StandardOptions {
  readonly standard: StandardName;
  readonly answers: InterfaceReader;
  readonly readings: ReadingSource;
  readonly items: readonly Item[];
  readonly series: readonly SeriesName[];
  /** The place that it is from, by a name that stays: identifiers are made of it. */
  readonly source: string;
  /** Of the download; the files go into a directory of the standard's name in it. */
  readonly directory: string;
  readonly stop: AbortSignal;
  /** Takes identifiers out; undefined: they stay. */
  readonly pseudonyms: Pseudonyms | undefined;
}

/** Writes the readings that are held in the words of a standard, a file for each of its kinds, with a README. */
export async function writeStandard(options: StandardOptions): Promise<StandardFiles> {
  const { standard: name, directory, items, answers, pseudonyms } = options;
  const standard: Standard = standards[name];
  const present = options.series.filter((series) =>
    items.some(({ typename }) => typename === seriesOf(series).kind),
  );
  const where = await whereaboutsOf(answers, items);
  const files: Record<string, number> = {};
  const tally = { unassigned: 0, otherUnit: 0 };
  const put = async (file: string, lines: () => AsyncIterable<object>) => {
    const path = join(name, `${file}.ndjson`);
    const count = await writeLines(join(directory, path), lines(), options.stop);
    if (count > 0) files[path] = count;
  };
  if (standard.devices !== undefined) {
    const { file, lineOf } = standard.devices;
    await put(file, async function* () {
      for (const item of items) {
        const device = await deviceOf(answers, item);
        const shown = device && (pseudonyms?.record(DeviceRecord, device) ?? device);
        yield lineOf(pseudonyms?.record(Item, item) ?? item, shown);
      }
    });
  }
  const own = mappings.filter(({ series }) => present.includes(series));
  for (const file of new Set(own.flatMap((mapping) => standard.fileOf(mapping) ?? []))) {
    const kinds = own.filter((mapping) => standard.fileOf(mapping) === file);
    await put(file, () => linesOf(standard, kinds, { ...options, where, tally }));
  }
  const without = unmapped(name, present, await quantitiesMeasured(options));
  const written = { title: standard.title, lacking: standard.lacking, files, without, ...tally };
  writeDurably(join(directory, name, "README.md"), standardReadme(standard, written, name));
  return written;
}

type StandardWriting = StandardOptions & {
  readonly where: Whereabouts;
  readonly tally: { unassigned: number; otherUnit: number };
};

/** The measurements of some kinds: kind after kind, item after item, each from old to new. */
async function* linesOf(
  standard: Standard,
  kinds: readonly Mapping[],
  writing: StandardWriting,
): AsyncGenerator<object> {
  for (const mapping of kinds)
    for (const item of writing.items.filter(({ typename }) => typename === seriesOf(mapping.series).kind))
      for await (const measurement of measurementsOf(item, mapping, writing)) {
        const line = standard.lineOf(measurement);
        if (line === undefined) continue;
        if (measurement.subject === undefined && !mapping.ofRoom) writing.tally.unassigned += 1;
        yield line;
      }
}

async function* measurementsOf(
  item: Item,
  mapping: Mapping,
  writing: StandardWriting,
): AsyncGenerator<Measurement> {
  const { where, pseudonyms } = writing;
  const shown = pseudonyms?.record(Item, item) ?? item;
  // The same at a gateway and at central, but for an item without an address.
  const device =
    pseudonyms === undefined
      ? (deviceKey(item) ?? `${writing.source} ${item.itemid}`)
      : `${pseudonyms.fingerprint} ${shown.itemid}`;
  const numberOf = (what: "subject" | "home", number: number | undefined) =>
    number === undefined ? undefined : (pseudonyms?.numberOf(what, number) ?? number);
  const { series, fields, quantity, sleep } = mapping;
  const readings = readingFacts(series, writing.readings.oldestFirst(series, item));
  const facts = sleep
    ? sleepFacts(readings)
    : quantity
      ? measuresOf(readings, quantity, writing.tally)
      : readings;
  let before_ms = Number.NaN;
  let equals = 0;
  for await (const fact of facts) {
    equals = fact.from_ms === before_ms ? equals + 1 : 0;
    before_ms = fact.from_ms;
    const at = [series, quantity ?? fields.join(" "), fact.from_ms, equals];
    yield {
      item: shown,
      mapping,
      fact,
      uuid: Bun.randomUUIDv5(`${device} ${at.join(" ")}`, "url"),
      subject: numberOf("subject", where.subjectOf(item.itemid, fact.from_ms)),
      home: numberOf("home", fact.homeid ?? where.homeOf(item.itemid, fact.from_ms)),
    };
  }
}

/** The measures of one quantity, in its own unit. */
async function* measuresOf(
  facts: AsyncIterable<MeasuredFact>,
  quantity: string,
  tally: { otherUnit: number },
): AsyncGenerator<MeasuredFact> {
  const { unit } = quantities[quantity as keyof typeof quantities];
  for await (const fact of facts) {
    if (fact.values["quantity"] !== quantity) continue;
    if (fact.values["unit"] === unit) yield fact;
    else tally.otherUnit += 1;
  }
}

/** Every quantity of the wireless sensors' measures, also those that no table knows. */
async function quantitiesMeasured(options: StandardOptions): Promise<string[]> {
  const { readings, items, series, pseudonyms } = options;
  const found = new Set<string>();
  const measures = "wirelesssensor_measures";
  if (series.includes(measures))
    for (const item of items.filter(({ typename }) => typename === seriesOf(measures).kind))
      for await (const { values } of readingFacts(measures, readings.oldestFirst(measures, item)))
        if (pseudonyms === undefined || usualQuantities.test(String(values["quantity"])))
          found.add(String(values["quantity"]));
  return [...found].sort();
}

/** Writes a line of JSON for each; without any there is no file. */
async function writeLines(path: string, lines: AsyncIterable<object>, stop: AbortSignal): Promise<number> {
  const utf8 = new TextEncoder();
  await using file = await PartFile.begin(path);
  let count = 0;
  let text = "";
  for await (const line of lines) {
    text += `${plainJson(line)}\n`;
    count += 1;
    if (text.length < piece_chars) continue;
    stop.throwIfAborted();
    await file.put(utf8.encode(text));
    text = "";
  }
  await file.put(utf8.encode(text));
  if (count > 0) await file.finish();
  return count;
}

/** Characters that are written at once. */
const piece_chars = 65_536;

/** For whoever finds the files of a standard: what each holds, how it was made, and what is not in them. */
export function standardReadme(standard: Standard, written: StandardFiles, name: StandardName): string {
  const rows = mappings.flatMap((mapping) => {
    const { series, fields, quantity, made = "" } = mapping;
    const file = standard.fileOf(mapping);
    const from =
      quantity === undefined ? fields.map((field) => `\`${field}\``).join(", ") : `\`${quantity}\``;
    return mapping[name] === undefined || written.files[join(name, `${file}.ndjson`)] === undefined
      ? []
      : [`| \`${file}.ndjson\` | \`${series}\`: ${from} | ${standard.wordsOf(mapping)} | ${made} |`];
  });
  const counts = Object.entries(written.files).map(
    ([path, lines]) => `- \`${basename(path)}\`: ${lines} lines`,
  );
  return `# Readings as ${standard.title}

${standard.about}

The tables in the directory above are the whole of the download; these files say a part of it once more, in the words of the standard. Coverage is not among them, because
the standard has nothing for it: before you count anything, read \`missingness.ndjson\` there.

${counts.join("\n")}

## What is what

| file | from | here | made of |
|---|---|---|---|
${rows.join("\n")}

An identifier is made of the address of the server, the item and the time: it is the same whenever the same reading is downloaded from the same server.

## What is not here

${missing(written)}
`;
}

/** Everything that is not in the files, in sentences, also for the terminal. */
export function absences({ title, lacking, without, unassigned, otherUnit }: StandardFiles): string[] {
  return [
    ...(without.length > 0 ? [`${title}: ${lacking} for ${without.join(", ")}: the tables have them.`] : []),
    ...(unassigned > 0
      ? [
          `${unassigned} measurements name no subject, because subject_inventory does not say who had the device.`,
        ]
      : []),
    ...(otherUnit > 0
      ? [
          `${otherUnit} measures are left out, because they were recorded in another unit than that of their quantity.`,
        ]
      : []),
  ];
}

function missing(written: StandardFiles): string {
  const found = absences(written);
  return found.length === 0 ? "Nothing of what was downloaded." : found.map((one) => `- ${one}`).join("\n");
}
