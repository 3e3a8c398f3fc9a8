import type { Clock } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import { arrays, type Database, objects, rowsOf, type Work } from "../database.ts";
import {
  type ColumnShape,
  filledColumns,
  type MoveEnd,
  type MoveTarget,
  type Piece,
} from "../move/move-ends.ts";
import { halfMoved, holdsStore, tooOld } from "../move/move-state.ts";
import { quoted } from "../series/series-columns.ts";
import { PostgresConnections } from "./connections.ts";
import { type CopyColumn, type CopyType, copyBytes, copyIn, isCopyType } from "./copy.ts";
import type { SqlRunner } from "./pool.ts";
import { PostgresDatabase, run } from "./postgres-database.ts";
import { hasCitus, migrate, refuseNewer, schemaVersion, spreadTables, storeIn } from "./schema.ts";

/**
 * Opens the store of a central in a database to move it elsewhere. Until it is closed nobody writes to it, and no central is started on it. Nothing
 * in it is changed.
 *
 * @throws OperatorError where there is none, it is not of this version, or somebody has it open
 */
export async function openMoveSource(url: string, clock: Clock): Promise<MoveEnd> {
  return opened(url, clock, async (connections) => {
    const { version, moving } = await connections.read(storeIn);
    if (version === 0)
      throw new OperatorError(
        `there is no Lintel database in ${connections.name}`,
        "name the one of central",
      );
    refuseNewer(version, connections.name);
    if (moving) throw halfMoved(connections.name);
    if (version < schemaVersion) throw tooOld(connections.name);
    return true;
  });
}

/**
 * Opens a database to move the store of a central into it, and sets it up where it is empty, with the state of the move in it.
 *
 * @throws OperatorError where it holds a store that is not being moved, or anything else, or somebody has it open
 */
export async function openMoveTarget(
  url: string,
  clock: Clock,
  begun: { readonly epoch: string; readonly moving: string },
): Promise<MoveTarget> {
  return opened(url, clock, async (connections) => {
    const found = await connections.read(storeIn);
    if (found.version > 0 && !found.moving) throw holdsStore(connections.name);
    const { epoch, moving } = begun;
    await migrate(connections, epoch, { moving });
    await spreadTables(connections);
    return false;
  });
}

/** @param prepare answers whether the tables are to stay as they are */
async function opened(
  url: string,
  clock: Clock,
  prepare: (connections: PostgresConnections) => Promise<boolean>,
): Promise<PostgresEnd> {
  const connections = new PostgresConnections(url, clock);
  try {
    await connections.claim("alone");
    const frozen = await prepare(connections);
    if (await hasCitus(connections)) connections.expectWorkers();
    const database = new PostgresDatabase(connections);
    const columns = await database.read(columnsOf);
    if (frozen) await connections.freeze([...new Set(columns.map(({ table }) => table))]);
    return new PostgresEnd({ connections, database, columns });
  } catch (thrown) {
    await connections.close();
    throw thrown;
  }
}

/** A database on a server that this process alone works on. */
class PostgresEnd implements MoveTarget {
  readonly name: string;
  readonly database: Database;
  readonly newestFirst = false;
  readonly #connections: PostgresConnections;
  readonly #columns: readonly ColumnShape[];
  /** Types of columns, by table and column with a point between. */
  readonly #types: ReadonlyMap<string, CopyType>;

  constructor(options: {
    connections: PostgresConnections;
    database: PostgresDatabase;
    columns: readonly ColumnShape[];
  }) {
    this.name = options.connections.name;
    this.database = options.database;
    this.#connections = options.connections;
    this.#columns = options.columns;
    this.#types = new Map(
      options.columns.map(({ table, name, type }) => {
        if (!isCopyType(type)) throw new Error(`${table}.${name} is of ${type}, which is not moved`);
        return [`${table}.${name}`, type];
      }),
    );
  }

  columns(): Work<ColumnShape[]> {
    return columnsOf();
  }

  homeIn(table: string, home: number): number | undefined {
    return this.#types.has(`${table}.home`) ? home : undefined;
  }

  *filled(table: string, home: number, streams: readonly number[]): Work<number[]> {
    const text = `SELECT stream FROM unnest($1::bigint[]) AS asked (stream)
      WHERE EXISTS (SELECT 1 FROM ${table} AS held WHERE held.stream = asked.stream AND held.home = $2)`;
    return (yield* rowsOf(arrays<[number]>(text, streams, home))).flat();
  }

  count(table: string): Promise<number> {
    return this.#connections.snapshot(async (sql) => {
      await sql`SET LOCAL statement_timeout = 0`;
      const [row] = await sql.unsafe<{ count: number }[]>(`SELECT count(*) AS count FROM ${table}`);
      return row?.count ?? 0;
    });
  }

  async bytes(): Promise<number> {
    const citus = await hasCitus(this.#connections);
    return this.#connections.read(async (sql) => {
      const size = "pg_database_size(current_database())";
      const [row] = await sql.unsafe<{ bytes: number }[]>(
        citus
          ? `SELECT sum(result::bigint)::bigint AS bytes FROM run_command_on_all_nodes('SELECT ${size}')`
          : `SELECT ${size} AS bytes`,
      );
      return row?.bytes ?? 0;
    });
  }

  async write(pieces: readonly Piece[], work: () => Work<void>): Promise<void> {
    await this.#connections.write(async (sql) => {
      for (const piece of pieces) await this.#insert(sql, piece);
      await run({ sql, connections: this.#connections }, work());
    });
  }

  async settle(): Promise<void> {
    await this.#connections.write(async (sql) => {
      await sql`SET LOCAL statement_timeout = 0`;
      for (const table of new Set(this.#columns.map((column) => column.table)))
        await sql.unsafe(`ANALYZE ${table}`);
    });
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  async #insert(sql: SqlRunner, piece: Piece): Promise<void> {
    const { table, rows } = piece;
    const columns = filledColumns(this, piece);
    const names = columns.map(([name]) => name);
    const order = Uint32Array.from(rows, (_, index) => index);
    const filled = columns.map(([name, value], place): CopyColumn => {
      const type = this.#types.get(`${table.name}.${name}`) as CopyType;
      return { type, values: value ?? rows.map((row) => row[place] ?? null) };
    });
    await copyIn(
      sql,
      `COPY ${table.name} (${quoted(names)}) FROM STDIN (FORMAT binary)`,
      copyBytes(order, filled),
    );
  }
}

function* columnsOf(): Work<ColumnShape[]> {
  return yield* rowsOf(
    objects<ColumnShape>(
      `SELECT tables.relname AS "table", attname AS name, typname AS type,
         coalesce(array_position(indkey::int2[], attnum), 0)::bigint AS key
       FROM pg_class AS tables JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped
         JOIN pg_type ON pg_type.oid = atttypid LEFT JOIN pg_index ON indrelid = tables.oid AND indisprimary
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
       ORDER BY relname, attnum`,
    ),
  );
}
