import { expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { namesIn } from "../../src/cli/fault-report/scrub.ts";
import { recordTypes } from "../../src/domain/records/record-table.ts";
import { mintToken } from "../../src/domain/token.ts";
import { openUploadStore } from "../../src/store/sqlite/open-store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../testbed/sqlite/opening.ts";
import { markOf, recordOf } from "../domain/records/marked-home.ts";

/** Types whose records are prose: they are in no log, and have every word there is. */
const prose: readonly string[] = ["comments", "alerts", "issues", "scheduled_contacts", "consents"];
const clock = new SystemClock();

test("a report of a fault knows every name in a store as one: of records, of devices and their rooms, of tokens", async () => {
  using place = temporaryDirectory();
  const store = await openGateway(place.path);
  const expected: string[] = [];
  for (const [at, type] of recordTypes.entries()) {
    if (prose.includes(type)) continue;
    const record = recordOf(type, 40 + at);
    await store.importRecords([[record]]);
    // Some have numbers alone.
    if (JSON.stringify(record).includes(markOf(40 + at))) expected.push(markOf(40 + at));
  }
  expect(expected.length).toBeGreaterThan(10);
  await store.append([sensorEvent(sensor(1), start_ms, 1)]);
  await store.addToken(mintToken({ name: "token of Ann", scope: "read", clock }).token);
  await store.close();
  const beside = await openUploadStore({ directory: place.path, clock, log: keptLog().log });
  const given = { name: "Port Serial", room: "Gate Waterman" };
  await beside.nameItem({ address: sensor(1).address, ...given, given_ms: start_ms });
  await beside.close();
  expect(namesIn(databaseOf(place.path))).toEqual(
    expect.arrayContaining([...expected, "token of Ann", given.name, given.room]),
  );
});
