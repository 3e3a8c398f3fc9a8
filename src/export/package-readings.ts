import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { OperatorError } from "../base/errors.ts";
import { kindNames } from "../domain/kinds.ts";
import { EpochRecord, type ReadingNumber } from "../domain/reading.ts";
import { Item } from "../domain/records/item.ts";
import { type SeriesName, seriesNames, seriesOf } from "../domain/series.ts";
import { TokenScope } from "../domain/token.ts";
import type { Use } from "../domain/uses.ts";
import { gathered, type InterfaceReader } from "./answers.ts";
import type { Pseudonyms } from "./pseudonyms.ts";

/** The readings that a package has: those of an epoch up to a number. */
export interface EpochAt extends ReadingNumber {
  /** Null at a gateway that does not know its number. */
  readonly homeid: number | null;
  /** The number that the epoch begins with. */
  readonly first: number;
}

/** Homes that an answer leaves out because their consent does not cover these uses: their numbers, and 0 for that of a gateway. */
export async function leftOutFor(
  answers: InterfaceReader,
  uses: readonly Use[] | undefined,
): Promise<readonly number[]> {
  if (uses === undefined || uses.length === 0) return [];
  const answer = await answers.get<Static<typeof TokenScope>>("/token", "", TokenScope);
  if (answer !== undefined && answer !== "gone") return answer.body.leftout;
  throw new OperatorError(
    "the server does not tell which homes consent to this use",
    "update the server, or make the package with --identifiers none and without --recipient",
  );
}

/** The sentence of a package about homes that it leaves out; undefined where there are none. */
export function leftOutText(homes: readonly number[], uses: readonly Use[] = []): string | undefined {
  if (homes.length === 0) return undefined;
  const [what, whose] = homes.length === 1 ? ["1 home is", "its"] : [`${homes.length} homes are`, "their"];
  return `${what} left out, because ${whose} consent does not cover the use of this package (${uses.join(", ")}).`;
}

/** Epochs, and how far each is here; none where the server is one that does not tell them. */
export async function epochsHere(answers: InterfaceReader): Promise<readonly EpochRecord[]> {
  const answer = await answers.get<readonly EpochRecord[]>("/epochs", "", Type.Array(EpochRecord));
  return answer === undefined || answer === "gone" ? [] : answer.body;
}

/**
 * The epochs that are asked for as they are here, in the order of their names.
 *
 * @param asked absent: all that there is now. By their names, or those that a package without names has for them
 * @throws OperatorError where something of it has not come here
 */
export function epochsAt(
  here: readonly EpochRecord[],
  asked: readonly ReadingNumber[] | undefined,
  { server, pseudonyms }: { server: string; pseudonyms?: Pseudonyms | undefined },
): EpochAt[] {
  const wanted = asked ?? here.map(({ epoch, last }) => ({ epoch, number: last }));
  const byName = new Map(
    here.flatMap((one) => [one.epoch, pseudonyms?.epochName(one.epoch)].map((name) => [name, one])),
  );
  return wanted
    .map(({ epoch, number }) => {
      const known = byName.get(epoch);
      if (known === undefined)
        throw new OperatorError(
          `${server} has no readings of epoch ${epoch}`,
          "ask the gateway that it is of, or central, with a token that sees its home; an epoch of a package without names needs --key and --recipient of that package",
        );
      if (number > known.last)
        throw new OperatorError(
          `${server} has readings of epoch ${epoch} up to ${known.last}, and not up to ${number}`,
          "upload the rest with lintel upload, or ask the gateway",
        );
      return { epoch: known.epoch, number, homeid: known.homeid, first: known.first };
    })
    .sort((one, other) => (one.epoch < other.epoch ? -1 : 1));
}

/** The same, with runs of numbers up to theirs that no reading here has; none where not all readings are asked for. */
export function withMissing(
  epochs: readonly EpochAt[],
  readings: {
    missing(epochs: readonly EpochAt[], limit: number): ReadonlyMap<string, readonly NumberSpan[]>;
  },
  { asksForAll }: { asksForAll: boolean },
): (EpochAt & { readonly missing: readonly NumberSpan[] })[] {
  const missing = asksForAll ? readings.missing(epochs, missing_max) : undefined;
  return epochs.map((one) => ({ ...one, missing: missing?.get(one.epoch) ?? [] }));
}

