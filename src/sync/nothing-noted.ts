import type { DeviceHealth } from "../store/device-health.ts";

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
