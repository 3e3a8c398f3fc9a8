import { machineTimezone } from "../../base/timezone.ts";
import { namesByAddress } from "../../domain/mesh.ts";
import { meshWords } from "../../domain/mesh-words.ts";
import { scansIn } from "../../gateway/mesh-scans.ts";
import { momentText } from "../terminal-text.ts";
import { type CheckResult, fine, note, type Surroundings } from "./finding.ts";

/** Zigbee devices have a good way to the stick, by the newest scan of a running gateway. */
export function checkMesh({ directory, config, running }: Surroundings): CheckResult {
  if (running === undefined) return [];
  const words = meshWords({
    scans: scansIn(directory),
    nameOf: namesByAddress(running.store.items.map(({ record }) => [record.macaddress, record.itemname])),
    zone: config?.home.timezone ?? machineTimezone(),
    timeText: momentText,
  });
  if (words === undefined) return [];
  const ways = words.needs.map(({ what, remedy }) =>
    note(`${what} ${remedy} lintel mesh asks the devices anew`),
  );
  return [
    ...(ways.length === 0 ? [fine(words.answer)] : ways),
    words.channel === null ? [] : fine(words.channel),
  ].flat();
}