/** Numbers that follow each other, both ends included. */
export interface NumberSpan {
  readonly first: number;
  readonly last: number;
}

/** A time of which nothing of a home is kept any more. */
export type ErasedOf = EpochRecord["erased"][number] & Pick<EpochRecord, "homeid">;

/** Such times of the homes that these epochs are of, each once. */
export function erasedOf(here: readonly EpochRecord[], epochs: readonly EpochAt[]): ErasedOf[] {
  const named = new Set(epochs.map(({ epoch }) => epoch));
  const of = here.filter(({ epoch }) => named.has(epoch));
  const homes = new Map(of.map(({ homeid, erased }) => [homeid, erased]));
  return [...homes].flatMap(([homeid, erased]) => erased.map((one) => ({ homeid, ...one })));
}

/** `EPOCH:NUMBER`, several with commas between; undefined for another text. */
export function readAt(text: string): ReadingNumber[] | undefined {
  const parts = text.split(",").map((part) => /^([0-9a-f]{32}):([0-9]{1,15})$/.exec(part.trim()));
  return parts.every((part) => part !== null)
    ? parts.map(([, epoch = "", number]) => ({ epoch, number: Number(number) }))
    : undefined;
}

/** The same as text. */
export function atText(epochs: readonly ReadingNumber[]): string {
  return epochs.map(({ epoch, number }) => `${epoch}:${number}`).join(",");
}

/** Everything that says how a saved package was made; the rest of its `datapackage.json` is for others. */
const PackageRecipe = Type.Object({
  version: Type.String(),
  at: Type.Array(
    Type.Object({
      epoch: Type.String(),
      number: Type.Integer(),
      readings: Type.Integer(),
      homeid: Type.Union([Type.Integer(), Type.Null()]),
    }),
  ),
  /** Absent: all of them. */
  series: Type.Optional(Type.Array(Type.String())),
  items: Type.Optional(Type.Array(Type.String())),
  since: Type.Optional(Type.String()),
  until: Type.Optional(Type.String()),
  timezone: Type.String(),
  format: Type.String(),
  stamp: Type.String(),
  /** None, coded or full. */
  identifiers: Type.String(),
  /** Of the key by which names were taken out; absent where they stand. */
  key: Type.Optional(Type.String()),
  sha256: Type.String(),
  /** Of its derived measures: `doses/2`; absent where it has none. */
  definitions: Type.Optional(Type.Array(Type.String())),
});

const Described = Type.Object({
  /** As ISO 8601 has it. */
  created: Type.String(),
  lintel: PackageRecipe,
  resources: Type.Array(
    Type.Object({ name: Type.String(), path: Type.String(), hash: Type.String(), rows: Type.Integer() }),
  ),
});

export type PackageRecipe = Static<typeof PackageRecipe>;

/** A package as it lies in a folder. */
export interface SavedPackage extends Pick<Static<typeof Described>, "created" | "resources"> {
  readonly folder: string;
  readonly made: PackageRecipe;
}

/** The `datapackage.json` of a folder, as far as it says how the package was made. @throws OperatorError where it does not */
export async function savedPackage(folder: string): Promise<SavedPackage> {
  const path = join(folder, "datapackage.json");
  const described = await Bun.file(path)
    .json()
    .catch(() => undefined);
  if (!Value.Check(Described, described))
    throw new OperatorError(
      `${path} does not say which readings it is of`,
      "give --at EPOCH:NUMBER, or the folder of a package that lintel fetch has written",
    );
  const { lintel, created, resources } = described;
  return { folder, made: lintel, created, resources };
}

/** Runs of missing numbers that are told of an epoch. */
const missing_max = 20;

/** Readings of an epoch that are told, with their first and last stamp, unix milliseconds. An empty name: nobody knows the epoch. */
export interface EpochTally {
  readonly epoch: string;
  readonly readings: number;
  readonly first_ms: number;
  readonly last_ms: number;
}

