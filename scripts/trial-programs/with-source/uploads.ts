/**
 * Uploads under faults and in crowds, and a central that moves to another database: every reading arrives exactly once
 *
 *   ./scripts/trials uploads line|crowd|move|month|updates [--help]
 */
import { runPart } from "../../program-options.ts";

await runPart(import.meta.path, ["line", "crowd", "move", "month", "updates"]);
