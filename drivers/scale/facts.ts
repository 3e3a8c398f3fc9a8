import type { DeviceFacts } from "../../src/device-facts.ts";

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
