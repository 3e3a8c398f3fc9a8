import { type Static, Type } from "@sinclair/typebox";

/** State of a home, for the people who decide whether to send somebody there. Times are unix milliseconds. */
export interface FleetHome {
  readonly homeid: number;
  /** The epoch that the home's gateway numbers by now; null where none was ever heard. */
  readonly epoch: string | null;
  /** Since when a token waits for a gateway that was never heard; null where one was. */
  readonly expected_since_ms: number | null;
  readonly version: string | null;
  /** IANA name of the time zone of the home. */
  readonly timezone: string | null;
  /** When central last took readings, and when it last heard the gateway at all. */
  readonly last_upload_ms: number | null;
  readonly last_report_ms: number | null;
  /** When its timer starts the next upload, as its last report has it; null where that does not tell. */
  readonly next_upload_ms: number | null;
  /** Readings on the gateway's disk that were not here when it last reported. */
  readonly backlog: number | null;
  /** Readings that wait on the gateway's disk for the time. */
  readonly waiting: number | null;
  /** How far the gateway's clock was ahead of central's at its last report. */
  readonly clock_offset_ms: number | null;
  readonly disk_free_bytes: number | null;
  /** Bytes written to its disk in a day; at most so much of the disk's life is used; the hottest part of the machine, °C; whether its power supply is, or was of late, too weak. */
  readonly disk_written_a_day_bytes: number | null;
  readonly disk_life_used_percent: number | null;
  readonly temperature_c: number | null;
  readonly power_low: boolean | null;
  /** Whether the disk should be replaced by what it tells itself. */
  readonly disk_worn: boolean | null;
  /** How often the gateway's service was started again on the day before its last report because it had ended by itself. */
  readonly restarts: number | null;
  /** Days that differed at the last comparison. */
  readonly differing_days: number | null;
  /** The error of the last failed upload, or the reason why central cannot read the gateway now. */
  readonly failure: string | null;
  readonly items: number;
  readonly silent: readonly {
    readonly typename: string;
    readonly itemname: string;
    readonly heard_ms: number | null;
  }[];
  readonly low_batteries: readonly {
    readonly typename: string;
    readonly itemname: string;
    readonly percent: number | null;
    readonly millivolts: number | null;
  }[];
  /** Items that another device took the place of in the home, and that the inventory still has there. */
  readonly replaced: readonly {
    readonly typename: string;
    readonly itemname: string;
    /** Address of the other device. */
    readonly by: string;
    readonly at_ms: number;
  }[];
  /** Items that the home hears although they live elsewhere by the inventory: their readings are kept, and served as nobody's until they do. */
  readonly strays: readonly {
    readonly itemname: string;
    readonly readings: number;
    readonly newest_ms: number;
  }[];
  /** Devices heard by radio of late that nobody has admitted. */
  readonly strangers: number | null;
  /** Devices that claim the address of a known one, the first that did first: nothing is recorded of them until somebody settles it at the gateway. */
  readonly conflicts: readonly {
    readonly address: string;
    /** The known device, the one that claims its address, and the difference, in words. */
    readonly known: string;
    readonly claimed: string;
    readonly why: string;
    readonly first_ms: number;
    readonly last_ms: number;
    /** How often anything was refused because of it. */
    readonly count: number;
  }[];
  /** Updates of the gateway, as it tells of them; null where it does not update itself. */
  readonly update: UpdateReport | null;
  /** Subjects that were erased at the gateway and are still here; null is the home itself. */
  readonly erased_there: readonly (number | null)[];
  /** Other gateways that upload for this home: epochs. */
  readonly rivals: readonly string[];
  /** Needs of the home, worst first; empty where all is well. */
  readonly needs: readonly FleetNeed[];
}

export interface FleetNeed {
  readonly type: FleetNeedType;
  /** One line for a person. */
  readonly message: string;
}

