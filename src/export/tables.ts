import { type TObject, Type } from "@sinclair/typebox";
import { DeviceRecord, PastDevice } from "../domain/device-facts.ts";
import { kindNames } from "../domain/kinds.ts";
import { usualQuantities, usualUnits } from "../domain/quantities.ts";
import { type Item, ItemType } from "../domain/records/item.ts";
import { definitionOf, ownerField, recordPaths, recordTable } from "../domain/records/record-table.ts";
import { type SeriesName, seriesNames, seriesOf } from "../domain/series.ts";
import { type InterfaceReader, type ListRecord, pagesOf } from "./answers.ts";
import {
  column,
  columnsOfSchema,
  columnsOfSeries,
  type FileCell,
  type FileColumn,
  rowOf,
} from "./columns.ts";
import { coverageColumns, isRecording, missingnessColumns } from "./coverage-tables.ts";
import { derivedTables, placesTable } from "./derived-tables.ts";
import type { Timezone } from "./home-zones.ts";
import { type FileForm, fileOf, writeTable } from "./table-file.ts";

/** A list of records and where the interface has it; a list of an owner's has `{id}` in its path. */
export interface RecordList {
  /** The name of its file, without ending. */
  readonly name: string;
  /** Its contents in words. */
  readonly title: string;
  readonly schema: TObject;
  readonly paths: readonly string[];
  readonly owner?: { readonly path: string; readonly field: string };
}

/** Every list, in the order in which they are written. */
export const recordLists: readonly RecordList[] = [
  { name: "item_types", title: "Types of item", schema: ItemType, paths: ["/items"] },
  {
    name: "items",
    title: recordTable.items.title,
    schema: recordTable.items.schema,
    paths: kindNames.map((kind) => `/inventory/${kind}`),
  },
  ...(Object.keys(recordPaths) as (keyof typeof recordPaths)[]).map((type) => {
    const { owner } = definitionOf(type);
    return {
      name: type,
      title: recordTable[type].title,
      schema: recordTable[type].schema,
      paths: [recordPaths[type]],
      owner: owner && { path: recordPaths[owner], field: ownerField[owner] },
    };
  }),
];

/**
 * Writes one list into a file, anew each time: lists are small beside series.
 *
 * @param options.path without ending
 * @returns how many records; undefined, and no file, where the interface doesn't have the list
 */
export async function writeList(
  options: FileForm & {
    answers: InterfaceReader;
    list: RecordList;
    path: string;
    /** Its records, where they have been read already. */
    records?: readonly ListRecord[] | undefined;
  },
): Promise<number | undefined> {
  const { answers, list, format, stamp, pseudonyms, records } = options;
  async function* batches() {
    for await (const page of records === undefined ? recordsOf(answers, list) : pagesIn(records))
      yield page.map((record) => rowOf(list.schema, record));
  }
  const path = fileOf(options.path, format);
  return writeTable({ path, format, columns: columnsOfSchema(list.schema), stamp, pseudonyms }, batches());
}

/** The same records, a bounded number at once; an empty page where there are none. */
function* pagesIn(records: readonly ListRecord[]): Generator<readonly ListRecord[]> {
  for (let from = 0; from === 0 || from < records.length; from += page_max)
    yield records.slice(from, from + page_max);
}

const page_max = 1_000;

/** All records of a list, a page at a time; not even an empty page where there is no such list. */
export async function* recordsOf(
  answers: InterfaceReader,
  list: RecordList,
): AsyncGenerator<readonly ListRecord[]> {
  for await (const paths of pathsOf(answers, list)) {
    // Without any owner nothing can be asked, and there are no records.
    if (paths.length === 0) yield [];
    for (const path of paths) yield* pagesOf(answers, path, list.schema);
  }
}

/** The list's own paths; for lists of owners, one for each owner of each page of owners. */
async function* pathsOf(answers: InterfaceReader, list: RecordList): AsyncGenerator<readonly string[]> {
  const { owner } = list;
  if (owner === undefined) {
    yield list.paths;
    return;
  }
  const schema = Type.Object({ [owner.field]: Type.Integer() });
  for await (const owners of pagesOf(answers, owner.path, schema))
    yield owners.map((record) => (list.paths[0] ?? "").replace("{id}", String(record[owner.field])));
}

/** Names of the files of devices, without ending. */
export const deviceLists = ["devices", "device_history"] as const;

/** The devices of items; undefined where the interface tells none. */
export async function devicesOf(
  answers: InterfaceReader,
  items: readonly NamedItem[],
): Promise<readonly ToldDevice[] | undefined> {
  const told: ToldDevice[] = [];
  for (const item of items) {
    const device = isRecording(item) ? await deviceOf(answers, item) : undefined;
    if (device !== undefined) told.push({ item, device });
  }
  return told.length === 0 && items.length > 0 ? undefined : told;
}

