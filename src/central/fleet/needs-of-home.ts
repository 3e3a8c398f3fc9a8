import { disk_low_bytes } from "../../base/disk/disk-fault.ts";
import { isHot } from "../../base/machine-health.ts";
import { plainLine } from "../../base/text.ts";
import { day_ms, hour_ms } from "../../base/time.ts";
import { acceptanceAnswer } from "../../domain/acceptance.ts";
import { type FleetHome, type FleetNeed, type FleetNeedType, fleetNeeds } from "../../domain/fleet-home.ts";
import { conflictText } from "../../domain/identity.ts";

/** Needs of a home by the last report of its gateway, worst first: in the order of `fleetNeeds`. */
export function needsOf(told: Omit<FleetHome, "needs">, now_ms: number): FleetNeed[] {
  const home = { ...told, now_ms, reported_ms: told.last_report_ms ?? now_ms };
  return (Object.keys(fleetNeeds) as FleetNeedType[]).flatMap((type) =>
    [findings[type](home)].flat().flatMap((found) => {
      if (!found) return [];
      const { item, message } = typeof found === "string" ? { message: found } : found;
      return [{ type, message: plainLine(message), ...(item === undefined ? {} : { item }) }];
    }),
  );
}

interface LookedAt extends Omit<FleetHome, "needs"> {
  readonly now_ms: number;
  /** When its gateway last reported. */
  readonly reported_ms: number;
}

/** A message, one for each item or subject that it is about, or nothing. Another message is another alert: it has no hours and no counts. */
type Finding = string | false | null | readonly { readonly message: string; readonly item?: string }[];

