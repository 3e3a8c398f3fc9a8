import { OperatorError } from "../../errors.ts";
import { backup_bytes_max, backups_bytes_max, backups_max } from "../central-store.ts";
import { givenNamesBytes, givenNamesFile, givenNamesIn, namesWithoutErased } from "../given-names.ts";
import { erasedIn } from "./erasures.ts";
import { arrays, change, hold, reach, rowsOf, type Work } from "./work.ts";

/** See `CentralStore.putBackup`. */
export function* putBackup(home: number, name: string, content: Uint8Array): Work<void> {
  if (content.length > backup_bytes_max) {
    throw new OperatorError(
      `the file ${name} of home ${home} has ${content.length} bytes, and ${backup_bytes_max} are the most that is kept`,
      "leave it out of the backup",
    );
  }
  yield* hold({ home });
  // A gateway may not know yet what was erased here.
  const kept =
    name === givenNamesFile
      ? givenNamesBytes(namesWithoutErased(givenNamesIn(content), yield* erasedIn(home)))
      : content;
  const others = yield* rowsOf(
    arrays<[bytes: number]>("SELECT length(content) FROM backups WHERE home = $1 AND name <> $2", home, name),
  );
  const bytes = others.flat().reduce((sum, one) => sum + one, content.length);
  if (others.length >= backups_max || bytes > backups_bytes_max) {
    throw new OperatorError(
      `home ${home} has ${others.length} files at central besides ${name}, and at most ${backups_max} with ${backups_bytes_max} bytes are kept`,
      "send its files under the names they had before",
    );
  }
  yield* change(
    `INSERT INTO backups (home, name, content) VALUES ($1, $2, $3)
     ON CONFLICT (home, name) DO UPDATE SET content = excluded.content`,
    home,
    name,
    kept,
  );
}

/** The files of a home by name, in order of name. */
export function* backupsOf(home: number): Work<Map<string, Uint8Array>> {
  yield* reach([home]);
  const rows = yield* rowsOf(
    arrays<[name: string, content: Uint8Array]>(
      "SELECT name, content FROM backups WHERE home = $1 ORDER BY name",
      home,
    ),
  );
  return new Map(rows.map(([name, content]) => [name, new Uint8Array(content)]));
}
