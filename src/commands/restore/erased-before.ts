import { existsSync } from "node:fs";
import { messageOf } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { allErasures } from "../../store/core/erasures.ts";
import type { ErasedSpan, Erasure } from "../../store/erasure.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { SqliteDatabase } from "../../store/sqlite/database.ts";
import { openStoreBeside } from "../../store/sqlite/open.ts";
import { setAsideIn } from "../../store/sqlite/placing.ts";
import { forgetKeptRecords } from "../../uploader/home-records-import.ts";
import type { CommandContext } from "../command.ts";

/** Erasures of the stores of a data directory, those that were set aside among them: a backup may be older. */
export async function erasedBefore(directory: string, log: Log): Promise<Erasure[]> {
  const found: Erasure[] = [];
  for (const place of [directory, ...setAsideIn(directory)]) {
    const path = databasePath(place);
    if (!existsSync(path)) continue;
    try {
      const database = new SqliteDatabase(path);
      found.push(...(await database.read(allErasures).finally(() => database.close())));
    } catch (thrown) {
      log.warn(
        `what was erased in ${path} cannot be read (${messageOf(thrown)}): if anything was, erase it again with lintel erase`,
      );
    }
  }
  return [...new Map(found.map((one) => [`${one.id} ${one.place}`, one])).values()];
}

/** Erases the same in a store that is brought back, and in the records that are kept beside it, before anybody serves it. */
export async function eraseAgain(
  directory: string,
  erasures: readonly ErasedSpan[],
  { context, log }: { context: Pick<CommandContext, "clock">; log: Log },
): Promise<void> {
  if (erasures.length === 0) return;
  const store = await openStoreBeside({ directory, clock: context.clock, log });
  try {
    await store.takeErasures(erasures);
  } finally {
    await store.close();
  }
  for (const { subject, kind, home } of erasures)
    if (subject !== null) forgetKeptRecords(directory, { subject });
    else if (kind === null) forgetKeptRecords(directory, { home });
}
