import { differences, packed } from "../wire/frame.ts";

/** A batch as docs/upload.md describes it: JSON in a zstd frame with a checksum. */
export function batchBytes(said: Readonly<Record<string, unknown>>): Uint8Array<ArrayBuffer> {
  const whole = { version: 1, first_seq: 1, missing: [], series: {}, ...said };
  return packed(JSON.stringify(whole));
}

/** One event of a sensor. */
export interface SensorEvent {
  readonly address: string;
  readonly stamp_ms: number;
  readonly event: number;
}

/** Events as the one series of a batch, numbered from `from_seq` on. */
export function eventSeries(events: readonly SensorEvent[], from_seq: number): Record<string, unknown> {
  const addresses = [...new Set(events.map(({ address }) => address))];
  const place = new Map(addresses.map((address, index) => [address, index]));
  return {
    wirelesssensor_events: {
      items: addresses.map((address) => ({ address })),
      item: events.map(({ address }) => place.get(address)),
      seq: events.map((_, index) => (index === 0 ? from_seq : 1)),
      stamp_ms: differences(events.map(({ stamp_ms }) => stamp_ms)),
      event: events.map(({ event }) => event),
      clock: events.map(() => 0),
    },
  };
}

/** 32 lower-case hex digits that depend on nothing but the name. */
export function epochNamed(name: string): string {
  return new Bun.CryptoHasher("md5").update(name).digest("hex");
}

/** A gateway's report of itself, with what is given in the place of its parts. */
export function reportOf(
  epoch: string,
  last_seq: number,
  { condition = {}, report = {} }: { condition?: object; report?: object } = {},
): Record<string, unknown> {
  return {
    epochs: [{ epoch, first_seq: 1, last_seq }],
    condition: {
      ...{ devices: [], listeners: [], states: [], after_note: 0, to_note: 0 },
      ...{ outages: [], silences: [], gaps: [] },
      ...condition,
    },
    report: {
      ...{ version: "trial", now_ms: Date.now(), clock_synchronised: true, timezone: "UTC", last_seq },
      ...{ waiting: 0, disk_free_bytes: 1e9, bytes_on_disk: 1e6, dropped: {}, differing_days: 0 },
      ...report,
    },
  };
}
