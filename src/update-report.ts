import { type Static, Type } from "@sinclair/typebox";

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
