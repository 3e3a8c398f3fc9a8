import type { DeviceRecord } from "../../records/device.ts";
import type { Item } from "../../records/items.ts";
import type { MeasuredFact } from "./fact.ts";
import type { Mapping } from "./mapping.ts";

/** One measurement of an item, to be said in the words of a standard. */
export interface Measurement {
  readonly item: Item;
  readonly mapping: Mapping;
  readonly fact: MeasuredFact;
  /** A UUID that is the same whenever this measurement is written, at a gateway and at central. */
  readonly uuid: string;
  readonly subject: number | undefined;
  readonly home: number | undefined;
}

/** How a standard says measurements, as lines of NDJSON. */
export interface Standard {
  readonly title: string;
  /** The words for what it has not, such as `there is no schema`. */
  readonly lacking: string;
  /** Its nature, and how its files are to be read, as Markdown. */
  readonly about: string;
  /** The file that has measurements of a kind, without ending; undefined where the standard has nothing for them. */
  fileOf(mapping: Mapping): string | undefined;
  /** A kind of measurement as it has it, as Markdown. */
  wordsOf(mapping: Mapping): string;
  /** The line of a measurement; undefined where there is nothing to tell. */
  lineOf(measurement: Measurement): object | undefined;
  /** A file with a line for each item, where it has one. */
  readonly devices?: { readonly file: string; lineOf(item: Item, device: DeviceRecord | undefined): object };
}

/** The files of a standard, and what is not in them. */
export interface StandardFiles {
  readonly title: string;
  /** The words for what it has not, such as `there is no schema`. */
  readonly lacking: string;
  /** Lines of each file, by its path in the directory of the download. */
  readonly files: Readonly<Record<string, number>>;
  /** Everything of the downloaded series that the standard has nothing for. */
  readonly without: readonly string[];
  /** Measurements of people of which the inventory does not name one subject. */
  readonly unassigned: number;
  /** Measures that were recorded in another unit than that of their quantity, and are left out. */
  readonly otherUnit: number;
}
