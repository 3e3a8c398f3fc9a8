import { type Static, Type } from "@sinclair/typebox";
import { quality_enough, quality_strong } from "./link-quality.ts";

/** 0 to 255, as the device that hears the other one measured it. */
const Quality = Type.Integer({ minimum: 0, maximum: 255 });
const Address = Type.String({ maxLength: 32 });
const closed = { additionalProperties: false } as const;

/** Devices of a mesh that a scan has at most, and links between them. */
export const mesh_nodes_max = 250;
export const mesh_links_max = 2_000;

/** The channel of a mesh. */
export const MeshChannel = Type.Object(
  {
    number: Type.Integer({ minimum: 11, maximum: 26 }),
    /** Whether a stick has measured all channels and this one was the quietest, when the network was formed. */
    measured: Type.Boolean(),
  },
  closed,
);
export type MeshChannel = Static<typeof MeshChannel>;

/** Noise on the channels 11 to 26 of Zigbee, as a stick measures it: 0 to 255 on each, louder above. */
export interface ChannelNoise {
  /** Of the network. */
  readonly channel: number;
  readonly energies: readonly number[];
}

/** Wi-Fi channels that do not overlap each other, and the middle of each. */
const wifiChannels = [
  { number: 1, mhz: 2412 },
  { number: 6, mhz: 2437 },
  { number: 11, mhz: 2462 },
];

/** `20 (between the Wi-Fi channels 6 and 11; …)`, of a channel of Zigbee. IEEE 802.15.4: channel 11 is at 2405 MHz, each further one 5 MHz above. */
export function channelText({ number, measured }: MeshChannel): string {
  const mhz = 2405 + 5 * (number - 11);
  const near = wifiChannels.find((wifi) => Math.abs(wifi.mhz - mhz) < 12);
  const below = wifiChannels.findLast((wifi) => wifi.mhz < mhz)?.number;
  const above = wifiChannels.find((wifi) => wifi.mhz > mhz)?.number;
  const gap =
    above === undefined ? `above Wi-Fi channel ${below}` : `between the Wi-Fi channels ${below} and ${above}`;
  const edge = near !== undefined && Math.abs(near.mhz - mhz) >= 7 ? "at the edge of" : "inside";
  const where = near === undefined ? gap : `${edge} Wi-Fi channel ${near.number}`;
  const chosen = measured ? "the quietest when the network was formed" : "not chosen by a measurement";
  return `${number} (${where}; ${chosen})`;
}

