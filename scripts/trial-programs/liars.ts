/**
 * Every lie at every request of upload, verify, restore, fetch and pull: do they stay below 250 MB, and end with one line?
 *
 *   ./scripts/trials liars [--only pull]
 *
 * Of the commands that people start, against a server that stands in front of an honest one (scripts/trial-programs/hostile/liar.ts lists what it answers).
 * Prints the most memory and the last line of each. Takes a quarter of an hour. Exits with 1 and names what did not hold.
 */
import { parseArgs } from "node:util";
import { type LieName, lies } from "./hostile/liar.ts";
import { LiedTo, type RequestName, requests } from "./hostile/lied-to.ts";

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, help: { type: "boolean" } },
});
if (values.help) {
  console.log("./scripts/trials liars [--only pull]");
  process.exit(0);
}
const peak_mb_max = 250;
const faults: string[] = [];
const chosen = (Object.keys(requests) as RequestName[]).filter((request) => request.startsWith(values.only));
const liedTo = await LiedTo.start();
try {
  for (const request of chosen) for (const name of Object.keys(lies) as LieName[]) await tell(request, name);
} finally {
  await liedTo.remove();
}
for (const fault of faults) console.error(`liars: ${fault}`);
console.log(faults.length === 0 ? "liars: everything held" : `liars: ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);

async function tell(request: RequestName, name: LieName): Promise<void> {
  const { told, peak_mb, said, code } = await liedTo.tell(request, name);
  console.log(`${request}, ${name}: ${Math.round(peak_mb)} MB, exit ${code}, ${said}`);
  if (told === 0) faults.push(`${request} was never asked (${name})`);
  if (peak_mb >= peak_mb_max) faults.push(`${request} took ${Math.round(peak_mb)} MB (${name})`);
  if (code !== 0 && !said.startsWith("lintel: ")) faults.push(`${request} ended without a line (${name})`);
}
