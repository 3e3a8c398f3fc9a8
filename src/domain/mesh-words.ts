import { day_ms } from "../base/time.ts";
import { quality_enough } from "./link-quality.ts";
import {
  channelText,
  type Decline,
  declineOf,
  type MeshScan,
  type MeshWay,
  poorLinks,
  waysOf,
} from "./mesh.ts";

/** A mesh in words, for a person who may move a plug or the stick. */
export interface MeshWords {
  /** The answer in one sentence: the one need, where there is one. */
  readonly answer: string;
  /** Needs of the mesh, worst first. */
  readonly needs: readonly MeshNeed[];
  /** Which routers others hang on. */
  readonly carried: readonly string[];
  /** Batteries that have lost much since a month. */
  readonly batteries: readonly string[];
  /** Differences from the scan before. */
  readonly changes: readonly string[];
  /** The channel of the network, and the Wi-Fi channels beside it; null where the scan does not have it. */
  readonly channel: string | null;
  readonly rows: readonly MeshRow[];
}

/** Something that is amiss, and what to do about it: a sentence each. */
export interface MeshNeed {
  readonly what: string;
  readonly remedy: string;
}

/** A device and its way to the stick. */
export interface MeshRow {
  readonly address: string;
  readonly name: string;
  /** The device that it is heard through, by name; null where nobody names it. */
  readonly through: string | null;
  /** How well that hears it, and how well it hears that: 0 to 255. */
  readonly quality: number | null;
  readonly back: number | null;
  /** The quality that it had in the oldest scan that is kept. */
  readonly first: number | null;
}

export const qualityNote =
  "Link quality goes from 0 to 255, as the device that hears the other one measures it. It is of one hop. What status and the page of the home call signal is the last hop to the stick, also for a device that is heard through another one.";

interface MeshOptions {
  /** Scans, newest first. */
  readonly scans: readonly MeshScan[];
  readonly nameOf: (address: string) => string | undefined;
  /** IANA name of the home's time zone: nights are its nights. */
  readonly zone: string;
  readonly timeText: (at_ms: number) => string;
}

/** Undefined before the first scan. */
export function meshWords(options: MeshOptions): MeshWords | undefined {
  const { scans } = options;
  const [latest, before] = scans;
  if (latest === undefined) return undefined;
  const ways = waysOf(latest);
  const name = namesIn(options, latest);
  const rows = rowsOf(ways, scans, name);
  const needs = [...routerNeeds(ways, options, name), ...poorLinkNeeds(options, name), ...lost(ways, name)];
  const changes = before === undefined ? [] : changesOf(waysOf(before), ways, name);
  const since = before === undefined ? "" : `Since ${options.timeText(before.at_ms)}: `;
  return {
    answer: answerOf(ways, needs),
    needs,
    carried: carriedOf(ways, name),
    batteries: batteryDeclines(options, name),
    changes: changes.map((text) => `${since}${text}`),
    channel:
      latest.channel === undefined ? null : `The network is on channel ${channelText(latest.channel)}.`,
    rows,
  };
}

type NameOf = (address: string) => string;

/** An item has its name. What records nothing, such as a plug, has its model and the end of its address. */
function namesIn({ nameOf }: MeshOptions, { nodes }: MeshScan): NameOf {
  const models = new Map(nodes.map((node) => [node.address, node]));
  return (address) => {
    const node = models.get(address);
    if (node?.role === "stick") return "the stick";
    const kind = node?.model ?? (node?.role === "router" ? "router" : "device");
    return nameOf(address) ?? `${kind} (${address.slice(-5)})`;
  };
}

function answerOf(ways: readonly MeshWay[], needs: readonly MeshNeed[]): string {
  if (ways.length === 0) return "No device has joined this network yet.";
  const all = `${ways.length} ${ways.length === 1 ? "device" : "devices"}`;
  const [need] = needs;
  if (need !== undefined)
    return needs.length === 1 ? need.what : `${needs.length} things to do about the ways of ${all}.`;
  const direct = ways.filter(({ through }) => through !== undefined && isStick(through.address, ways)).length;
  const indirect = ways.length - direct;
  const rest = indirect === 0 ? "" : `, ${indirect} of them through another one`;
  return `${ways.length === 1 ? "The one device has" : `All ${all} have`} a good way to the stick${rest}.`;
}

