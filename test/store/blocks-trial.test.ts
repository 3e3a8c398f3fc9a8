import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../src/base/time.ts";
import type { SeriesName } from "../../src/domain/series.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { DayReadings } from "../../src/store/gateway/upload-store.ts";
import type { PageRequest, PageStart } from "../../src/store/store.ts";
import { rowsAlone, withBlocksOf } from "../../testbed/block-sizes.ts";
import { nightly } from "../../testbed/nightly.ts";
import { below, item, seeded, sensor, start_ms } from "../../testbed/sample.ts";
import { dayOf, inDigestOrder, SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { damageBy, rowsAndBlocks } from "./blocks-central.ts";
import { type Ask, stay } from "./central-sample.ts";
import { temporaryCentral as postgresCentral } from "./postgres/temporary-central.ts";
import { temporaryCentral as sqliteCentral } from "./sqlite/temporary-central.ts";
import { checkTotals } from "./sqlite/totals.ts";

test.each(nightly ? [1, 2, 3, 4, 5, 6, 7, 8] : [1])(
  "whatever is in blocks, and of whatever sizes, central answers as where everything is rows, seed %d",
  async (seed) => {
    await using stores = new AsyncDisposableStack();
    const plain = stores.use(await sqliteCentral());
    const onSqlite = stores.use(await sqliteCentral());
    const onPostgres = stores.use(await postgresCentral());
    const trial = new Trial(seed, [plain, onSqlite, onPostgres]);
    for (let step = 0; step < steps; step += 1) {
      await trial.act();
      await trial.compare(step);
      // Rows that were few enough at one act are more than may be by the next.
      for (const { directory } of [plain, onSqlite]) checkTotals(directory, rowsAlone);
    }
    const [none, ...some] = await Promise.all(
      [plain, onSqlite, onPostgres].map(({ ask }) => rowsAndBlocks(ask)),
    );
    expect(none?.inBlocks).toBe(0);
    for (const { rows, inBlocks } of some) {
      expect({ seed, all: rows + inBlocks }).toEqual({ seed, all: none?.rows ?? 0 });
      expect(inBlocks).toBeGreaterThan(1_000);
    }
  },
);

interface Central {
  readonly store: CentralStore;
  readonly ask: Ask;
}

/** Two homes and their gateways at several centrals, of which the first one has no blocks. */
class Trial {
  /** Pages by their marks. */
  readonly #shown = new Map<string, string>();
  #sizes = {};
  readonly #random: () => number;
  readonly #centrals: readonly Central[];
  readonly #gateways = homes.map((home) => new SimulatedGateway(home, `home ${home}`));
  readonly #sent = new Map<SimulatedGateway, number>();
  #now_ms = start_ms;
  #erased = 0;
  #acts = 0;

  constructor(seed: number, centrals: readonly Central[]) {
    this.#random = seeded(seed);
    this.#centrals = centrals;
  }

  /** Something happens at all centrals, which all but the first keep in blocks of some sizes. */
  async act(): Promise<void> {
    this.#acts += 1;
    const draw = this.#acts <= uploads_first ? 0 : this.#random();
    const rows_max = [1, 20, 256][below(this.#random, 3)] as number;
    const rows_kept = 1 + below(this.#random, Math.min(rows_max, 40));
    this.#sizes = { rows_max, rows_kept, block_max: [16, 100, 1_024][below(this.#random, 3)] as number };
    if (draw < 0.3) await this.#upload();
    else if (draw < 0.6) await this.#repair();
    else if (draw < 0.8) await this.#import();
    else if (draw < 0.9) await this.#erase();
  }

  #gateway(): SimulatedGateway {
    return this.#gateways[below(this.#random, homes.length)] as SimulatedGateway;
  }

  /** Readings of some days, dense and sparse, some of which come late by up to months. */
  async #upload(): Promise<void> {
    const random = this.#random;
    const gateway = this.#gateway();
    const from = gateway.last_seq + 1;
    const dense = random() < 0.5;
    for (let count = 1 + below(random, dense ? 2_500 : 300); count > 0; count -= 1) {
      this.#now_ms += below(random, dense ? 400 : 5 * hour_ms);
      const late_ms = random() < 0.03 ? below(random, 90 * day_ms) : random() < 0.1 ? 0 : below(random, 900);
      this.#add(gateway, Math.max(0, this.#now_ms - late_ms));
    }
    for (let at = from; at <= gateway.last_seq; at += 700) {
      const batch = gateway.batch(at, Math.min(at + 699, gateway.last_seq));
      await this.#same(({ store }) => store.receive(batch, { home: gateway.home, at_ms: 1 }));
    }
    this.#sent.set(gateway, gateway.last_seq);
  }

  #add(gateway: SimulatedGateway, stamp_ms: number): void {
    const random = this.#random;
    const draw = random();
    if (draw < 0.85) {
      // Sensor 1 is heard in both homes; the others are each home's own.
      const number = draw < 0.3 ? 1 : gateway.home * 10 + below(random, 2);
      gateway.add({ device: sensor(number), series: events, stamp_ms, fields: [gateway.last_seq] });
    } else {
      const device = { kind: "watches", address: `e1:5c:07:2d:9a:${gateway.home}` } as const;
      const fields = [
        60,
        random() < 0.5 ? 12 : random() * 1e6,
        below(random, 200),
        1,
        2,
        1 + below(random, 4),
      ];
      const clock = random() < 0.5 ? {} : { device_ms: stamp_ms - 9, offset_ms: -9 };
      gateway.add({ device, series: "watch_epochs", stamp_ms, fields, ...clock });
    }
  }

  /** Damages a reading, and has its gateway put the day right. */
  async #repair(): Promise<void> {
    const random = this.#random;
    const gateway = this.#gateway();
    const found = gateway.readings.filter(({ seq }) => seq <= (this.#sent.get(gateway) ?? 0));
    const reading = found[below(random, found.length)];
    if (reading === undefined) return;
    const { series, device, stamp_ms } = reading;
    const stream = await this.#item(device.kind, device.address);
    const how = (["value", "stamp", "day", "gone"] as const)[below(random, 4)];
    if (how !== undefined && stream !== undefined && random() < 0.8)
      for (const { ask } of this.#centrals) await damageBy(ask)({ series, item: stream, stamp_ms }, how);
    for (const day of [dayOf(stamp_ms), dayOf(stamp_ms) + 2]) {
      const { kind, address } = device;
      const after_seq = random() < 0.8 ? 0 : below(random, gateway.last_seq);
      const request: DayReadings = {
        ...{
          epoch: gateway.epoch,
          through_seq: this.#sent.get(gateway) ?? 0,
          series,
          kind,
          address,
          day,
          after_seq,
        },
      };
      const batch = gateway.day(request);
      await this.#same(({ store }) => store.repairDay(request, batch, { home: gateway.home, at_ms: 1 }));
    }
  }

  async #item(kind: string, address: string): Promise<number | undefined> {
    const rows = await this.#centrals[0]?.ask(
      "SELECT key FROM items WHERE typename = $1 AND address = $2 ORDER BY key",
      [kind, address],
    );
    return rows?.[0]?.["key"] as number | undefined;
  }

  /** The inventory adopts devices, moves them from home to home, and joins what was heard under several names. */
  async #import(): Promise<void> {
    const random = this.#random;
    const itemid = [1, 110, 111, 120, 121][below(random, 5)] as number;
    const at_s = Math.floor((this.#now_ms - below(random, 80 * day_ms)) / 1000);
    const [one, other] = random() < 0.5 ? homes : homes.toReversed();
    // The address of another of the home's sensors: then two streams of one home become one.
    const address = sensor(random() < 0.3 ? 110 + below(random, 2) : itemid).address;
    const moved = random() < 0.5;
    await this.#same(async ({ store }) => {
      const { clashes } = await store.importRecords([
        [{ type: "items", record: item(itemid, { macaddress: address, currenthomeid: one ?? 11 }) }],
      ]);
      if (clashes.length === 0 && moved)
        await stay(
          store,
          { homeid: one ?? 11, item: itemid, start: null, stop: at_s },
          { homeid: other ?? 12, item: itemid, start: at_s, stop: null },
        );
      return clashes.length;
    });
  }

  /** Takes away what a participant was there for, some days of a home. */
  async #erase(): Promise<void> {
    const random = this.#random;
    const start = Math.floor((this.#now_ms - below(random, 90 * day_ms)) / 1000);
    const stop = start + below(random, 9 * 86_400) + 1;
    const homeid = homes[below(random, homes.length)] as number;
    this.#erased += 1;
    const subjectid = this.#erased;
    const id = this.#erased.toString(16).padStart(32, "0");
    await this.#same(async ({ store }) => {
      await store.importRecords([
        [{ type: "project_enrollments", record: { subjectid, projectid: 1, homeid, start, stop } }],
      ]);
      const target = { subject: subjectid };
      const plan = await store.erasurePlan(target, this.#now_ms);
      expect(await store.erase({ target, id, at_ms: this.#now_ms })).toEqual(plan);
      return plan;
    });
  }

  /** Everything that is asked is answered alike. */
  async compare(step: number): Promise<void> {
    for (const text of kept) await this.#same(({ ask }) => ask(text), step);
    await this.#same(async ({ store }) => (await store.overview()).items, step);
    const items = (await this.#centrals[0]?.store.overview())?.items ?? [];
    for (const { record, series } of items) {
      const found = await this.#same(
        async ({ store }) => (await store.item(record.typename as "watches", record.itemname))?.key,
        step,
      );
      for (const { series: name } of series)
        if (found !== undefined) await this.#compareSeries(step, name, found);
    }
    for (const gateway of this.#gateways) {
      const through_seq = this.#sent.get(gateway) ?? 0;
      await this.#same(async ({ store }) => {
        const span = { through_seq, from_ms: 0, before_ms: this.#now_ms + day_ms };
        return inDigestOrder(await store.digests({ epoch: gateway.epoch, ...span }));
      }, step);
      await this.#same(({ store }) => historyOf(store, gateway.home), step);
      await this.#same(({ store }) => store.erasurePlan({ home: gateway.home }, this.#now_ms), step);
    }
  }

  async #compareSeries(step: number, series: SeriesName, item: number): Promise<void> {
    const random = this.#random;
    for (let ask = 0; ask < 4; ask += 1) {
      const request = this.#anyRequest(series, item);
      await this.#same(({ store }) => pagesFrom(store, request), step);
      for (const { store } of this.#centrals) {
        const { records, next } = await store.page(request);
        const page = JSON.stringify({ records, next });
        const mark = await store.pageMark(request);
        const encoded = await store.markedPage(request, () => undefined);
        if ("kept" in encoded) throw new Error("nothing was kept");
        expect(new TextDecoder().decode(encoded.page.json)).toBe(JSON.stringify(records));
        expect(encoded.page.next).toEqual(next as never);
        // The number that a link goes on at may be an older one.
        const shown = page.replace(/"through":\d+/, "");
        expect({ step, mark, shown: this.#shown.get(mark) ?? shown }).toEqual({ step, mark, shown });
        this.#shown.set(mark, shown);
      }
    }
    const limit = 1 + below(random, 1_500);
    const from_ms = random() < 0.5 ? 0 : this.#now_ms - below(random, 90 * day_ms);
    const span = {
      from_ms,
      before_ms: random() < 0.5 ? this.#now_ms + 1 : from_ms + below(random, 50 * day_ms),
    };
    await this.#same(
      ({ store }) => arrivalsOf(store, { series, item, span, limit, precision: "ms", provenance: true }),
      step,
    );
    await this.#same(({ store }) => oldestOf(store, { series, item, ...span, limit }), step);
  }

  /** A page that begins at the second of some reading, or at the newest; `through`: as within a walk. */
  #anyRequest(series: SeriesName, item: number): PageRequest {
    const random = this.#random;
    const readings = this.#gateways.flatMap((gateway) => gateway.readings);
    const any = readings[below(random, readings.length)];
    const second_ms = Math.floor((any?.stamp_ms ?? 0) / 1000) * 1000;
    const draw = random();
    const bounds = [
      { before_ms: Number.MAX_SAFE_INTEGER },
      { before_ms: second_ms + 1000 },
      { before_ms: second_ms + 1000, from_ms: second_ms - below(random, 40) * day_ms },
      { before_ms: second_ms + below(random, 40) * day_ms, from_ms: second_ms, oldestFirst: true },
    ][Math.min(3, Math.floor(draw * 4))] as Pick<PageRequest, "before_ms" | "from_ms" | "oldestFirst">;
    const skip = random() < 0.5 ? 0 : below(random, 3_000);
    const precision = random() < 0.5 ? "s" : "ms";
    const through = draw >= 0.25 && random() < 0.5 ? { through: below(random, readings.length) } : {};
    return { series, item, ...bounds, ...through, skip, limit: 1 + below(random, 400), precision };
  }

  /** Asks all centrals, holds their answers to be the same, and answers it. */
  async #same<Answer>(ask: (central: Central) => Promise<Answer>, step?: number): Promise<Answer> {
    const answers: Answer[] = [];
    for (const [place, central] of this.#centrals.entries()) {
      using _sizes = withBlocksOf(place === 0 ? rowsAlone : this.#sizes);
      answers.push(await ask(central));
    }
    const [first, ...others] = answers;
    for (const [place, answer] of others.entries()) {
      const central = ["SQLite", "PostgreSQL"][place];
      if (!Bun.deepEquals(answer, first))
        expect({ step, central, answer }).toEqual({ step, central, answer: first as Answer });
    }
    return first as Answer;
  }
}

/** Pages by their links. */
async function pagesFrom(store: CentralStore, request: PageRequest): Promise<unknown[]> {
  const found: unknown[] = [];
  let next: PageStart | undefined;
  for (let page = 0; page < 3; page += 1) {
    const bound = next === undefined ? {} : boundOf(request, next);
    const answer = await store.page({ ...request, ...bound });
    found.push(answer);
    next = answer.next;
    if (next === undefined) break;
  }
  return found;
}

function boundOf(request: PageRequest, { before_s, skip, through }: PageStart): Partial<PageRequest> {
  const on = { skip, through };
  if (!request.oldestFirst) return { before_ms: before_s * 1000, ...on };
  return { from_ms: (before_s - 1) * 1000, ...on };
}

async function arrivalsOf(
  store: CentralStore,
  request: Parameters<CentralStore["arrivals"]>[0],
): Promise<unknown[]> {
  const found: unknown[] = [];
  let page = await store.arrivals(request);
  for (let pages = 0; pages < pages_max && page !== undefined && page.records.length > 0; pages += 1) {
    found.push(page.records, page.position.stays);
    page = await store.arrivals({ ...request, after: page.position });
  }
  return found;
}

async function oldestOf(
  store: CentralStore,
  request: Parameters<CentralStore["oldestFirst"]>[0],
): Promise<unknown[]> {
  const found: unknown[] = [];
  let read = await store.oldestFirst(request);
  for (let pages = 0; pages < pages_max; pages += 1) {
    found.push(read);
    if (read.next === undefined) break;
    read = await store.oldestFirst({ ...request, after: read.next });
  }
  return found;
}

async function historyOf(store: CentralStore, home: number): Promise<unknown[]> {
  const found: unknown[] = [];
  let after: { seq: number; at: string } | undefined;
  for (;;) {
    const part = await store.history({ home, from_ms: 0, readings_max: 3_000, ...(after && { after }) });
    if (part === undefined) return found;
    // The name of the store is in it.
    const { epoch: _, ...batch } = part.batch;
    found.push(JSON.stringify({ batch, position: part.position }));
    after = part.position;
  }
}

const homes = [11, 12];
/** Tables that are the same whatever is in blocks, but for the homes in them. */
const kept = [
  "SELECT stream, series, total, newest_number, newest_stamp, revision FROM totals ORDER BY stream, series",
  "SELECT stream, series, seq, stamp FROM late ORDER BY stream, series, seq",
];
const events = "wirelesssensor_events";
const steps = nightly ? 18 : 12;
const uploads_first = 4;
const pages_max = 20;
