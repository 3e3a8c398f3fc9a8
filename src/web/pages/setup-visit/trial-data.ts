import {
  type AcceptanceFault,
  type AcceptanceTask,
  type AcceptedDevice,
  type AcceptedLine,
  acceptanceTasks,
  type VisitFindings,
  walkAsk,
} from "../../../domain/acceptance.ts";
import { walkFaults } from "../../../domain/acceptance-faults.ts";
import type { AcceptanceVisit, Asked } from "../site.ts";

/** The trial of a home, as its page shows it. */
export interface ShownTrial {
  readonly rows: readonly TrialRow[];
  /** Faults that would keep the home from being accepted now. */
  readonly faults: readonly AcceptanceFault[];
  /** Null before somebody finishes. */
  readonly finish: NonNullable<AcceptanceVisit["finish"]> | null;
  /** The name that the record gets where the technician writes no other. */
  readonly tester: string;
}

/** A device, or a walk along a line. */
export interface TrialRow {
  /** By which a form asks for it. */
  readonly of: string;
  readonly title: string;
  readonly room: string | null;
  /** The task in words. */
  readonly asks: string;
  /** `now`: this is what the technician was asked for last. `later`: it tells of it later, when Lintel reads it. */
  readonly state: "untried" | "now" | "done" | "later" | "missed";
  readonly done_ms: number | null;
  /** Events that came instead, in words. */
  readonly note: string | null;
}

/** @param of.devices devices as the page shows them, by whose titles it names them */
export function shownTrial(
  found: VisitFindings,
  {
    asked,
    devices,
  }: {
    readonly asked: Asked;
    readonly devices: readonly { readonly address: string; readonly name: string }[];
  },
): ShownTrial {
  const { now, faults } = found;
  const titles = new Map(devices.map(({ address, name }) => [address, name]));
  const titleOf = ({ itemname, macaddress }: AcceptedDevice) => titles.get(macaddress) ?? itemname;
  const byName = new Map(found.devices.map((device) => [device.itemname, titleOf(device)]));
  const single = found.devices.filter(({ task }) => task !== "walk");
  return {
    rows: [
      ...single
        .map((device) => deviceRow(device, { now, title: titleOf(device), byName }))
        .toSorted((one, other) => (one.room ?? "\uffff").localeCompare(other.room ?? "\uffff")),
      ...found.lines.filter(({ fault }) => fault === null).flatMap((line) => walkRows(line, now)),
    ],
    faults,
    finish: asked.site.acceptance?.finish ?? null,
    tester: asked.token.name.slice(0, 60),
  };
}

function deviceRow(
  device: AcceptedDevice,
  of: { readonly now: string | null; readonly title: string; readonly byName: ReadonlyMap<string, string> },
): TrialRow {
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
    done_ms: done === null ? null : done * 1000,
    note: others === "" ? null : `${others} answered instead`,
  };
}

function walkRows({ line, order, walks }: AcceptedLine, now: string | null): TrialRow[] {
  return (["there", "back"] as const).map((direction): TrialRow => {
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
      done_ms: isDone ? (walk.asked + (walk.took ?? 0)) * 1000 : null,
      note: now === of && !isDone ? (seen === "" ? null : `seen by ${seen}`) : (fault?.what ?? null),
    };
  });
}
