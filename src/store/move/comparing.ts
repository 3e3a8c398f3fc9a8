import { OperatorError } from "../../errors.ts";
import { type Ends, type Share, streamsOf } from "./copying.ts";
import type { MovedRow } from "./move-end.ts";
import { type MovedTable, readingsIn } from "./moved-tables.ts";
import { digestOf } from "./ranges.ts";

/**
 * Compares a share in both databases by count and digest, table by table and stream by stream; `told` hears of the readings that were read.
 *
 * @throws OperatorError where they differ
 */
export async function compare(ends: Ends, share: Share, told: (readings: number) => void): Promise<void> {
  const { source, target } = ends;
  const { home } = share;
  for (const table of share.tables) {
    const filled = [source, target].map((end) => streamsOf(end, { ...share, table }));
    for (const stream of new Set((await Promise.all(filled)).flat())) {
      const range = { table, home, stream };
      const hear = (rows: readonly MovedRow[]) => told(readingsIn(table, rows));
      const [here, there] = await Promise.all([
        digestOf(source, range, hear),
        digestOf(target, range, () => {}),
      ]);
      if (here.count === there.count && here.hash === there.hash) continue;
      const of = [
        ...(stream === undefined ? [] : [`of stream ${stream}`]),
        ...(home === undefined ? [] : [`of home ${home}`]),
      ];
      throw differs(
        ends,
        `${here.count} rows of ${table.name}${["", ...of].join(" ")}, digest ${here.hash}, are ${there.count}, digest ${there.hash}`,
      );
    }
  }
}

/**
 * Compares how many rows there are in all: rows of a home or stream that nothing else tells of would not have been found.
 *
 * @throws OperatorError where they differ
 */
export async function compareCounts(ends: Ends, tables: readonly MovedTable[]): Promise<void> {
  for (const { name } of tables) {
    const [here, there] = await Promise.all([ends.source.count(name), ends.target.count(name)]);
    if (here !== there) throw differs(ends, `${here} rows of ${name} are ${there}`);
  }
}

function differs({ source, target }: Ends, what: string): OperatorError {
  return new OperatorError(
    `the copy is not what was copied: ${what}`,
    `${source.name} is as it was; look for faults of disk or memory, then empty ${target.name} and begin anew`,
  );
}
