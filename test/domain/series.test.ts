import { expect, test } from "bun:test";
import { type TSchema, TypeGuard } from "@sinclair/typebox";
import { type SeriesName, seriesNames, seriesOf } from "../../src/domain/series.ts";
import { seriesRecord } from "../../src/web/api/series-endpoint.ts";

/**
 * The records of every series as the interface documents them: names, types and order, `stamp` first. `|null`
 * marks what may be null; every field is always there. Written out by hand: the series table must match it.
 */
const documented: Readonly<Record<SeriesName, string>> = {
  pillbox_status: `stamp number, devicestamp number, voltage number, powersource external_power|battery,
    eventcount number, batteryseconds string, firmwarerevsion string, macaddress string, nextpanicstart number,
    nextpanicstop number`,
  pillbox_events: "stamp number, event number",
  wirelesssensor_events: "stamp number, event number",
  wirelesssensor_measures: "stamp number, quantity string, value number, unit string",
  scale_weights: `stamp number, weight number, fatMass number|null, waterMass number|null, boneMass number|null,
    muscleMass number|null, batteryLevel number|null`,
  scale_heart: "stamp number, heartRate number",
  watch_epochs: `stamp number, duration number, distance number, steps number, walkState number, runState number,
    sleepState number`,
};

/** The fields behind those that are there where `provenance` and `numbered` ask for them. */
const asked = [
  "homeid number|null",
  "clock synchronised|unsynchronised|corrected|bounded|device|device_unmeasured",
  "epoch string",
  "number number",
];

/** Where each is served, and since which version. */
const routes: Readonly<Record<SeriesName, string>> = {
  pillbox_status: "0.1 /items/pillboxes/{itemname}/status",
  pillbox_events: "0.8 /items/pillboxes/{itemname}/events",
  wirelesssensor_events: "0.2 /items/wirelesssensors/{itemname}/events",
  wirelesssensor_measures: "0.9 /items/wirelesssensors/{itemname}/measures",
  scale_weights: "0.8 /items/scales/{itemname}/weights",
  scale_heart: "0.8 /items/scales/{itemname}/heart",
  watch_epochs: "0.8 /items/watches/{itemname}/epochs",
};

test.each(seriesNames)(
  "%s has the documented fields, types and order, all of them always there",
  (series) => {
    const record = seriesRecord(seriesOf(series));
    const fields = Object.entries(record.properties).map(([name, schema]) => `${name} ${typeText(schema)}`);
    const always = documented[series].split(/,\s+/);
    expect(fields).toEqual([...always, ...asked]);
    expect(record.required).toEqual(Object.keys(record.properties).slice(0, always.length));
  },
);

test("every series has the documented route and the version that introduced it, and there is no other", () => {
  const made = seriesNames.map((series) => {
    const { since, kind, path } = seriesOf(series);
    return [series, `${since} /items/${kind}/{itemname}/${path}`];
  });
  expect(Object.fromEntries(made)).toEqual(routes);
});

function typeText(schema: TSchema): string {
  if (TypeGuard.IsUnion(schema)) return schema.anyOf.map(typeText).join("|");
  if (TypeGuard.IsLiteral(schema)) return String(schema.const);
  return schema["type"] === "integer" ? "number" : String(schema["type"]);
}
