import { describe, expect, test } from "bun:test";
import { definitionOf, recordTypes, type StoredRecord } from "../../src/domain/records/record-table.ts";
import type { Visible } from "../../src/domain/records/visible-records.ts";
import type { Binding } from "../../src/domain/token.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { ImportedRecord, LoneType, OwnedType } from "../../src/store/inventory/record-store.ts";
import { visiblePart } from "../../src/store/visible-store.ts";
import { sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { everything, itemOf, markOf, ofHome, recordOf } from "../domain/records/marked-home.ts";
import { events, type MakeCentral } from "./central-sample.ts";

/** Tests of what a bound token may see of the records, for every store of central. */
export function storesAgreeOnSeen(name: string, make: MakeCentral): void {
  describe(`what a bound token sees in ${name}`, () => {
    const lone: readonly LoneType[] = ["homes", "subjects", "projects", "studies", "issues", "consents"];
    const owned = recordTypes.filter((type) => definitionOf(type).owner !== undefined) as OwnedType[];

    test("is every record of its home, and of another home none and nothing", async () => {
      await using made = await make();
      const { store } = made;
      await imported(store, [...everything(12), ...everything(15)]);
      for (const bound of [{ homes: [12] }, { projects: [12] }, { studies: [12] }]) {
        const seen = await store.visible(binding(bound));
        expect(seen).toEqual({ homes: [12], subjects: [12], projects: [12], studies: [12] });
        for (const type of lone) {
          const all: readonly object[] = await store.records(type, seen);
          expect(all).toEqual([ofHome[type](12).record]);
          expect(await store.record(type, 12, seen)).toEqual(all[0] as never);
          expect(await store.record(type, 15, seen)).toBeUndefined();
          expect(await store.record(type, 15)).toBeDefined();
        }
        for (const type of owned) {
          expect(await store.recordsOf(type, 12, seen)).toEqual(await store.recordsOf(type, 12));
          expect(await store.recordsOf(type, 12, seen)).toHaveLength(1);
          expect(await store.recordsOf(type, 15, seen)).toEqual([]);
          expect(await store.recordsOf(type, 15)).toHaveLength(1);
        }
      }
    });

    test("are issues that name nothing else, and somebody or something at all", async () => {
      await using made = await make();
      const { store } = made;
      const issue = (issueid: number, fixed: StoredRecord) => recordOf("issues", 0, { issueid, ...fixed });
      await imported(store, [
        ...[...everything(12), ...everything(15)].filter(({ type }) => type !== "issues"),
        // Item 7 has moved from home 12 to home 15, item 8 lives nowhere.
        itemOf(15, 7, { currenthomestart: 20 }),
        itemOf(0, 8, { currenthomeid: null }),
        recordOf("home_inventory", 12, { homeid: 12, item: 7, start: 10, stop: 20 }),
        recordOf("home_inventory", 15, { homeid: 15, item: 7, start: 20, stop: null }),
        issue(1, { homeid: 12 }),
        issue(2, { homeid: 15 }),
        issue(3, { subjectid: 12 }),
        issue(4, { subjectid: 15 }),
        issue(5, { itemid: 12 }),
        issue(6, { itemid: 15 }),
        issue(7, {}),
        issue(8, { homeid: 12, subjectid: 15 }),
        issue(9, { homeid: 15, subjectid: 12 }),
        issue(10, { homeid: 12, itemid: 15 }),
        issue(11, { homeid: 12, itemid: 7 }),
        issue(12, { itemid: 7 }),
        issue(13, { subjectid: 12, itemid: 8 }),
        issue(14, { itemid: 8 }),
      ]);
      const seenIn = async (home: number) => {
        const seen = await store.visible(binding({ homes: [home] }));
        return (await store.records("issues", seen)).map(({ issueid }) => issueid);
      };
      expect(await seenIn(12)).toEqual([1, 3, 5, 11, 13]);
      expect(await seenIn(15)).toEqual([2, 4, 6]);
    });

    test("of an item that has moved on is its stay, and not where it is", async () => {
      await using made = await make();
      const { store } = made;
      const moved = itemOf(15, 7, { itemname: "hall", currenthomestart: 20 });
      await imported(store, [
        recordOf("homes", 12, { homeid: 12 }),
        recordOf("homes", 15, { homeid: 15 }),
        moved,
        recordOf("home_inventory", 12, { homeid: 12, item: 7, start: 10, stop: 20 }),
        recordOf("home_inventory", 15, { homeid: 15, item: 7, start: 20, stop: null }),
      ]);
      const inventoryOf = async (home: number): Promise<readonly object[]> =>
        store.recordsOf("home_inventory", home, await store.visible(binding({ homes: [home] })));
      expect(await inventoryOf(12)).toMatchObject([
        { start: 10, stop: 20, item: { itemname: "hall", currenthomeid: null, currenthomestart: null } },
      ]);
      expect(await inventoryOf(15)).toMatchObject([{ start: 20, stop: null, item: moved.record }]);
      const window = { skip: 0, limit: 10 };
      for (const [home, currenthomeid] of [
        [12, null],
        [15, 15],
      ] as const) {
        const homes = [home];
        expect(await store.items("wirelesssensors", { ...window, homes })).toMatchObject([{ currenthomeid }]);
        expect((await store.item("wirelesssensors", "hall", homes))?.record).toMatchObject({ currenthomeid });
      }
      expect(await store.items("wirelesssensors", { ...window, homes: [16] })).toEqual([]);
      expect(await store.item("wirelesssensors", "hall", [16])).toBeUndefined();
    });

    test("is an item by its number, whatever name an item has that it does not see", async () => {
      await using made = await make();
      const { store } = made;
      await imported(store, [...everything(12), ...everything(15), itemOf(15, 99, { itemname: "12" })]);
      expect((await store.item("wirelesssensors", "12", [12]))?.record.itemid).toBe(12);
      expect((await store.item("wirelesssensors", "12"))?.record.itemid).toBe(99);
    });

    test("of somebody who has moved is no enrollment, item or alert of the other home", async () => {
      await using made = await make();
      const { store } = made;
      const enrolled = (projectid: number, homeid: number) =>
        recordOf("project_enrollments", homeid, { subjectid: 1, projectid, homeid, start: homeid });
      const held = (itemid: number) =>
        recordOf("subject_inventory", itemid, {
          subjectid: 1,
          itemid,
          start: `2026-01-${String(itemid).padStart(2, "0")}`,
        });
      await imported(store, [
        ...[...everything(12), ...everything(15)].filter(({ type }) => type !== "home_inventory"),
        recordOf("subjects", 0, { subjectid: 1 }),
        itemOf(0, 8, { currenthomeid: null }),
        enrolled(12, 12),
        enrolled(15, 15),
        held(12),
        held(15),
        held(8),
      ]);
      for (const home of [12, 15])
        await store.replaceAlerts(home, [
          { subjectid: 1, alerttypeid: home, alerttypename: null, alertmessage: `battery ${markOf(home)}` },
        ]);
      for (const home of [12, 15]) {
        const seen = await store.visible(binding({ homes: [home] }));
        expect(seen.projects).toEqual([home]);
        const enrollments = await store.recordsOf("project_enrollments", 1, seen);
        expect(enrollments.map(({ projectid }) => projectid)).toEqual([home]);
        const items = await store.recordsOf("subject_inventory", 1, seen);
        expect(items.map(({ itemid }) => itemid)).toEqual([8, home]);
        const alerts = await store.recordsOf("alerts", 1, seen);
        expect(alerts.map(({ alerttypeid }) => alerttypeid)).toEqual([home]);
      }
      expect(await store.recordsOf("alerts", 1)).toHaveLength(2);
    });

    test("is of overviews those of the items in its homes, whatever homes are asked for", async () => {
      await using made = await make();
      const { store } = made;
      await imported(store, [...everything(12), ...everything(15)]);
      const part = visiblePart(store, await store.visible(binding({ homes: [12] })));
      const own = await store.itemOverviews([12]);
      expect(own.map(({ record }) => record.itemid)).toEqual([12]);
      expect(await part.itemOverviews()).toEqual(own);
      expect(await part.itemOverviews([12, 15])).toEqual(own);
      expect(await part.itemOverviews([15])).toEqual([]);
    });

    test("of an item that has moved is in steps what its homes have sent of it, whatever homes are asked for", async () => {
      await using made = await make();
      const { store } = made;
      const at_s = start_ms / 1000 + 10;
      await imported(store, [
        ...[12, 15].map((homeid) => recordOf("homes", homeid, { homeid })),
        itemOf(15, 7, { macaddress: sensor(1).address, currenthomestart: at_s }),
        recordOf("home_inventory", 12, { homeid: 12, item: 7, start: 0, stop: at_s }),
      ]);
      for (const home of [12, 15]) {
        const gateway = new SimulatedGateway(home, `home ${home}`).add(...events(1, 40));
        await store.receive(gateway.all(), gateway.sender);
      }
      const part = visiblePart(store, await store.visible(binding({ homes: [12] })));
      const { key = 0 } = (await store.item("wirelesssensors", "7")) ?? {};
      const span = { from_ms: start_ms, before_ms: start_ms + 40_000, step_ms: 10_000 };
      const request = { series: "wirelesssensor_events", item: key, field: "event", ...span } as const;
      expect([...(await store.downsampled(request)).count]).toEqual([10, 10, 10, 10]);
      expect([...(await part.downsampled(request)).count]).toEqual([10, 0, 0, 0]);
      expect([...(await part.downsampled({ ...request, homes: [12, 15] })).count]).toEqual([10, 0, 0, 0]);
      expect([...(await part.downsampled({ ...request, homes: [15] })).count]).toEqual([0, 0, 0, 0]);
    });

    test("is nothing where it is bound to nothing", async () => {
      await using made = await make();
      const { store } = made;
      await imported(store, everything(12));
      const seen: Visible = await store.visible(binding({}));
      for (const type of lone) expect(await store.records(type, seen)).toEqual([]);
      for (const type of owned) expect(await store.recordsOf(type, 12, seen)).toEqual([]);
    });
  });
}

function binding(bound: Partial<Binding>): Binding {
  return { homes: [], projects: [], studies: [], ...bound };
}

async function imported(store: CentralStore, records: readonly ImportedRecord[]): Promise<void> {
  expect((await store.importRecords([records])).clashes).toEqual([]);
}
