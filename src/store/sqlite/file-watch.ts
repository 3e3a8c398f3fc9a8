import { statSync } from "node:fs";
import type { Clock } from "../../clock.ts";
import { OperatorError } from "../../errors.ts";

/**
 * Looks every `interval_ms` whether the file at `path` is still the one that it was at the call. SQLite goes on
 * writing into a file that was removed or replaced, and what it writes is lost when the process ends: `onGone` is
 * told, once. Returns what ends the watch.
 */
export function watchFile(options: {
  path: string;
  clock: Clock;
  interval_ms: number;
  onGone: (fault: OperatorError) => void;
}): () => void {
  const { path, clock, interval_ms, onGone } = options;
  const first = identityOf(path);
  let cancel = () => {};
  const look = () => {
    if (identityOf(path) === first) cancel = clock.after(interval_ms, look);
    else {
      onGone(
        new OperatorError(
          `${path} was removed or replaced under the running server`,
          "leave the data directory alone while it runs; it ends now, and starts afresh from what is there",
        ),
      );
    }
  };
  cancel = clock.after(interval_ms, look);
  return () => cancel();
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? { dev: 0, ino: 0 };
  return `${dev}:${ino}`;
}
