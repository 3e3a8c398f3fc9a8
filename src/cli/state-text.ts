import { isHot, isPowerLow, isWorn, type MachineHealth } from "../base/machine-health.ts";
import { upload_late_ms } from "../config/gateway-config.ts";
import type { UploadState } from "../store/gateway/upload-store.ts";
import { bytesText, spanText } from "./terminal-text.ts";

/** Findings about a machine in words; what it does not tell is said so. */
export interface MachineText {
  readonly wear: string;
  readonly temperature: string;
  readonly power: string;
}

export function machineText(machine: MachineHealth, now_ms: number): MachineText {
  const { disk, written_a_day_bytes: a_day, life_used_percent: life, temperature_c } = machine;
  const written = a_day === undefined ? "writes a day not told" : `${bytesText(a_day)} a day are written`;
  const used = life === undefined ? "life not told" : `at most ${life} % of its life used`;
  const spare = machine.spare_low === true ? ", spare blocks run out" : "";
  const low = machine.power_low === true ? "too weak now" : "was too weak of late";
  return {
    wear: `disk${disk === undefined ? "" : ` ${disk}`}: ${written}, ${used}${spare}`,
    temperature: temperature_c === undefined ? "temperature not told" : `${Math.round(temperature_c)} °C`,
    power: isPowerLow(machine, now_ms)
      ? `power supply ${low}`
      : `power supply ${machine.power_low === undefined ? "not told" : "strong enough"}`,
  };
}

/** Remedies of what is amiss with a machine, by what has to be mended; empty where nothing is. */
export function machineRemedies(
  machine: MachineHealth,
  now_ms: number,
): Partial<Record<keyof MachineText, string>> {
  return {
    ...(isWorn(machine) ? { wear: "make a backup (lintel backup), and put in a new card" } : {}),
    ...(isHot(machine)
      ? { temperature: "put it where air comes to it, out of the sun and away from heating" }
      : {}),
    ...(isPowerLow(machine, now_ms)
      ? { power: "use the power supply that is made for this machine, and a short cable" }
      : {}),
  };
}

/** The state of uploads, as text for people. */
export interface UploadStatus {
  /** When the last one ended well, and how many readings central has not confirmed. */
  readonly text: string;
  /** Error of the last failed upload, where none has succeeded since. */
  readonly failure?: string;
  /** No upload has succeeded for so long that a person should check. */
  readonly late: boolean;
}

/** @param last_seq number of the newest reading here */
export function uploadStatus(state: UploadState, last_seq: number, now_ms: number): UploadStatus {
  const { uploaded_ms, failed_ms, failure = "", confirmed_seq = 0 } = state;
  const backlog = Math.max(0, last_seq - confirmed_seq);
  const waiting = backlog === 0 ? "central holds every reading" : `${backlog} readings wait for the next`;
  const last =
    uploaded_ms === undefined ? "none has ended well yet" : `last ${spanText(now_ms - uploaded_ms)} ago`;
  const failed =
    failure === "" || failed_ms === undefined
      ? {}
      : { failure: `${spanText(now_ms - failed_ms)} ago: ${failure}` };
  return {
    text: `${last}, ${waiting}`,
    ...failed,
    late: uploaded_ms === undefined || now_ms - uploaded_ms > upload_late_ms,
  };
}
