/**
 * Kills the gateway, its central or its broker again and again while devices speak: is every event there, once?
 *
 *   ./scripts/trials kills gateway|restarts|broker [--help]
 */
import { runPart } from "../program-options.ts";

await runPart(import.meta.path, ["gateway", "restarts", "broker"]);