const isStick = (address: string, ways: readonly MeshWay[]) => ways.every((way) => way.address !== address);

/** Devices that hang on each router. */
function hangingOn(ways: readonly MeshWay[]): Map<string, MeshWay[]> {
  return Map.groupBy(
    ways.filter(({ through }) => through !== undefined),
    ({ through }) => through?.address ?? "",
  );
}

/** Routers that do not answer, or not at night. */
function routerNeeds(ways: readonly MeshWay[], options: MeshOptions, name: NameOf): MeshNeed[] {
  const [latest] = options.scans;
  const recent = options.scans.filter(({ at_ms }) => at_ms > (latest?.at_ms ?? 0) - week_ms);
  return ways
    .filter(({ role }) => role === "router")
    .flatMap((router) => {
      const { address } = router;
      const answers = recent.flatMap(({ at_ms, nodes }) => {
        const node = nodes.find((one) => one.address === address);
        return node === undefined ? [] : [{ at_ms, answered: node.answered === true }];
      });
      const nights = answers.filter(({ at_ms }) => isNight(at_ms, options.zone));
      const days = answers.filter(({ at_ms }) => !isNight(at_ms, options.zone));
      const isOffAtNight =
        count(nights, false) >= pattern_min &&
        count(nights, true) === 0 &&
        count(days, true) >= pattern_min &&
        count(days, true) > count(days, false);
      if (router.answered && !isOffAtNight) return [];
      const hanging = lastHangingOn(address, recent).map(name);
      const whom = hanging.length === 0 ? undefined : listText(hanging);
      const who = sentence(name(address));
      if (isOffAtNight)
        return {
          what:
            whom === undefined
              ? `${who} is switched off at night.`
              : `${sentence(whom)} ${hang(hanging)} on ${name(address)}, which is switched off at night.`,
          remedy: "Leave it on, or plug in another router near by.",
        };
      const last = whom === undefined ? "" : `, and ${whom} hung on it when it last did`;
      return { what: `${who} does not answer${last}.`, remedy: "Is it switched on?" };
    });
}

/** The sleepers that hung on a router in the newest scan in which it named some. */
function lastHangingOn(address: string, scans: readonly MeshScan[]): string[] {
  const scan = scans.find(({ links }) => links.some(({ by, child }) => by === address && child));
  if (scan === undefined) return [];
  return waysOf(scan)
    .filter(({ role, through }) => role === "sleeper" && through?.address === address)
    .map((way) => way.address);
}

/** Links that are weak, or were good and have become worse by half. */
function poorLinkNeeds({ scans }: MeshOptions, name: NameOf): MeshNeed[] {
  const poor = poorLinks(scans).toSorted((one, other) => one.quality - other.quality);
  return poor.map(({ address, through, quality, decline }) => {
    const was = decline && wasText(decline, scans, (value) => `${value}`);
    const remedy = "Move one of them, or plug in a router between them.";
    if (quality >= quality_enough)
      return {
        what: `The link of ${name(address)} ${was}, and is ${quality} now.`,
        remedy: "Has something been moved?",
      };
    const weak = `${sentence(name(address))} hangs on ${name(through)} by a weak link (${quality} of 255)`;
    return { what: was === undefined ? `${weak}.` : `${weak}. It ${was}.`, remedy };
  });
}

/** Batteries that have lost much since a month. */
function batteryDeclines({ scans }: MeshOptions, name: NameOf): string[] {
  const nodes = scans[0]?.nodes ?? [];
  return nodes.flatMap(({ address }) => {
    const text = batteryTerms.flatMap(({ key, loss_min, words }) => {
      const values = scans.flatMap(({ at_ms, nodes: of }) => {
        const value = of.find((one) => one.address === address)?.[key];
        return value === undefined ? [] : [{ at_ms, value }];
      });
      const decline = declineOf(values, (was, now) => was - now >= loss_min);
      return decline === undefined
        ? []
        : `${wasText(decline, scans, words)}, and is ${words(decline.now)} now`;
    })[0];
    return text === undefined ? [] : [`The battery of ${name(address)} ${text}.`];
  });
}

