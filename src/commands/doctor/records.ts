import { existsSync } from "node:fs";
import type { Clock } from "../../clock.ts";
import { OperatorError } from "../../errors.ts";
import { plainJson, shortLine } from "../../plain-text.ts";
import { timezoneExpected } from "../../records/rules.ts";
import type { RecordOf } from "../../store/record-store.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { openStoreBeside } from "../../store/sqlite/open.ts";
import { isTimezone } from "../../timezone.ts";
import { type CheckResult, fault, fine, type Surroundings, silentLog } from "./check.ts";

/** The records of homes have time zones by which local days can be made. */
export async function checkRecords({ directory, clock }: Surroundings): Promise<CheckResult> {
  if (!existsSync(databasePath(directory))) return [];
  const homes = await homesIn(directory, clock);
  const named = homes.flatMap(({ homeid, timezone }) => (timezone === null ? [] : [{ homeid, timezone }]));
  const faulty = named.filter(({ timezone }) => !isTimezone(timezone));
  if (faulty.length === 0) return named.length === 0 ? [] : fine("the time zones of all homes exist");
  const faults = faulty
    .slice(0, shown_max)
    .map(({ homeid, timezone }) =>
      fault(
        `home ${homeid} has the time zone ${shortLine(plainJson(timezone), word_max)}, and there is none of that name: no local day is made of it`,
        `import the record of the home with ${timezoneExpected(timezone)}`,
      ),
    );
  const more = faulty.length - faults.length;
  return more === 0
    ? faults
    : [...faults, fault(`${more} more homes have such a time zone`, "correct these first")];
}

/** None where the database cannot be read: the check of the database says so. */
async function homesIn(directory: string, clock: Clock): Promise<RecordOf<"homes">[]> {
  try {
    const store = await openStoreBeside({ directory, clock, log: silentLog(clock) });
    return await store.records("homes").finally(() => store.close());
  } catch (thrown) {
    if (thrown instanceof OperatorError) return [];
    throw thrown;
  }
}

const shown_max = 20;
const word_max = 60;
