import { join } from "node:path";
import { UpdatingBox } from "../../../testbed/updates/updating-box.ts";
import {
  Broken,
  clearly,
  keptIn,
  type Machine,
  type Part,
  requireSame,
  type Tried,
  warnings,
} from "./part.ts";

/** A box that takes a new release, tries it out and keeps it. */
export async function updatePart(): Promise<Part> {
  return { run: tryUpdate, close: async () => undefined };
}

async function tryUpdate(machine: Machine): Promise<Tried> {
  await using box = new UpdatingBox({ trial_s });
  await box.boot();
  box.publish({ version: "0.2.0", short: true });
  const { words, given } = machine.faultBelow(box.disk);
  const end = await box.startUpdateBy(words);
  machine.given = await given();
  let tried: Tried;
  if (end.code === 0) {
    const { result, message } = JSON.parse(end.out);
    const said = warnings(end.said);
    if (result === "updated" && box.link("confirmed") !== "0.2.0")
      throw new Broken(`it says ${end.out}, and 0.2.0 is not confirmed`);
    tried =
      result === "updated" && said === ""
        ? { ended: "healthy", said }
        : { ended: "limped", said: `${message} ${said}` };
  } else if (end.out !== "") tried = { ended: "stopped", said: JSON.parse(end.out).message };
  else tried = { ended: "stopped", said: clearly(end) };
  await box.serving();
  await heal(box);
  return tried;
}

/** Runs the updater again: the box has the new release, or refuses it and takes the next one; it serves, and has its data. */
async function heal(box: UpdatingBox): Promise<void> {
  const again = await box.update();
  if (box.link("confirmed") !== "0.2.0") {
    if (again.result !== "newest" && again.result !== "went_back" && again.result !== "refused")
      throw new Broken(`the next update ended with ${JSON.stringify(again)}`);
    box.publish({ version: "0.3.0", short: true });
    const next = await box.update();
    if (next.result !== "updated")
      throw new Broken(
        `after ${JSON.stringify(again)} the next release is not taken: ${JSON.stringify(next)}`,
      );
  }
  await box.serving();
  requireSame(keptIn(join(box.disk, "data")), { doors: [], events: [] }, "the box");
  if (box.state().trial !== undefined) throw new Broken("a trial is left");
}

/** A release that serves is confirmed after a forty-eighth of it. */
const trial_s = 30;
