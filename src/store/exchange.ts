import { type Static, Type } from "@sinclair/typebox";
import { stamp_end_ms } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { day_ms } from "../base/time.ts";
import { FactsHistory } from "../domain/device-facts.ts";
import { kindNames } from "../domain/kinds.ts";
import { gapReasons } from "../domain/reading.ts";
import { seriesNames } from "../domain/series.ts";
import { batch_readings_max } from "./batch.ts";
import { stampSchema } from "./series/series-columns.ts";

/**
 * Bounds of what central takes of one home. Whatever the gateway of a home says, or somebody who holds its token, costs the other homes
 * no more than this. docs/upload.md says what each is for, and what is answered beyond it.
 */

/** The highest number of a reading or a note: a gateway that numbers a thousand a second has it after thirty years. */
export const seq_max = 1_000_000_000_000;

/** Numbers in one batch, of its readings and of those that are lost: whoever has lost more sends several. */
export const batch_numbers_max = batch_readings_max;

/** The last day that has stamps, counted from 1970 in UTC. */
export const day_max = stamp_end_ms / day_ms - 1;

/** Quotas of one home: the most that it may have here, or send. */
export interface Quotas {
  /** Devices that it has ever sent anything of. A usual home has sixty. */
  readonly devices: number;
  /** Stores that have numbered its readings: each restore begins one. */
  readonly epochs: number;
  /** Listeners that it has ever had: its gateways and their drivers. */
  readonly listeners: number;
  /** Readings a day, those that are lost included, once it has sent `days_at_once` days' worth. A busy home has 500,000. */
  readonly readings: number;
  /** Interruptions of its devices and listeners, and gaps of data, a day, likewise. */
  readonly notes: number;
}
export type QuotaName = keyof Quotas;

export const defaultQuotas: Quotas = {
  devices: 1_000,
  epochs: 200,
  listeners: 200,
  readings: 10_000_000,
  notes: 100_000,
};

/** Days' worth of readings and notes that a home may send at once: fifty million readings are a hundred days of a busy home. */
export const days_at_once = 5;

/** A home has reached a quota: what it has sent was not taken. */
export class QuotaExceeded extends OperatorError {
  constructor(
    readonly home: number,
    readonly quota: QuotaName,
    readonly most: number,
  ) {
    super(
      `home ${home} would have more than ${most} ${quota} here`,
      `see at central who uses the token of home ${home}; where all is right, start central with --quota ${quota}=N`,
    );
  }
}

export const closed = { additionalProperties: false } as const;
/** Unix milliseconds, up to the end of the year 9999: the last that every form of date can write. */
export const time_ms = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });
/** The number of a reading or of a note; 0 before the first. */
export const seq = Type.Integer({ minimum: 0, maximum: seq_max });
export const number = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Word = Type.String({ maxLength: 200 });
export const Kind = Type.Union(kindNames.map((name) => Type.Literal(name)));
export const Series = Type.Union(seriesNames.map((name) => Type.Literal(name)));

/** A device, with its number in the inventory where that has adopted it. */
export const ExchangedDevice = Type.Object(
  {
    kind: Kind,
    address: Type.String({ maxLength: 64 }),
    itemid: Type.Optional(number),
    subtype: Type.Optional(Word),
    model: Type.Optional(Word),
    vendor: Type.Optional(Word),
  },
  closed,
);

/** The present state of a device, which is named by its place in the list. */
const HealthState = Type.Object(
  {
    device: number,
    first_ms: stampSchema,
    heard_ms: stampSchema,
    listener: Type.Optional(Word),
    battery_percent: Type.Optional(Type.Number()),
    battery_mv: Type.Optional(Type.Number()),
    linkquality: Type.Optional(Type.Number()),
    history: Type.Optional(FactsHistory),
  },
  closed,
);

/**
 * Interruptions, and states of devices, in one `DeviceHealth` that a gateway sends; what is more follows in the next. So many of both
 * fit the body of a report, however long the names of their devices are.
 */
export const health_notes_max = 500;
export const health_states_max = 150;
/** As many as central takes in one. */
const notes = { maxItems: 10_000 };

/**
 * The health of a gateway's devices, as it is sent to central: who listened, which devices were alive, and which data are
 * known to be incomplete. Taking in the same twice changes nothing.
 */
export const DeviceHealth = Type.Object(
  {
    /** Whom states and interruptions are of; they name a device by its place in this list. */
    devices: Type.Array(ExchangedDevice, { maxItems: 10_000 }),
    /** The gateway itself (`gateway`) and each of its drivers: listened from first to last, but for `outages`. */
    listeners: Type.Array(Type.Object({ name: Word, first_ms: stampSchema, last_ms: stampSchema }, closed), {
      maxItems: 100,
    }),
    states: Type.Array(HealthState, { maxItems: 10_000 }),
    /** The gateway has states of more devices: those after this position. */
    next_device: Type.Optional(number),
    /** Interruptions noted after `after_note` up to `to_note`, in order of their notes; not more than `health_notes_max`. */
    after_note: seq,
    to_note: seq,
    outages: Type.Array(
      Type.Object({ listener: Word, start_ms: stampSchema, stop_ms: stampSchema }, closed),
      notes,
    ),
    silences: Type.Array(
      Type.Object({ device: number, start_ms: stampSchema, stop_ms: stampSchema }, closed),
      notes,
    ),
    gaps: Type.Array(
      Type.Object(
        {
          device: number,
          from_ms: stampSchema,
          to_ms: stampSchema,
          reason: Type.Union(
            Object.keys(gapReasons).map((reason) => Type.Literal(reason as keyof typeof gapReasons)),
          ),
          lost: Type.Optional(number),
        },
        closed,
      ),
      notes,
    ),
  },
  closed,
);
export type DeviceHealth = Static<typeof DeviceHealth>;

/** Interruptions and gaps that device health tells of. */
export function notesIn({ outages, silences, gaps }: DeviceHealth): number {
  return outages.length + silences.length + gaps.length;
}

/** Device health that says nothing: for a report that only asks where central stands. */
export const nothingNoted: DeviceHealth = {
  devices: [],
  listeners: [],
  states: [],
  after_note: 0,
  to_note: 0,
  outages: [],
  silences: [],
  gaps: [],
};

/** Stored readings of one series of one device on one UTC day, counted and digested; days without readings have none. */
export const DayDigest = Type.Object(
  {
    series: Series,
    kind: Kind,
    /** Empty where the item has lost its address; then it has an itemid. */
    address: Type.String({ maxLength: 64 }),
    itemid: Type.Optional(number),
    /** Days since 1970-01-01, UTC. */
    day: Type.Integer({ minimum: 0, maximum: 100_000_000 }),
    count: number,
    /** `SetDigest.hash` of its readings. */
    hash: Type.String({ pattern: "^[0-9a-f]{16}$" }),
  },
  closed,
);
export type DayDigest = Static<typeof DayDigest>;
