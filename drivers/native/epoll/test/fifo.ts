import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A FIFO that is open at both ends. */
export class Fifo {
  readonly #directory = mkdtempSync(join(tmpdir(), "epoll-"));
  readonly path = join(this.#directory, "fifo");
  readonly reader: number;
  readonly writer: number;

  constructor() {
    Bun.spawnSync(["mkfifo", this.path]);
    this.reader = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
    this.writer = openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK);
  }

  write(text: string): void {
    writeSync(this.writer, text);
  }

  read(length = 1): string {
    const bytes = Buffer.alloc(length);
    return bytes.toString("latin1", 0, readSync(this.reader, bytes));
  }

  close(): void {
    for (const fd of [this.reader, this.writer]) {
      try {
        closeSync(fd);
      } catch {
        // a test has closed this end
      }
    }
    rmSync(this.#directory, { recursive: true });
  }
}
