import { expect, test } from "bun:test";
import type { StoredRecord } from "../../src/records/record-table.ts";
import { readingsIn } from "../../src/store/batch.ts";
import { backup_bytes_max, backups_max, type HistoryPosition } from "../../src/store/central-store.ts";
import { all, events, eventsOf, keyOf, type MakeCentral, numbers, take } from "./central-sample.ts";
import { plainOf } from "./plain-batch.ts";
import { item, sensor, start_ms } from "./sample.ts";
import { SimulatedGateway } from "./simulated-gateway.ts";

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

  test("of two that heard an item, it has the readings of both, and each knows that it has heard it", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(2), item(1, { currenthomeid: 5 }), item(3));
    const here = new SimulatedGateway(4, "here").add(...events(1, 10), ...events(7, 1));
    const there = new SimulatedGateway(5, "there").add(...events(1, 10, 10), ...events(3, 1));
    await store.receive(there.all(), there.sender);
    await store.receive(here.all(), here.sender);
    expect(await eventsOf(store, await keyOf(store, "item-1"))).toEqual(numbers(20));
    const heard = async (home: number) => (await store.itemsOfHome(home)).map(({ itemid }) => itemid);
    expect([await heard(4), await heard(5), await heard(6)]).toEqual([[1], [1, 3], []]);
    await take(store, item(70, { macaddress: sensor(7).address }));
    expect(await heard(4)).toEqual([1, 70]);
  });

  test("tell of one millisecond in the order of arrival", async () => {
    await using made = await make();
    const { store } = made;
    const gateways = [1, 2].map((home) => new SimulatedGateway(home, `home ${home}`));
    const at = (event: number) => ({ ...events(1, 1)[0], fields: [event] }) as ReturnType<typeof events>[0];
    gateways[0]?.add(at(1), at(2), at(6));
    gateways[1]?.add(at(3), at(4), at(5));
    const [one, other] = gateways as [SimulatedGateway, SimulatedGateway];
    await store.receive(one.batch(1, 2), one.sender);
    await store.receive(other.all(), other.sender);
    await store.receive(one.batch(3, 3), one.sender);
    expect(await eventsOf(store, 1)).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test("that heard one item have its readings in order of arrival, whichever was heard first", async () => {
    await using made = await make();
    const { store } = made;
    const walk = { ...all, item: 1, span: { from_ms: 0, before_ms: all.before_ms }, limit: 7 };
    const later = new SimulatedGateway(2, "later").add(...events(1, 30, 20));
    const sooner = new SimulatedGateway(1, "sooner").add(...events(1, 20), ...events(1, 30, 50));
    await store.receive(later.batch(1, 25), later.sender);
    await store.receive(sooner.batch(1, 30), sooner.sender);
    const seen: unknown[] = [];
    let page = await store.arrivals(walk);
    for (let pages = 0; page !== undefined && page.records.length > 0 && pages < 50; pages += 1) {
      seen.push(...page.records.map(({ event }) => event));
      if (pages === 2) await store.receive(later.batch(26, 30), later.sender);
      if (pages === 4) await store.receive(sooner.batch(31, 50), sooner.sender);
      page = await store.arrivals({ ...walk, after: page.position });
    }
    const [first, second] = [numbers(80).reverse().slice(20, 50), numbers(80).reverse()];
    expect(seen).toEqual([
      ...[...first.slice(0, 25), ...second.slice(0, 20), ...second.slice(50, 60)],
      ...[...first.slice(25), ...second.slice(60)],
    ]);
  });

  test("have the history of what is in them now, old to new, whoever heard it", async () => {
    await using made = await make();
    const { store } = made;
    await take(store, item(1, { currenthomeid: 5 }), item(2, { currenthomeid: 4 }));
    const here = new SimulatedGateway(4, "here").add(...events(1, 400), ...events(2, 10), ...events(1, 5));
    const scale = { ...sensor(9, { model: "HS-2" }), kind: "scales" } as const;
    const there = new SimulatedGateway(5, "there").add(...events(1, 300, 200), {
      device: scale,
      series: "scale_heart",
      stamp_ms: start_ms + 250_500,
      fields: [61],
      device_ms: 9,
    });
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
    expect(seen.map(({ seq }) => seq)).toEqual(numbers(601).reverse());
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
    expect((await store.backups(4)).size).toBe(backups_max);
  });
}
