import type { Clock } from "../../clock.ts";
import { day_ms } from "../../durations.ts";
import { messageOf, StoreDamaged } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { damaged } from "./faults.ts";
import { WriterThread } from "./writer-thread.ts";

/**
 * Reads every page of the database at `path` soon after the call and once a day, in a thread that ends after it: damage that nobody asks for would spread into
 * backups. `onDamaged` is told, once. Returns what ends it.
 */
export function checkPages(options: {
  path: string;
  clock: Clock;
  log: Log;
  onDamaged: (fault: StoreDamaged) => void;
}): () => void {
  const { path, clock, log, onDamaged } = options;
  let cancel = () => {};
  let stopped = false;
  const check = async () => {
    const thread = new WriterThread({ clock, onFailure: (fault) => log.debug(fault.message) });
    try {
      const found = await thread.ask("damageIn", path);
      if (stopped) return;
      if (found === undefined) cancel = clock.after(day_ms, look);
      else onDamaged(new StoreDamaged(`${path} is damaged (${found})`, damaged.remedy));
    } finally {
      await thread.close();
    }
  };
  const look = () => {
    check().catch((thrown) => log.warn(`the pages of the database were not checked: ${messageOf(thrown)}`));
  };
  cancel = clock.after(first_check_ms, look);
  return () => {
    stopped = true;
    cancel();
  };
}

/** After the start, when the devices are connected. */
const first_check_ms = 5_000;
