import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { derivedPath } from "../../domain/derived/derived-record.ts";
import type { InterfaceReader } from "../answers.ts";
import type { FileColumn, FileRow } from "../columns.ts";
import { measureRows, measuresColumns, measuresList, recordsOf } from "../derived-tables.ts";
import { marksOf } from "../held-answers.ts";
import { fileIn, monthsIn } from "./mirror-files.ts";

/** Marks of the parts of a home's measures, by the query of each. */
export type MeasureMarks = Readonly<Record<string, string>>;

/**
 * Brings the measures of a home up to date: a file for each part that the interface lists marks of, with all measures. A part whose mark is that of the last update is left as
 * it is.
 *
 * @param options.before the marks of the last update
 * @param options.write writes a file anew, or takes it away where it would have no rows
 * @returns the marks of this one
 */
export async function mirrorMeasures(options: {
  home: number;
  directory: string;
  answers: InterfaceReader;
  before: MeasureMarks;
  write: (
    path: string,
    columns: readonly FileColumn[],
    batches: AsyncIterable<readonly FileRow[]>,
  ) => Promise<void>;
  stop: AbortSignal;
}): Promise<MeasureMarks> {
  const { home, directory, answers, before, write, stop } = options;
  const marks = await marksOfParts(answers, home);
  for (const [query, mark] of Object.entries(marks)) {
    stop.throwIfAborted();
    if (before[query] === mark) continue;
    const part = { get: answers.get.bind(answers), partsOf: () => [{ query, answers }] };
    await write(fileIn(directory, measuresList, home, nameOf(query)), measuresColumns, rowsOf(part, home));
  }
  const names = new Set(Object.keys(marks).map(nameOf));
  for (const name of monthsIn(directory, measuresList, home))
    if (!names.has(name)) rmSync(dirname(fileIn(directory, measuresList, home, name)), { recursive: true });
  return marks;
}

async function marksOfParts(answers: InterfaceReader, home: number): Promise<MeasureMarks> {
  const all = derivedPath("all", home);
  const found: Record<string, string> = {};
  for await (const homes of marksOf(answers, "homes"))
    for (const { path, marks } of homes)
      for (const [name, mark] of Object.entries(marks)) {
        const [answer, query = ""] = `${path}/${name}`.split("?");
        if (answer === all) found[query] = mark;
      }
  return found;
}

async function* rowsOf(part: InterfaceReader, home: number): AsyncGenerator<readonly FileRow[]> {
  for await (const measures of recordsOf(part, home, {})) yield measureRows(home, measures);
}

/** The span of a part, as a folder is named: `1767225600-1769904000`, in unix seconds. */
function nameOf(query: string): string {
  const bounds = new URLSearchParams(query);
  return `${Number(bounds.get("after") ?? -1) + 1}-${bounds.get("before") ?? "now"}`;
}
