import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";
import { localDate } from "../base/time.ts";
import { version } from "../base/version.ts";
import type { ReadingNumber } from "../domain/reading.ts";
import { type Item, ItemType } from "../domain/records/item.ts";
import { recordPaths } from "../domain/records/record-table.ts";
import { type SeriesName, seriesNames } from "../domain/series.ts";
import { TokenScope } from "../domain/token.ts";
import type { Use } from "../domain/uses.ts";
import { spanIn } from "./columns.ts";
import { derivedTables, measuredHomes, placesList } from "./derived-tables.ts";
import { HeldAnswers } from "./held-answers.ts";
import { HeldReadings } from "./held-readings.ts";
import { HomeZones } from "./home-zones.ts";
import { InterfaceClient } from "./interface-client.ts";
import type { Origin } from "./package/package-contents.ts";
import {
  fileWritten,
  measuresOf,
  type PackageForm,
  type WrittenFile,
  type WrittenPackage,
  writePackage,
} from "./package/write-package.ts";
import {
  atText,
  type EpochAt,
  type ErasedOf,
  epochsAt,
  epochsHere,
  erasedOf,
  inventory,
  leftOutFor,
  leftOutText,
  type NumberSpan,
  packageAt,
  type SavedPackage,
  withMissing,
} from "./package-readings.ts";
import { type Progress, receive } from "./receiving.ts";
import { fileOf } from "./table-file.ts";
import { coverageList, missingnessList, recordLists, tableNamed } from "./tables.ts";

export interface DownloadOptions extends PackageForm {
  readonly url: string;
  readonly token: string;
  /** The certificate of a server that no authority vouches for, in PEM. */
  readonly certificate?: string;
  /** Names of items; absent: all of them. */
  readonly items?: readonly string[];
  /** Refuses another token than an administrator's, where identifiers stay. */
  readonly byWhom?: "admin";
  /** Uses that homes must have consented to; absent: none. */
  readonly uses?: readonly Use[] | undefined;
  /** Just these readings; absent: all that there are now. */
  readonly at?: readonly ReadingNumber[] | undefined;
  /** The package that is made again. */
  readonly saved?: SavedPackage | undefined;
  /** From 0 up to 1, for the waits between attempts. */
  readonly random: () => number;
  readonly onProgress: (progress: Progress) => void;
  readonly onRetry: (reason: string, delay_ms: number, left_ms: number) => void;
  /** Told what the records of the programme have wrong, a line each. */
  readonly onWarning: (warning: string) => void;
}

export interface Downloaded extends WrittenPackage {
  readonly directory: string;
  /** Readings that came over the network this time. */
  readonly received: number;
  /** The readings that are here, and numbers that are not, where all readings were asked for. */
  readonly epochs: readonly (EpochAt & { readonly missing: readonly NumberSpan[] })[];
  /** Times of which nothing is kept any more. */
  readonly erased: readonly ErasedOf[];
}

/**
 * Downloads all that a token can see as a data package. What was received is kept beside the files, so that the same call goes on where
 * one before it ended, and later fetches only what is new; see `receive` in receiving.ts.
 *
 * @throws OperatorError with what to do; what was received until then stays
 */
export async function download(options: DownloadOptions): Promise<Downloaded> {
  const failed = new AbortController();
  const answers = new InterfaceClient({ ...options, stop: AbortSignal.any([options.stop, failed.signal]) });
  const { directory, timezone } = options;
  const span = spanIn(options.span, "UTC");
  const where = timezone === "home" ? " at home" : "";
  // What is held has identifiers: it lies beside a package without them, and not in it.
  const state = options.pseudonyms === undefined ? join(directory, stateFile) : `${directory}${stateFile}`;
  const held = new HeldReadings(
    state,
    { url: answers.url, since: moment(span.since_s, where), until: moment(span.until_s, where) },
    // Whoever has taken the directory away does not expect that what it was made of is still there.
    { anew: !existsSync(directory) },
  );
  mkdirSync(directory, { recursive: true });
  try {
    if ((await answers.get("/items", "", Type.Array(ItemType))) === undefined)
      throw new OperatorError(
        `there is no Lintel interface at ${answers.url}`,
        "give --url the address that the gateway or central server prints when it starts",
      );
    if (options.pseudonyms === undefined && options.byWhom === "admin") await requireAdmin(answers);
    const leftOut = await leftOutFor(answers, options.uses);
    const homesLeftOut = leftOutText(leftOut, options.uses);
    if (homesLeftOut !== undefined) options.onWarning(homesLeftOut);
    // Files from before may tell of a home that is left out now.
    held.bind({ "homes left out": leftOut.join() });
    const here = await epochsHere(answers);
    const epochs = epochsAt(here, options.at, { ...options, server: answers.url });
    const erased = erasedOf(here, epochs);
    held.bind({ at: options.at === undefined ? "" : atText(options.at) });
    const { all, items } = await inventory(answers, options.items, options.pseudonyms);
    const zones = await HomeZones.of(answers, { timezone, items });
    for (const warning of zones.warnings) options.onWarning(warning);
    const known = await HeldAnswers.of(answers, held);
    const homes = await measuredHomes(known, all, options.pseudonyms);
    const derived = measuresOf(options, erased);
    const received = await receive({
      ...{ answers, held, known, items, zones, failed, form: options, onProgress: options.onProgress },
      homes: derived === "now" ? homes : [],
    });
    // What came while this ran is held, and told by the next run: so the files are those of a number that can be named.
    held.tellUpTo(epochs, options.at === undefined ? "all" : "none");
    const written = await writePackage({
      ...options,
      answers: known,
      readings: held,
      items,
      inventory: all,
      homes,
      homesLeftOut,
      derived,
      zones,
      origin: originOf(answers.url, options),
      at:
        epochs.length === 0
          ? undefined
          : () => packageAt(held, epochs, items, { ...options, names: options.items }),
      writing: (name, own, write) =>
        unlessStanding(held, { ...options, name, items: own, zones, known, epochs }, write),
      onStep: (now) => options.onProgress({ ...received, now }),
    });
    const asksForAll = [options.series, options.items, span.since_s, span.until_s].every(
      (one) => one === undefined,
    );
    return {
      directory,
      received: received.received,
      ...written,
      epochs: withMissing(epochs, held, { asksForAll }),
      erased,
    };
  } finally {
    held.close();
  }
}

