import type { Device, Reading } from "../../../../src/domain/reading.ts";
import type { GatewayStore } from "../../../../src/store/gateway/gateway-store.ts";
import { reading } from "../../../../testbed/serving.ts";

/** The sensor that is walked; its events are numbers, each given once, so that a record is known by its event. */
export const walked: Device = { kind: "wirelesssensors", address: "00:0d:6f:00:0a:01" };
export const walkedPath = "/items/wirelesssensors/wirelesssensor-000d6f000a01/events";

/** Fills a store with `total` records from `start_ms` on: bursts that share a second, pauses, and some late ones. */
export async function fillForWalk(store: GatewayStore, total: number, start_ms: number): Promise<void> {
  for (let first = 0; first < total; first += batch_readings) {
    const count = Math.min(batch_readings, total - first);
    await store.append(
      Array.from({ length: count }, (_, index) => {
        const number = first + index;
        const late_ms = number % 50 === 49 ? (number % 7) * 60_000 : 0;
        // Every 20,000th begins a second that holds more than a page.
        const within = number % 20_000;
        const burst_ms = within < 1_500 ? (within % 900) - within * spacing_ms : 0;
        return event(start_ms + number * spacing_ms + burst_ms - late_ms, number);
      }),
    );
  }
}

export function event(stamp_ms: number, number: number): Reading {
  return reading(walked, "wirelesssensor_events", stamp_ms, { event: number });
}

/**
 * Walks by Link from `first` on, and answers what it saw of the records that were there at the start, whose events
 * are below `total`. `onPage` is told the last second of each page before the next is asked for.
 */
export async function walkLinks(options: {
  first: string;
  token: string;
  total: number;
  pages_max: number;
  onPage: (page: number, second: number) => Promise<void>;
}): Promise<Walk> {
  const { total, pages_max, onPage } = options;
  const times = new Uint8Array(total);
  const later = new Set<number>();
  const walk = { pages: 0, records: 0, missed: 0, repeated: 0, disordered: 0 };
  let second = Number.POSITIVE_INFINITY;
  let url: string | undefined = options.first;
  while (url !== undefined && walk.pages < pages_max) {
    const response: Response = await fetch(url, {
      headers: { Authorization: `bearer ${options.token}`, Accept: "application/json" },
    });
    if (response.status !== 200) throw new Error(`${url} answers ${response.status}`);
    for (const { stamp, event } of (await response.json()) as { stamp: number; event: number }[]) {
      if (stamp > second) walk.disordered += 1;
      second = stamp;
      walk.records += 1;
      if (event >= total) {
        if (later.has(event)) walk.repeated += 1;
        later.add(event);
      } else times[event] = (times[event] ?? 0) + 1;
    }
    url = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("Link") ?? "")?.[1];
    walk.pages += 1;
    await onPage(walk.pages, second);
  }
  for (const count of times) {
    if (count === 0) walk.missed += 1;
    else if (count > 1) walk.repeated += 1;
  }
  return walk;
}

export interface Walk {
  readonly pages: number;
  readonly records: number;
  /** Records of the start that were never seen. */
  readonly missed: number;
  /** Records seen more than once, also those that arrived on the way. */
  readonly repeated: number;
  /** Records that came after an older one. */
  readonly disordered: number;
}

const batch_readings = 5_000;
const spacing_ms = 700;
