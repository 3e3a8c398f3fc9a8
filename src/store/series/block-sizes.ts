/**
 * How many readings of a series of a stream are rows, and how many a block has. Rows wait until they fill a block, so that it is written once. Tests make
 * these small, so that few readings make many blocks.
 */
export const blockSizes = {
  /** Readings of a block at most: a page of 1,000 is in three or four. Twice as many save two bytes of a hundred, and twice as many would wait as rows. */
  block_max: 512,
  /** The newest readings stay rows, so that one that comes a little late is put beside them. */
  rows_kept: 32,
  /** Rows at most: with one more there is a block of readings besides those that stay. */
  rows_max: 543,
};
