import {
  type AcceptanceTask,
  type AcceptedDevice,
  type AcceptedLine,
  acceptanceTasks,
  type VisitFindings,
  walkAsk,
} from "./acceptance.ts";
import { walkFaults } from "./acceptance-faults.ts";

/** The trial of a device, or of a walk along a line, in a visit. */
export interface Trial {
  /** By which a visit asks for it. */
  readonly of: string;
  readonly title: string;
  readonly room: string | null;
  /** The task in words. */
  readonly asks: string;
  /** `now`: this is what the technician was asked for last. `later`: it tells of it later, when Lintel reads it. */
  readonly state: "untried" | "now" | "done" | "later" | "missed";
  /** It keeps what happens: nobody waits for it. */
  readonly later: boolean;
  readonly done_ms: number | null;
  /** Events that came instead, in words. */
  readonly note: string | null;
}

/** The trials of a visit, by room; lines come last. `titles`: names of devices by their addresses, where people call them otherwise. */
export function trialsOf(found: VisitFindings, titles: ReadonlyMap<string, string> = new Map()): Trial[] {
  const { devices, lines, now } = found;
  const titleOf = ({ itemname, macaddress }: AcceptedDevice) => titles.get(macaddress) ?? itemname;
  const byName = new Map(devices.map((device) => [device.itemname, titleOf(device)]));
  return [
    ...devices
      .filter(({ task }) => task !== "walk")
      .map((device) => deviceTrial(device, { now, title: titleOf(device), byName }))
      .toSorted((one, other) => (one.room ?? "\uffff").localeCompare(other.room ?? "\uffff")),
    ...lines.filter(({ fault }) => fault === null).flatMap((line) => walkTrials(line, now)),
  ];
}

function deviceTrial(
  device: AcceptedDevice,
  of: { readonly now: string | null; readonly title: string; readonly byName: ReadonlyMap<string, string> },
): Trial {
  const { macaddress, room, task, asked, done, later, instead } = device;
  const others = instead.map((name) => of.byName.get(name) ?? name).join(" and ");
  const state =
    done !== null
      ? "done"
      : asked === null
        ? "untried"
        : of.now === macaddress
          ? "now"
          : later
            ? "later"
            : "missed";
  return {
    ...{ of: macaddress, title: of.title, room, asks: acceptanceTasks[task as AcceptanceTask].asks, state },
    later,
    done_ms: done === null ? null : done * 1000,
    note: others === "" ? null : `${others} answered instead`,
  };
}

function walkTrials({ line, order, walks }: AcceptedLine, now: string | null): Trial[] {
  return (["there", "back"] as const).map((direction): Trial => {
    const expected = direction === "there" ? order : order.toReversed();
    const walk = walks.find((one) => one.direction === direction);
    const of = walkAsk(line, direction);
    const [fault] = walk === undefined ? [] : walkFaults(walk, expected, "the walk");
    const isDone = walk !== undefined && fault === undefined;
    const seen = walk?.fired.join(", ") ?? "";
    return {
      of,
      title: `${line}, from ${expected[0]}`,
      room: null,
      asks: `Walk along the line to ${expected.at(-1)}.`,
      state: isDone ? "done" : walk === undefined ? "untried" : now === of ? "now" : "missed",
      later: false,
      done_ms: isDone ? (walk.asked + (walk.took ?? 0)) * 1000 : null,
      note: now === of && !isDone ? (seen === "" ? null : `seen by ${seen}`) : (fault?.what ?? null),
    };
  });
}
