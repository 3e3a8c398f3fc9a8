import type { FleetHome } from "../fleet-home.ts";
import type { CoverageInterval } from "../store/store.ts";

/** All homes of a central, and what has arrived of them. `homes` names those whose data is asked for: whoever asks leaves out what the token may not see. */
export interface Fleet {
  /** State of each home that has ever sent anything, in order of number; of all where none are named. It may be some seconds old. */
  homes(of: readonly number[] | undefined): Promise<readonly FleetHome[]>;
  /** Days of homes from one on (days since 1970, by the home's calendar), in the order in which homes are named. */
  nights(homes: readonly number[], from_day: number): Promise<readonly HomeArrivals[]>;
  /** Devices in these homes as far as it is known how they were covered, unix milliseconds. */
  coverageIn(
    homes: readonly number[],
    during: { readonly start_ms: number; readonly stop_ms: number },
  ): Promise<readonly DeviceCoverage[]>;
}

export interface HomeArrivals {
  readonly home: number;
  readonly first_day: number | undefined;
  readonly days: readonly {
    readonly day: number;
    /** When all that the gateway had at some moment of this day was first here. */
    readonly arrived_ms?: number;
    readonly differing: number;
  }[];
}

export interface DeviceCoverage {
  readonly home: number;
  readonly start_ms: number;
  readonly stop_ms: number;
  readonly uncovered: readonly CoverageInterval[];
}

/** The gateway of a home as central knows it: null where it has sent nothing yet; undefined at the gateway itself, and of no home. */
export type SentBy = FleetHome | null | undefined;

export async function sentBy(
  { fleet }: { readonly fleet?: Fleet },
  home: number | undefined,
): Promise<SentBy> {
  if (fleet === undefined || home === undefined) return undefined;
  return (await fleet.homes([home]))[0] ?? null;
}
