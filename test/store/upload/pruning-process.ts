/** Prunes the store of a directory in small rounds, saying after each how many it took, until nothing is left to prune or it is killed. */
import { openUpload } from "./opening.ts";

const [directory = "", before_ms = "0", through_seq = "0"] = process.argv.slice(2);
const store = await openUpload(directory);
for (;;) {
  const done = await store.prune({
    before_ms: Number(before_ms),
    through_seq: Number(through_seq),
    readings_max: 2_000,
  });
  console.log(done.pruned);
  if (!done.more) break;
}
await store.close();
