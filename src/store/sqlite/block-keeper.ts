import type { SeriesName } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { Connection } from "./connection.ts";
import { LateReadings } from "./late-readings.ts";

/**
 * Keeps the counts that make `skip` cheap, and the list of late readings, in the transaction that inserts the readings: see ../README.md.
 * Call `add` after each insert, `settle` once before the commit, and `forget` after a rollback.
 */
export class BlockKeeper {
  readonly #heads = new Map<string, Head>();
  readonly #touched = new Map<string, Touched>();
  readonly #readHead;
  readonly #writeHead;
  readonly #findBlock;
  readonly #writeBlock;
  readonly #keys;
  readonly #listBlocks;
  readonly #countRows;
  readonly #newestStamp;
  readonly #late: LateReadings;

  constructor(database: Connection) {
    this.#readHead = database.keep(
      `SELECT generation, start_stamp, start_seq, count, min_seq, max_seq, total, newest_stamp, revision
       FROM heads WHERE series = ? AND item = ?`,
    );
    this.#writeHead = database.keep("INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#findBlock = database.keep(
      `SELECT start_stamp, start_seq, count, min_seq, max_seq FROM blocks
       WHERE series = ? AND item = ? AND (start_stamp, start_seq) <= (?, ?)
       ORDER BY start_stamp DESC, start_seq DESC LIMIT 1`,
    );
    this.#writeBlock = database.keep("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#keys = forEverySeries((series) =>
      database.keep(
        `SELECT stamp, seq FROM ${series} WHERE item = ? AND (stamp, seq) >= (?, ?)
         ORDER BY stamp, seq LIMIT ?`,
      ),
    );
    this.#listBlocks = database.keep(
      `SELECT start_stamp, start_seq, count, min_seq, max_seq FROM blocks WHERE series = ? AND item = ?
       ORDER BY start_stamp, start_seq`,
    );
    this.#countRows = forEverySeries((series) =>
      database.keep(
        `SELECT count(*), min(seq), max(seq) FROM ${series}
         WHERE item = ? AND (stamp, seq) >= (?, ?) AND (stamp, seq) < (?, ?)`,
      ),
    );
    this.#newestStamp = forEverySeries((series) =>
      database.keep(`SELECT stamp FROM ${series} WHERE item = ? ORDER BY stamp DESC LIMIT 1`),
    );
    this.#late = new LateReadings(database);
  }

  /** Counts a reading that was inserted. */
  add(series: SeriesName, item: number, stamp: number, seq: number): void {
    const touched = this.#touch(series, item);
    const { head } = touched;
    head.total += 1;
    if (stamp < head.newest_stamp) this.#late.add(series, item, seq, stamp);
    head.newest_stamp = Math.max(head.newest_stamp, stamp);
    count(isFrom(head, stamp, seq) ? head : this.#closedBlock(touched, stamp, seq), seq);
  }

  /**
   * Counts again what lies between two stamps: for what was changed otherwise than by adding. Rows are as they will be; nothing may have
   * been added since the last `settle`.
   */
  recount(series: SeriesName, item: number, from_stamp: number, to_stamp: number): void {
    const touched = this.#touch(series, item);
    const { head, closed } = touched;
    const starts = this.#listBlocks.all(series, item) as Block[];
    for (const [index, block] of starts.entries()) {
      const end = starts[index + 1] ?? head;
      if (block.start_stamp > to_stamp || end.start_stamp < from_stamp) continue;
      closed.set(`${block.start_stamp} ${block.start_seq}`, this.#counted(series, item, block, end));
    }
    Object.assign(head, this.#counted(series, item, head, beyondAll));
    const newest = this.#newestStamp[series].values(item)[0]?.[0];
    head.newest_stamp = Number(newest ?? 0);
    head.total = [...starts, head].reduce((sum, block) => {
      return sum + (closed.get(`${block.start_stamp} ${block.start_seq}`) ?? block).count;
    }, 0);
    touched.recounted = true;
  }

  /** Notes that a series of an item has readings that were not added one by one in the order of their numbers. */
  rearrange(series: SeriesName, item: number): void {
    this.#touch(series, item).rearranged = true;
  }

  /** The newest stamp of a series of an item; 0 where there is none. */
  newest(series: SeriesName, item: number): number {
    return (this.#heads.get(`${series} ${item}`) ?? this.#loadHead(series, item)).newest_stamp;
  }

  /** Splits the blocks that grew too large, and writes every count that changed. */
  settle(): void {
    for (const touched of this.#touched.values()) {
      const { series, item, head, closed } = touched;
      let changed = closed.size > 0 || touched.recounted;
      if (touched.rearranged) {
        head.revision += 1;
        this.#late.findAgain(series, item);
      }
      for (const block of [...closed.values()]) {
        for (const piece of this.#split(touched, block)) this.#write(touched, piece);
      }
      const pieces = this.#split(touched, head);
      const newest = pieces.pop();
      for (const piece of pieces) {
        changed = true;
        this.#write(touched, piece);
      }
      Object.assign(head, newest);
      if (changed) head.generation += 1;
      this.#writeHead.run(
        series,
        item,
        head.generation,
        head.start_stamp,
        head.start_seq,
        head.count,
        head.min_seq,
        head.max_seq,
        head.total,
        head.newest_stamp,
        head.revision,
      );
    }
    this.#touched.clear();
    if (this.#heads.size > heads_max) this.#heads.clear();
  }

  /** Drops the counts since the last `settle`, and all that was cached of the database. */
  forget(): void {
    this.#touched.clear();
    this.#heads.clear();
  }

  #touch(series: SeriesName, item: number): Touched {
    const name = `${series} ${item}`;
    const known = this.#touched.get(name);
    if (known !== undefined) return known;
    const head = this.#heads.get(name) ?? this.#loadHead(series, item);
    this.#heads.set(name, head);
    const touched: Touched = { series, item, head, closed: new Map(), recounted: false, rearranged: false };
    this.#touched.set(name, touched);
    return touched;
  }

  #loadHead(series: SeriesName, item: number): Head {
    return (this.#readHead.get(series, item) as Head | null) ?? { ...emptyHead };
  }

  /** The closed block that a key falls into; one that this transaction has changed already is in `closed`. */
  #closedBlock({ series, item, closed }: Touched, stamp: number, seq: number): Block {
    const found = this.#findBlock.get(series, item, stamp, seq) as Block;
    const name = `${found.start_stamp} ${found.start_seq}`;
    const block = closed.get(name) ?? found;
    closed.set(name, block);
    return block;
  }

  /** A block as blocks of `block_readings`, oldest first; the last takes what remains. */
  #split({ series, item }: Touched, block: Block): Block[] {
    const pieces: Block[] = [];
    let rest = pick(block);
    while (rest.count > 2 * block_readings) {
      const older: Block = { ...noReadings, start_stamp: rest.start_stamp, start_seq: rest.start_seq };
      const keys = this.#keys[series].values(
        item,
        rest.start_stamp,
        rest.start_seq,
        block_readings + 1,
      ) as Key[];
      const [start_stamp, start_seq] = keys.pop() as Key;
      for (const [, seq] of keys) count(older, seq);
      pieces.push(older);
      rest = { ...noReadings, start_stamp, start_seq, count: rest.count - block_readings };
    }
    if (pieces.length > 0) this.#span(series, item, rest);
    pieces.push(rest);
    return pieces;
  }

  /** Finds the lowest and highest number in a block that knows its start and count. */
  #span(series: SeriesName, item: number, block: Block): void {
    const keys = this.#keys[series].values(item, block.start_stamp, block.start_seq, block.count) as Key[];
    block.count = 0;
    for (const [, seq] of keys) count(block, seq);
  }

  #counted(series: SeriesName, item: number, { start_stamp, start_seq }: BlockStart, end: BlockStart): Block {
    const [row] = this.#countRows[series].values(
      item,
      start_stamp,
      start_seq,
      end.start_stamp,
      end.start_seq,
    );
    const [count, min_seq, max_seq] = row as [number, number | null, number | null];
    const numbers = count === 0 ? noReadings : { min_seq: min_seq ?? 0, max_seq: max_seq ?? 0 };
    return { ...noReadings, ...numbers, start_stamp, start_seq, count };
  }

  #write({ series, item }: Touched, block: Block): void {
    this.#writeBlock.run(
      series,
      item,
      block.start_stamp,
      block.start_seq,
      block.count,
      block.min_seq,
      block.max_seq,
    );
  }
}