/** @throws OperatorError where a token is not an administrator's */
async function requireAdmin(answers: InterfaceClient): Promise<void> {
  const answer = await answers.get<{ scope: string }>("/token", "", TokenScope);
  if (answer !== undefined && answer !== "gone" && answer.body.scope === "admin") return;
  throw new OperatorError(
    "--identifiers full takes an admin token, and this one is for reading",
    "leave it out, or ask for one of `lintel token create NAME --scope admin`",
  );
}

/** The address of a server may tell who lives there. */
function originOf(url: string, { pseudonyms }: PackageForm): Origin {
  const command = "lintel fetch";
  return pseudonyms === undefined ? { command, name: url, url } : { command, name: "a Lintel server" };
}

/** Has a file written, unless it stands there already with just what is held. */
async function unlessStanding(
  held: HeldReadings,
  file: StandingFile,
  write: () => Promise<number | undefined>,
): Promise<WrittenFile | undefined> {
  const { directory, format, name } = file;
  const content = contentOf(held, file);
  const setting = `written ${name}.${format}`;
  const before = JSON.parse(held.setting(setting) ?? "{}");
  const isThere =
    before.content === content && existsSync(fileOf(join(directory, tableNamed(name).file ?? name), format));
  if (isThere && content !== undefined) return { rows: before.rows, written: false };
  const done = await fileWritten(write);
  if (done !== undefined) held.keepSetting(setting, JSON.stringify({ content, rows: done.rows }));
  return done;
}

/** A file of a download, and everything that its content depends on. */
interface StandingFile extends Omit<PackageForm, "series"> {
  readonly name: string;
  readonly series?: readonly SeriesName[] | undefined;
  readonly items: readonly Item[];
  readonly zones: HomeZones;
  readonly known: HeldAnswers;
  readonly epochs: readonly ReadingNumber[];
}

/** A text that is the same only for the same content; undefined where nobody can tell. */
function contentOf(held: HeldReadings, file: StandingFile): string | undefined {
  const { name, stamp, timezone, zones, pseudonyms, items, known, epochs, clock } = file;
  const form = [stamp, timezone === "home" ? zones.text : "", pseudonyms?.form];
  const series = seriesNames.find((one) => one === name);
  if (series !== undefined)
    return digestOf([
      ...form,
      ...items.map(({ itemid, itemname }) => {
        const of = { series, item: itemid };
        const told = held.told(of).reduce((sum, { readings }) => sum + readings, 0);
        return [itemid, itemname, held.progress(of).revision, told];
      }),
    ]);
  const own = digestOfItems(items);
  const isDerived = derivedTables.some((table) => table.name === name);
  if (isDerived || name === placesList) {
    const digest = known.digest(`${recordPaths.homes}{id}/${isDerived ? "derived/all" : "places"}`);
    return digest && digestOf([version, digest, ...form, zones.text, file.span, own]);
  }
  // Coverage and missing days have the notes of homes.
  const notes = name === coverageList || name === missingnessList ? known.digest(recordPaths.notes) : "";
  const list = recordLists.find((one) => one.name === name);
  const path = list?.owner === undefined ? undefined : list.paths[0];
  const digest = known.digest(list === undefined ? "items" : (path ?? ""));
  if (digest === undefined || notes === undefined) return undefined;
  if (list !== undefined) return digestOf([version, digest, ...form, own]);
  // Minutes are counted up to today, wherever that is.
  const today = [...new Set(items.map((item) => zones.zoneOf(item)))].map((zone) =>
    localDate(zone, clock.now().unix_ms),
  );
  return digestOf([version, digest, notes, ...form, zones.text, today, file.span, file.series, epochs, own]);
}

/** Most files have a part of the same items. */
function digestOfItems(items: readonly Item[]): string {
  const known = itemDigests.get(items);
  if (known !== undefined) return known;
  const digest = digestOf(
    items.map(({ itemid, itemname, typename, macaddress, currenthomeid }) => [
      ...[itemid, itemname, typename, macaddress, currenthomeid],
    ]),
  );
  itemDigests.set(items, digest);
  return digest;
}
const itemDigests = new WeakMap<readonly Item[], string>();

function digestOf(content: readonly unknown[]): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(content)).digest("hex");
}

function moment(unix_s: number | undefined, where: string): string {
  return unix_s === undefined ? "" : `${new Date(unix_s * 1000).toISOString()}${where}`;
}

const stateFile = ".lintel-fetch.db";
