import { capital } from "../base/words.ts";
import {
  type AcceptanceFault,
  type AcceptanceFindings,
  type AcceptanceTask,
  type AcceptedDevice,
  type AcceptedLine,
  type AcceptedWalk,
  acceptanceTasks,
} from "./acceptance.ts";
import { quality_enough } from "./link-quality.ts";

/** Faults of an installation, worst first: none where it is to be accepted. */
export function acceptanceFaults(found: AcceptanceFindings): AcceptanceFault[] {
  const { devices, lines } = found;
  const swapped = swappedPairs(devices);
  const isSwapped = (device: AcceptedDevice) => swapped.some((pair) => pair.includes(device));
  return [
    ...boxFaults(found),
    ...swapped.map(([one, other]) => ({
      what: `${one.itemname} and ${other.itemname} are swapped: each answered in the place of the other.`,
      remedy: "Change their names, and try both again.",
    })),
    ...devices.flatMap((device) => [
      ...(isSwapped(device) ? [] : taskFaults(device, { finished: found.finished, lines })),
      ...partFaults(device),
    ]),
    ...lines.flatMap(lineFaults),
  ];
}

function boxFaults({
  clockknown,
  clockdoubt,
  paused,
  upload,
  devices,
}: AcceptanceFindings): AcceptanceFault[] {
  const doubt = clockdoubt === null ? "." : `: ${clockdoubt}`;
  return [
    ...faultIf(
      !clockknown || clockdoubt !== null,
      `The clock of the box is not known to be right${doubt}`,
      "Run lintel clock: it says what to do.",
    ),
    ...faultIf(paused, "Nothing is recorded: the home has asked for a pause.", "End it with lintel resume."),
    ...faultIf(
      upload.failure !== null,
      `Central did not take the upload: ${upload.failure}.`,
      "Give the box a network, run lintel verify, and finish again.",
    ),
    ...faultIf(devices.length === 0, "The box has no device.", "Let devices in, and try each."),
  ];
}

/** A fault, where it is so. */
export function faultIf(isSo: boolean, what: string, remedy: string): AcceptanceFault[] {
  return isSo ? [{ what, remedy }] : [];
}

/** Devices that did not answer, where each answered in the place of the other. */
function swappedPairs(devices: readonly AcceptedDevice[]): (readonly [AcceptedDevice, AcceptedDevice])[] {
  return devices.flatMap((one, place) =>
    devices
      .slice(place + 1)
      .filter((other) => one.instead.includes(other.itemname) && other.instead.includes(one.itemname))
      .map((other) => [one, other] as const),
  );
}

/** Why a device has not shown that it does its work. */
function taskFaults(
  device: AcceptedDevice,
  { finished, lines }: { finished: number; lines: readonly AcceptedLine[] },
): AcceptanceFault[] {
  const { itemname, macaddress, asked, done, later, instead, heard, overdue, subtypename } = device;
  const { asks, lacks } = acceptanceTasks[device.task as AcceptanceTask];
  const isInLine = lines.some(({ order }) => order.includes(itemname));
  if (subtypename === "curtain" && !isInLine)
    return [{ what: `${itemname} is in no line.`, remedy: "Measure its line, and walk along it." }];
  if (device.task === "walk") return [];
  if (asked === null)
    return [
      {
        what: `${itemname} was not tried: is it in this home?`,
        remedy: `${asks} If it is a neighbour's, run lintel items forget ${macaddress}.`,
      },
    ];
  if (done !== null) return [];
  if (later && heard !== null && !overdue) return [];
  const others =
    instead.length === 0 ? "" : ` ${instead.join(" and ")} answered meanwhile: see that no two are swapped.`;
  if (heard !== null && heard >= asked)
    return [
      {
        what: `${itemname} was heard, but told of no task: only signs of life, not ${lacks}.${others}`,
        remedy: `${asks} Where it stays silent, see that nothing covers it.`,
      },
    ];
  const since = heard === null ? "was never heard" : `was last heard ${agoText(finished - heard)} before`;
  return [
    {
      what: `${itemname} did not answer: it ${since}. It may be asleep or out of reach.${others}`,
      remedy: "Press its button or change its battery, and try it again.",
    },
  ];
}

/** Faults of a device's battery, way and home. */
function partFaults(device: AcceptedDevice): AcceptanceFault[] {
  const { itemname, macaddress, signal, battery, batteryvoltage, batterylow, poor, through, elsewhere } =
    device;
  const left =
    battery !== null ? ` (${battery} %)` : batteryvoltage !== null ? ` (${batteryvoltage} mV)` : "";
  const isWeak = signal !== null && signal < quality_enough;
  return [
    ...faultIf(batterylow, `The battery of ${itemname} is nearly empty${left}.`, "Put a fresh one in."),
    ...faultIf(
      isWeak,
      `The signal of ${itemname} is weak (${signal} of 255).`,
      "Bring it, or the stick, nearer.",
    ),
    ...faultIf(
      poor && !isWeak,
      `The way of ${itemname} through ${through ?? "its neighbour"} is weak.`,
      "Put a router between them, and scan again with lintel mesh.",
    ),
    ...faultIf(
      elsewhere,
      `By the inventory ${itemname} is in another home.`,
      `Correct the inventory, or run lintel items forget ${macaddress}.`,
    ),
  ];
}

function lineFaults({ line, order, fault, walks }: AcceptedLine): AcceptanceFault[] {
  if (fault !== null) return [{ what: `The line ${line} ${fault}.`, remedy: "Measure it again." }];
  return (["there", "back"] as const).flatMap((direction) => {
    const walk = walks.find((one) => one.direction === direction);
    const expected = direction === "there" ? order : order.toReversed();
    const from = `the walk along ${line} from ${expected[0]}`;
    if (walk === undefined)
      return [{ what: `${capital(from)} was not tried.`, remedy: "Walk along it, there and back." }];
    return walkFaults(walk, expected, from);
  });
}

/**
 * Faults of a walk along a line.
 *
 * @param expected the sensors in the order in which they should see the technician
 * @param from the walk in words
 */
export function walkFaults(
  { fired }: Pick<AcceptedWalk, "fired">,
  expected: readonly string[],
  from: string,
): AcceptanceFault[] {
  const missing = expected.filter((name) => !fired.includes(name));
  if (missing.length > 0)
    return [
      {
        what: `${missing.join(" and ")} saw nobody in ${from}.`,
        remedy: "Wait until the sensors are at rest, and walk again.",
      },
    ];
  const wrong = expected.filter((name, place) => fired[place] !== name);
  if (wrong.length === 0) return [];
  if (fired.every((name, place) => expected.at(-1 - place) === name) && expected.length > 2)
    return [
      {
        what: `${capital(from)} went the other way: ${fired.join(", ")}.`,
        remedy: "Begin at the named sensor, or correct the distances.",
      },
    ];
  return [
    {
      what: `${wrong.join(" and ")} are swapped: ${from} passed ${fired.join(", ")}.`,
      remedy: "Correct their distances, and walk again.",
    },
  ];
}

/** Seconds in words: `5 hours`. */
function agoText(seconds: number): string {
  const [count, unit] =
    seconds < 7_200
      ? [seconds / 60, "minute"]
      : seconds < 172_800
        ? [seconds / 3_600, "hour"]
        : [seconds / 86_400, "day"];
  const whole = Math.max(1, Math.round(count));
  return `${whole} ${unit}${whole === 1 ? "" : "s"}`;
}
