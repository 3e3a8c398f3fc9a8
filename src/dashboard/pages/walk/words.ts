import type { WalkDevice } from "./data.ts";

/** Kind of a device in words. */
export function kindText({ kind, subtype }: Pick<WalkDevice, "kind" | "subtype">): string {
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
export function nameInRoom(room: string, device: Pick<WalkDevice, "kind" | "subtype">): string {
  const word = kindText(device).replace(/^(motion|door|curtain) sensor$/, "$1");
  return `${room} ${word}`;
}

/** A sentence of a line of an error. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}

/** Devices in the order in which one walks: room by room. */
export function byRoom(devices: readonly WalkDevice[]): WalkDevice[] {
  const of = ({ room, name }: WalkDevice) => [room ?? "\uffff", name].join("\n");
  return devices.toSorted((one, other) => of(one).localeCompare(of(other)));
}
