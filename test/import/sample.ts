import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { importFiles } from "../../src/import/file-import.ts";
import { faultText, ImportRefused } from "../../src/import/record-files.ts";
import type { Imported } from "../../src/store/inventory/record-store.ts";
import { openStoreBeside } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { keptLog } from "../../testbed/sample.ts";

/** A store, and files to import into it; all removed at the end of the scope. */
export class Programme implements AsyncDisposable {
  readonly directory: string;
  readonly store: Store;

  private constructor(directory: string, store: Store) {
    this.directory = directory;
    this.store = store;
  }

  static async open(): Promise<Programme> {
    const directory = mkdtempSync(join(tmpdir(), "lintel-import-"));
    const { log } = keptLog();
    const data = join(directory, "data");
    return new Programme(
      directory,
      await openStoreBeside({ directory: data, clock: new SystemClock(), log, create: true }),
    );
  }

  /** Writes files and answers their paths; an object becomes JSON. */
  write(files: Readonly<Record<string, string | Uint8Array | object>>): string[] {
    return Object.entries(files).map(([name, content]) => {
      const path = join(this.directory, name);
      mkdirSync(join(path, ".."), { recursive: true });
      const plain = typeof content === "string" || content instanceof Uint8Array;
      writeFileSync(path, plain ? content : JSON.stringify(content));
      return path;
    });
  }

  take(files: Readonly<Record<string, string | Uint8Array | object>>, dryRun = false): Promise<Imported> {
    return importFiles({ files: this.write(files), store: this.store, dryRun });
  }

  /** The faults of files, a line each without the directory; empty where there were none. */
  async faults(files: Readonly<Record<string, string | Uint8Array | object>>): Promise<string[]> {
    const thrown = await this.take(files).catch((fault: unknown) => fault);
    if (!(thrown instanceof ImportRefused)) {
      if (thrown instanceof Error) throw thrown;
      return [];
    }
    return thrown.faults.map((fault) => faultText(fault).replaceAll(`${this.directory}/`, ""));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close();
    rmSync(this.directory, { recursive: true });
  }
}
