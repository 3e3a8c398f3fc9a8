import { capital } from "../../../base/words.ts";
import type { OpenJoining } from "../../../domain/joining-state.ts";
import { clockText, durationText, type Times } from "../time-text.ts";
import type { SetupVisitDevice } from "./setup-visit-data.ts";

/** Kind of a device in words. */
export function kindText({ kind, subtype }: Pick<SetupVisitDevice, "kind" | "subtype">): string {
  if (kind === "pillboxes") return "pill box";
  if (kind === "scales") return "scale";
  if (kind === "watches") return "watch";
  return sensors[subtype] ?? "sensor";
}

const sensors: Readonly<Record<string, string>> = {
  wall: "motion sensor",
  door: "door sensor",
  curtain: "curtain sensor",
};

export function countText(devices: number): string {
  return devices === 1 ? "1 device" : `${devices} devices`;
}

/** The name of a device where its room is enough: `Kitchen door`. */
export function nameInRoom(room: string, device: Pick<SetupVisitDevice, "kind" | "subtype">): string {
  const word = kindText(device).replace(/^(motion|door|curtain) sensor$/, "$1");
  return `${room} ${word}`;
}

/** An error line as a sentence. */
export function sentence(text: string): string {
  return `${capital(text).replace(/\.$/, "")}.`;
}

/** How long devices can still join, and who allowed it if not this page; without a known time only the remaining length. */
export function openedText(
  { by, until_ms }: OpenJoining,
  of: Times & { readonly timeKnown: boolean },
): string {
  const left_ms = until_ms - of.now_ms;
  const left = left_ms < 60_000 ? "less than a minute" : `about ${durationText(left_ms + 30_000)}`;
  const when = of.timeKnown ? `until ${clockText(until_ms, of)}, for ${left} more` : `for ${left} more`;
  return `Devices can join ${when}${openers[by]}.`;
}

const openers: Readonly<Record<OpenJoining["by"], string>> = {
  page: "",
  command: ": lintel pair runs on the gateway",
  button: ": somebody pressed the button on the box",
};