/** Readings of one series of one item that lie together: those from the start up to the next block's start. */
interface Block {
  start_stamp: number;
  start_seq: number;
  count: number;
  min_seq: number;
  max_seq: number;
}

type BlockStart = Pick<Block, "start_stamp" | "start_seq">;

/** The newest block, and the totals of all blocks. */
interface Head extends Block {
  /** Rises whenever the list of closed blocks changes. */
  generation: number;
  total: number;
  newest_stamp: number;
  /** Rises whenever readings were changed or joined with those of another item. */
  revision: number;
}

interface Touched {
  readonly series: SeriesName;
  readonly item: number;
  readonly head: Head;
  readonly closed: Map<string, Block>;
  recounted: boolean;
  rearranged: boolean;
}

type Key = [stamp: number, seq: number];

/** Readings in a closed block when it is made; it is split when it holds more than twice as many. */
export const block_readings = 512;
const heads_max = 20_000;

const noReadings = { count: 0, min_seq: Number.MAX_SAFE_INTEGER, max_seq: 0 };
const beyondAll: BlockStart = { start_stamp: Number.MAX_SAFE_INTEGER, start_seq: 0 };
/** The first block starts below every key. */
const emptyHead: Head = {
  ...noReadings,
  generation: 0,
  start_stamp: 0,
  start_seq: 0,
  total: 0,
  newest_stamp: 0,
  revision: 0,
};

function count(block: Block, seq: number): void {
  block.count += 1;
  block.min_seq = Math.min(block.min_seq, seq);
  block.max_seq = Math.max(block.max_seq, seq);
}

function isFrom(block: Block, stamp: number, seq: number): boolean {
  return stamp > block.start_stamp || (stamp === block.start_stamp && seq >= block.start_seq);
}

function pick({ start_stamp, start_seq, count, min_seq, max_seq }: Block): Block {
  return { start_stamp, start_seq, count, min_seq, max_seq };
}
