import type { FleetHome, FleetNeedType } from "../../../domain/fleet-home.ts";
import type { Kind } from "../../../domain/kinds.ts";
import type { ShownConflict } from "../shown-devices.ts";
import type { Trouble } from "../site.ts";
import type { Battery, DeviceRow } from "./home-devices.ts";

/** A task for a person. */
export type HomeNeed =
  | { readonly type: "trouble"; readonly what: string; readonly remedy: string | null }
  | ({ readonly type: "conflict" } & ShownConflict)
  | ({ readonly type: "silent"; readonly heard_ms: number; readonly battery: Battery | null } & NamedDevice)
  /** Never, or not since everything was erased. */
  | { readonly type: "unheard"; readonly devices: readonly NamedDevice[]; readonly isSinceErased?: boolean }
  | ({ readonly type: "battery"; readonly battery: Battery; readonly known_ms: number | null } & NamedDevice)
  | ({ readonly type: "missed"; readonly at_ms: number } & NamedDevice);

export interface NamedDevice {
  readonly kind: Kind;
  readonly name: string;
  readonly title: string;
}

/** Needs of a home, worst first. Faults of the box come first, then conflicts, which may be attacks, then silent devices, which record nothing. */
export function needsOf(
  troubles: readonly Trouble[],
  all: readonly DeviceRow[],
  days: ReadonlyMap<string, number>,
  conflicts: readonly ShownConflict[] = [],
  knownSince: KnownSince = () => undefined,
): HomeNeed[] {
  const rows = all.filter(({ replaced }) => replaced === null);
  const of = ({ kind, name, title }: DeviceRow) => ({ kind, name, title });
  const isUndated = troubles.some(({ undated }) => undated);
  const unheard = isUndated ? [] : rows.filter(({ heard_ms }) => heard_ms === null).map(of);
  return [
    ...troubles.map(({ what, remedy = null }) => ({ type: "trouble", what, remedy }) as const),
    ...conflicts.map((conflict) => ({ type: "conflict", ...conflict }) as const),
    ...rows.flatMap((row) =>
      row.overdue && row.heard_ms !== null
        ? [{ type: "silent", heard_ms: row.heard_ms, battery: row.battery, ...of(row) } as const]
        : [],
    ),
    ...(unheard.length === 0 ? [] : [{ type: "unheard", devices: unheard } as const]),
    ...rows.flatMap((row) =>
      row.battery?.low && !row.overdue
        ? [
            {
              ...({ type: "battery", battery: row.battery } as const),
              ...{ known_ms: knownSince("battery_low", row.name) ?? null, ...of(row) },
            },
          ]
        : [],
    ),
    ...rows.flatMap((row) =>
      missedOf(row, days).map((at_ms) => ({ type: "missed", at_ms, ...of(row) }) as const),
    ),
  ];
}

/** The last dose of a box that had its time, where it was missed: when its day began. */
function missedOf({ latest }: DeviceRow, days: ReadonlyMap<string, number>): number[] {
  if (latest?.type !== "doses") return [];
  const last = latest.doses.findLast(({ status }) => status !== "due");
  const at_ms = last && days.get(last.date);
  return last?.status === "missed" && at_ms !== undefined ? [at_ms] : [];
}

/** A home that somebody has to look after: why, and what to take along. Times are unix milliseconds. */
export interface NeedyHome {
  readonly homeid: number;
  readonly zone: string;
  readonly why: readonly Why[];
  /** Empty where nobody has to go there. */
  readonly bring: readonly string[];
}

/** A reason in words; `since_ms` and `names`, where they are known, are said by the page in its language. */
export interface Why {
  readonly text: string;
  readonly names?: readonly string[];
  readonly since_ms?: number;
  /** Since when central has known of it, where nobody tells since when it is so. */
  readonly known_ms?: number;
  /** A sentence: what to do about it, besides bringing something. */
  readonly remedy?: string;
}

/** Since when central has known that a home has a need, or one about an item; undefined where it keeps no alerts. */
export type KnownSince = (type: FleetNeedType, item?: string) => number | undefined;

/** Needs that are dealt with from afar. */
const atTheDesk: ReadonlySet<string> = new Set([
  "data_differ",
  "erased_there",
  "went_back",
  "memory_high",
  "clock_doubted",
]);

export function needsVisit({ needs }: Pick<FleetHome, "needs">): boolean {
  return needs.some(({ type }) => !atTheDesk.has(type));
}

/** Why a home needs somebody, each kind of need once, the worst first. */
export function whyOf(home: FleetHome, knownSince: KnownSince = () => undefined): Why[] {
  const types = [...new Set(home.needs.map(({ type }) => type))];
  return types.flatMap((type): Why[] => {
    const why = sayings[type]?.(home);
    const known_ms = knownSince(type);
    if (why !== undefined)
      return [why.since_ms !== undefined || known_ms === undefined ? why : { ...why, known_ms }];
    return home.needs.filter((need) => need.type === type).map(({ message }) => ({ text: message }));
  });
}

