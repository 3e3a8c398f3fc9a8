import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "../../base/clock.ts";
import { parseIfWhole, readPlainFile, writeDurably } from "../../base/disk/safe-files.ts";
import type { Config } from "../../config/gateway-config.ts";
import { BurnInHardware, type BurnInResult, BurnInResults } from "../../domain/burn-in.ts";
import type { UploadSite } from "../../gateway/uploader/uploader.ts";
import type { ItemOverview } from "../../store/store.ts";
import { pause as pauseUntil } from "../../web/client/http-request.ts";
import type { Asker } from "../setup/asker.ts";
import type { Terminal } from "../terminal.ts";

/** A burn-in that is under way. It is kept on disk at each step, and goes on from there after a power cut. */
const BurnInState = Type.Object({
  /** Names this burn-in in the blocks that it writes: 32 hex digits. */
  run: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  begun_ms: Type.Integer({ minimum: 0 }),
  hardware: BurnInHardware,
  results: BurnInResults,
  /** Rounds of the disk that have passed, the blocks of these, and the round that is open: in which boot, and whether it was ended without a power cut. */
  disk: Type.Object({
    passed: Type.Integer({ minimum: 0 }),
    blocks: Type.Integer({ minimum: 0 }),
    open: Type.Optional(Type.Object({ boot: Type.String(), stopped: Type.Boolean() })),
  }),
  /** The boot in which the technician was asked to start the box without a network. */
  clock: Type.Optional(Type.Object({ boot: Type.String() })),
});
export type BurnInState = Static<typeof BurnInState>;

/** Everything that a check has to do with. */
export interface Bench {
  readonly directory: string;
  /** Absent where only a data directory was named. */
  readonly config: Config | undefined;
  /** Where it uploads to; absent: nowhere. */
  readonly site: UploadSite | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly asker: Asker;
  readonly state: BurnInState;
  /** The items of the store, as they are now. */
  readonly items: () => Promise<readonly ItemOverview[]>;
  /** Aborts when the technician interrupts. */
  readonly stop: AbortSignal;
  /** Brings the state to disk, changed by this. */
  readonly keep: (change: Partial<BurnInState>) => void;
}

/** The finding of a check. */
export type BurnInFinding = Omit<BurnInResult, "at_ms">;

const [stateFile, blocksFile] = ["burn-in-state.json", "burn-in.blocks"] as const;
/** Names of the files of a burn-in that is under way. */
export const burnInFiles: readonly string[] = [stateFile, blocksFile];
export const blocksPath = (directory: string) => join(directory, blocksFile);
/** Where a backup is tried. */
export const copiesPath = (directory: string) => join(directory, "burn-in-copies");

/** The burn-in that is under way; undefined where there is none, or the disk has kept none of it. */
export function burnInUnderWay(directory: string): BurnInState | undefined {
  const found = parseIfWhole(readPlainFile(join(directory, stateFile), state_bytes_max));
  return Value.Check(BurnInState, found) ? found : undefined;
}

export function keepState(directory: string, state: BurnInState): void {
  writeDurably(join(directory, stateFile), `${JSON.stringify(state)}\n`);
}

export function forgetState(directory: string): void {
  for (const name of burnInFiles) rmSync(join(directory, name), { force: true });
}

/** Asks again and again, until the answer is yes or the time is over: whether it was yes. @throws the reason of an interruption */
export async function until(
  { clock, stop }: Pick<Bench, "clock" | "stop">,
  time_max_ms: number,
  ask: () => Promise<boolean>,
): Promise<boolean> {
  const end_ms = clock.now().monotonic_ms + time_max_ms;
  for (;;) {
    if (await ask()) return true;
    if (clock.now().monotonic_ms >= end_ms) return false;
    await pause({ clock, stop }, ask_interval_ms);
  }
}

const ask_interval_ms = 1_000;

/** Waits. @throws the reason of an interruption, at once: who shuts the machine down does not wait for it */
export async function pause({ clock, stop }: Pick<Bench, "clock" | "stop">, delay_ms: number): Promise<void> {
  await pauseUntil(delay_ms, clock, stop);
  stop.throwIfAborted();
}

const state_bytes_max = 64 * 1024;
