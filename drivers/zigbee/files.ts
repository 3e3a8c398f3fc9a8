import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { UnifiedBackupStorage } from "zigbee-herdsman/dist/models/backup-storage-unified.js";
import { parseIfWhole, readIfThere, writeDurably } from "../../src/base/disk/safe-files.ts";
import type { Log } from "../../src/base/log.ts";
import type { Energies } from "./channel.ts";
import { Generations } from "./generations.ts";
import { isCoordinatorBackup, type Network, networkOf, networkOfBackup, newNetwork } from "./network.ts";

/**
 * The files of a Zigbee network below the driver's directory: its identity, zigbee-herdsman's device
 * database and coordinator backup, and generations of all three.
 */
export class NetworkFiles {
  readonly database: string;
  readonly backup: string;
  readonly #identity: string;
  readonly #channel: string;
  readonly #generations: Generations;
  readonly #log: Log;

  constructor(options: { directory: string; log: Log }) {
    this.database = join(options.directory, "database.db");
    this.backup = join(options.directory, "coordinator_backup.json");
    this.#identity = join(options.directory, "network.json");
    this.#channel = join(options.directory, "channel.json");
    this.#generations = new Generations(join(options.directory, "backups"));
    this.#log = options.log;
  }

  /**
   * Makes the files fit to start from. Missing or damaged ones come back from the newest whole
   * generation, and a network is made up where there has never been one. Each repair is one line of the log.
   */
  prepare(random: (bytes: number) => Uint8Array): Network {
    const kept = this.#generations.newest();
    const backup = readIfThere(this.backup);
    if (!isCoordinatorBackup(parseIfWhole(backup))) {
      const replacement = kept?.generation.coordinator ?? undefined;
      this.#mend(this.backup, backup !== undefined, replacement, kept?.number);
    }
    const database = readIfThere(this.database);
    if (database === undefined || !isWhole(database)) {
      this.#mend(this.database, database !== undefined, kept?.generation.database, kept?.number);
    }
    const written = readIfThere(this.#identity);
    const network = networkOf(parseIfWhole(written));
    if (network !== undefined) return network;
    const known = kept?.generation.network ?? networkOfBackup(parseIfWhole(readIfThere(this.backup)));
    const chosen = known ?? newNetwork(random);
    this.#mend(this.#identity, written !== undefined, JSON.stringify(chosen), kept?.number);
    return chosen;
  }

  /** Whether any device was ever paired, as far as these files know. */
  get pairedDevices(): number {
    const lines = readIfThere(this.database)?.split("\n") ?? [];
    return lines.filter((line) => /"type":"(EndDevice|Router|GreenPower|Unknown)"/.test(line)).length;
  }

  /** Whether nothing was ever paired or kept here, so that the network may still become another one. */
  get mayChange(): boolean {
    return this.pairedDevices === 0 && this.#generations.newest() === undefined;
  }

  /** Moves a network to another channel, at the next start. */
  move(network: Network, channel: number): void {
    writeDurably(this.#identity, JSON.stringify({ ...network, channel } satisfies Network));
  }

  /** Keeps what a stick measured when the channel of a network was chosen. */
  keepEnergies(channel: number, energies: Energies): void {
    writeDurably(this.#channel, JSON.stringify({ channel, energies }));
  }

  /** Whether the channel of this network was chosen by a measurement. */
  measuredFor({ channel }: Network): boolean {
    const kept = parseIfWhole(readIfThere(this.#channel)) as { channel?: unknown } | undefined;
    return kept?.channel === channel;
  }

  /** The coordinator's backup where it is of this network, so that any adapter can take it over. */
  backupOf(network: Network): UnifiedBackupStorage | undefined {
    const kept = parseIfWhole(readIfThere(this.backup));
    const held = networkOfBackup(kept);
    const isSame = held !== undefined && isDeepStrictEqual(held, network);
    return isSame ? (kept as UnifiedBackupStorage) : undefined;
  }

  /** Gives the backup up, which no adapter is to restore. */
  forgetBackup(): void {
    renameSync(this.backup, `${this.backup}.given-up`);
  }

  /** Gives the network up so that the next start makes up another. */
  forgetNetwork(): void {
    if (existsSync(this.#identity)) renameSync(this.#identity, `${this.#identity}.given-up`);
  }

  /** Keeps the present files as a generation. `saved` is the time, as text, for people who look at them. */
  keep(network: Network, saved: string): number {
    return this.#generations.keep(
      {
        network,
        coordinator: readIfThere(this.backup) ?? null,
        database: readIfThere(this.database) ?? "",
      },
      saved,
    );
  }

  /** Puts `replacement` in place of a file, whose damaged content is set aside in the same directory. */
  #mend(
    path: string,
    damaged: boolean,
    replacement: string | undefined,
    generation: number | undefined,
  ): void {
    if (damaged) renameSync(path, `${path}.damaged`);
    if (replacement !== undefined) writeDurably(path, replacement);
    // A first start, or an adapter that makes no backup.
    if (!damaged && (generation === undefined || replacement === undefined)) return;
    const state = damaged ? `was damaged and is set aside as ${path}.damaged` : "was missing";
    const copied = generation !== undefined && replacement !== undefined;
    this.#log.warn(
      `${path} ${state}, ${copied ? `and was brought back from copy ${generation}` : "and there is no copy of it"}`,
    );
  }
}

/** zigbee-herdsman passes over lines that it can't read, and a device with them: such a file isn't used. */
function isWhole(database: string): boolean {
  return database.split("\n").every((line) => line === "" || parseIfWhole(line) !== undefined);
}
