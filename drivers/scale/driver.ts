import type { PeripheralDefinition } from "../peripheral.ts";
import { s400Scales } from "./s400-scales.ts";
import { standardScales } from "./standard-scales.ts";
import { xiaomiScales } from "./xiaomi-scales.ts";

/**
 * Scales. Xiaomi's come first: they say that they have a standard service too, and do not keep to it.
 */
export const scales: readonly PeripheralDefinition[] = [xiaomiScales, s400Scales, standardScales];
