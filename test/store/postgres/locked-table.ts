import postgres from "postgres";

/** Holds a table of the database at `url` until the end of the scope: it can be read, and what writes to it waits. */
export async function lockTable(url: string, table: string): Promise<LockedTable & AsyncDisposable> {
  const other = postgres(url, { max: 1, onnotice: () => {} });
  await other`BEGIN`;
  await other`LOCK TABLE ${other(table)} IN EXCLUSIVE MODE`;
  return {
    async waitedFor() {
      for (;;) {
        // In a transaction the server shows activity as it was when it was first asked for.
        await other`SELECT pg_stat_clear_snapshot()`;
        const [row] = await other`
          SELECT count(*)::int AS waiting FROM pg_stat_activity
          WHERE application_name = 'lintel' AND datname = current_database() AND wait_event_type = 'Lock'`;
        if (row?.["waiting"] > 0) return;
      }
    },
    // The server may have been stopped meanwhile.
    [Symbol.asyncDispose]: () => other.end({ timeout: 1 }).catch(() => {}),
  };
}

export interface LockedTable {
  /** Resolves when a statement of a store waits for the table. */
  waitedFor(): Promise<void>;
}
