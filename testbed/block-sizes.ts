import { type BlockSizes, blockSizes, blockSizesOnPostgres } from "../src/store/series/block-sizes.ts";

/** Has stores that write in this process keep readings in blocks of such sizes, until it is disposed of. */
export function withBlocksOf(sizes: Partial<BlockSizes>): Disposable {
  const before = kinds.map((of) => ({ ...of }));
  for (const of of kinds) Object.assign(of, sizes);
  return { [Symbol.dispose]: () => kinds.forEach((of, place) => void Object.assign(of, before[place])) };
}
const kinds = [blockSizes, blockSizesOnPostgres];

/** Of so few readings that nearly all are in blocks, and a block has few. */
export const smallBlocks = { rows_max: 3, rows_kept: 1, block_max: 8 };

/** As if there were no blocks. */
export const rowsAlone = { rows_max: Number.MAX_SAFE_INTEGER };
