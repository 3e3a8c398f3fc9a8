/**
 * A thread that copies a database. This takes minutes on an SD card, so it reports its progress.
 */
import { openForReading } from "../../store/sqlite/connection.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<{ from: string; to: string }>) => {
  try {
    const database = openForReading(data.from);
    try {
      database.run("VACUUM INTO ?", [data.to]);
    } finally {
      database.close();
    }
    self.postMessage({});
  } catch (thrown) {
    const { message, code } = thrown as { message?: string; code?: string };
    self.postMessage({ message, code });
  }
};
