import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { machineHealth } from "../../machine-health.ts";
import { machineRemedies, machineText } from "../machine-text.ts";
import { type CheckResult, fault, fine, note, type Surroundings } from "./check.ts";

/** Disk, temperature and power supply of the machine, as far as it tells of them. */
export function checkMachine({ running, directory, clock }: Surroundings): CheckResult {
  const machine = running?.machine ?? machineHealth(nearestThere(directory));
  const now_ms = clock.now().unix_ms;
  const texts = machineText(machine, now_ms);
  const remedies = machineRemedies(machine, now_ms);
  return (["wear", "temperature", "power"] as const).map((part) => {
    const remedy = remedies[part];
    if (remedy !== undefined) return fault(texts[part], remedy);
    return texts[part].endsWith("not told") ? note(texts[part]) : fine(texts[part]);
  });
}

/** A data directory that is still to be made will be on the disk of the one above. */
function nearestThere(directory: string): string {
  let looked = directory;
  while (!existsSync(looked) && looked !== dirname(looked)) looked = dirname(looked);
  return looked;
}
