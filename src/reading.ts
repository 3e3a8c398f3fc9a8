import type { ClockQuality } from "./clock.ts";
import type { Kind } from "./kinds.ts";
import type { SeriesName, Value } from "./series.ts";

/** What a driver knows of the device that spoke: enough to find its item, or to make a provisional one. */
export interface Device {
  readonly kind: Kind;
  /** Hardware address in printed order, lower case, pairs of hex digits joined by colons: `00:0d:6f:00:05:a1:b2:c3`. */
  readonly address: string;
  /** For instance `wall`, `door`, `curtain`, `polled`, `broadcasting`; absent while the device has not told. */
  readonly subtype?: string;
  readonly model?: string;
  readonly vendor?: string;
}

/** One measurement of one device, as a driver hands it to ingest. */
export interface Reading {
  readonly device: Device;
  readonly series: SeriesName;
  /** When it happened, unix milliseconds: the arrival, taken in the first line of the handler, less any delay the device states. */
  readonly stamp_ms: number;
  readonly clock: ClockQuality;
  /** A value for each field of the series, by name. */
  readonly values: Readonly<Record<string, Value>>;
}

/** What was learned of a device besides readings; only what is present changes. */
export interface DeviceState {
  readonly device: Device;
  /** When it was last heard, unix milliseconds. */
  readonly heard_ms: number;
  /** Battery charge, 0 to 100 %. */
  readonly battery_percent?: number;
  /** Battery voltage in millivolts. */
  readonly battery_mv?: number;
  /** Zigbee link quality, 0 to 255. */
  readonly linkquality?: number;
}
