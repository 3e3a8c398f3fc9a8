import { existsSync } from "node:fs";
import { tokenIn } from "../../config/credential-files.ts";
import { messageOf, OperatorError } from "../../errors.ts";
import { databasePath } from "../../store/sqlite/connection.ts";
import { openUploadStore } from "../../store/sqlite/open.ts";
import { uploadStatus } from "../upload-status.ts";
import { type CheckResult, fault, fine, note, type Surroundings, silentLog } from "./check.ts";
import { systemctl } from "./system.ts";

/** The token for central can be read. */
export function checkUploadToken({ config }: Surroundings): CheckResult {
  if (config === undefined) return [];
  if (config.upload === undefined) return note("[upload] is off: nothing is sent to a central server");
  const file = config.upload.token_file;
  try {
    tokenIn(file);
    return fine(`[upload] ${file} holds a token`);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return fault(`[upload] ${error.what}`, error.remedy);
  }
}

/** A timer starts uploads at the time that the configuration names. */
export function checkUploadTimer({ config }: Surroundings): CheckResult {
  if (config?.upload === undefined || !existsSync("/run/systemd/system")) return [];
  const { at } = config.upload;
  if (systemctl("show", timer, "--property=LoadState", "--value") !== "loaded")
    return fault(`${timer} is not installed: nothing starts uploads`, 'see README.md, "To a central server"');
  const enabled = systemctl("is-enabled", timer);
  if (enabled !== "enabled")
    return fault(
      `${timer} does not start with the machine (${enabled})`,
      `sudo systemctl enable --now ${timer}`,
    );
  const calendar = systemctl("show", timer, "--property=TimersCalendar", "--value");
  if (calendar.includes(` ${at}:00`)) return fine(`${timer} starts an upload after ${at} each night`);
  return fault(
    `[upload] at is ${at}, and ${timer} has another time (${calendar})`,
    `sudo systemctl edit ${timer} and write [Timer], OnCalendar= and OnCalendar=*-*-* ${at}:00, each on a line of its own`,
  );
}

/** The last upload succeeded, and not too long ago. */
export async function checkLastUpload({ config, directory, clock }: Surroundings): Promise<CheckResult> {
  if (config?.upload === undefined || !existsSync(databasePath(directory))) return [];
  try {
    const store = await openUploadStore({ directory, clock, log: silentLog(clock) });
    const [state, { last_seq }] = await Promise.all([store.uploadState(), store.overview()]).finally(() =>
      store.close(),
    );
    const { text, failure, late } = uploadStatus(state, last_seq, clock.now().unix_ms);
    if (failure !== undefined)
      return fault(`uploads: ${text}; failed ${failure}`, "lintel upload tries again now");
    if (late) return fault(`uploads: ${text}`, "lintel upload sends now, and says what is in the way");
    return fine(`uploads: ${text}`);
  } catch (error) {
    // Faults of the database itself are reported by its own check.
    return note(`uploads: cannot be told (${messageOf(error)})`);
  }
}

const timer = "lintel-upload.timer";
