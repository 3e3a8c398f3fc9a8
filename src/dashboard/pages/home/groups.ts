import type { DeviceRow } from "./devices.ts";

/** Devices by room where rooms are given, and else under what they are, in the order in which a day is told. */
export function groupsOf(devices: readonly DeviceRow[]): { title: string; rows: DeviceRow[] }[] {
  const inRooms = Map.groupBy(
    devices.filter(({ room }) => room !== null),
    ({ room }) => room as string,
  );
  const rooms = [...inRooms].map(([title, rows]) => ({ title, rows }));
  const others = Map.groupBy(
    devices.filter(({ room }) => room === null),
    groupOf,
  );
  const kinds = groupTitles.flatMap((title) => {
    const rows = others.get(title);
    if (rows === undefined) return [];
    return [{ title: rooms.length > 0 && title === "Rooms" ? "Other rooms" : title, rows }];
  });
  return [...rooms.sort((one, other) => one.title.localeCompare(other.title)), ...kinds];
}

function groupOf({ kind, subtype }: DeviceRow): (typeof groupTitles)[number] {
  if (kind === "pillboxes") return "Pill boxes";
  if (kind === "scales") return "Scale";
  if (kind === "watches") return "Watch";
  if (subtype === "door") return "Doors";
  if (subtype === "wall") return "Rooms";
  return subtype === "curtain" ? "Curtain sensors" : "Other sensors";
}

const groupTitles = [
  "Rooms",
  "Doors",
  "Curtain sensors",
  "Other sensors",
  "Pill boxes",
  "Scale",
  "Watch",
] as const;
