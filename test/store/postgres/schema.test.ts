import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import postgres from "postgres";
import { seriesNames, seriesOf } from "../../../src/domain/series.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { temporaryCentral } from "./temporary-central.ts";

test("the migrations make the tables that the series table describes", async () => {
  await using central = await temporaryCentral();
  const sql = postgres(central.url, { max: 1 });
  for (const series of seriesNames) {
    const found = await sql`
      SELECT attname, atttypid::regtype::text AS type, attnotnull FROM pg_attribute
      WHERE attrelid = ${series}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`.values();
    const fields = Object.entries(seriesOf(series).fields).map(([name, { sql, schema }]) => [
      name,
      typeOf[sql],
      !Value.Check(schema, null),
    ]);
    const clock = [
      ["device_ms", "bigint", false],
      ["offset_ms", "bigint", false],
    ];
    expect({ series, columns: [...found] }).toEqual({
      series,
      columns: [
        ...["stream", "stamp", "seq", "home"].map((name) => [name, "bigint", true]),
        ...fields,
        ["clock", "smallint", true],
        ...(seriesOf(series).deviceClock === true ? clock : []),
      ],
    });
    const [key] = await sql`
      SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
      WHERE conrelid = ${series}::regclass AND contype = 'p'`;
    expect(key?.["text"]).toBe("PRIMARY KEY (stream, stamp, seq, home)");
  }
  await sql.end();
});

test("readings of whatever time a clock says are served in its order", async () => {
  await using central = await temporaryCentral();
  const gateway = new SimulatedGateway(12, "one");
  const stamps_ms = [
    0,
    Date.UTC(1999, 11, 31),
    Date.UTC(2025, 11, 31, 23, 59, 59, 999),
    Date.UTC(2026, 0, 1),
    start_ms,
    Date.UTC(2027, 5, 1),
    Date.UTC(2100, 0, 1),
    Date.UTC(9999, 0, 1),
    2 ** 53 - 1,
  ];
  for (const stamp_ms of stamps_ms) {
    gateway.add({ device: sensor(1), series: "wirelesssensor_events", stamp_ms, fields: [stamp_ms % 7] });
  }
  await central.store.receive(gateway.all(), gateway.sender);
  const page = await central.store.page({
    series: "wirelesssensor_events",
    item: 1,
    before_ms: Number.MAX_SAFE_INTEGER,
    skip: 0,
    limit: 100,
    precision: "ms",
  });
  expect(page.records.map(({ stamp }) => stamp)).toEqual(stamps_ms.slice(0, -1).reverse());
});

const typeOf = { INTEGER: "bigint", REAL: "double precision", TEXT: "text" };
