import { expect, test } from "bun:test";
import type { StoredRecord } from "../../src/domain/records/record-table.ts";
import { readingsIn } from "../../src/store/batch.ts";
import {
  backup_bytes_max,
  backups_max,
  type HistoryPosition,
} from "../../src/store/central/central-store.ts";
import { plainOf } from "../../testbed/plain-batch.ts";
import { item, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { all, events, eventsOf, keyOf, type MakeCentral, numbers, stay, take } from "./central-sample.ts";

/** Tests of central with several homes. */
export function homesDiffer(make: MakeCentral): void {
  test("send in turn, and each item has its own readings in their order", async () => {
    await using made = await make();
    const { store } = made;
    const gateways = [1, 2, 3].map((home) => new SimulatedGateway(home, `home ${home}`));
    for (const gateway of gateways) gateway.add(...events(gateway.home, 60));
    for (let from = 1; from <= 60; from += 7) {
      for (const gateway of gateways)
        await store.receive(gateway.batch(from, Math.min(60, from + 6)), gateway.sender);
    }
    for (const { home } of gateways) {
      const name = `wirelesssensor-${sensor(home).address.replaceAll(":", "")}`;
      expect(await eventsOf(store, await keyOf(store, name))).toEqual(numbers(60));
      expect((await store.itemsIn(home)).map(({ itemname }) => itemname)).toEqual([name]);
    }
    expect(await store.held(gateways.map(({ epoch }) => epoch))).toMatchObject([
      { home: 1, held_seq: 60 },
      { home: 2, held_seq: 60 },
      { home: 3, held_seq: 60 },
    ]);
  });

  test("hear devices of one address, and each has its own until the inventory says whose it is", async () => {
    await using made = await make();
    const { store } = made;
    const here = new SimulatedGateway(4, "here").add(...events(1, 10));
    const there = new SimulatedGateway(5, "there").add(...events(1, 10, 10));
    await store.receive(there.all(), there.sender);
    await store.receive(here.all(), here.sender);
    const [own] = await store.itemsIn(4);
    const [others] = await store.itemsIn(5);
    expect(await eventsOf(store, await keyOf(store, own?.itemname ?? ""))).toEqual(numbers(10));
    expect(await eventsOf(store, await keyOf(store, others?.itemname ?? ""))).toEqual(
      numbers(20).slice(0, 10),
    );
    await take(store, item(1, { currenthomeid: 5 }));
    const [item1] = await store.itemsIn(5);
    expect([await store.itemsIn(4), item1?.itemid]).toEqual([[], 1]);
    const key = await keyOf(store, "item-1");
    expect(await eventsOf(store, key)).toEqual(numbers(20).slice(0, 10));
    expect(await store.unplaced()).toMatchObject([{ home: 4, record: { itemid: 1 }, readings: 10 }]);
    // It was there first, and moved.
    const moved_s = Math.floor(start_ms / 1000) + 10;
    await stay(
      store,
      { homeid: 4, item: 1, start: null, stop: moved_s },
      { homeid: 5, item: 1, start: moved_s, stop: null },
    );
    expect(await eventsOf(store, key)).toEqual(numbers(20));
    const page = { ...all, item: key };
    expect((await store.page({ ...page, homes: [4] })).records.map(({ event }) => event)).toEqual(
      numbers(10),
    );
    expect((await store.page({ ...page, homes: [6] })).records).toEqual([]);
    expect(await store.unplaced()).toEqual([]);
    const { items } = await store.overview();
    expect(items.map(({ series }) => series)).toMatchObject([[{ count: 20, newest_ms: start_ms + 19_000 }]]);
    expect([await idsOf(4), await idsOf(5), await idsOf(6)]).toEqual([[1], [1], []]);
    async function idsOf(home: number) {
      return (await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [home] })).map(
        ({ itemid }) => itemid,
      );
    }
  });

  test("that guess numbers and addresses of another's items get nothing of them, and give them nothing", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1, { currenthomeid: 5 }), item(2, { currenthomeid: 5 }));
    const there = new SimulatedGateway(5, "there").add(...events(1, 3), ...events(2, 3));
    await store.receive(there.all(), there.sender);
    const numbered = { kind: "wirelesssensors", address: "", itemid: 2 } as const;
    const liar = new SimulatedGateway(4, "liar").add(...events(1, 2, 50), ...events(2, 2, 60, numbered));
    await store.receive(liar.all(), liar.sender);
    const gap = { from_ms: 0, to_ms: start_ms * 2, reason: "missed_window" } as const;
    const states = [0, 1].map((device) => ({ device, first_ms: 1, heard_ms: start_ms * 2 }));
    const before = await store.coverage({
      item: await keyOf(store, "item-1"),
      before_ms: start_ms * 3,
      skip: 0,
      limit: 9,
    });
    await store.noteReport(
      liar.report({
        devices: [sensor(1), numbered],
        states,
        to_note: 1,
        gaps: [0, 1].map((device) => ({ device, ...gap })),
      }),
      liar.sender,
    );
    for (const number of [1, 2]) {
      const key = await keyOf(store, `item-${number}`);
      expect(await eventsOf(store, key)).toEqual(numbers(3));
      expect(await store.coverage({ item: key, before_ms: start_ms * 3, skip: 0, limit: 9 })).toEqual(before);
    }
    expect(await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [4] })).toEqual([]);
    const told = (await store.history({ home: 4, from_ms: 0, readings_max: 100 }))?.batch.devices;
    expect(told).toEqual([
      { kind: "wirelesssensors", address: sensor(1).address },
      { kind: "wirelesssensors", address: "", itemid: 2 },
    ]);
    const digests = await store.digests({
      epoch: liar.epoch,
      through_seq: 9,
      from_ms: 0,
      before_ms: start_ms * 2,
    });
    expect(digests.map(({ address, itemid }) => [address, itemid])).toEqual([
      [sensor(1).address, undefined],
      ["", 2],
    ]);
    const { items } = await store.overview();
    expect(items).toMatchObject([
      { record: { itemid: 1 }, gaps: 0, series: [{ count: 3 }] },
      { record: { itemid: 2 }, gaps: 0, series: [{ count: 3 }] },
    ]);
  });

  test("have an item that the inventory puts nowhere where it was heard first", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1));
    const first = new SimulatedGateway(4, "first").add(...events(1, 3));
    const second = new SimulatedGateway(5, "second").add(...events(1, 3, 3));
    await store.receive(first.all(), first.sender);
    await store.receive(second.all(), second.sender);
    expect(await eventsOf(store, await keyOf(store, "item-1"))).toEqual(numbers(3));
    await take(store, item(1));
    expect(await eventsOf(store, await keyOf(store, "item-1"))).toEqual(numbers(3));
    // It was heard there before it was written down.
    await take(store, item(1, { currenthomeid: 5, currenthomestart: start_ms / 1000 + 1_000 }));
    expect(await eventsOf(store, await keyOf(store, "item-1"))).toEqual([6, 5, 4]);
  });

  test("that an item lived in are walked in order of arrival, one after the other, the latest first", async () => {
    await using made = await make();
    const { store } = made;
    const moved_s = Math.floor(start_ms / 1000) + 50;
    await take(store, item(1));
    await stay(
      store,
      { homeid: 2, item: 1, start: null, stop: moved_s },
      { homeid: 1, item: 1, start: moved_s, stop: null },
    );
    const walk = {
      ...all,
      item: await keyOf(store, "item-1"),
      span: { from_ms: 0, before_ms: all.before_ms },
      limit: 7,
    };
    // What either hears at the other's time is not the item's.
    const before = new SimulatedGateway(2, "before").add(...events(1, 70));
    const after = new SimulatedGateway(1, "after").add(...events(1, 80, 30));
    await store.receive(before.batch(1, 25), before.sender);
    await store.receive(after.batch(1, 50), after.sender);
    const seen: unknown[] = [];
    let page = await store.arrivals(walk);
    for (let pages = 0; page !== undefined && page.records.length > 0 && pages < 50; pages += 1) {
      seen.push(...page.records.map(({ event }) => event));
      if (pages === 2) await store.receive(before.batch(26, 70), before.sender);
      if (pages === 9) await store.receive(after.batch(51, 80), after.sender);
      page = await store.arrivals({ ...walk, after: page.position });
    }
    expect(seen.toSorted((one, other) => Number(one) - Number(other))).toEqual(numbers(110).reverse());
    expect(seen.slice(0, 30)).toEqual(numbers(80).reverse().slice(50));
    const told = await store.arrivals({ ...walk, limit: 200, provenance: true });
    expect(told?.records.map(({ homeid }) => homeid)).toEqual([
      ...numbers(60).fill(1),
      ...numbers(50).fill(2),
    ]);
    // A page that ends where a stay does goes on with the stay before.
    const whole = await store.page({ ...walk, limit: 60 });
    expect(whole.next).toEqual({ before_s: moved_s + 1, skip: 1, through: expect.any(Number) });
    // So does one that passes over the whole stay, with or without the last reading of the second that it begins in.
    for (const [through, skip] of [
      [80, 60],
      [79, 59],
    ] as const) {
      const further = { ...walk, before_ms: start_ms + 110_000, through, skip, limit: 1 };
      expect((await store.page(further)).records.map(({ event }) => event)).toEqual([50]);
    }
    const [sooner, later] = [75, 90].map((end) => ({ ...walk, before_ms: start_ms + end * 1000 }));
    expect(await store.pageMark(sooner as typeof walk)).not.toBe(await store.pageMark(later as typeof walk));
    // In parts that end within a stay, and with the very first reading of one.
    for (const limit of [60, 51]) {
      const oldest = await store.oldestFirst({ ...walk, from_ms: 0, limit });
      const rest = await store.oldestFirst({ ...walk, from_ms: 0, limit: 60, after: oldest.next });
      expect(oldest.rows).toHaveLength(limit);
      expect(oldest.rows[0]).toEqual([start_ms, 1]);
      expect([...oldest.rows, ...rest.rows].map(([, event]) => event)).toEqual(numbers(110).reverse());
    }
    // A position holds no longer once the inventory says otherwise, and a page has another mark.
    const mark = await store.pageMark(walk);
    await stay(store, { homeid: 2, item: 1, start: null, stop: moved_s - 5 });
    expect(await store.pageMark(walk)).not.toBe(mark);
    expect(page && (await store.arrivals({ ...walk, after: page.position }))).toBeUndefined();
  });

  test("have the history of what they have sent themselves, old to new", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1, { currenthomeid: 5 }), item(2, { currenthomeid: 4 }));
    const here = new SimulatedGateway(4, "here").add(...events(1, 400), ...events(2, 10));
    const scale = { ...sensor(9, { model: "HS-2" }), kind: "scales" } as const;
    const there = new SimulatedGateway(5, "there").add(
      ...events(1, 500),
      ...events(1, 5),
      ...events(2, 100, 100),
      {
        device: scale,
        series: "scale_heart",
        stamp_ms: start_ms + 250_500,
        fields: [61],
        device_ms: 9,
      },
    );
    await store.receive(here.all(), here.sender);
    await store.receive(there.all(), there.sender);
    const from_ms = start_ms + 100_000;
    const seen: { seq: number; stamp_ms: number; value: unknown; device: unknown }[] = [];
    let after: HistoryPosition | undefined;
    for (let call = 0; call < 50; call += 1) {
      const given = after === undefined ? {} : { after };
      const next = await store.history({ home: 5, from_ms, readings_max: 64, ...given });
      if (next === undefined) break;
      const { batch, position } = next;
      expect(batch).toMatchObject({ from_seq: (after?.seq ?? 0) + 1, to_seq: position.seq, first_seq: 1 });
      expect(readingsIn(batch)).toBe(batch.to_seq - batch.from_seq + 1);
      expect(readingsIn(batch)).toBeLessThanOrEqual(64);
      for (const { seq, stamp_ms, device, values } of Object.values(batch.series)) {
        for (const [index, number] of seq.entries()) {
          const of = batch.devices[device[index] ?? -1];
          seen.push({ seq: number, stamp_ms: stamp_ms[index] ?? 0, value: values[0]?.[index], device: of });
        }
      }
      after = position;
    }
    seen.sort((one, other) => one.seq - other.seq);
    expect(seen.map(({ seq }) => seq)).toEqual(numbers(501).reverse());
    const stamps = seen.map(({ stamp_ms }) => stamp_ms);
    expect(stamps).toEqual(stamps.toSorted((one, other) => one - other));
    expect(stamps[0]).toBe(from_ms);
    // In the order in which they are served, so that a restored box serves the same pages.
    const events1 = seen.filter(({ device }) => (device as { itemid?: number }).itemid === 1);
    const page = await store.page({ ...all, item: await keyOf(store, "item-1"), precision: "ms" });
    const served = page.records.toReversed().filter(({ stamp }) => stamp >= from_ms);
    expect(events1.map(({ stamp_ms, value }) => [stamp_ms, value])).toEqual(
      served.map(({ stamp, event }) => [stamp, event]) as never,
    );
    const hearts = seen.filter(({ device }) => (device as { kind: string }).kind === "scales");
    expect(hearts).toMatchObject([{ value: 61, device: { address: sensor(9).address, model: "HS-2" } }]);
    // Of an item that lives elsewhere they are told no more than they have said.
    expect(seen.filter(({ device }) => Bun.deepEquals(device, sensor(2)))).toHaveLength(100);
    expect(await store.history({ home: 77, from_ms, readings_max: 64 })).toBeUndefined();
  });

  test("have their history in the order of arrival within a millisecond, however much of it is of one item", async () => {
    await using made = await make();
    const { store } = made;
    const gateway = new SimulatedGateway(4, "one").add(...events(1, 1_500));
    const at = (number: number, event: number) => {
      return { ...events(number, 1, 1_500)[0], fields: [event] } as ReturnType<typeof events>[0];
    };
    gateway.add(at(2, 1_501), at(1, 1_502), at(3, 1_503), at(1, 1_504), at(2, 1_505));
    await store.receive(gateway.all(), gateway.sender);
    const history = await store.history({ home: 4, from_ms: 0, readings_max: 1_503 });
    const columns = history?.batch.series.wirelesssensor_events;
    expect([...(columns?.values[0] ?? [])].toReversed()).toEqual(numbers(1_503));
    const after = history?.position ?? { seq: 0, at: "" };
    const rest = await store.history({ home: 4, from_ms: 0, readings_max: 1_503, after });
    expect(rest && plainOf(rest.batch).series.wirelesssensor_events).toMatchObject({
      seq: [1_504, 1_505],
      fields: [[1_504, 1_505]],
    });
  });

  test("have alerts that are replaced together, beside those that were imported", async () => {
    await using made = await make();
    const { store } = made;
    const alert = (subjectid: number, alertmessage: string) => {
      return { subjectid, alerttypeid: 1, alerttypename: "sensor", alertmessage };
    };
    const imported: StoredRecord[] = [alert(7, "imported"), alert(7, "known twice")];
    await store.importRecords([imported.map((record) => ({ type: "alerts" as const, record }))]);
    await store.replaceAlerts(4, [alert(7, "silent"), alert(8, "battery"), alert(7, "known twice")]);
    await store.replaceAlerts(5, [alert(7, "of another home"), alert(7, "silent")]);
    const of = async (subject: number) =>
      (await store.recordsOf("alerts", subject)).map(({ alertmessage }) => alertmessage);
    expect(await of(7)).toEqual(["imported", "known twice", "of another home", "silent"]);
    await store.replaceAlerts(4, [alert(8, "battery"), alert(8, "disk")]);
    expect(await of(7)).toEqual(["imported", "known twice", "of another home", "silent"]);
    expect(await of(8)).toEqual(["battery", "disk"]);
    await store.replaceAlerts(5, []);
    expect(await of(7)).toEqual(["imported", "known twice"]);
  });

  test("have files under names, each as it was put last", async () => {
    await using made = await make();
    const { store } = made;
    await store.putBackup(4, "zigbee.json", new Uint8Array([1, 0, 255]));
    await store.putBackup(4, "other", new Uint8Array([2]));
    await store.putBackup(5, "zigbee.json", new Uint8Array([3]));
    await store.putBackup(4, "zigbee.json", new Uint8Array([4, 0]));
    expect(await store.backups(4)).toEqual(
      new Map([
        ["other", new Uint8Array([2])],
        ["zigbee.json", new Uint8Array([4, 0])],
      ]),
    );
    expect(await store.backups(6)).toEqual(new Map());
    const large = await store.putBackup(4, "large", new Uint8Array(backup_bytes_max + 1)).catch(String);
    expect(large).toContain("large");
    for (let file = 2; file < backups_max; file += 1)
      await store.putBackup(4, `file ${file}`, new Uint8Array(1));
    expect(await store.putBackup(4, "one more", new Uint8Array(1)).catch(String)).toContain("one more");
    await store.putBackup(4, "other", new Uint8Array([9]));
    await store.putBackup(4, "file 2", new Uint8Array(backup_bytes_max));
    const inAll = store.putBackup(4, "file 3", new Uint8Array(backup_bytes_max));
    expect(await inAll.catch(String)).toContain("file 3");
    expect((await store.backups(4)).size).toBe(backups_max);
  });
}