/** The readings that a package has, for those who cite it and make it again. */
export interface PackageAt {
  /** With how many readings of each are in the files. */
  readonly epochs: readonly (EpochAt & { readonly readings: number })[];
  /** The first and the last stamp in the files, unix milliseconds; undefined where there is no reading. */
  readonly span: readonly [first_ms: number, last_ms: number] | undefined;
  /** The items that were asked for; absent: all. */
  readonly items: readonly string[] | undefined;
}

/** Counts readings by epoch. */
export class EpochTallies {
  readonly #byEpoch = new Map<string, EpochTally>();

  add(epoch: string, stamp_ms: number): void {
    const { readings, first_ms, last_ms } = this.#byEpoch.get(epoch) ?? noneYet;
    this.#byEpoch.set(epoch, {
      epoch,
      readings: readings + 1,
      first_ms: Math.min(first_ms, stamp_ms),
      last_ms: Math.max(last_ms, stamp_ms),
    });
  }

  get told(): EpochTally[] {
    return [...this.#byEpoch.values()];
  }
}

const noneYet = { readings: 0, first_ms: Number.POSITIVE_INFINITY, last_ms: Number.NEGATIVE_INFINITY };

/** Sums up what is told of each series of the items of a package. */
export function packageAt(
  readings: { told(of: { series: SeriesName; item: number }): readonly EpochTally[] },
  epochs: readonly EpochAt[],
  items: readonly Item[],
  given: {
    series?: readonly SeriesName[] | undefined;
    names?: readonly string[] | undefined;
    pseudonyms?: Pseudonyms | undefined;
  },
): PackageAt {
  const { series = seriesNames, names, pseudonyms } = given;
  const told = items.flatMap(({ itemid, typename }) =>
    series
      .filter((name) => seriesOf(name).kind === typename)
      .flatMap((name) => readings.told({ series: name, item: itemid })),
  );
  const counts = new Map<string, number>();
  for (const { epoch, readings } of told) counts.set(epoch, (counts.get(epoch) ?? 0) + readings);
  return {
    epochs: epochs.map(({ homeid, ...one }) => ({
      ...one,
      epoch: pseudonyms?.epochName(one.epoch) ?? one.epoch,
      homeid: homeid === null ? null : (pseudonyms?.numberOf("home", homeid) ?? homeid),
      readings: counts.get(one.epoch) ?? 0,
    })),
    span:
      told.length === 0
        ? undefined
        : [
            told.reduce((least_ms, { first_ms }) => Math.min(least_ms, first_ms), Number.POSITIVE_INFINITY),
            told.reduce((most_ms, { last_ms }) => Math.max(most_ms, last_ms), Number.NEGATIVE_INFINITY),
          ],
    items: names && items.map(({ itemname }) => pseudonyms?.itemName(itemname) ?? itemname),
  };
}

/**
 * Items of the inventory, of every kind: all, and those that are asked for.
 *
 * @param pseudonyms learns who they are; by them items can be named too
 * @param names of those that are asked for; absent: all
 * @throws OperatorError where one of them is not there
 */
export async function inventory(
  answers: InterfaceReader,
  names: readonly string[] | undefined,
  pseudonyms?: Pseudonyms | undefined,
): Promise<{ readonly all: Item[]; readonly items: Item[] }> {
  const paths = kindNames.map((kind) => `/inventory/${kind}`);
  const all = (await gathered(answers, paths, Item)) as Item[];
  pseudonyms?.learn(all);
  const isNamed = ({ itemname }: Item, name: string) =>
    itemname === name || pseudonyms?.itemName(itemname) === name;
  const unknown = names?.filter((name) => !all.some((item) => isNamed(item, name))) ?? [];
  if (unknown.length > 0)
    throw new OperatorError(
      `the inventory has no item ${unknown.join(", ")}`,
      `it has ${
        all
          .slice(0, named_max)
          .map(({ itemname }) => itemname)
          .join(", ") || "none"
      }${all.length > named_max ? ", …" : ""}`,
    );
  pseudonyms?.use();
  const items = all.filter((item) => names?.some((name) => isNamed(item, name)) ?? true);
  return { all, items };
}

const named_max = 20;
