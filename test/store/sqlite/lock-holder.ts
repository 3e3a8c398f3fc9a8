/** A process that holds the data directory named first, as a gateway or (`--lock-only`) as a lock without a database. */
import { takeLock } from "../../../src/store/sqlite/data-directory.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

const [directory = "", lockOnly] = process.argv.slice(2);
const held = lockOnly === undefined ? await openGateway(directory) : takeLock(directory);
process.stdout.write("held\n");
// Until it is killed.
await new Promise(() => setInterval(() => held, 60_000));
