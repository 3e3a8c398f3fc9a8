import { existsSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { OperatorError } from "../errors.ts";
import type { ReadingNumber } from "../reading.ts";
import { type Item, ItemType } from "../records/items.ts";
import { TokenScope } from "../records/token-scope.ts";
import { type SeriesName, seriesNames, seriesOf } from "../series.ts";
import {
  atText,
  type EpochAt,
  type ErasedOf,
  epochsAt,
  epochsHere,
  erasedOf,
  type NumberSpan,
  withMissing,
} from "./at.ts";
import { HeldReadings } from "./held-readings.ts";
import { HomeZones } from "./home-zones.ts";
import { InterfaceClient } from "./interface-client.ts";
import { inventory } from "./inventory.ts";
import { type PackageForm, type WrittenFile, type WrittenPackage, writePackage } from "./package/package.ts";
import type { Origin } from "./package/written.ts";
import { bringUpToDate } from "./series-download.ts";
import { fileOf } from "./series-file.ts";
import { spanIn } from "./span.ts";
import { packageAt } from "./told.ts";

export interface DownloadOptions extends PackageForm {
  readonly url: string;
  readonly token: string;
  /** The certificate of a server that no authority vouches for, in PEM. */
  readonly certificate?: string;
  /** Names of items; absent: all of them. */
  readonly items?: readonly string[];
  /** Refuses another token than an administrator's, where identifiers stay. */
  readonly byWhom?: "admin";
  /** Just these readings; absent: all that there are now. */
  readonly at?: readonly ReadingNumber[] | undefined;
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
  const held = new HeldReadings(state, {
    url: answers.url,
    since: moment(span.since_s, where),
    until: moment(span.until_s, where),
  });
  try {
    if ((await answers.get("/items", "", Type.Array(ItemType))) === undefined)
      throw new OperatorError(
        `there is no Lintel interface at ${answers.url}`,
        "give --url the address that the gateway or central server prints when it starts",
      );
    if (options.pseudonyms === undefined && options.byWhom === "admin") await requireAdmin(answers);
    const here = await epochsHere(answers);
    const epochs = epochsAt(here, options.at, answers.url);
    held.bind({ at: options.at === undefined ? "" : atText(options.at) });
    const items = await inventory(answers, options.items, options.pseudonyms);
    const zones = await HomeZones.of(answers, { timezone, items });
    for (const warning of zones.warnings) options.onWarning(warning);
    const received = await receive(answers, held, items, { ...options, zones, failed });
    // What came while this ran is held, and told by the next run: so the files are those of a number that can be named.
    held.tellUpTo(epochs, options.at === undefined ? "all" : "none");
    const written = await writePackage({
      ...options,
      answers,
      readings: held,
      items,
      zones,
      origin: originOf(answers.url, options),
      at:
        epochs.length === 0
          ? undefined
          : () => packageAt(held, epochs, items, { ...options, names: options.items }),
      writing: (series, own, write) => unlessStanding(held, series, own, { ...options, zones }, write),
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
      erased: erasedOf(here, epochs),
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
    "--identifiers takes an admin token, and this one is for reading",
    "leave it out, or ask for one of `lintel token create NAME --scope admin`",
  );
}

/** The address of a server may tell who lives there. */
function originOf(url: string, { pseudonyms }: PackageForm): Origin {
  const command = "lintel fetch";
  return pseudonyms === undefined ? { command, name: url, url } : { command, name: "a Lintel server" };
}

/**
 * Receives every series of the items, a few at a time: over a slow network most of it is waiting. Where one
 * fails, `failed` ends the others, and all have ended when this rejects.
 */
async function receive(
  answers: InterfaceClient,
  held: HeldReadings,
  items: readonly Item[],
  { zones, failed, ...options }: DownloadOptions & { zones: HomeZones; failed: AbortController },
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
      tell();
      await bringUpToDate({
        answers,
        held,
        of: { series, item: item.itemid },
        itemname: item.itemname,
        span: spanIn(options.span, zones.zoneOf(item)),
        onPage: (count) => {
          progress.received += count;
          tell();
        },
      });
      progress.done += 1;
    }
  };
  const workers = Array.from({ length: atOnce_max }, () => work().catch((thrown) => failed.abort(thrown)));
  await Promise.all(workers);
  failed.signal.throwIfAborted();
  return progress;
}

/** Has the file of a series written, unless it stands there already with just what is held. */
async function unlessStanding(
  held: HeldReadings,
  series: SeriesName,
  items: readonly Item[],
  { directory, format, stamp, timezone, zones, pseudonyms }: PackageForm & { zones: HomeZones },
  write: () => Promise<number>,
): Promise<WrittenFile> {
  const content = JSON.stringify([
    stamp,
    timezone === "home" ? zones.text : "",
    pseudonyms?.fingerprint,
    items.map(({ itemid, itemname }) => {
      const of = { series, item: itemid };
      const told = held.told(of).reduce((sum, { readings }) => sum + readings, 0);
      return [itemid, itemname, held.progress(of).revision, told];
    }),
  ]);
  const setting = `written ${series}.${format}`;
  const before = JSON.parse(held.setting(setting) ?? "{}");
  if (before.content === content && existsSync(fileOf(join(directory, series), format)))
    return { rows: before.rows, written: false };
  const rows = await write();
  held.keepSetting(setting, JSON.stringify({ content, rows }));
  return { rows, written: true };
}

function moment(unix_s: number | undefined, where: string): string {
  return unix_s === undefined ? "" : `${new Date(unix_s * 1000).toISOString()}${where}`;
}

const stateFile = ".lintel-fetch.db";
/** Series received at once: enough to hide a network's delay, and few beside what a server answers at once. */
const atOnce_max = 4;
