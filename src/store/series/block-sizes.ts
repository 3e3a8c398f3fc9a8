/** How many readings of a series of a stream are rows, and how many a block has. */
export interface BlockSizes {
  /** Readings of a block at most. */
  block_max: number;
  /** The newest readings stay rows, so that one that comes a little late is put beside them. */
  rows_kept: number;
  /** Rows at most: with one more, all but those that stay go into blocks. */
  rows_max: number;
}

/**
 * Rows wait until they fill a block, so that it is written once. A page of 1,000 is in three or four blocks. Blocks twice as large save two bytes of a hundred, and twice
 * as many readings would wait as rows. Tests make these sizes small, so that few readings make many blocks.
 */
export const blockSizes: BlockSizes = { block_max: 512, rows_kept: 32, rows_max: 543 };

/**
 * A row of PostgreSQL takes 300 bytes with its part of the index and what is dead beside it, a hundred times its part of a block. So few of them wait, and a block is
 * written four times until it is full. PostgreSQL uses the room of the former ones again.
 */
export const blockSizesOnPostgres: BlockSizes = { block_max: 512, rows_kept: 8, rows_max: 135 };
