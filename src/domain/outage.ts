import { type Static, Type } from "@sinclair/typebox";
import { type NeedType, needRules } from "./fleet-home.ts";

const moment_ms = Type.Integer({ minimum: 0 });
const whole = Type.Integer({ minimum: 0 });

/** A need of a home that lasts, and who has heard of it. */
export const Outage = Type.Object({
  id: whole,
  /** Its number; `centralItself` for central. */
  home: whole,
  need: Type.Union(Object.keys(needRules).map((need) => Type.Literal(need as NeedType))),
  item: Type.Optional(Type.String()),
  message: Type.String(),
  since_ms: moment_ms,
  /** When the need was there last. */
  seen_ms: moment_ms,
  /** Since when it has lasted long enough for somebody to hear of it. */
  ripe_ms: Type.Optional(moment_ms),
  /** When whom was written of it, by the names of recipients. */
  told: Type.Record(Type.String(), moment_ms),
  acknowledged: Type.Optional(Type.Object({ at_ms: moment_ms, by: Type.String() })),
  over_ms: Type.Optional(moment_ms),
});
export type Outage = Static<typeof Outage>;

/** Stands where homes have their number. */
export const centralItself = 0;

/** A mail or call that was given up. */
export const Undelivered = Type.Object({
  to: Type.String(),
  subject: Type.String(),
  made_ms: moment_ms,
  failure: Type.String(),
});
export type Undelivered = Static<typeof Undelivered>;
