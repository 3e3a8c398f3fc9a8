import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { type Clock, clockQuality, repeat } from "../base/clock.ts";
import { parseIfWhole, readPlainFile, writeDurably } from "../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { hour_ms } from "../base/time.ts";
import {
  type ChannelNoise,
  type MeshScan,
  MeshScans,
  mesh_bytes_max,
  plainAddress,
  withScan,
} from "../domain/mesh.ts";
import { meshFile } from "../domain/mesh-file.ts";
import { isUnderWay, type Pause } from "../store/pause.ts";
import type { ItemState, Store } from "../store/store.ts";
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

  /** Measures noise now. @throws OperatorError where nothing can be measured */
  async noise(): Promise<ChannelNoise> {
    const driver = this.#options.drivers().find(({ measures }) => measures);
    const found = await driver?.measureNoise();
    if (found !== undefined) return found;
    throw new OperatorError("no driver of this gateway measures noise", "Zigbee sticks do: add [zigbee]");
  }

  stop(): void {
    this.#end();
  }

  get #driver(): AttachedDriver | undefined {
    return this.#options.drivers().find(({ scans }) => scans);
  }

  async #scan(): Promise<MeshScan> {
    const { directory, clock, store } = this.#options;
    const now_ms = clock.now().unix_ms;
    const pauses = (await store.pauses()).filter((pause) => isUnderWay(pause, now_ms));
    if (pauses.some(stopsScans))
      throw new OperatorError(
        "the home has asked for a pause, and nothing of it is asked or kept meanwhile",
        "lintel resume ends the pause; lintel mesh --kept shows the scan before it",
      );
    const heard = await this.#driver?.scanMesh();
    if (heard === undefined)
      throw new OperatorError(
        "no driver of this gateway has devices that pass on messages",
        "a mesh is that of Zigbee devices: add [zigbee]",
      );
    const items = await store.itemOverviews();
    const scan = withBatteries(withoutPaused(heard, pauses, items), items);
    // Without a date it would be no part of a series.
    if (clock.now().quality === clockQuality.unsynchronised) return scan;
    const scans = withScan(scansIn(directory), scan);
    writeDurably(join(directory, meshFile), JSON.stringify({ scans } satisfies MeshScans));
    return scan;
  }
}

/** Whether a pause is of all devices of the home, or of all its sensors. */
function stopsScans({ kind, address, itemid }: Pause): boolean {
  return kind === undefined || (kind === "wirelesssensors" && address === undefined && itemid === undefined);
}

/** A scan without the devices of which nothing is recorded now. */
function withoutPaused(scan: MeshScan, pauses: readonly Pause[], items: readonly ItemState[]): MeshScan {
  const paused = new Set(
    pauses.map(({ address, itemid }) => {
      const item = items.find(({ record }) => record.itemid === itemid);
      return plainAddress(address ?? item?.record.macaddress ?? null);
    }),
  );
  const stays = (address: string) => !paused.has(plainAddress(address));
  return {
    ...scan,
    nodes: scan.nodes.filter(({ address }) => stays(address)),
    links: scan.links.filter(({ by, of }) => stays(by) && stays(of)),
  };
}

/** A scan with what the devices told of their batteries last. */
function withBatteries(scan: MeshScan, items: readonly ItemState[]): MeshScan {
  const states = new Map(items.map((item) => [plainAddress(item.record.macaddress), item]));
  const nodes = scan.nodes.map((node) => {
    const { battery_percent, battery_mv } = states.get(plainAddress(node.address)) ?? {};
    return {
      ...node,
      ...(battery_percent === undefined ? {} : { battery_percent }),
      ...(battery_mv === undefined ? {} : { battery_mv }),
    };
  });
  return { ...scan, nodes };
}

interface MeshScanningOptions {
  readonly store: Pick<Store, "pauses" | "itemOverviews">;
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
