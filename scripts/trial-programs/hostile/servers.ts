/**
 * Every lie at every request of upload, verify, restore, fetch and pull: do they stay below 250 MB, and end with one line?
 *
 *   ./scripts/trials hostile servers [--only pull]
 *
 * Of the commands that people start, against a server that stands in front of an honest one (scripts/trial-programs/hostile/liar.ts lists what it answers).
 * Prints the most memory and the last line of each. Takes a quarter of an hour. Exits with 1 and names what did not hold.
 */
import { optionsOf } from "../../program-options.ts";
import { type LieName, lies } from "./liar.ts";
import { LiedTo, type RequestName, requests } from "./lied-to.ts";

const { only } = optionsOf("./scripts/trials hostile servers [--only pull]", { only: "" });
const peak_mb_max = 250;
const faults: string[] = [];
const chosen = (Object.keys(requests) as RequestName[]).filter((request) => request.startsWith(only));
const liedTo = await LiedTo.start();
try {
  for (const request of chosen) for (const name of Object.keys(lies) as LieName[]) await tell(request, name);
} finally {
  await liedTo.remove();
}
for (const fault of faults) console.error(`servers: ${fault}`);
console.log(faults.length === 0 ? "servers: everything held" : `servers: ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);

async function tell(request: RequestName, name: LieName): Promise<void> {
  const { told, peak_mb, said, code } = await liedTo.tell(request, name);
  console.log(`${request}, ${name}: ${Math.round(peak_mb)} MB, exit ${code}, ${said}`);
  if (told === 0) faults.push(`${request} was never asked (${name})`);
  if (peak_mb >= peak_mb_max) faults.push(`${request} took ${Math.round(peak_mb)} MB (${name})`);
  if (code !== 0 && !said.startsWith("lintel: ")) faults.push(`${request} ended without a line (${name})`);
}
