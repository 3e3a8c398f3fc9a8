import { seriesNames, seriesOf } from "../../../../../src/domain/series.ts";
import type { Store } from "../../../../../src/store/store.ts";
import type { Covered } from "./coverage-truth.ts";
import type { Found } from "./truth.ts";

/** Every reading of a store, as whoever reads it gets it. */
export async function readingsOf(store: Store): Promise<Found[]> {
  const found: Found[] = [];
  for (const series of seriesNames) {
    const { kind, fields } = seriesOf(series);
    for (const record of await store.items(kind, { skip: 0, limit: 1_000 })) {
      const item = await store.item(kind, record.itemname);
      if (item === undefined) continue;
      const address = (record.macaddress ?? "").toLowerCase();
      const asked = {
        series,
        item: item.key,
        from_ms: 0,
        before_ms: end_ms,
        limit: 1_000,
        provenance: true,
      } as const;
      for (let page = await store.oldestFirst(asked); ; ) {
        for (const [stamp_ms, ...row] of page.rows) {
          const values = Object.fromEntries(Object.keys(fields).map((name, at) => [name, row[at] ?? null]));
          found.push({ address, series, stamp_ms, values, clock: String(row.at(-1)) });
        }
        if (page.next === undefined) break;
        page = await store.oldestFirst({ ...asked, after: page.next });
      }
    }
  }
  return found;
}

/** Coverage of a device, as whoever reads it gets it. */
export async function coverageOf(store: Store, address: string): Promise<readonly Covered[]> {
  const { items } = await store.overview();
  const name = items.find(({ record }) => record.macaddress === address)?.record.itemname ?? "";
  const item = await store.item("wirelesssensors", name);
  if (item === undefined) return [];
  return store.coverage({ item: item.key, before_ms: end_ms, skip: 0, limit: 1_000 });
}

const end_ms = Date.UTC(2100, 0, 1);
