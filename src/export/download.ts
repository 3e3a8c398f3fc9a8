import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";
import { localDate } from "../base/time.ts";
import { version } from "../base/version.ts";
import { Provenance, type ReadingNumber } from "../domain/reading.ts";
import { type Item, ItemType } from "../domain/records/item.ts";
import { recordPaths } from "../domain/records/record-table.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../domain/series.ts";
import { TokenScope } from "../domain/token.ts";
import type { Use } from "../domain/uses.ts";
import type { ReadingRow } from "../store/store.ts";
import type { InterfaceReader } from "./answers.ts";
import { type SecondsSpan, spanIn } from "./columns.ts";
import { derivedTables, placesList } from "./derived-tables.ts";
import { HeldAnswers } from "./held-answers.ts";
import { HeldReadings, type SeriesOfItem } from "./held-readings.ts";
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

export interface Progress {
  /** Series of items that are up to date, of all there are. */
  readonly done: number;
  readonly total: number;
  /** Readings received by this call. */
  readonly received: number;
  /** The present piece of work. */
  readonly now: string;
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
 * one before it ended, and later fetches only what is new; see `bringUpToDate` for what is guaranteed.
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
    const received = await receive(answers, { held, known, items, zones, failed }, options);
    // What came while this ran is held, and told by the next run: so the files are those of a number that can be named.
    held.tellUpTo(epochs, options.at === undefined ? "all" : "none");
    const written = await writePackage({
      ...options,
      answers: known,
      readings: held,
      items,
      inventory: all,
      homesLeftOut,
      derived: measuresOf(options, erased),
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

interface Receiving {
  readonly held: HeldReadings;
  readonly known: HeldAnswers;
  readonly items: readonly Item[];
  readonly zones: HomeZones;
  /** Ends everything where one part fails. */
  readonly failed: AbortController;
}

/**
 * Receives every series of the items, a few at a time: over a slow network most of it is waiting. Where one
 * fails, `failed` ends the others, and all have ended when this rejects.
 */
async function receive(
  answers: InterfaceClient,
  { held, known, items, zones, failed }: Receiving,
  options: DownloadOptions,
): Promise<Omit<Progress, "now">> {
  const runs = items.flatMap((item) =>
    (options.series ?? seriesNames)
      .filter((series) => seriesOf(series).kind === item.typename)
      .map((series) => ({ series, item })),
  );
  const waiting = runs.values();
  const progress = { done: 0, total: runs.length, received: 0 };
  const work = async () => {
    for (const { series, item } of waiting) {
      const tell = () => options.onProgress({ ...progress, now: `${item.itemname} ${series}` });
      const [path, span] = [pathOf(series, item.itemname), spanIn(options.span, zones.zoneOf(item))];
      if (known.hasNew(itemPath(series, item.itemname), path, beginning(span))) {
        tell();
        await bringUpToDate({
          answers,
          held,
          of: { series, item: item.itemid },
          itemname: item.itemname,
          span,
          onPage: (count) => {
            progress.received += count;
            tell();
          },
        });
        known.keepSeries(path, beginning(span));
      }
      progress.done += 1;
    }
  };
  const workers = Array.from({ length: atOnce_max }, () => work().catch((thrown) => failed.abort(thrown)));
  await Promise.all(workers);
  failed.signal.throwIfAborted();
  return progress;
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
/** Series received at once: enough to hide a network's delay, and few beside what a server answers at once. */
const atOnce_max = 4;

/**
 * Receives what has arrived of a series of an item since the last page that is held, page by page: afterwards every reading
 * of the span that was on the server's disk when this was called is held. Where the server does not know the place any more,
 * the series is received from the beginning, and what is held already stays.
 *
 * @returns false where the server has no such series or item
 */
export async function bringUpToDate(options: {
  answers: InterfaceReader;
  held: HeldReadings;
  of: SeriesOfItem;
  itemname: string;
  span: SecondsSpan;
  /** Told of every page, with the readings it added. */
  onPage: (count: number) => void;
}): Promise<boolean> {
  const { answers, held, of, span, onPage } = options;
  const path = pathOf(of.series, options.itemname);
  const first = `?since=${beginning(span)}&limit=${page_max}&precision=ms&provenance=yes`;
  // Ends: each page lies behind the one before, and a series is begun again only where it had begun.
  for (;;) {
    const { next } = held.progress(of);
    const answer = await answers.get<readonly ServedRecord[]>(path, next ?? first, pageSchemas[of.series]);
    if (answer === undefined) return false;
    if (answer === "gone") {
      if (next === undefined) noPlace(path);
      held.beginAgain(of);
      continue;
    }
    const rows = answer.body.map((record) => rowOf(of.series, record));
    const numbers = answer.body.map(numberIn);
    if (rows.length > 0) held.add(of, rows, numbers, answer.next ?? noPlace(path));
    onPage(rows.length);
    if (rows.length < page_max) return true;
  }
}

/** The beginning of a span, as `since` says it. */
function beginning({ since_s, until_s }: SecondsSpan): string {
  if (until_s !== undefined) return `@${since_s ?? 0}/${until_s}`;
  return since_s === undefined ? "" : `@${since_s}`;
}

function noPlace(path: string): never {
  throw new OperatorError(
    `the answer to ${path} does not say where to begin or to go on`,
    "update the server: `since` came with version 0.9",
  );
}

const numberFields = { epoch: Type.Optional(Type.String()), number: Type.Optional(Type.Integer()) };

/** The identity of a reading; undefined where the server does not know it. */
function numberIn({ epoch, number }: ServedRecord): ReadingNumber | undefined {
  return typeof epoch === "string" && typeof number === "number" ? { epoch, number } : undefined;
}

/** The records of a page as they are served, a schema for each series. */
const pageSchemas = Object.fromEntries(
  seriesNames.map((series) => {
    const fields = Object.entries(seriesOf(series).fields).map(([name, { schema }]) => [name, schema]);
    const record = {
      stamp: Type.Integer(),
      ...Object.fromEntries(fields),
      ...Provenance.properties,
      ...numberFields,
    };
    return [series, Type.Array(Type.Object(record))];
  }),
) as unknown as Readonly<Record<SeriesName, TSchema>>;

function pathOf(series: SeriesName, itemname: string): string {
  return `${itemPath(series, itemname)}/${seriesOf(series).path}`;
}

function itemPath(series: SeriesName, itemname: string): string {
  return `/items/${seriesOf(series).kind}/${encodeURIComponent(itemname)}`;
}

function rowOf(series: SeriesName, record: ServedRecord): ReadingRow {
  const names = [...Object.keys(seriesOf(series).fields), ...Object.keys(Provenance.properties)];
  return [record.stamp, ...names.map((name) => record[name] ?? null)];
}

type ServedRecord = Readonly<Record<string, Value>> & { readonly stamp: number };

const page_max = 1000;
