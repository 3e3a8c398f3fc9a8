import { pillboxExamples } from "../../drivers/pillbox/examples.ts";
import { watchExamples } from "../../drivers/watch/examples.ts";
import type { ExampleSet } from "../../drivers/wire/example.ts";

/** The examples of every driver that has some: `drivers/…/examples.ts`. */
export const exampleSets: readonly ExampleSet[] = [pillboxExamples, watchExamples];

/** Bytes from hexadecimal with spaces. */
export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.fromHex(hex.replaceAll(/\s/g, ""));
}
