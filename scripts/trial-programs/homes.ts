/**
 * 200 homes at one central, under random calls or while parts of its cluster are away: is every reading there, and with its home?
 *
 *   ./scripts/trials homes calls|workers [--help]
 */
import { runPart } from "../program-options.ts";

await runPart(import.meta.path, ["calls", "workers"]);
