/** Two readers of the database named first that take turns so that one of them always holds a snapshot, for some milliseconds each. */
import { openForReading } from "../../../src/store/sqlite/connection.ts";

const [path = ""] = process.argv.slice(2);
const readers = [openForReading(path), openForReading(path)] as const;
const begin = (reader: (typeof readers)[number]) => {
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM totals").values();
};
begin(readers[0]);
process.stdout.write("reading\n");
// Until it is killed.
for (let turn = 0; ; turn += 1) {
  Bun.sleepSync(3);
  const [held, free] = turn % 2 === 0 ? readers : ([readers[1], readers[0]] as const);
  begin(free);
  held.run("COMMIT");
}