interface ToldDevice {
  readonly item: NamedItem;
  readonly device: DeviceRecord;
}

/**
 * Writes a file of devices, anew each time: how the readings beside it are made, or were made before.
 *
 * @param options.path without ending
 * @returns how many rows there are
 */
export async function writeDevices(
  options: FileForm & { list: (typeof deviceLists)[number]; devices: readonly ToldDevice[]; path: string },
): Promise<number | undefined> {
  const { list, devices, format, stamp, pseudonyms } = options;
  const { columns, rowsOf } = deviceTables[list];
  async function* rows() {
    yield devices.flatMap(({ item: { itemname, typename }, device }) =>
      rowsOf(device).map((row) => [itemname, typename, ...row]),
    );
  }
  const path = fileOf(options.path, format);
  return writeTable({ path, format, columns, stamp, pseudonyms }, rows());
}

type NamedItem = Pick<Item, "itemname" | "typename">;

/** The device of an item; undefined where the interface tells none. */
export async function deviceOf(
  answers: InterfaceReader,
  { itemname, typename }: NamedItem,
): Promise<DeviceRecord | undefined> {
  const path = `/items/${typename}/${encodeURIComponent(itemname)}/device`;
  const answer = await answers.get<DeviceRecord>(path, "", DeviceRecord);
  return answer === "gone" ? undefined : answer?.body;
}

const lists = ["measures", "nevertells"] as const;
const now = Type.Omit(DeviceRecord, [...lists, "history"]);
const past = Type.Omit(PastDevice, lists);

/** Lists of a device as text. */
function listCells({ measures, nevertells }: Pick<DeviceRecord, (typeof lists)[number]>): FileCell[] {
  return [
    measures.map(({ quantity, unit }) => `${quantity} ${unit}`.trimEnd()).join(", "),
    nevertells.join(", "),
  ];
}

/** Quantities with their units, as `listCells` writes them. */
const isUsual = (text: string) =>
  text.split(", ").every((one) => {
    const [quantity = "", ...unit] = one.split(" ");
    return one === "" || (usualQuantities.test(quantity) && usualUnits.test(unit.join(" ")));
  });

const listed = (name: (typeof lists)[number]) =>
  column(name, "text", DeviceRecord.properties[name].description ?? "");
const deviceColumns = (schema: TObject): readonly FileColumn[] => [
  { ...column("itemname", "text", "the item"), identifies: "itemname" },
  column("typename", "text", "its type, as paths of the interface have it"),
  ...columnsOfSchema(schema),
  { ...listed("measures"), identifies: { isKnown: isUsual } },
  listed("nevertells"),
];

const deviceTables = {
  devices: {
    title: "Each device, and how its readings are made",
    columns: deviceColumns(now),
    rowsOf: (device: DeviceRecord) => [[...rowOf(now, device), ...listCells(device)]],
  },
  device_history: {
    title: "What each device was from when to when: its firmware, and how its readings were made",
    columns: deviceColumns(past),
    rowsOf: ({ history }: DeviceRecord) => history.map((one) => [...rowOf(past, one), ...listCells(one)]),
  },
} satisfies Record<(typeof deviceLists)[number], unknown>;

/** A table of a download. */
export interface PackageTable {
  readonly name: string;
  /** Its file without ending, where that has another name. */
  readonly file?: string;
  /** Its contents in words. */
  readonly title: string;
  /** Sentences about its rows. */
  readonly notes?: string;
  readonly columns: readonly FileColumn[];
}

/** Names of the tables that tell when there was somebody to listen. */
export const coverageList = "coverage";
export const missingnessList = "missingness";

/** Every table that a download can have, series first. */
export function tablesIn(timezone: Timezone): readonly PackageTable[] {
  const coverage = {
    name: coverageList,
    title: "When each item was listened to and alive, so that no event can be told from no data",
    columns: coverageColumns(timezone),
  };
  return [...seriesNames.map((series) => tableOf(series, timezone)), coverage, ...otherTables];
}

const otherTables: readonly PackageTable[] = [
  {
    name: missingnessList,
    title: "What is missing of each item on each day of the calendar at its home",
    columns: missingnessColumns,
  },
  ...deviceLists.map((name) => ({
    name,
    title: deviceTables[name].title,
    columns: deviceTables[name].columns,
  })),
  placesTable,
  ...derivedTables,
  ...recordLists.map(({ name, schema, title }) => ({ name, title, columns: columnsOfSchema(schema) })),
];

/** The table of this name. @throws TypeError where there is none */
export function tableNamed(name: string, timezone: Timezone = "utc"): PackageTable {
  const table = tablesIn(timezone).find((one) => one.name === name);
  if (table === undefined) throw new TypeError(`no download has a table ${name}`);
  return table;
}

function tableOf(series: SeriesName, timezone: Timezone): PackageTable {
  return { name: series, title: seriesOf(series).title, columns: columnsOfSeries(series, timezone) };
}
