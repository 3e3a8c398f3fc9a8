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
import { gathered, type InterfaceReader, type ListRecord, pagesOf } from "./answers.ts";
import {
  type AskedSpan,
  column,
  columnsOfSchema,
  type FileCell,
  type FileColumn,
  type FileRow,
  rowOf,
  type SecondsSpan,
  spanIn,
} from "./columns.ts";
import type { HomeZones } from "./home-zones.ts";
import { type FileForm, fileOf, TableFile, writeTable } from "./table-file.ts";

/** The name of a measure's table in a download. */
export function derivedList(name: DerivedName): string {
  return `derived_${name}`;
}

/** The tables of derived measures, each with the rule by which its values are known. */
export const derivedTables = derivedNames.map((name) => {
  const { title, meaning, rule, needs, paper } = derivedOf(name);
  return {
    name: derivedList(name),
    measure: name,
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

/** All measures in one table: a row has the cells of its own measure, and no others. */
export const measuresList = "derived";
const columnOfMeasure = column("measure", "text", "the name of the measure that the row is of");
export const measuresColumns: readonly FileColumn[] = [
  columnOfMeasure,
  ...new Map(
    derivedTables.flatMap(({ columns }) =>
      columns.map((one) => [one.name, { ...one, nullable: true }] as const),
    ),
  ).values(),
];

/** Rows of all measures, measure after measure, each from old to new. */
export function measureRows(
  home: number,
  measures: ReadonlyMap<string, readonly ListRecord[]>,
): readonly FileRow[] {
  return derivedTables.flatMap(({ measure, columns }) => {
    const places = columns.map(({ name }) => placeOfColumn.get(name) ?? 0);
    return rowsOf(measure, home, measures).map((cells) => {
      const row: FileCell[] = new Array(measuresColumns.length).fill(null);
      row[0] = measure;
      for (let at = 0; at < places.length; at += 1) row[places[at] ?? 0] = cells[at] ?? null;
      return row;
    });
  });
}

const placeOfColumn = new Map(measuresColumns.map(({ name }, place) => [name, place]));

/** Rows of the columns of a measure, from old to new. */
function rowsOf(
  name: DerivedName,
  home: number,
  measures: ReadonlyMap<string, readonly ListRecord[]>,
): FileRow[] {
  const newestFirst = measures.get(name) ?? [];
  return newestFirst.toReversed().map((record) => [home, ...rowOf(derivedRecords[name], record)]);
}

/** Where sensors are: what the measures are made by. */
export const placesList = "places";
export const placesTable = {
  name: placesList,
  title: "Where each item is in its home, and what it watches",
  notes:
    "Rooms and roles are those that people gave, or that names of items tell; of an item without either, `items` tells the kind in `subtypename`. A room that is no usual word is a word made by the key where names are left out.",
  columns: columnsOfSchema(Place),
};

function columnsOf(name: DerivedName): FileColumn[] {
  const { fields } = derivedOf(name);
  const own = columnsOfSchema(derivedRecords[name]).map((one): FileColumn => {
    const field = fields[one.name];
    if (one.name === "day") return { ...column("day", "date", one.meaning), identifies: "nobody" };
    return field === undefined
      ? one
      : { ...one, meaning: field.meaning, unit: one.type === "moment" ? "" : field.unit };
  });
  return [{ ...column("homeid", "integer", "the home"), identifies: "home" }, ...own];
}

/** A part of a page of `/homes/{id}/derived/all`. */
const Records = Type.Object({ name: Type.String(), records: Type.Array(Type.Object({})) });

/**
 * Writes the derived measures of all homes, a file each, home after home, each from old to new: the records that the interface answers.
 *
 * @param options.homes see `measuredHomes`
 * @returns how many records each has; without those that the interface does not tell, and without files where it tells none
 */
export async function writeDerived(
  options: FileForm & {
    directory: string;
    answers: InterfaceReader;
    homes: readonly number[];
    zones: HomeZones;
    span: AskedSpan;
    stop: AbortSignal;
  },
): Promise<Partial<Record<DerivedName, number>>> {
  const { directory, homes, zones, span, format, stop } = options;
  await using files = new AsyncDisposableStack();
  const begun = new Map<DerivedName, TableFile>();
  for (const name of derivedNames) {
    const path = fileOf(join(directory, "derived", name), format);
    begun.set(name, files.use(await TableFile.begin({ ...options, path, columns: columnsOf(name) })));
  }
  let told = homes.length === 0;
  for (const home of homes) {
    stop.throwIfAborted();
    const asked = spanIn(span, zones.zoneOf({ currenthomeid: home }));
    for await (const measures of recordsOf(options.answers, home, asked)) {
      told = true;
      for (const [name, file] of begun) {
        const rows = rowsOf(name, home, measures);
        if (rows.length > 0) await file.add(rows);
      }
    }
  }
  if (!told) return {};
  const counts: Partial<Record<DerivedName, number>> = {};
  for (const [name, file] of begun) counts[name] = await file.finish();
  return counts;
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
    homes: readonly number[];
    stop: AbortSignal;
  },
): Promise<number | undefined> {
  const { directory, answers, homes, format, stamp, pseudonyms, stop } = options;
  async function* batches() {
    if (homes.length === 0) yield [];
    for (const home of homes) {
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

/** Records of all measures of a home, part by part from old to new, in each the newest first; none where the interface has no measures of it. */
export async function* recordsOf(
  answers: InterfaceReader,
  home: number,
  span: SecondsSpan,
): AsyncGenerator<ReadonlyMap<string, readonly ListRecord[]>> {
  for (const { pages } of measurePages(answers, home, span)) {
    const found = new Map<string, ListRecord[]>();
    let any = false;
    for await (const page of pages()) {
      any = true;
      for (const { name, records } of page as unknown as readonly DerivedPage[]) {
        const known = found.get(name);
        if (known === undefined) found.set(name, [...records]);
        else known.push(...records);
      }
    }
    if (any) yield found;
  }
}

/** A part of the measures of a home, as its pages are asked for. */
interface MeasurePart {
  readonly pages: () => AsyncGenerator<readonly ListRecord[]>;
  /** About how many months it has: a page has one at the most. */
  readonly months: number;
  /** Whether it need not be asked for; undefined where nobody can hold it. */
  readonly isHeld: boolean | undefined;
}

/** The parts of the measures of a home in a span, from old to new. */
export function measurePages(
  answers: InterfaceReader,
  home: number,
  { since_s, until_s }: SecondsSpan,
): MeasurePart[] {
  const path = derivedPath("all", home);
  const parts = answers.partsOf?.(path) ?? [{ query: "", answers }];
  return parts.flatMap((part) => {
    const given = new URLSearchParams(part.query);
    const bound = (name: string, own: number) => Number(given.get(name) ?? own);
    const after = Math.max(bound("after", -1), since_s === undefined ? -1 : since_s - 1);
    const before = Math.min(bound("before", Infinity), until_s ?? Infinity);
    if (after + 1 >= before) return [];
    const query = new URLSearchParams();
    if (after >= 0) query.set("after", String(after));
    if (Number.isFinite(before)) query.set("before", String(before));
    const first = query.size === 0 ? "" : `?${query}`;
    return {
      pages: () => pagesOf(part.answers, path, Records, first),
      // Where one end is open, it is the first part or the last: of a month, mostly.
      months: after >= 0 && Number.isFinite(before) ? Math.max(1, Math.round((before - after) / month_s)) : 1,
      isHeld: part.isHeld?.(`${path}${first}`),
    };
  });
}

/** The mean of a calendar month. */
const month_s = 30.44 * 86_400;

interface DerivedPage {
  readonly name: string;
  readonly records: readonly ListRecord[];
}

/** Homes that measures can be asked of: those with a record, and those that items live in. Where identifiers are left out their order tells nothing. */
export async function measuredHomes(
  answers: InterfaceReader,
  items: readonly Pick<Item, "currenthomeid">[],
  pseudonyms: FileForm["pseudonyms"],
): Promise<number[]> {
  const recorded = (await gathered(answers, ["/homes/"], Home)).map(({ homeid }) => Number(homeid));
  const homes = new Set([...recorded, ...items.flatMap(({ currenthomeid }) => currenthomeid ?? [])]);
  const number = (home: number) => pseudonyms?.numberOf("home", home) ?? home;
  return [...homes].sort((one, other) => number(one) - number(other));
}
