import type { DeviceFacts } from "../device-facts.ts";
import type { Item } from "../records/items.ts";
import type { SeriesName } from "../series.ts";
import type { Replaced } from "./given-names.ts";

/** An item, what is known of its device, and what is counted of it. */
export interface ItemOverview {
  readonly record: Item;
  readonly provisional: boolean;
  /** When the device was last heard, by any sign of life. */
  readonly heard_ms?: number;
  readonly battery_percent?: number;
  readonly battery_mv?: number;
  readonly linkquality?: number;
  /** The driver that heard it last. */
  readonly listener?: string;
  /** As its driver told them last. */
  readonly facts?: DeviceFacts;
  /** How often it is heard although nothing happens, milliseconds; absent where it is silent until it is used. */
  readonly expected_ms?: number;
  /** Its driver has listened for more than one and a half times that long since it was heard, and no other device took its place. */
  readonly overdue: boolean;
  /** Another device took its place, as was said in its home. */
  readonly replaced?: Replaced;
  /** Stretches known to be incomplete, and how many events are known to be missing in them. */
  readonly gaps: number;
  readonly lost: number;
  /** Readings per series, and the stamp of the newest. */
  readonly series: readonly {
    readonly series: SeriesName;
    readonly count: number;
    readonly newest_ms: number;
  }[];
}

/** An overview of an item without what is counted of it. */
export type ItemState = Omit<ItemOverview, "gaps" | "lost" | "series">;

/** Some of the items of a kind. */
export interface ItemWindow {
  readonly skip: number;
  readonly limit: number;
  /** Only those that live or have lived in one of these homes; absent: all. */
  readonly homes?: readonly number[];
}
