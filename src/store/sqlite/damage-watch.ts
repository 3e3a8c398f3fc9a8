import { existsSync, rmSync } from "node:fs";
import { type Clock, repeat } from "../../base/clock.ts";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, StoreDamaged } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { day_ms } from "../../base/time.ts";
import type { GatewayStore } from "../gateway/gateway-store.ts";
import { databasePath } from "./connection.ts";
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
  let stopped = false;
  const check = async () => {
    const thread = new WriterThread({ clock, onFailure: (fault) => log.debug(fault.message) });
    try {
      const found = await thread.ask("damageIn", path);
      if (stopped || found === undefined) return undefined;
      onDamaged(new StoreDamaged(`${path} is damaged (${found})`, damaged.remedy));
      return "stop";
    } finally {
      await thread.close();
    }
  };
  const look = () =>
    check().catch((thrown) => {
      log.warn(`the pages of the database were not checked: ${messageOf(thrown)}`);
      return "stop";
    });
  const cancel = repeat(clock, day_ms, look, first_check_ms);
  return () => {
    stopped = true;
    cancel();
  };
}

/** Has `keepEssentials` called soon after the call and each minute: it writes where something has changed. `onDamaged` is told where that cannot be read. Returns what ends it. */
export function keepEssentials(options: {
  store: Pick<GatewayStore, "keepEssentials">;
  clock: Clock;
  log: Log;
  onDamaged: (fault: StoreDamaged) => void;
}): () => void {
  const { store, clock, log, onDamaged } = options;
  let stopped = false;
  let said = "";
  const keep = () =>
    store.keepEssentials().catch((thrown) => {
      if (stopped) return;
      if (thrown instanceof StoreDamaged) onDamaged(thrown);
      else if (messageOf(thrown) !== said)
        log.warn(`what a damaged database is mended by was not kept: ${messageOf(thrown)}`);
      said = messageOf(thrown);
    });
  const cancel = repeat(clock, look_ms, keep, first_check_ms);
  return () => {
    stopped = true;
    cancel();
  };
}

/** After the start, when the devices are connected. */
const first_check_ms = 5_000;
const look_ms = 60_000;

/** Notes beside a gateway's database that it is damaged, for the next start. */
export function noteDamaged(directory: string): void {
  writeDurably(notePath(directory), "the database is damaged: the next start reads what is left of it\n");
}

export function isNotedDamaged(directory: string): boolean {
  return existsSync(notePath(directory));
}

/** Takes the note back. One that is moved aside with its database needs no more. */
export function forgetDamaged(directory: string): void {
  rmSync(notePath(directory), { force: true });
}

function notePath(directory: string): string {
  return `${databasePath(directory)}-damaged`;
}
