import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import {
  afterLook,
  beginDays,
  faultInDays,
  numberDue,
  type Seen,
  upload_faults_max,
  withHeld,
} from "./release-days.ts";
import { poll_ms, type UpdaterOptions } from "./release-trial.ts";
import type { Days, Trial } from "./update-state.ts";
import { CommandFailed } from "./updated-home.ts";

/** Looks at a release that has just served for minutes; undefined where it does not answer. */
export async function firstLook(trial: Trial, options: UpdaterOptions): Promise<Days | undefined> {
  for (let tries = 0; tries < first_looks_max; tries += 1) {
    const days = beginDays(await see(trial, options));
    if (days !== undefined) return days;
    await options.pause(poll_ms);
  }
  return undefined;
}

/** Looks at a release in its days: what is known then, and why it has to go, or whether the days are over. */
export async function lookAgain(
  trial: Trial,
  before: Days,
  options: UpdaterOptions,
): Promise<{ readonly days: Days; readonly fault?: string | undefined; readonly over: boolean }> {
  const { data, own, log, target } = options;
  const { watch_ms } = target;
  const rules = { baseline: trial.baseline, watch_ms };
  const running = join(target.directory, trial.version, "lintel");
  await data
    .eraseInCopy(running, own.launcher)
    .catch((thrown: unknown) => log.warn(`the copy of the data: ${messageOf(thrown)}`));
  const looked = afterLook(before, await see(trial, options), rules);
  const due = trial.baseline.uploads ? numberDue(looked, rules) : undefined;
  const { days, said } = due === undefined ? { days: looked } : await askHeld(trial, looked, due, options);
  const fault = faultInDays(days, rules) ?? (days.upload_faults > upload_faults_max ? said : undefined);
  // Where central cannot be asked, the release before stays until it can.
  return { days, fault, over: days.watched_ms >= watch_ms && said === undefined };
}

async function see({ baseline }: Trial, { judge, data, target }: UpdaterOptions): Promise<Seen> {
  return { ...(await judge.seen(baseline, target.watch_ms)), data_bytes: await data.bytesOfFiles() };
}

/** Asks central for a number that it must hold by now, after one more upload where it does not. */
async function askHeld(
  { version }: Trial,
  days: Days,
  due: Days["noted"][number],
  { own, data, log, target }: UpdaterOptions,
): Promise<{ readonly days: Days; readonly said?: string }> {
  try {
    if ((await data.heldAtCentral(own.launcher, due.epoch)) >= due.seq) return { days: withHeld(days, due) };
  } catch (thrown) {
    return { days, said: messageOf(thrown) };
  }
  try {
    await data.uploadTruly(join(target.directory, version, "lintel"), own.launcher, due);
    return { days: withHeld(days, due) };
  } catch (thrown) {
    const said = `it cannot upload: ${messageOf(thrown)}`;
    log.warn(said);
    const own_fault = !(thrown instanceof CommandFailed && thrown.later);
    return { days: { ...days, upload_faults: days.upload_faults + (own_fault ? 1 : 0) }, said };
  }
}

const first_looks_max = 10;