const findings: Readonly<Record<FleetNeedType, (home: LookedAt) => Finding>> = {
  never_heard: ({ homeid, expected_since_ms: since_ms, now_ms }) =>
    since_ms !== null &&
    now_ms - since_ms > unheard_max_ms &&
    `Home ${homeid} has a token since ${dayText(since_ms)}, and its gateway has never been heard. If no gateway is to come: lintel token list, and lintel token revoke ID`,
  upload_overdue: ({ homeid, expected_since_ms, last_upload_ms, last_report_ms, ...home }) => {
    // Nobody misses a box that has reported after its recording had ended.
    if (
      expected_since_ms !== null ||
      (last_report_ms ?? 0) > (home.recording_ends_ms ?? Number.POSITIVE_INFINITY)
    )
      return false;
    const heard_ms = Math.max(last_upload_ms ?? 0, last_report_ms ?? 0);
    const due_ms =
      home.next_upload_ms === null ? heard_ms + upload_overdue_ms : home.next_upload_ms + upload_grace_ms;
    const why = home.failure === null ? "" : `: ${home.failure}`;
    return (
      home.now_ms > due_ms &&
      `The gateway of home ${homeid} has not uploaded since ${dayText(heard_ms)}${why}`
    );
  },
  two_gateways: ({ homeid, rivals }) =>
    rivals.length > 0 &&
    `${rivals.length + 1} gateways upload for home ${homeid}: one of them has the token of another home, or a copy of the other's card`,
  data_differ: ({ homeid, differing_days, unmended_days }) =>
    (unmended_days ?? differing_days ?? 0) > 0 &&
    `Days of home ${homeid} differ between its gateway and central, and sending them again did not mend it: run sudo lintel verify there`,
  disk_nearly_full: ({ homeid, disk_free_bytes: bytes }) =>
    bytes !== null && bytes < disk_low_bytes && `The disk of the gateway of home ${homeid} is nearly full`,
  crash_loop: ({ homeid, restarts }) =>
    (restarts ?? 0) >= restarts_min &&
    `The gateway of home ${homeid} ends by itself and starts again: sudo lintel report-fault there, and send the file to the developers`,
  went_back: ({ homeid, update, reported_ms }) => {
    const back = update?.refusals.findLast(({ reason }) => reason === "went_back");
    if (back === undefined || reported_ms - back.at_ms > went_back_told_ms) return false;
    return `The gateway of home ${homeid} went back from ${back.version ?? "an update"}: ${back.message}`;
  },
  joining_open: ({ homeid, joining_since_ms, reported_ms }) =>
    joining_since_ms !== null &&
    reported_ms - joining_since_ms > joining_open_max_ms &&
    `The gateway of home ${homeid} lets in every device that asks to join`,
  power_low: ({ homeid, power_low }) =>
    power_low && `The power supply of the gateway of home ${homeid} is too weak`,
  disk_worn: ({ homeid, disk_worn }) =>
    disk_worn && `The disk of the gateway of home ${homeid} is nearly worn out`,
  gateway_hot: ({ homeid, temperature_c }) =>
    isHot({ temperature_c: temperature_c ?? undefined }) && `The gateway of home ${homeid} is too hot`,
  memory_high: ({ homeid, memory_bytes, machine_memory_bytes: all_bytes }) =>
    (memory_bytes ?? 0) > memory_share_max * (all_bytes ?? Number.POSITIVE_INFINITY) &&
    `The gateway of home ${homeid} has nearly all the memory that it may have`,
  clock_wrong: (home) => isClockWrong(home) && `The clock of the gateway of home ${home.homeid} is wrong`,
  clock_doubted: (home) =>
    !isClockWrong(home) &&
    (home.clock_synchronised === false || home.reported_ms - (home.clock_doubted_ms ?? 0) < day_ms) &&
    `The gateway of home ${home.homeid} did not know the time on the day before its last report`,
  minutes_missing: ({ homeid, deaf_minutes }) =>
    (deaf_minutes ?? 0) >= deaf_minutes_min &&
    `The gateway of home ${homeid} did not listen all of the day before its last report: lintel status there says which driver`,
  recording_ends: ({ homeid, recording_ends_ms: ends_ms, now_ms }) =>
    ends_ms !== null &&
    Math.abs(now_ms - ends_ms) < recording_ends_told_ms &&
    `Recording of home ${homeid} ends on ${dayText(ends_ms)}, because its enrollment does or consent was withdrawn`,
  retention_due: ({ homeid, retention }) =>
    retention !== null &&
    `Data of home ${homeid} are ${retention.act === "erase" ? "erased" : "restricted"} by themselves from ${dayText(retention.due_ms)} on, because they were kept long enough: lintel retention says which, and what to do if that is wrong`,
  item_silent: ({ silent }) =>
    silent.map(({ itemname, heard_ms }) => ({
      item: itemname,
      message: `${itemname} has not been heard ${heard_ms === null ? "yet" : `since ${dayText(heard_ms)}`}`,
    })),
  identity_conflict: ({ homeid, conflicts: [first, ...more] }) => {
    if (first === undefined) return false;
    const { address, why } = first;
    const others = more.length === 0 ? "" : `; lintel items conflicts shows ${more.length} more there`;
    return `${conflictText({ claimed: { address }, why })} Nothing is recorded of it. At the gateway of home ${homeid}: lintel items accept ${address} if it was reset or replaced, else lintel items refuse ${address}${others}`;
  },
  burn_in_due: ({ homeid, burn_in }) => {
    const { failed = [], changed = [] } = burn_in ?? {};
    const again = "lintel burn-in --again all at the bench";
    if (changed.length > 0)
      return `The gateway of home ${homeid} has another ${changed.join(" and another ")} since its burn-in: ${again}`;
    return (
      failed.length > 0 && `The gateway of home ${homeid} failed its burn-in (${failed.join(", ")}): ${again}`
    );
  },
  not_accepted: ({ homeid, acceptance }) => {
    if (acceptance === null) return false;
    const { faults, night = [] } = acceptance;
    if (faults.length + night.length === 0) return false;
    return `Home ${homeid}: ${acceptanceAnswer(acceptance)} Try it again, on the page /walk of its gateway`;
  },
  erased_there: ({ homeid, erased_there }) =>
    erased_there.map((subject) => {
      const [who, option] =
        subject === null
          ? [`Home ${homeid}`, `--home ${homeid}`]
          : [`Subject ${subject}`, `--subject ${subject}`];
      return {
        message: `${who} was erased at the gateway of home ${homeid}, and is still here: lintel erase ${option}`,
      };
    }),
  link_poor: ({ homeid, poor_links }) =>
    poor_links.map(({ name, item, fallen }) => ({
      ...(item ? { item: name } : {}),
      message: `The Zigbee link of ${name} is ${fallen ? "much weaker than it was" : "weak"}: lintel mesh --home ${homeid} says what it hangs on`,
    })),
  battery_low: ({ low_batteries }) =>
    low_batteries.map(({ itemname }) => ({
      item: itemname,
      message: `The battery of ${itemname} is nearly empty`,
    })),
};

function isClockWrong({ clock_offset_ms }: LookedAt): boolean {
  return clock_offset_ms !== null && Math.abs(clock_offset_ms) > clock_off_max_ms;
}

/** The day alone: a message that says the hour would be another alert every time it is made. */
function dayText(at_ms: number): string {
  return at_ms === 0 ? "it was set up" : new Date(at_ms).toISOString().slice(0, 10);
}

/** Of a gateway that does not tell when it uploads: a night may fail; two in a row are worth a look. */
export const upload_overdue_ms = 50 * hour_ms;
/** After the time at which an upload is due: the hour in which the timer draws its moment, and three to try again in. */
export const upload_grace_ms = 4 * hour_ms;
/** A gateway that is set up today uploads in the night to come. */
const unheard_max_ms = 25 * hour_ms;
const clock_off_max_ms = 60_000;
/** In a day: once may be a device's fault. */
const restarts_min = 3;
/** The unit of a gateway slows it down from 30 % of the machine's memory on. */
const memory_share_max = 0.27;
/** Of a day: an update and a restart take a few minutes. */
const deaf_minutes_min = 30;
/** Joining closes by itself within minutes; a visit may open it again and again. */
const joining_open_max_ms = hour_ms;
/** Before and after. */
const recording_ends_told_ms = 14 * day_ms;
const went_back_told_ms = 7 * day_ms;