const sayings: Readonly<Record<string, (home: FleetHome) => Why>> = {
  never_heard: ({ expected_since_ms }) => ({
    text: "its gateway was never heard",
    remedy: "If no gateway is to come, revoke its token: lintel token list, and lintel token revoke ID.",
    ...(expected_since_ms === null ? {} : { since_ms: expected_since_ms }),
  }),
  upload_overdue: ({ last_upload_ms, last_report_ms, failure }) => {
    const since_ms = Math.max(last_upload_ms ?? 0, last_report_ms ?? 0);
    return {
      text: failure === null ? "no upload" : `no upload (${failure})`,
      ...(since_ms === 0 ? {} : { since_ms }),
    };
  },
  two_gateways: ({ rivals }) => ({
    text: `${rivals.length + 1} gateways upload for this home: one of them has the token of another home, or a copy of the other's card`,
  }),
  data_differ: () => ({
    text: "days differ between gateway and central, also after they were sent again",
    remedy: "Run sudo lintel verify at the gateway.",
  }),
  disk_nearly_full: () => ({ text: "the disk of the gateway is nearly full" }),
  crash_loop: ({ restarts }) => ({
    text: `the gateway ends by itself: ${restarts} times in a day`,
    remedy: "Run sudo lintel report-fault there, and send the file to the developers.",
  }),
  went_back: () => ({
    text: "the gateway went back from an update",
    remedy: "Run lintel update --status there to see why.",
  }),
  joining_open: ({ joining_since_ms }) => ({
    text: "the gateway lets in every device that asks to join",
    ...(joining_since_ms === null ? {} : { since_ms: joining_since_ms }),
    remedy: "Close joining on the page /walk of the gateway.",
  }),
  memory_high: () => ({
    text: "the gateway has nearly all the memory that it may have",
    remedy: "Run sudo lintel report-fault there, and send the file to the developers.",
  }),
  clock_doubted: () => ({
    text: "the gateway did not know the time on the day before its last report",
    remedy: "See that it reaches the internet, or a time server. Readings of that time are marked.",
  }),
  minutes_missing: ({ deaf_minutes }) => ({
    text: `the gateway did not listen for ${deaf_minutes} minutes of the day before its last report`,
    remedy: "Run lintel status there to see which driver.",
  }),
  power_low: () => ({ text: "the power supply of the gateway is too weak" }),
  disk_worn: () => ({ text: "the memory card of the gateway is nearly worn out" }),
  gateway_hot: ({ temperature_c }) => ({
    text: `the gateway is too hot${temperature_c === null ? "" : `: ${Math.round(temperature_c)} °C`}`,
    remedy: "Put it where air comes to it, out of the sun and away from heating.",
  }),
  clock_wrong: () => ({ text: "the clock of the gateway is wrong" }),
  identity_conflict: ({ conflicts: [first, ...more] }) => ({
    text:
      first === undefined
        ? "another device claims the address of a known one"
        : `another device says that it is ${first.address} (${first.why}): accept or refuse it at the gateway with lintel items${more.length === 0 ? "" : `, and ${more.length} more`}`,
  }),
  item_silent: ({ silent }) => {
    const heard = silent.flatMap(({ heard_ms }) => heard_ms ?? []);
    return {
      text: "not heard",
      names: silent.map(({ itemname }) => itemname),
      ...(heard.length < silent.length ? {} : { since_ms: Math.min(...heard) }),
    };
  },
  link_poor: ({ poor_links: poor }) => ({
    text: poor.length === 1 ? "its Zigbee link is weak" : "their Zigbee links are weak",
    names: poor.map(({ name }) => name),
  }),
  battery_low: ({ low_batteries: low }) => ({
    text: low.length === 1 ? "its battery is nearly empty" : "their batteries are nearly empty",
    names: low.map(({ itemname }) => itemname),
  }),
};

/** Things to take along. A silent device has most often an empty battery, and sometimes it is broken. */
export function toBring(home: FleetHome): string[] {
  const { silent, low_batteries: low } = home;
  const types = new Set(home.needs.map(({ type }) => type));
  const batteries = new Set([...silent, ...low].map(({ itemname }) => itemname)).size;
  return [
    ...(types.has("upload_overdue") ? ["a spare gateway", "a network cable"] : []),
    ...(types.has("disk_nearly_full") ? ["a larger memory card"] : []),
    ...(types.has("power_low") ? ["a power supply and a short cable for the gateway"] : []),
    ...(types.has("disk_worn") ? ["a new memory card"] : []),
    ...(types.has("clock_wrong") ? ["a battery for the clock of the gateway"] : []),
    ...(types.has("link_poor") ? ["a plug that passes on Zigbee messages"] : []),
    ...(types.has("two_gateways") ? ["the token of this home"] : []),
    ...(batteries === 0 ? [] : [batteries === 1 ? "a battery" : `${batteries} batteries`]),
    ...(silent.length === 0
      ? []
      : [silent.length === 1 ? "a spare sensor" : `${silent.length} spare devices`]),
  ];
}
