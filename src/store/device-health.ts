import type { Device, GapReason } from "../reading.ts";

/**
 * The health of a gateway's devices, as it is sent to central: who listened, which devices were alive, and which data are
 * known to be incomplete. Times are unix milliseconds. Taking in the same twice changes nothing.
 */
export interface DeviceHealth {
  /** Whom states and interruptions are of; they name a device by its place in this list. */
  readonly devices: readonly HealthDevice[];
  /** The gateway itself (`gateway`) and each of its drivers: listened from first to last, but for `outages`. */
  readonly listeners: readonly {
    readonly name: string;
    readonly first_ms: number;
    readonly last_ms: number;
  }[];
  readonly states: readonly HealthState[];
  /** Interruptions noted after `after_note` up to `to_note`, in order of their notes; not more than `health_notes_max`. */
  readonly after_note: number;
  readonly to_note: number;
  readonly outages: readonly {
    readonly listener: string;
    readonly start_ms: number;
    readonly stop_ms: number;
  }[];
  readonly silences: readonly {
    readonly device: number;
    readonly start_ms: number;
    readonly stop_ms: number;
  }[];
  readonly gaps: readonly {
    readonly device: number;
    readonly from_ms: number;
    readonly to_ms: number;
    readonly reason: GapReason;
    readonly lost?: number;
  }[];
}

/** As in a batch: with its number in the inventory where that has adopted it. */
export interface HealthDevice extends Device {
  readonly itemid?: number;
}

/** The present state of a device. */
export interface HealthState {
  readonly device: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener?: string;
  readonly battery_percent?: number;
  readonly battery_mv?: number;
  readonly linkquality?: number;
}

/** Interruptions in one `DeviceHealth`. */
export const health_notes_max = 10_000;
