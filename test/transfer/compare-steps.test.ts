import { expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import { type Batch, batch_readings_max } from "../../src/store/batch.ts";
import { TouchedDays } from "../../src/transfer/days.ts";
import type { TransferSource, TransferTarget } from "../../src/transfer/transfer-ends.ts";
import { dayOf, home, hourly, numbersTo, TwoStores } from "./two-stores.ts";

/** Two stores that were the same until `sql` was done to one; all days are to be compared. */
async function changed(whose: "home" | "central", sql: string): Promise<TwoStores> {
  const stores = await TwoStores.open(hourly(1, 50));
  await stores.transfer();
  stores.earlier = { ...stores.earlier, verified_all_ms: 0 };
  stores.change(whose, sql);
  return stores;
}

/** The batch with as many readings as one may have, up to the given number: more may follow. */
function full({ epoch }: { epoch: string }, to_seq: number): Batch {
  const column = new Float64Array(batch_readings_max);
  const columns = { seq: column, device: column, stamp_ms: column, values: [column, column] };
  return {
    ...{ epoch, first_seq: 1, from_seq: 1, to_seq, missing: [], devices: [] },
    series: { wirelesssensor_events: columns },
  };
}

const isFull = ({ series }: Batch) => series.wirelesssensor_events?.seq.length === batch_readings_max;
const nothing = { added: 0, corrected: 0, kept: 0 };

test("a day of more readings than go into a batch is sent again in several, from the last number of each", async () => {
  await using stores = await changed(
    "central",
    "UPDATE wirelesssensor_events SET event = 99 WHERE event = 30",
  );
  const [source, target] = [stores.source(), stores.target()];
  const asked: number[] = [];
  const inTwo: TransferSource["readingsOfDay"] = async (request) => {
    asked.push(request.after_seq);
    return request.after_seq === 0 ? full(request, 4) : source.readingsOfDay({ ...request, after_seq: 0 });
  };
  const repairDay: TransferTarget["repairDay"] = async (request, readings) =>
    isFull(readings) ? nothing : target.repairDay({ ...request, after_seq: 0 }, readings);
  const { compared } = await stores.transfer({ source: { readingsOfDay: inTwo }, target: { repairDay } });
  expect([asked, compared.repaired, await stores.held()]).toEqual([[0, 4], 1, numbersTo(50)]);
});

test("a gateway or a central that gives the same part of a day again and again is not asked without end", async () => {
  await using stores = await changed("home", "DELETE FROM wirelesssensor_events WHERE event = 30");
  const source = stores.source();
  const sent: number[] = [];
  const again: TransferSource["readingsOfDay"] = async (request) => {
    sent.push(request.after_seq);
    return full(request, 4);
  };
  const repairDay: TransferTarget["repairDay"] = async () => ({ ...nothing, kept: 1 });
  const back: number[] = [];
  const readingsOfDay: TransferTarget["readingsOfDay"] = async (request) => {
    back.push(request.after_seq);
    return full(request, 7);
  };
  await stores.transfer({
    source: { readingsOfDay: again, takeBack: async () => 0 },
    target: { repairDay, readingsOfDay },
  });
  expect([sent, back]).toEqual([
    [0, 4],
    [0, 7],
  ]);
  // What comes back in two parts is taken, and the second is asked for after the first.
  stores.earlier = { ...stores.earlier, verified_all_ms: 0 };
  back.length = 0;
  const inTwo: TransferTarget["readingsOfDay"] = async (request) => {
    back.push(request.after_seq);
    return request.after_seq === 0
      ? full(request, 7)
      : stores.central.readingsOfDay({ ...request, after_seq: 0 }, home);
  };
  const takeBack: TransferSource["takeBack"] = async (readings) =>
    isFull(readings) ? 0 : source.takeBack(readings);
  const { compared } = await stores.transfer({ source: { takeBack }, target: { readingsOfDay: inTwo } });
  expect([back, compared.returned]).toEqual([[0, 7], 1]);
});

test("a day that central alone has, and of which the gateway takes nothing, is no day that differs", async () => {
  const second = hourly(1, 50).flatMap((_, index) => (dayOf(index + 1) === dayOf(20) ? [index + 1] : []));
  await using stores = await changed("home", `DELETE FROM wirelesssensor_events WHERE event IN (${second})`);
  const target: Partial<TransferTarget> = {
    readingsOfDay: (request) => stores.central.readingsOfDay(request, home),
  };
  const { compared } = await stores.transfer({ source: { takeBack: async () => 0 }, target });
  expect([compared.differing.size, compared.returned, compared.kept]).toEqual([0, 0, 0]);
});

test("a pruned day of which central has all is sent, and is no day that differs", async () => {
  await using stores = await TwoStores.open(hourly(1, 50));
  await stores.transfer();
  const source = stores.source();
  const report: TransferSource["report"] = async (...asked) => ({
    ...(await source.report(...asked)),
    pruned_before_ms: (dayOf(50) + 1) * day_ms,
  });
  stores.touched = new TouchedDays(0, 100);
  const { compared } = await stores.transfer({ source: { report } });
  expect([compared.differing.size, compared.repaired]).toEqual([0, 0]);
});

test("before each request of a comparison it is looked whether the time is up", async () => {
  await using stores = await changed("home", "DELETE FROM wirelesssensor_events WHERE event = 30");
  stores.change("central", "DELETE FROM wirelesssensor_events WHERE event = 31");
  const source = stores.source();
  const done: string[] = [];
  const told = <Call extends (...given: never[]) => unknown>(name: string, call: Call) =>
    ((...given) => {
      done.push(name);
      return call(...given);
    }) as Call;
  const transfer = (report = source.report.bind(source)) =>
    stores.transfer({
      checkTime: () => done.push("time"),
      source: {
        report,
        batchAfter: told("batch", source.batchAfter.bind(source)),
        digests: told("digests", source.digests.bind(source)),
        readingsOfDay: told("readings", source.readingsOfDay.bind(source)),
      },
      target: { readingsOfDay: told("back", (request) => stores.central.readingsOfDay(request, home)) },
    });
  await transfer();
  expect(new Set(done)).toEqual(new Set(["time", "digests", "readings", "back"]));
  // Days that were pruned, too.
  stores.touched = new TouchedDays(0, 100);
  const pruned_before_ms = (dayOf(50) + 1) * day_ms;
  await transfer(async (...asked) => ({ ...(await source.report(...asked)), pruned_before_ms }));
  const unchecked = done.filter((name, place) => name !== "time" && done[place - 1] !== "time");
  expect(unchecked).toEqual([]);
});
