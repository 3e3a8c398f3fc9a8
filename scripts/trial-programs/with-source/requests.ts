/**
 * Requests to the interface by the hundred thousand: every answer keeps its contract, and paging misses nothing
 *
 *   ./scripts/trials requests random|paging [--help]
 */
import { runPart } from "../../program-options.ts";

await runPart(import.meta.path, ["random", "paging"]);
