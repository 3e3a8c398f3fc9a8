import { type TObject, Type } from "@sinclair/typebox";
import { kindNames } from "../kinds.ts";
import { ItemType } from "../records/items.ts";
import { definitionOf, ownerField, recordPaths, recordTable } from "../records/record-table.ts";
import { type InterfaceReader, type ListRecord, pagesOf } from "./answers.ts";
import { columnsOfSchema, rowOf } from "./column.ts";
import type { Format } from "./format.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { fileOf } from "./series-file.ts";
import type { StampForm } from "./stamp-form.ts";
import { writeTable } from "./table-file.ts";

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
 * @returns how many records; undefined, and no file, where the interface doesn't have the list
 */
export async function writeList(options: {
  answers: InterfaceReader;
  list: RecordList;
  /** Of the file, without ending. */
  path: string;
  format: Format;
  stamp: StampForm;
  pseudonyms?: Pseudonyms | undefined;
}): Promise<number | undefined> {
  const { answers, list, format, stamp, pseudonyms } = options;
  async function* batches() {
    for await (const records of recordsOf(answers, list))
      yield records.map((record) => rowOf(list.schema, record));
  }
  const path = fileOf(options.path, format);
  return writeTable({ path, format, columns: columnsOfSchema(list.schema), stamp, pseudonyms }, batches());
}

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
