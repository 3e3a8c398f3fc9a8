import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { freeBytes, nearestExisting, onReadOnlyDisk, readOnlyDisk } from "../../base/disk/disk-fault.ts";
import { makeDirectory, serviceUser, userName } from "../../base/disk/users.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { machineHealth } from "../../base/machine-health.ts";
import { plainJson, shortLine } from "../../base/text.ts";
import { isTimezone } from "../../base/timezone.ts";
import { timezoneExpected } from "../../domain/records/record-field.ts";
import type { RecordOf } from "../../store/inventory/record-store.ts";
import { databasePath, openForReading } from "../../store/sqlite/connection.ts";
import { openStoreBeside } from "../../store/sqlite/open-store.ts";
import { machineRemedies, machineText } from "../state-text.ts";
import { bytesText } from "../terminal-text.ts";
import {
  type CheckResult,
  type Finding,
  fault,
  fine,
  note,
  type Surroundings,
  silentLog,
} from "./finding.ts";

/** The data directory can be written by the user who runs this. */
export function checkDirectory({ directory }: Surroundings): CheckResult {
  // One that is not there yet is made at the first start, if the one above allows it.
  const looked = nearestExisting(directory);
  if (!statSync(looked).isDirectory()) {
    return fault(`${looked} is not a directory`, "set data to a directory in the configuration");
  }
  if (onReadOnlyDisk(looked)) return fault(`${looked} ${readOnlyDisk.what}`, readOnlyDisk.remedy);
  const isThere = looked === directory;
  if (!isOpen(looked, constants.R_OK | constants.W_OK | constants.X_OK))
    return isThere ? closedDirectory(directory) : missingDirectory(directory, looked);
  return isThere ? fine(`data directory ${directory} can be written`) : note(notYet(directory));
}

/** systemd makes the service's own directory (StateDirectory); any other has to be made. */
function missingDirectory(directory: string, above: string): Finding {
  if (directory === service_directory) return note(notYet(directory));
  if (!isOpen(above, constants.X_OK))
    return fault(`${userName()} may not look into the directory ${above}`, asOwnerOf(above));
  return fault(
    `data directory ${directory} does not exist, and ${userName()} may not make it in ${above}`,
    makeDirectory(directory),
  );
}

/** Only what is Lintel's alone is given to another owner: others may keep their files in any other directory. */
function closedDirectory(directory: string): Finding {
  const what = `data directory ${directory} may not be written by ${userName()}`;
  if (statSync(directory).uid !== 0) return fault(what, asOwnerOf(directory));
  return directory === service_directory
    ? fault(what, `sudo chown -R ${serviceUser()}: ${directory}`)
    : fault(what, `${makeDirectory(join(directory, "lintel"))}, and set data to that in the configuration`);
}

function isOpen(directory: string, mode: number): boolean {
  try {
    accessSync(directory, mode);
    return true;
  } catch {
    return false;
  }
}

function asOwnerOf(directory: string): string {
  return `run this as its owner: sudo -u '#${statSync(directory).uid}' lintel doctor`;
}

function notYet(directory: string): string {
  return `data directory ${directory} does not exist yet: it is made at the first start`;
}

const service_directory = "/var/lib/lintel";

export async function checkDiskSpace({ directory }: Surroundings): Promise<CheckResult> {
  const looked = nearestExisting(directory);
  const bytes = await freeBytes(looked);
  const free = `${bytesText(bytes)} free on the disk of ${looked}`;
  if (bytes >= disk_free_min_bytes) return fine(free);
  return fault(
    `only ${free}`,
    `free some, or move data to a larger disk: ${bytesText(disk_free_min_bytes)} is the least`,
  );
}

/** The database opens with this version of the program and holds together. */
export async function checkDatabase({ directory, clock }: Surroundings): Promise<CheckResult> {
  const path = databasePath(directory);
  if (!existsSync(path)) return note(`no database yet: ${path} is made at the first start`);
  try {
    const store = await openStoreBeside({ directory, clock, log: silentLog(clock) });
    const { last_seq, items } = await store.overview().finally(() => store.close());
    const database = openForReading(path);
    const answer = database.query("PRAGMA quick_check(1)").values()[0]?.[0];
    database.close();
    if (answer !== "ok") {
      return fault(
        `${path} is damaged (${answer})`,
        "stop the gateway and restore a backup, or move the file away",
      );
    }
    return fine(`database ${path} holds together: ${last_seq} readings of ${items.length} items`);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    return fault(
      `${path} cannot be read (${messageOf(error)})`,
      "restore a backup, or move the file away to start afresh",
    );
  }
}

/** There is a token that is still accepted. */
export async function checkTokens({ directory, clock }: Surroundings): Promise<CheckResult> {
  if (!existsSync(databasePath(directory))) return [];
  const store = await openStoreBeside({ directory, clock, log: silentLog(clock) });
  const tokens = await store.tokens().finally(() => store.close());
  const now_ms = clock.now().unix_ms;
  const good = tokens.filter(({ expires_ms }) => expires_ms === undefined || expires_ms > now_ms);
  if (good.length > 0) return fine(`${good.length} of ${tokens.length} tokens are accepted`);
  return fault(
    tokens.length === 0 ? "there is no token: nobody can ask the API" : "every token has expired",
    "make one with lintel token create NAME",
  );
}

/** A year of a home's events is some tens of megabytes; below this, logs and updates eat the rest. */
const disk_free_min_bytes = 200_000_000;

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

/** Disk, temperature and power supply of the machine, as far as it tells of them. */
export function checkMachine({ running, directory, clock }: Surroundings): CheckResult {
  const machine = running?.machine ?? machineHealth(nearestExisting(directory));
  const now_ms = clock.now().unix_ms;
  const texts = machineText(machine, now_ms);
  const remedies = machineRemedies(machine, now_ms);
  return (["wear", "temperature", "power"] as const).map((part) => {
    const remedy = remedies[part];
    if (remedy !== undefined) return fault(texts[part], remedy);
    return texts[part].endsWith("not told") ? note(texts[part]) : fine(texts[part]);
  });
}
