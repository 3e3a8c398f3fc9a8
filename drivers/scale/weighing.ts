import type { Reading } from "../../src/domain/reading.ts";
import type { Dated } from "./scale-clock.ts";
import type { CompositionMeasurement, Weighing as Stamped, WeightMeasurement } from "./standard.ts";

/** One weighing of a standard scale, of whose two measurements both or one have come. */
export interface Weighing extends Stamped {
  readonly dated: Dated;
  readonly weight?: WeightMeasurement;
  readonly composition?: CompositionMeasurement;
  /** The composition comes in two packets, and the second has not come. */
  readonly cut?: boolean;
  readonly battery_percent?: number;
}

/**
 * Which of these weighings a measurement belongs to, as an index; -1 for none. By its time and user; where one of the two
 * tells no time, the newest that lacks it.
 */
export function placeOf(
  measurement: WeightMeasurement | CompositionMeasurement,
  weighings: readonly Weighing[],
): number {
  const lacks = ({ weight, composition, cut }: Weighing) =>
    isComposition(measurement) ? composition === undefined || cut === true : weight === undefined;
  const { shown_ms } = measurement;
  const fits = (one: Weighing) => lacks(one) && sameUser(one.user, measurement.user);
  const exact = weighings.findLastIndex((one) => fits(one) && one.shown_ms === shown_ms);
  if (exact >= 0) return exact;
  return weighings.findLastIndex(
    (one) => fits(one) && (one.shown_ms === undefined || shown_ms === undefined),
  );
}

export function isComposition(
  measurement: WeightMeasurement | CompositionMeasurement,
): measurement is CompositionMeasurement {
  return "multiplePackets" in measurement;
}

/** The weighing with one more measurement. */
export function withMeasurement(
  weighing: Weighing,
  measurement: WeightMeasurement | CompositionMeasurement,
): Weighing {
  const user = weighing.user ?? measurement.user;
  const shown_ms = weighing.shown_ms ?? measurement.shown_ms;
  const known = {
    ...weighing,
    ...(user === undefined ? {} : { user }),
    ...(shown_ms === undefined ? {} : { shown_ms }),
  };
  if (!isComposition(measurement)) return { ...known, weight: measurement };
  const { multiplePackets, ...fields } = measurement;
  const first = weighing.composition === undefined;
  return {
    ...known,
    composition: first ? measurement : { ...weighing.composition, ...fields, multiplePackets },
    cut: multiplePackets && first,
  };
}

/** Whether nothing more is to come. */
export function isWhole({ weight, composition, cut }: Weighing): boolean {
  return weight !== undefined && composition !== undefined && cut !== true;
}

/** The fields of a reading of `scale_weights`, grams rounded; undefined without a weight. */
export function valuesOf({ weight, composition, battery_percent }: Weighing): Reading["values"] | undefined {
  const weight_g = weight?.weight_g ?? composition?.weight_g;
  if (weight_g === undefined || weight_g <= 0) return undefined;
  const { fat_percent, muscle_percent, muscle_g, softLean_g, water_g } = composition ?? {};
  const fat_g = fat_percent === undefined ? undefined : (weight_g * fat_percent) / 100;
  const bone_g = fat_g === undefined || softLean_g === undefined ? undefined : weight_g - fat_g - softLean_g;
  const ofPercent = muscle_percent === undefined ? undefined : (weight_g * muscle_percent) / 100;
  return {
    weight: Math.round(weight_g),
    fatMass: partOf(weight_g, fat_g),
    waterMass: partOf(weight_g, water_g),
    boneMass: partOf(weight_g, bone_g),
    muscleMass: partOf(weight_g, muscle_g ?? ofPercent),
    batteryLevel: battery_percent ?? null,
  };
}

/** The identity of a weighing among all of its scale: the time by the scale's clock, and the user. */
export function identityOf({ shown_ms, user, dated, weight }: Weighing): string {
  if (shown_ms === undefined) return `arrived-${dated.stamp_ms}-${weight?.weight_g}`;
  return `${shown_ms / 1000} ${user ?? ""}`.trim();
}

/** Whether two identities are of one weighing: the user may have been told with one of its measurements only. */
export function isSame(one: string, other: string): boolean {
  const [time, user] = one.split(" ");
  const [otherTime, otherUser] = other.split(" ");
  return time === otherTime && sameUser(user, otherUser);
}

function sameUser<User>(one: User | undefined, other: User | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/** A mass that is not there, below nothing or above the whole was not measured. */
function partOf(whole_g: number, part_g: number | undefined): number | null {
  return part_g === undefined || part_g < 0 || part_g > whole_g ? null : Math.round(part_g);
}
