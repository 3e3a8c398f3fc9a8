/**
 * Frames and messages made by the million: parsers stand mutated bytes, and sensors mean what their converter says
 *
 *   ./scripts/trials fuzz frames|converters [--help]
 */
import { runPart } from "../../program-options.ts";

await runPart(import.meta.path, ["frames", "converters"]);
