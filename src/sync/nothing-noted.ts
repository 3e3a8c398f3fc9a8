import type { Condition } from "../store/condition.ts";

/** A condition that says nothing: for a report that only asks where central stands. */
export const nothingNoted: Condition = {
  devices: [],
  listeners: [],
  states: [],
  after_note: 0,
  to_note: 0,
  outages: [],
  silences: [],
  gaps: [],
};
