import { type Static, Type } from "@sinclair/typebox";
import type { AcceptanceReport } from "./acceptance.ts";
import type { BurnInReport } from "./burn-in.ts";

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
  /** Memory of the gateway's process and of its machine, bytes. */
  readonly memory_bytes: number | null;
  readonly machine_memory_bytes: number | null;
  /** Since when it let devices in, where it did at its last report. */
  readonly joining_since_ms: number | null;
  /** Whether it knew the time at its last report, and the end of the last stretch of time in which its clock was wrong by an unknown amount. */
  readonly clock_synchronised: boolean | null;
  readonly clock_doubted_ms: number | null;
  /** Minutes of the day before its last report in which the gateway or one of its drivers did not listen: of the worst of these. */
  readonly deaf_minutes: number | null;
  /** Days that differed at the last comparison, and those that sending them again did not mend; null for these where its report does not tell them apart. */
  readonly differing_days: number | null;
  readonly unmended_days: number | null;
  /** The error of the last failed upload, or the reason why central cannot read the gateway now. */
  readonly failure: string | null;
  /** From when on the enrollments or the consent of the home let it record nothing any more; null where no end is known. */
  readonly recording_ends_ms: number | null;
  /** Its data are kept and shown to nobody: then nothing is told here of its items and devices. */
  readonly restricted: boolean;
  /** When its data, or those of somebody who lived there, are restricted or erased by themselves; null where that is not near. */
  readonly retention: { readonly due_ms: number; readonly act: "restrict" | "erase" } | null;
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
  /** Zigbee devices that are heard badly by what they hang on, or half as well as they were. A device that is no item, such as a plug, has its model as name. */
  readonly poor_links: readonly { readonly name: string; readonly item: boolean; readonly fallen: boolean }[];
  /** Updates of the gateway, as it tells of them; null where it does not update itself. */
  readonly update: UpdateReport | null;
  /** Its burn-in at the bench; null where it has the record of none. */
  readonly burn_in: BurnInReport | null;
  /** Its newest acceptance; null where nobody has accepted it. */
  readonly acceptance: AcceptanceReport | null;
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
  /** The item that it is about, where it is about one. */
  readonly item?: string;
}

/** How bad a need is: when people hear of it, and after how many hours without an acknowledgement `lead` hears of it too. */
export const needLevels = {
  /** Of servers alone, by Prometheus: no need of a home is mended at night. */
  urgent: { escalate_h: undefined, told: "at any hour" },
  normal: { escalate_h: 48, told: "outside of quiet hours" },
  digest: { escalate_h: undefined, told: "in the daily digest" },
} as const satisfies Readonly<Record<string, { escalate_h: number | undefined; told: string }>>;
export type NeedLevel = keyof typeof needLevels;

/** Who deals with needs: visits homes, looks after the data, or runs the servers; `lead` hears of what nobody of these has acknowledged. */
export const needDuties = ["field", "data", "server", "lead"] as const;
export type NeedDuty = (typeof needDuties)[number];

/** A row of a table of needs: what it is, and who hears of it, when. */
export interface NeedRule {
  readonly title: string;
  readonly level: NeedLevel;
  readonly duty: NeedDuty;
  /** How long it lasts before somebody hears of it, and how long it is gone before it is over, hours. */
  readonly after_h: number;
  readonly over_h: number;
}

/** A gateway reports once a night: what it reports is over when one report without it has come, and the next is due. */
const night_h = 30;

function rule(
  title: string,
  level: NeedLevel,
  duty: NeedDuty,
  { after_h = 0, over_h = night_h }: Partial<Pick<NeedRule, "after_h" | "over_h">> = {},
): NeedRule {
  return { title, level, duty, after_h, over_h };
}

/**
 * Needs of a home, worst first. Mails, metrics and rules of Prometheus come from this table. `alerttypeid` is served in the alerts of the
 * home's subjects: add numbers, never change one. They begin above every programme's own numbers.
 */
export const fleetNeeds = {
  never_heard: { alerttypeid: 90_015, ...rule("Never heard", "normal", "field", { over_h: 6 }) },
  upload_overdue: { alerttypeid: 90_001, ...rule("Upload overdue", "normal", "field", { over_h: 6 }) },
  two_gateways: { alerttypeid: 90_002, ...rule("Two gateways", "normal", "server") },
  data_differ: { alerttypeid: 90_003, ...rule("Data differ", "normal", "data") },
  disk_nearly_full: { alerttypeid: 90_004, ...rule("Disk nearly full", "normal", "field") },
  crash_loop: { alerttypeid: 90_016, ...rule("Starts again and again", "normal", "field") },
  went_back: { alerttypeid: 90_017, ...rule("Went back from an update", "normal", "server") },
  joining_open: { alerttypeid: 90_018, ...rule("Joining left open", "normal", "field") },
  power_low: { alerttypeid: 90_011, ...rule("Power supply too weak", "digest", "field") },
  disk_worn: { alerttypeid: 90_012, ...rule("Disk worn", "digest", "field") },
  gateway_hot: { alerttypeid: 90_013, ...rule("Gateway too hot", "digest", "field") },
  memory_high: { alerttypeid: 90_019, ...rule("Memory nearly used up", "digest", "server") },
  clock_wrong: { alerttypeid: 90_005, ...rule("Clock wrong", "normal", "field") },
  clock_doubted: { alerttypeid: 90_020, ...rule("Time uncertain", "digest", "field") },
  minutes_missing: { alerttypeid: 90_021, ...rule("Minutes of a day missing", "normal", "field") },
  recording_ends: { alerttypeid: 90_022, ...rule("Recording ends", "digest", "data", { over_h: 1 }) },
  retention_due: { alerttypeid: 90_026, ...rule("Kept long enough", "normal", "data", { over_h: 1 }) },
  item_silent: { alerttypeid: 90_006, ...rule("Item silent", "normal", "field", { after_h: 12 }) },
  identity_conflict: {
    alerttypeid: 90_014,
    ...rule("Another device under a known address", "normal", "field"),
  },
  burn_in_due: { alerttypeid: 90_025, ...rule("Burn-in due", "digest", "field") },
  not_accepted: { alerttypeid: 90_027, ...rule("Not accepted", "digest", "field") },
  erased_there: { alerttypeid: 90_008, ...rule("Erased at the gateway", "digest", "data") },
  link_poor: {
    alerttypeid: 90_024,
    // A person who moves furniture may be the cause: two nights in a row are a reason to look.
    ...rule("Weak Zigbee link", "digest", "field", { after_h: 20 }),
  },
  battery_low: { alerttypeid: 90_007, ...rule("Battery low", "digest", "field", { over_h: 78 }) },
} as const satisfies Readonly<Record<string, NeedRule & { readonly alerttypeid: number }>>;

export type FleetNeedType = keyof typeof fleetNeeds;

/** Needs of central itself. */
export const centralNeeds = {
  backup_old: rule("No backup of central", "digest", "server", { over_h: 1 }),
  certificate_ends: rule("Certificate of central ends", "digest", "server", { over_h: 1 }),
} as const satisfies Readonly<Record<string, NeedRule>>;

/** A home or central may need this. */
export type NeedType = FleetNeedType | keyof typeof centralNeeds;
export const needRules: Readonly<Record<NeedType, NeedRule>> = { ...fleetNeeds, ...centralNeeds };

/** A certificate of central that ends within this time is a need: what renews it by itself does so a month before. */
export const certificate_left_min_h = 21 * 24;

/** Central without a backup for so long needs one. */
export const backup_age_max_h = 8 * 24;

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
