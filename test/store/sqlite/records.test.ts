import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import type { RecordType } from "../../../src/domain/records/record-table.ts";
import type { Statement } from "../../../src/store/database.ts";
import type { ImportedRecord } from "../../../src/store/inventory/record-store.ts";
import { recordsWith } from "../../../src/store/inventory/records.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { sqliteSpelling } from "../../../src/store/sqlite/sqlite-database.ts";
import { item, keptLog, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

test("what the home records of a home ask of records is found without looking through those of others", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  const store = await openGatewayStore({
    directory: path,
    clock: new SystemClock(),
    log: keptLog().log,
    ...writerOfTests(),
  });
  const numbers = Array.from({ length: 500 }, (_, index) => index + 1);
  const records = numbers.flatMap((number): ImportedRecord[] => [
    { type: "items", record: item(number, { macaddress: null }) },
    { type: "homes", record: { homeid: number } },
    { type: "project_enrollments", record: { subjectid: number, homeid: number } },
    { type: "subject_inventory", record: { subjectid: number, itemid: number } },
    { type: "issues", record: { issueid: number, homeid: number, subjectid: number, itemid: number } },
  ]);
  await store.importRecords([records]);
  await store.close();
  using database = new Database(databaseOf(path));
  database.run("ANALYZE");
  for (const [type, field, index] of asked) {
    const { text } = recordsWith(type, field, [7]).next().value as Statement;
    const plan = database.query(`EXPLAIN QUERY PLAN ${sqliteSpelling(text)}`).values("[7]");
    expect(String(plan[0]?.[3])).toMatch(new RegExp(`^SEARCH \\w+ USING ${index} \\(.*=\\?\\)$`));
  }
});

const asked: readonly (readonly [RecordType, string, index: string])[] = [
  ["items", "currenthomeid", "INDEX items_by_home"],
  ["items", "itemid", "INDEX items_by_itemid"],
  ["homes", "homeid", "PRIMARY KEY"],
  ["project_enrollments", "subjectid", "PRIMARY KEY"],
  ["project_enrollments", "homeid", "INDEX project_enrollments_by_home"],
  ["subject_inventory", "itemid", "INDEX subject_inventory_by_item"],
  ["issues", "homeid", "INDEX issues_by_home"],
  ["issues", "subjectid", "INDEX issues_by_subject"],
  ["issues", "itemid", "INDEX issues_by_item"],
];
