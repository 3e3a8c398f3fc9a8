import { type Clock, repeat } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type FleetHome, fleetNeeds } from "../../domain/fleet-home.ts";
import type { Alert } from "../../domain/records/programme-records.ts";
import type { CentralStore } from "../../store/central/central-store.ts";
import { fleetOf } from "./fleet.ts";

/**
 * Keeps what homes need among the alerts of the subjects who live in them, where the interface serves them: made when something begins to
 * be wrong, gone when it is corrected. Alerts that the programme has imported are left alone.
 */
export class AlertKeeper {
  readonly #options: {
    readonly store: CentralStore;
    readonly clock: Clock;
    readonly log: Log;
    readonly onFleet?: ((fleet: readonly FleetHome[]) => void) | undefined;
  };
  /** The alerts last stored of each home, so that a fleet in which nothing changes costs no write. */
  readonly #kept = new Map<number, string>();
  #cancel = () => {};
  #looking: Promise<void> | undefined;
  /** The log says already why alerts are not kept. */
  #said = false;

  /** `onFleet` gets the fleet each time it was looked at. */
  constructor(options: {
    store: CentralStore;
    clock: Clock;
    log: Log;
    onFleet?: ((fleet: readonly FleetHome[]) => void) | undefined;
  }) {
    this.#options = options;
  }

  /** Looks at once, and again every quarter of an hour until it is stopped. */
  start(): void {
    const look = () => {
      this.#looking = this.look().then(
        () => {
          this.#said = false;
        },
        (thrown) => this.#failed(thrown),
      );
      return this.#looking;
    };
    void look();
    this.#cancel = repeat(this.#options.clock, look_interval_ms, look);
  }

  async stop(): Promise<void> {
    this.#cancel();
    await this.#looking;
  }

  #failed(thrown: unknown): void {
    const line = `alerts could not be kept: ${messageOf(thrown)}`;
    const { log } = this.#options;
    if (this.#said) log.debug(line);
    else log.warn(`${line} (said once; it is tried again every ${look_interval_ms / 60_000} minutes)`);
    this.#said = true;
  }

  /** Brings the alerts of every home up to date. */
  async look(): Promise<void> {
    const { store, clock, onFleet } = this.#options;
    const fleet = await fleetOf(store, clock.now().unix_ms);
    onFleet?.(fleet);
    const inhabitants = await inhabitantsOf(store);
    for (const home of fleet) {
      const alerts = alertsOf(home, inhabitants.get(home.homeid) ?? []);
      const text = JSON.stringify(alerts);
      if (this.#kept.get(home.homeid) === text) continue;
      await store.replaceAlerts(home.homeid, alerts);
      this.#kept.set(home.homeid, text);
    }
  }
}

/** The needs of a home, as alerts of everybody who lives in it. */
function alertsOf(home: FleetHome, subjectids: readonly number[]): Alert[] {
  return subjectids.flatMap((subjectid) =>
    home.needs.map(({ type, message }) => ({
      subjectid,
      alerttypeid: fleetNeeds[type].alerttypeid,
      alerttypename: fleetNeeds[type].title,
      alertmessage: message,
    })),
  );
}

/** Who lives in which home, by the enrollments that have not ended; in order of subjectid. */
async function inhabitantsOf(store: CentralStore): Promise<Map<number, number[]>> {
  const inhabitants = new Map<number, number[]>();
  for (const { subjectid } of await store.records("subjects")) {
    const enrollments = await store.recordsOf("project_enrollments", subjectid);
    const homes = new Set(
      enrollments.flatMap(({ homeid, stop }) => (homeid !== null && stop === null ? [homeid] : [])),
    );
    for (const home of homes) inhabitants.set(home, [...(inhabitants.get(home) ?? []), subjectid]);
  }
  return inhabitants;
}

const look_interval_ms = 15 * 60_000;
