import { type Static, Type } from "@sinclair/typebox";
import { closed, Kind, number, Series } from "./device-health.ts";

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
