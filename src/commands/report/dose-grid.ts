import type { Dose, DoseStatus } from "../../meaning/doses.ts";
import { localDate, localTime } from "../../meaning/local-day.ts";
import type { PillboxReport } from "../../meaning/report.ts";
import type { Colours } from "../terminal.ts";

/** A pill box's doses as a calendar, a week a line, with what else is to be said of it below. */
export function doseLines(box: PillboxReport, colours: Colours): string[] {
  const heading = `${"".padEnd(weekWidth)}${weekdays.map((day) => day.padEnd(cellWidth)).join("")}`;
  return [
    colours.dim(heading.trimEnd()),
    ...weeksOf(box.doses).map((week) => weekLine(week, box.timezone, colours)),
    "",
    countLine(box, colours),
    ...remarks(box, colours),
  ];
}

/** Doses in weeks from Sunday to Saturday, with holes before the first and after the last. */
function weeksOf(doses: readonly Dose[]): (Dose | undefined)[][] {
  const weeks: (Dose | undefined)[][] = [];
  for (const dose of doses) {
    if (dose.weekday === 0 || weeks.length === 0) weeks.push(Array.from({ length: 7 }));
    const week = weeks.at(-1);
    if (week !== undefined) week[dose.weekday] = dose;
  }
  return weeks;
}

function weekLine(week: readonly (Dose | undefined)[], zone: string, colours: Colours): string {
  const first = week.find((dose) => dose !== undefined);
  const cells = week.map((dose) => {
    if (dose === undefined) return "".padEnd(cellWidth);
    const { paint, text } = marks[dose.status];
    const shown = dose.at_ms === undefined ? text : `${text}${localTime(zone, dose.at_ms)}`;
    return colours[paint](shown.padEnd(cellWidth));
  });
  return `${colours.dim((first?.date ?? "").padEnd(weekWidth))}${cells.join("")}`.trimEnd();
}

function countLine({ doses }: PillboxReport, colours: Colours): string {
  return (Object.keys(marks) as DoseStatus[])
    .map((status) => ({ status, count: doses.filter((dose) => dose.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => colours[marks[status].paint](`${count} ${marks[status].name}`))
    .join("   ");
}

function remarks(box: PillboxReport, colours: Colours): string[] {
  const moment = (at_ms: number) =>
    `${localDate(box.timezone, at_ms).slice(5)} ${localTime(box.timezone, at_ms)}`;
  const remark = (what: string, moments: readonly string[]) =>
    moments.length === 0 ? [] : [colours.dim(`${what}: ${shortened(moments)}`)];
  return [
    ...remark("one lid for all days", box.doors === "one" ? ["every opening of it is that day's dose"] : []),
    ...remark(
      "reloaded",
      box.reloads.map(({ from_ms }) => moment(from_ms)),
    ),
    ...remark(
      "another day's door opened",
      box.otherDoors.map(({ at_ms, door }) => `${moment(at_ms)} (${weekdays[door]})`),
    ),
    ...remark(
      "left open",
      box.leftOpen.map(
        ({ door, from_ms, to_ms }) =>
          `${weekdays[door]} ${moment(from_ms)} to ${to_ms === undefined ? "now" : moment(to_ms)}`,
      ),
    ),
    ...remark(
      "not known",
      box.unknown.map(({ from_ms, to_ms }) => `${moment(from_ms)} to ${moment(to_ms)}`),
    ),
  ];
}

function shortened(moments: readonly string[]): string {
  const more = moments.length - remarks_max;
  return more > 0 ? `${moments.slice(0, remarks_max).join(", ")} and ${more} more` : moments.join(", ");
}

const marks: Readonly<
  Record<DoseStatus, { text: string; name: string; paint: "green" | "yellow" | "red" | "cyan" | "dim" }>
> = {
  taken: { text: "✓ ", name: "taken", paint: "green" },
  late: { text: "+ ", name: "late, after midnight", paint: "yellow" },
  missed: { text: "✗ missed", name: "missed", paint: "red" },
  reload: { text: "r reload", name: "hidden by a reload", paint: "cyan" },
  unknown: { text: "? unknown", name: "unknown", paint: "dim" },
  due: { text: "· due", name: "due", paint: "dim" },
};

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;
const weekWidth = 12;
const cellWidth = 11;
const remarks_max = 6;
