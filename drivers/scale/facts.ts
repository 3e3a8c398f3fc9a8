import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import type { Product } from "../driver.ts";

/** Facts of the scales of each of the three products. */
export const standardFacts: DeviceFacts = {
  description: "scale of the Bluetooth profiles of weight and body composition",
  events: {
    form: "translated",
    from: "weight (2A9D) and body composition (2A9C); masses made of percentages",
  },
  battery: "per cent",
};
export const xiaomiFacts: DeviceFacts = {
  description: "scale that broadcasts a stable weight",
  events: { form: "translated", from: "broadcasts of the weight (service data 181B), in grams" },
  never: [
    "weighings whose broadcasts nobody heard",
    "body composition: the impedance is none",
    "its battery",
  ],
};
export const s400Facts: DeviceFacts = {
  description: "scale that broadcasts weight and heart rate, encrypted",
  events: { form: "translated", from: "encrypted broadcasts of weight and heart rate (MiBeacon), in grams" },
  never: [
    "weighings whose broadcasts nobody heard",
    "body composition: the impedance is none",
    "its battery",
  ],
};

/** Mi scales of the first and second generation, by their local names. */
export const xiaomiModels: ReadonlyMap<string, string> = new Map([
  ["MIBCS", "XMTZC02HM"],
  ["MIBFS", "XMTZC05HM"],
]);
export const s400Model = "MJTZC01YM";

export const products = {
  standard: {
    name: "Scales with the service Weight Scale (181D) or Body Composition (181B): Beurer, Sanitas and others",
    needs: "`[ble.scale] users` for weighings that the scale has stored",
    series: ["scale_weights", "scale_heart"],
    facts: standardFacts,
  },
  xiaomi: {
    name: `Xiaomi Mi Body Composition Scale: ${[...xiaomiModels.values()].join(", ")}`,
    series: ["scale_weights"],
    facts: xiaomiFacts,
  },
  s400: {
    name: `Xiaomi Body Composition Scale S400: ${s400Model}`,
    needs: "its bind key in `[ble.keys]`",
    series: ["scale_weights", "scale_heart"],
    facts: s400Facts,
  },
} satisfies Readonly<Record<string, Product>>;
