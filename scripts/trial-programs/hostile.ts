/**
 * Attackers around a running system, each of one kind: do the home, its readings and its pages notice?
 *
 *   ./scripts/trials hostile uploads|readers|servers|strangers [--help]
 */
import { runPart } from "../program-options.ts";

await runPart(import.meta.path, ["uploads", "readers", "servers", "strangers"]);
