import type { CoverageInterval } from "../store/store.ts";

/** All homes of a central, and what has arrived of them. `homes` names those whose data is asked for: whoever asks leaves out what the token may not see. */
export interface Fleet {
  /** State of each home that has ever sent anything, in order of number; of all where none are named. It may be some seconds old. */
  homes(of: readonly number[] | undefined): Promise<readonly FleetHome[]>;
  /** Days of homes from one on (days since 1970, by the home's calendar), in the order in which homes are named. */
  nights(homes: readonly number[], from_day: number): Promise<readonly HomeNights[]>;
  /** Devices in these homes as far as it is known how they were covered, unix milliseconds. */
  coverageIn(
    homes: readonly number[],
    during: { readonly start_ms: number; readonly stop_ms: number },
  ): Promise<readonly DeviceCoverage[]>;
}

/** State of a home, as `lintel fleet` tells it (src/sync/fleet/fleet.ts); times are unix milliseconds. */
export interface FleetHome {
  readonly homeid: number;
  readonly version: string | null;
  readonly timezone: string | null;
  readonly last_upload_ms: number | null;
  readonly last_report_ms: number | null;
  readonly backlog: number | null;
  readonly disk_free_bytes: number | null;
  readonly clock_offset_ms: number | null;
  readonly failure: string | null;
  readonly items: number;
  readonly silent: readonly { readonly itemname: string; readonly heard_ms: number | null }[];
  readonly low_batteries: readonly {
    readonly itemname: string;
    readonly percent: number | null;
    readonly millivolts: number | null;
  }[];
  readonly rivals: readonly string[];
  /** Worst first. */
  readonly needs: readonly { readonly type: string; readonly message: string }[];
}

export interface HomeNights {
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