/**
 * Needs of a home, worst first. `alerttypeid` is served in the alerts of the home's subjects: add numbers, never change
 * one. They begin above every programme's own numbers.
 */
export const fleetNeeds = {
  never_heard: { alerttypeid: 90_015, title: "Never heard" },
  upload_overdue: { alerttypeid: 90_001, title: "Upload overdue" },
  two_gateways: { alerttypeid: 90_002, title: "Two gateways" },
  data_differ: { alerttypeid: 90_003, title: "Data differ" },
  disk_nearly_full: { alerttypeid: 90_004, title: "Disk nearly full" },
  crash_loop: { alerttypeid: 90_016, title: "Starts again and again" },
  power_low: { alerttypeid: 90_011, title: "Power supply too weak" },
  disk_worn: { alerttypeid: 90_012, title: "Disk worn" },
  gateway_hot: { alerttypeid: 90_013, title: "Gateway too hot" },
  clock_wrong: { alerttypeid: 90_005, title: "Clock wrong" },
  item_silent: { alerttypeid: 90_006, title: "Item silent" },
  identity_conflict: { alerttypeid: 90_014, title: "Another device under a known address" },
  erased_there: { alerttypeid: 90_008, title: "Erased at the gateway" },
  battery_low: { alerttypeid: 90_007, title: "Battery low" },
} as const;

export type FleetNeedType = keyof typeof fleetNeeds;

const closed = { additionalProperties: false } as const;
const text = Type.String({ maxLength: 1_000 });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Unix milliseconds up to the end of the year 9999. */
const moment_ms = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });

/** Why a release was not taken, or did not stay. */
export const ReleaseRefusalReason = Type.Union([
  Type.Literal("signature"),
  /** The list ended before now: newer ones are kept back, or nobody has refreshed it. */
  Type.Literal("expired"),
  /** The list is older than one that was seen before. */
  Type.Literal("rollback"),
  /** The files of the list do not belong together. */
  Type.Literal("mixed"),
  Type.Literal("architecture"),
  Type.Literal("older"),
  Type.Literal("damaged"),
  Type.Literal("disk"),
  /** The trial could not be finished: central could not be reached, or the power went again and again. */
  Type.Literal("unfinished"),
  Type.Literal("went_back"),
]);
export type ReleaseRefusalReason = Static<typeof ReleaseRefusalReason>;

export const ReleaseRefusal = Type.Object(
  {
    /** Absent: the list itself. */
    version: Type.Optional(Type.String({ maxLength: 40 })),
    sha256: Type.Optional(Type.String({ maxLength: 64 })),
    reason: ReleaseRefusalReason,
    message: text,
    /** When last, unix milliseconds, and how many times. */
    at_ms: moment_ms,
    times: Type.Integer({ minimum: 1 }),
  },
  closed,
);
export type ReleaseRefusal = Static<typeof ReleaseRefusal>;

/** Refusals that are kept, and told to central with each upload. */
export const refusals_max = 20;

/** The updates of a gateway, as it tells of them. */
export const UpdateReport = Type.Object(
  {
    ring: count,
    /** The release that was confirmed last, where one was. */
    confirmed: Type.Optional(text),
    /** The release that is being tried, or taken back. */
    trying: Type.Optional(text),
    /** The release that lies here, and why it has not been tried yet. */
    waiting: Type.Optional(Type.Object({ version: text, message: text }, closed)),
    /** The newest last. */
    refusals: Type.Array(ReleaseRefusal, { maxItems: refusals_max }),
  },
  closed,
);
export type UpdateReport = Static<typeof UpdateReport>;

/** A release that no further box is to try, as central answers, and how many boxes went back from it. */
export const StoppedRelease = Type.Object({
  version: Type.String({ maxLength: 40 }),
  sha256: Type.String({ maxLength: 64 }),
  boxes: count,
});
export type StoppedRelease = Static<typeof StoppedRelease>;

/** Stopped releases that an answer names at most. */
export const stopped_max = 20;
