import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { derivedPath, derivedRecords } from "../domain/derived/derived-record.ts";
import {
  type DerivedName,
  definitionText,
  derivedNames,
  derivedOf,
} from "../domain/derived/derived-table.ts";
import { Place, placesPath } from "../domain/derived/places.ts";
import type { Item } from "../domain/records/item.ts";
import { Home } from "../domain/records/programme-records.ts";
import { isUnixTime } from "../domain/records/record-field.ts";
import { gathered, type InterfaceReader, pagesOf } from "./answers.ts";
import { type AskedSpan, column, columnsOfSchema, type FileColumn, rowOf, spanIn } from "./columns.ts";
import type { HomeZones } from "./home-zones.ts";
import { type FileForm, fileOf, writeTable } from "./table-file.ts";

/** The name of a measure's table in a download. */
export function derivedList(name: DerivedName): string {
  return `derived_${name}`;
}

/** The tables of derived measures, each with the rule by which its values are known. */
export const derivedTables = derivedNames.map((name) => {
  const { title, meaning, rule, needs, paper } = derivedOf(name);
  return {
    name: derivedList(name),
    file: `derived/${name}`,
    title: `${title}, by Lintel's definition ${definitionText(name)}`,
    notes: [
      `A row is ${meaning}.`,
      `What is known: ${rule}. Empty is unknown, and never zero.`,
      `It needs ${needs}.`,
      ...(paper === "" ? [] : [`After ${paper}.`]),
    ].join(" "),
    columns: columnsOf(name),
  };
});

/** Where sensors are: what the measures are made by. */
export const placesList = "places";
export const placesTable = {
  name: placesList,
  title: "Where each item is in its home, and what it watches",
  notes:
    "Rooms and roles are those that people gave, or that names of items tell. A room that is no usual word is a word made by the key where names are left out.",
  columns: columnsOfSchema(Place),
};

function columnsOf(name: DerivedName): FileColumn[] {
  const { fields } = derivedOf(name);
  const own = columnsOfSchema(derivedRecords[name]).map((one): FileColumn => {
    const field = fields[one.name];
    if (one.name === "day") return { ...column("day", "date", one.meaning), identifies: "nobody" };
    return field === undefined
      ? one
      : { ...one, meaning: field.meaning, unit: isUnixTime(field.schema) ? "" : field.unit };
  });
  return [{ ...column("homeid", "integer", "the home"), identifies: "home" }, ...own];
}

/**
 * Writes a derived measure of all homes, home after home, each from old to new: the records that the interface answers.
 *
 * @param options.homes undefined where the interface tells no measures
 * @returns how many records; undefined, and no file, where there are no measures
 */
export async function writeDerived(
  options: FileForm & {
    name: DerivedName;
    directory: string;
    answers: InterfaceReader;
    homes: readonly number[] | undefined;
    zones: HomeZones;
    span: AskedSpan;
    stop: AbortSignal;
  },
): Promise<number | undefined> {
  const { name, directory, answers, homes, zones, span, format, stamp, pseudonyms, stop } = options;
  const schema = derivedRecords[name];
  async function* batches() {
    // Without any home nothing can be asked, and there are no records.
    if (homes?.length === 0) yield [];
    for (const home of homes ?? []) {
      stop.throwIfAborted();
      const path = derivedPath(name, home);
      const { since_s, until_s } = spanIn(span, zones.zoneOf({ currenthomeid: home }));
      const after = since_s === undefined ? undefined : Math.max(0, since_s - 1);
      const bounds = { limit: page_max, after, before: until_s };
      const query = Object.entries(bounds).flatMap(([key, of]) => (of === undefined ? [] : `${key}=${of}`));
      const newestFirst = await gathered(answers, [path], schema, `?${query.join("&")}`);
      yield newestFirst.toReversed().map((record) => [home, ...rowOf(schema, record)]);
    }
  }
  const path = fileOf(join(directory, "derived", name), format);
  return writeTable({ path, format, columns: columnsOf(name), stamp, pseudonyms }, batches());
}

/**
 * Writes where the items of all homes are, home after home.
 *
 * @returns how many items; undefined, and no file, where the interface tells no places
 */
export async function writePlaces(
  options: FileForm & {
    directory: string;
    answers: InterfaceReader;
    homes: readonly number[] | undefined;
    stop: AbortSignal;
  },
): Promise<number | undefined> {
  const { directory, answers, homes, format, stamp, pseudonyms, stop } = options;
  async function* batches() {
    if (homes?.length === 0) yield [];
    for (const home of homes ?? []) {
      stop.throwIfAborted();
      for await (const page of pagesOf(answers, placesPath(home), Place)) {
        const places = page as readonly Place[];
        const number = (one: Place) => pseudonyms?.itemNumber(one.itemid) ?? one.itemid;
        yield places.toSorted((one, other) => number(one) - number(other)).map((one) => rowOf(Place, one));
      }
    }
  }
  const path = fileOf(join(directory, placesList), format);
  return writeTable({ path, format, columns: placesTable.columns, stamp, pseudonyms }, batches());
}

/**
 * Homes that measures can be asked of: those with a record, and those that items live in. Where identifiers are left out their order tells nothing. Undefined where
 * the interface tells no measures.
 */
export async function measuredHomes(
  answers: InterfaceReader,
  items: readonly Pick<Item, "currenthomeid">[],
  pseudonyms: FileForm["pseudonyms"],
): Promise<number[] | undefined> {
  const recorded = (await gathered(answers, ["/homes/"], Home)).map(({ homeid }) => Number(homeid));
  const homes = [...new Set([...recorded, ...items.flatMap(({ currenthomeid }) => currenthomeid ?? [])])];
  const measured: number[] = [];
  for (const home of homes)
    if ((await answers.get(`/homes/${home}/derived`, "", Type.Array(Type.Object({})))) !== undefined)
      measured.push(home);
  if (measured.length === 0 && homes.length > 0) return undefined;
  const number = (home: number) => pseudonyms?.numberOf("home", home) ?? home;
  return measured.sort((one, other) => number(one) - number(other));
}

const page_max = 1_000;