/** A mesh as a driver found it at one time: its devices, and who hears whom. */
export const MeshScan = Type.Object(
  {
    /** When it ended, unix milliseconds. */
    at_ms: Type.Integer({ minimum: 0 }),
    nodes: Type.Array(
      Type.Object(
        {
          address: Address,
          role: Type.Union([Type.Literal("stick"), Type.Literal("router"), Type.Literal("sleeper")]),
          /** As the device itself tells it. */
          model: Type.Optional(Type.String({ maxLength: 80 })),
          /** Of a router: whether it named its neighbours. */
          answered: Type.Optional(Type.Boolean()),
          /** Its battery as it told it last. */
          battery_percent: Type.Optional(Type.Number()),
          battery_mv: Type.Optional(Type.Number()),
        },
        closed,
      ),
      { maxItems: mesh_nodes_max },
    ),
    channel: Type.Optional(MeshChannel),
    links: Type.Array(
      Type.Object(
        {
          /** The device that hears, and the one that it hears. */
          by: Address,
          of: Address,
          quality: Quality,
          /** The one that hears keeps the messages for the other one, a sleeper. */
          child: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
      { maxItems: mesh_links_max },
    ),
  },
  closed,
);
export type MeshScan = Static<typeof MeshScan>;
export type MeshNode = MeshScan["nodes"][number];

/** Scans of a home, newest first. */
export const MeshScans = Type.Object({ scans: Type.Array(MeshScan, { maxItems: 100 }) }, closed);
export type MeshScans = Static<typeof MeshScans>;

/** An address without what people and programs write between its digits. */
export function plainAddress(address: string | null): string {
  return (address ?? "").toLowerCase().replaceAll(/[^0-9a-f]/g, "");
}

/** Finds the name of a device by its address, whichever way either is written. */
export function namesByAddress(
  named: readonly (readonly [address: string | null, name: string])[],
): (address: string) => string | undefined {
  const names = new Map(named.map(([address, name]) => [plainAddress(address), name]));
  return (address) => names.get(plainAddress(address));
}

/** How a device reaches the stick. */
export interface MeshWay {
  readonly address: string;
  readonly role: MeshNode["role"];
  readonly model: string | undefined;
  readonly answered: boolean;
  /** The device through which it is heard, and how well that hears it; undefined where nobody names it. */
  readonly through: { readonly address: string; readonly quality: number } | undefined;
  /** How well it hears that device; undefined where it does not tell. */
  readonly back: number | undefined;
}

/** The way of each device but the stick. A sleeper hangs on the device that calls it its child; a router is heard over the fewest and then the best links. */
export function waysOf(scan: MeshScan): MeshWay[] {
  const hears = new Map(scan.links.map((link) => [`${link.by} ${link.of}`, link]));
  const throughRouters = routerParents(scan);
  return scan.nodes
    .filter(({ role }) => role !== "stick")
    .map(({ address, role, model, answered }) => {
      const on = role === "router" ? throughRouters.get(address) : parentOf(scan, address);
      const heard = on === undefined ? undefined : hears.get(`${on} ${address}`)?.quality;
      const back = on === undefined ? undefined : hears.get(`${address} ${on}`)?.quality;
      const quality = heard ?? back;
      const through = on === undefined || quality === undefined ? undefined : { address: on, quality };
      return { address, role, model, answered: answered ?? role === "sleeper", through, back };
    });
}

/** The device that calls a sleeper its child; of several, the one that hears it best: a device that was left long ago may still name it. */
function parentOf({ links }: MeshScan, address: string): string | undefined {
  const named = links.filter(({ of, child }) => of === address && child);
  return named.toSorted((one, other) => other.quality - one.quality)[0]?.by;
}

/** For each router that is reached from the stick, the device before it on the way. */
function routerParents({ nodes, links }: MeshScan): Map<string, string> {
  const routers = new Set(nodes.filter(({ role }) => role !== "sleeper").map(({ address }) => address));
  const among = links.filter(({ by, of }) => routers.has(by) && routers.has(of));
  const before = new Map<string, string>();
  let reached = new Set(nodes.filter(({ role }) => role === "stick").map(({ address }) => address));
  const seen = new Set(reached);
  // Each round reaches further routers, or ends.
  while (reached.size > 0) {
    const next = new Map<string, { from: string; quality: number }>();
    for (const { by, of, quality } of among)
      for (const [from, to] of [
        [by, of],
        [of, by],
      ] as const)
        if (reached.has(from) && !seen.has(to) && quality > (next.get(to)?.quality ?? -1))
          next.set(to, { from, quality });
    for (const [to, { from }] of next) before.set(to, from);
    reached = new Set(next.keys());
    for (const address of reached) seen.add(address);
  }
  return before;
}

/** A value that has become worse since a month. */
export interface Decline {
  readonly was: number;
  /** A time of that month, unix milliseconds. */
  readonly was_ms: number;
  readonly now: number;
}

/**
 * The decline of a value from the month in which it was highest, of values with their times, newest first: undefined unless `isWorse` says so of that month's
 * median and the newest value. A month has three values at least.
 */
export function declineOf(
  values: readonly { readonly at_ms: number; readonly value: number }[],
  isWorse: (was: number, now: number) => boolean,
): Decline | undefined {
  const [newest, ...older] = values;
  if (newest === undefined) return undefined;
  const months = Map.groupBy(older, ({ at_ms }) => new Date(at_ms).toISOString().slice(0, 7));
  const medians = [...months.values()]
    .filter(({ length }) => length >= month_values_min)
    .map((of) => of.toSorted((one, other) => one.value - other.value)[Math.floor(of.length / 2)])
    .filter((median) => median !== undefined);
  const best = medians.toSorted((one, other) => other.value - one.value)[0];
  if (best === undefined || !isWorse(best.value, newest.value)) return undefined;
  return { was: best.value, was_ms: best.at_ms, now: newest.value };
}

const month_values_min = 3;

/** A device that its neighbour on the way to the stick hears badly. */
export interface PoorLink {
  readonly address: string;
  readonly through: string;
  readonly quality: number;
  /** Where it was good once. */
  readonly decline: Decline | undefined;
}

/** Links of the newest scan that are weak, or no longer strong and half as good as they were in an earlier month. Scans newest first. */
export function poorLinks(scans: readonly MeshScan[]): PoorLink[] {
  const [latest, ...older] = scans;
  if (latest === undefined) return [];
  const before = older.map(({ at_ms, ...scan }) => {
    const ways = waysOf({ at_ms, ...scan });
    return { at_ms, ways: new Map(ways.map((way) => [way.address, way.through?.quality])) };
  });
  return waysOf(latest).flatMap(({ address, through }) => {
    if (through === undefined || through.quality >= quality_strong) return [];
    const earlier = before.flatMap(({ at_ms, ways }) => {
      const value = ways.get(address);
      return value === undefined ? [] : [{ at_ms, value }];
    });
    const values = [{ at_ms: latest.at_ms, value: through.quality }, ...earlier];
    const decline = declineOf(values, (was, now) => now <= was / 2);
    if (through.quality >= quality_enough && decline === undefined) return [];
    return { address, through: through.address, quality: through.quality, decline };
  });
}

/** Scans that are kept: these newest ones, and of older ones the newest of each week. */
const newest_kept = 28;
const weeks_kept = 52;
const week_ms = 7 * 86_400_000;

/** Devices and links of all scans together: the oldest scans go first. A file of so many is within its bytes. */
const entries_max = 10_000;
export const mesh_bytes_max = 2 * 1024 * 1024;

/** The scans that stay when one comes. */
export function withScan(kept: readonly MeshScan[], scan: MeshScan): MeshScan[] {
  const all = [scan, ...kept];
  const weeks = new Map<number, MeshScan>();
  for (const one of all.slice(newest_kept)) {
    const week = Math.floor(one.at_ms / week_ms);
    if (!weeks.has(week)) weeks.set(week, one);
  }
  let entries = 0;
  return [...all.slice(0, newest_kept), ...[...weeks.values()].slice(0, weeks_kept)].filter(
    ({ nodes, links }) => {
      entries += nodes.length + links.length;
      return entries <= entries_max;
    },
  );
}
