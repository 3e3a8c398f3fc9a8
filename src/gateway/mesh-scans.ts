import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { type Clock, clockQuality, repeat } from "../base/clock.ts";
import { parseIfWhole, readPlainFile, writeDurably } from "../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { hour_ms } from "../base/time.ts";
import { type MeshScan, MeshScans, mesh_bytes_max, withScan } from "../domain/mesh.ts";
import { meshFile } from "../domain/mesh-file.ts";
import type { AttachedDriver } from "./attached-drivers.ts";

/** After a start devices first find their ways. A scan every six hours finds what is switched off at night. */
const first_ms = 10 * 60_000;
const interval_ms = 6 * hour_ms;

/** Scans the mesh of the devices now and then, or when somebody asks, and keeps the scans in `mesh.json` of the data directory. */
export class MeshScanning {
  readonly #options: MeshScanningOptions;
  readonly #end: () => void;
  #running: Promise<MeshScan> | undefined;

  constructor(options: MeshScanningOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#end = repeat(
      clock,
      interval_ms,
      () => {
        if (this.#driver === undefined) return "stop";
        return this.scan().catch((thrown: unknown) => log.debug(`no scan of the mesh: ${messageOf(thrown)}`));
      },
      first_ms,
    );
  }

  /** Scans now, or waits for the scan that is under way. @throws OperatorError where nothing can be scanned */
  scan(): Promise<MeshScan> {
    this.#running ??= this.#scan().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  stop(): void {
    this.#end();
  }

  get #driver(): AttachedDriver | undefined {
    return this.#options.drivers().find(({ scans }) => scans);
  }

  async #scan(): Promise<MeshScan> {
    const { directory, clock } = this.#options;
    const scan = await this.#driver?.scanMesh();
    if (scan === undefined)
      throw new OperatorError(
        "no driver of this gateway has devices that pass on messages",
        "a mesh is that of Zigbee devices: add [zigbee]",
      );
    // Without a date it would be no part of a series.
    if (clock.now().quality === clockQuality.unsynchronised) return scan;
    const scans = withScan(scansIn(directory), scan);
    writeDurably(join(directory, meshFile), JSON.stringify({ scans } satisfies MeshScans));
    return scan;
  }
}

interface MeshScanningOptions {
  readonly drivers: () => readonly AttachedDriver[];
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The scans of a data directory, newest first: none where the file cannot be read, and the next scan begins it anew. */
export function scansIn(directory: string): readonly MeshScan[] {
  const found = parseIfWhole(readPlainFile(join(directory, meshFile), mesh_bytes_max));
  return Value.Check(MeshScans, found) ? found.scans : [];
}