/** Terms in which a device tells of its battery; the first that has fallen is said. */
const batteryTerms = [
  { key: "battery_percent", loss_min: 20, words: (value: number) => `at ${Math.round(value)} %` },
  { key: "battery_mv", loss_min: 200, words: (value: number) => `at ${value / 1_000} V` },
] as const;

/** `was 180 in March`. */
function wasText(
  { was, was_ms }: Decline,
  [latest]: readonly MeshScan[],
  words: (value: number) => string,
): string {
  const [then, today] = [new Date(was_ms), new Date(latest?.at_ms ?? was_ms)];
  const isSameYear = then.getUTCFullYear() === today.getUTCFullYear();
  const isSameMonth = isSameYear && then.getUTCMonth() === today.getUTCMonth();
  const year = isSameYear ? {} : ({ year: "numeric" } as const);
  const month = new Intl.DateTimeFormat("en", { month: "long", ...year, timeZone: "UTC" }).format(then);
  return `was ${words(was)} ${isSameMonth ? "earlier this month" : `in ${month}`}`;
}

function lost(ways: readonly MeshWay[], name: NameOf): MeshNeed[] {
  const none = ways.filter(
    ({ role, answered, through }) => through === undefined && (role === "sleeper" || answered),
  );
  if (none.length === 0) return [];
  const which = listText(none.map(({ address }) => name(address)));
  return [
    {
      what: `No device that answers hears ${which}.`,
      remedy: `A router that does not answer may; otherwise ${none.length === 1 ? "it is" : "they are"} out of reach or without power.`,
    },
  ];
}

function carriedOf(ways: readonly MeshWay[], name: NameOf): string[] {
  return [...hangingOn(ways)]
    .filter(([address]) => !isStick(address, ways))
    .map(([address, hanging]) => {
      const names = hanging.map((way) => name(way.address));
      return `${sentence(listText(names))} ${hang(names)} on ${name(address)}: leave it switched on.`;
    });
}

function changesOf(before: readonly MeshWay[], after: readonly MeshWay[], name: NameOf): string[] {
  const known = new Map(before.map((way) => [way.address, way]));
  const now = new Set(after.map(({ address }) => address));
  const changed = after.flatMap((way) => {
    const old = known.get(way.address);
    const who = name(way.address);
    if (old === undefined) return [`${who} is new.`];
    const [from, to] = [old.through, way.through];
    if (from?.address !== to?.address)
      return [
        `${who} moved from ${from ? name(from.address) : "nowhere"} to ${to ? name(to.address) : "nowhere"}.`,
      ];
    const [was, is] = [from?.quality ?? 0, to?.quality ?? 0];
    return Math.abs(was - is) >= change_min ? [`the link of ${who} went from ${was} to ${is}.`] : [];
  });
  const gone = before.filter(({ address }) => !now.has(address));
  return [...changed, ...gone.map(({ address }) => `${name(address)} has left.`)];
}

function rowsOf(ways: readonly MeshWay[], scans: readonly MeshScan[], name: NameOf): MeshRow[] {
  const oldest = scans.length < 2 ? undefined : scans.at(-1);
  const first = new Map(oldest && waysOf(oldest).map((way) => [way.address, way.through?.quality]));
  return ways.map(({ address, through, back }) => ({
    address,
    name: name(address),
    through: through === undefined ? null : name(through.address),
    quality: through?.quality ?? null,
    back: back ?? null,
    first: first.get(address) ?? null,
  }));
}

function isNight(at_ms: number, timeZone: string): boolean {
  const text = new Intl.DateTimeFormat("en", { timeZone, hour: "numeric", hourCycle: "h23" }).format(at_ms);
  const hour = Number(text);
  return hour >= night_from || hour < night_until;
}

function count(answers: readonly { readonly answered: boolean }[], wanted: boolean): number {
  return answers.filter(({ answered }) => answered === wanted).length;
}

function listText(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

function hang(names: readonly string[]): string {
  return names.length === 1 ? "hangs" : "hang";
}

/** Names of items stay as they are; words of ours begin a sentence. */
function sentence(text: string): string {
  return text.startsWith("the stick") ? `T${text.slice(1)}` : text;
}

const week_ms = 7 * day_ms;
const night_from = 22;
const night_until = 6;
/** Scans that make a pattern. */
const pattern_min = 3;
/** A difference of two scans that is told; less is usual. */
const change_min = 60;
