import { expect, test } from "bun:test";
import { hour_ms } from "../../src/base/time.ts";
import type { Device } from "../../src/domain/reading.ts";
import { type SeriesName, seriesOf } from "../../src/domain/series.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { ArrivalPosition, Store } from "../../src/store/store.ts";
import { items, programme } from "../../testbed/programme.ts";
import { below, seeded } from "../../testbed/sample.ts";
import { now_ms } from "../../testbed/serving.ts";
import { anyReadings, openStores, send } from "./differential.ts";

test("while a mark is the same, so is the answer, whatever comes, moves or is erased: at gateways, and at central on both databases", async () => {
  const random = seeded(36);
  await using stores = await openStores([12, 13]);
  const all: readonly Store[] = [...stores.gateways.map(({ store }) => store), ...stores.centrals];
  const watched = all.map((store) => new Answers(store));
  for (const store of all) await store.importRecords([programme()]);
  let same = 0;
  let others = 0;
  for (let round = 0; round < 20; round += 1) {
    const gateway = stores.gateways[below(random, 2)];
    if (gateway === undefined) throw new Error("there is no gateway");
    const draw = random();
    if (draw < 0.5) {
      const readings = anyReadings(random, 1 + below(random, 60), { device: deviceOf, until_ms: now_ms });
      await gateway.store.append(readings, happened(random));
    } else if (draw < 0.95) {
      const start = now_ms / 1000 - below(random, 30 * 86_400);
      const item = 5 + below(random, 2);
      const record = { homeid: 12 + below(random, 2), item, start, stop: start + below(random, 9 * 86_400) };
      for (const store of all) await store.importRecords([[{ type: "home_inventory", record }]]);
    } else {
      const request = { target: { home: 12 }, id: `${round}`.padStart(32, "0"), at_ms: now_ms };
      for (const store of stores.centrals as readonly CentralStore[]) await store.erase(request);
    }
    if (random() < 0.7) await send(gateway, stores, random);
    for (const one of watched) {
      const found = await one.compare();
      same += found.same;
      others += found.others;
    }
  }
  // Both happened often.
  expect(Math.min(same, others)).toBeGreaterThan(100);
});

/** Answers of a store by their marks. */
class Answers {
  readonly #store: Store;
  #before = new Map<string, { readonly mark: string; readonly answer: string }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Fails where an answer has changed under the same mark. */
  async compare(): Promise<{ same: number; others: number }> {
    const now = new Map<string, { readonly mark: string; readonly answer: string }>();
    for (const kind of ["pillboxes", "wirelesssensors", "scales", "watches"] as const)
      for (const { record, series, coverage, device } of await this.#store.itemMarks(kind, window)) {
        const key = (await this.#store.item(kind, record.itemname))?.key ?? 0;
        const asked = { item: key, before_ms: Number.MAX_SAFE_INTEGER, ...window };
        const answers: Record<string, { readonly mark: string; readonly answer: unknown }> = {
          coverage: { mark: coverage, answer: await this.#store.coverage(asked) },
          device: { mark: device, answer: stateOf(await this.#store.itemState(key)) },
          ...Object.fromEntries(
            await Promise.all(
              series.map(async ({ series, mark }) => [
                series,
                { mark, answer: await this.#all(series, key) },
              ]),
            ),
          ),
        };
        for (const [name, { mark, answer }] of Object.entries(answers))
          now.set(`${record.itemid} ${name}`, { mark, answer: JSON.stringify(answer) });
      }
    let same = 0;
    for (const [name, { mark, answer }] of now) {
      const before = this.#before.get(name);
      if (before?.mark !== mark) continue;
      same += 1;
      expect([name, answer]).toEqual([name, before.answer]);
    }
    this.#before = now;
    return { same, others: now.size - same };
  }

  /** All readings of a series, in order of arrival. */
  async #all(series: SeriesName, item: number) {
    const found = [];
    let after: ArrivalPosition | undefined;
    for (;;) {
      const page = await this.#store.arrivals({
        ...{ series, item, span: { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER } },
        ...{ limit: 1_000, precision: "ms" as const },
        ...(after && { after }),
      });
      if (page === undefined) throw new Error("a walk has lost its place");
      found.push(...page.records);
      if (page.records.length < 1_000) return found;
      after = page.position;
    }
  }
}

/** As much of a state as the device of an item tells. */
function stateOf(state: Awaited<ReturnType<Store["itemState"]>>) {
  const { heard_ms: _, linkquality: _quality, overdue: _overdue, record, ...told } = state ?? {};
  return { ...told, model: record?.modelname, vendor: record?.vendorname };
}

/** Signs of life and interruptions of some devices. */
function happened(random: () => number) {
  const device = deviceOf("wirelesssensor_events", below(random, 2));
  const heard_ms = now_ms - below(random, 99) * hour_ms;
  return {
    states: [{ device, heard_ms, listener: "zigbee", battery_percent: below(random, 3) }],
    gaps:
      random() < 0.5
        ? []
        : [
            {
              device,
              from_ms: heard_ms,
              to_ms: heard_ms + below(random, 9) * hour_ms,
              reason: "not_worn" as const,
            },
          ],
  };
}

function deviceOf(series: SeriesName, number: number): Device {
  const own = items.filter(({ typename }) => typename === seriesOf(series).kind);
  const { typename, mac } = own[number % own.length] ?? items[0];
  return { kind: typename, address: `00:0d:6f:00:0a:${mac}` };
}

const window = { skip: 0, limit: 100_000 };
