import { namesByAddress } from "../../../domain/mesh.ts";
import { type MeshWords, meshWords } from "../../../domain/mesh-words.ts";
import { type AskedHome, askedHome, requireHome } from "../asked-home.ts";
import { titleOf } from "../shown-devices.ts";
import { type Show, trailTo } from "../site.ts";
import { momentText } from "../time-text.ts";

/** How the Zigbee devices of a home hear each other. */
export interface MeshData extends AskedHome {
  readonly zone: string;
  /** Null before the first scan. */
  readonly mesh: MeshWords | null;
  /** When the newest scan and the oldest that is kept were made, unix milliseconds. */
  readonly scanned_ms: number | null;
  readonly first_ms: number | null;
  readonly scans: number;
}

export const showMesh: Show<MeshData> = async (asked) => {
  const { site, store, now_ms, locale } = asked;
  const home = await askedHome(asked);
  const items = await store.itemOverviews(site.role === "gateway" ? undefined : [home ?? 0]);
  if (site.role === "central" && items.length === 0) await requireHome(asked, home ?? 0);
  const [scans, names, zone] = await Promise.all([
    site.meshOf?.(home) ?? [],
    store.givenNames(home),
    site.zoneOf(home),
  ]);
  const times = { locale, zone, now_ms };
  const mesh = meshWords({
    scans,
    nameOf: namesByAddress(items.map((item) => [item.record.macaddress, titleOf(item, names)])),
    zone,
    timeText: (at_ms) => momentText(at_ms, times),
  });
  const data = {
    home: home ?? null,
    role: site.role,
    zone,
    mesh: mesh ?? null,
    scanned_ms: scans[0]?.at_ms ?? null,
    first_ms: scans.at(-1)?.at_ms ?? null,
    scans: scans.length,
    now_ms,
    locale,
    trail: trailTo(site.role, home),
  };
  return { title: "How devices hear each other", data };
};
