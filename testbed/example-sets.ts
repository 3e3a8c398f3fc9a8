import { bthomeExamples } from "../drivers/bthome/examples.ts";
import { mqttExamples } from "../drivers/mqtt/examples.ts";
import { pillboxExamples } from "../drivers/pillbox/examples.ts";
import { scaleBroadcastExamples, scaleExamples } from "../drivers/scale/examples.ts";
import { vitalsExamples } from "../drivers/vitals/examples.ts";
import { watchExamples } from "../drivers/watch/examples.ts";
import type { ExampleSet } from "../drivers/wire/example.ts";
import { zigbeeExamples } from "../drivers/zigbee/examples.ts";

/** The examples of every driver that has some: `drivers/…/examples.ts`. */
export const exampleSets: readonly ExampleSet[] = [
  bthomeExamples,
  mqttExamples,
  pillboxExamples,
  scaleExamples,
  scaleBroadcastExamples,
  vitalsExamples,
  watchExamples,
  zigbeeExamples,
];

/** Bytes from hexadecimal with spaces. */
export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.fromHex(hex.replaceAll(/\s/g, ""));
}
