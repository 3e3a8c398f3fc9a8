import { bleTables } from "../drivers/ble/proofs.ts";
import { bthomeExamples } from "../drivers/bthome/examples.ts";
import { bthomeTables } from "../drivers/bthome/proofs.ts";
import { mqttExamples } from "../drivers/mqtt/examples.ts";
import { mqttTables } from "../drivers/mqtt/proofs.ts";
import { pillboxExamples } from "../drivers/pillbox/examples.ts";
import { pillboxTables } from "../drivers/pillbox/proofs.ts";
import { scaleBroadcastExamples, scaleExamples } from "../drivers/scale/examples.ts";
import { scaleTables } from "../drivers/scale/proofs.ts";
import { vitalsExamples } from "../drivers/vitals/examples.ts";
import { vitalsTables } from "../drivers/vitals/proofs.ts";
import { watchExamples } from "../drivers/watch/examples.ts";
import { watchTables } from "../drivers/watch/proofs.ts";
import type { ExampleSet, ProvenTable } from "../drivers/wire/example.ts";
import { zigbeeExamples } from "../drivers/zigbee/examples.ts";
import { zigbeeTables } from "../drivers/zigbee/proofs.ts";
import type { Clock, Moment } from "../src/base/clock.ts";

/** The examples of every driver that has some: `drivers/…/examples.ts`. */
export const exampleSets: readonly ExampleSet[] = [
  bthomeExamples,
  mqttExamples,
  pillboxExamples,
  scaleExamples,
  scaleBroadcastExamples,
  vitalsExamples,
  watchExamples,
  zigbeeExamples,
];

/** The tables of every driver whose rows are proven: `drivers/…/proofs.ts`. */
export const provenTables: readonly ProvenTable[] = [
  ...bleTables,
  ...bthomeTables,
  ...mqttTables,
  ...pillboxTables,
  ...scaleTables,
  ...vitalsTables,
  ...watchTables,
  ...zigbeeTables,
];

/** A clock on which nothing happens but one moment. */
export function clockAt(moment: Moment): Clock {
  return { boot: "one", now: () => moment, after: () => () => {} };
}
