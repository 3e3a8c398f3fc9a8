import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { gapReasons } from "../reading.ts";
import { unixTime } from "../unix-time.ts";
import { record } from "./field.ts";

/** Whether an item was listened to and alive. */
export const coverageStates = {
  covered: "its driver was listening and the device alive: no event means that nothing happened",
  silent: "the device was not heard for too long: it may be out of range, or its battery empty",
  not_listening: "the gateway or the driver was down",
  gap: "the device or driver knows that something is missing, or that there was nothing to record",
} as const;

/** Why it was not covered. */
export const coverageReasons = {
  device_silent: "silent for more than one and a half times its heartbeat",
  gateway_down: "the gateway was not running",
  driver_down: "the driver did not hear its hardware",
  ...gapReasons,
} as const;

export type CoverageState = keyof typeof coverageStates;
export type CoverageReason = keyof typeof coverageReasons;

/** A stretch of time of an item as it is served, in whole seconds. */
export const Coverage = record("Coverage", {
  start: unixTime({ description: "start of the interval" }),
  stop: unixTime({
    description: "end of the interval, not included; where it lies in the same second, its start",
  }),
  state: Type.Unsafe<CoverageState>(
    Type.Union(literals(coverageStates), { description: explained(coverageStates) }),
  ),
  reason: Type.Unsafe<CoverageReason | null>(
    Type.Union([...literals(coverageReasons), Type.Null()], {
      description: `null where it was covered; ${explained(coverageReasons)}`,
    }),
  ),
  lost: Type.Union([Type.Integer(), Type.Null()], {
    description: "how many events are missing, where the device tells",
  }),
});

export type Coverage = Static<typeof Coverage>;

function literals(meanings: Readonly<Record<string, string>>): TSchema[] {
  return Object.keys(meanings).map((name) => Type.Literal(name));
}

function explained(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join("; ");
}
