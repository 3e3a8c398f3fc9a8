import { blockSizes } from "../src/store/series/block-sizes.ts";

/** Has stores that write in this process keep readings in blocks of such sizes, until it is disposed of. */
export function withBlocksOf(sizes: Partial<typeof blockSizes>): Disposable {
  const before = { ...blockSizes };
  Object.assign(blockSizes, sizes);
  return { [Symbol.dispose]: () => void Object.assign(blockSizes, before) };
}

/** Of so few readings that nearly all are in blocks, and a block has few. */
export const smallBlocks = { rows_max: 3, rows_kept: 1, block_max: 8 };

/** As if there were no blocks. */
export const rowsAlone = { rows_max: Number.MAX_SAFE_INTEGER };
