import { afterAll, afterEach, expect, jest, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Events, Models } from "zigbee-herdsman";
import { findByDevice } from "zigbee-herdsman-converters";
import type { Definition } from "zigbee-herdsman-converters/lib/types";
import { converterTranslator } from "../../../drivers/zigbee/converters.ts";
import { isListed, run } from "../../../drivers/zigbee/definitions.ts";
import { factsOf } from "../../../drivers/zigbee/facts.ts";
import { HerdsmanLog } from "../../../drivers/zigbee/herdsman-log.ts";
import { LastStatuses } from "../../../drivers/zigbee/last-status.ts";
import { Sensors } from "../../../drivers/zigbee/sensors.ts";
import {
  allDefinitions,
  consult,
} from "../../../scripts/trial-programs/with-source/fuzz/converter-oracle.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { keptFacts } from "../../../src/domain/device-facts.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { printOf, StandInDevice } from "../../../testbed/stand-in-device.ts";

const directory = temporaryDirectory();
const host = new RecordingHost({ directory: directory.path });
const moment = { unix_ms: 1_800_000_000_000, monotonic_ms: 5_000_000, quality: clockQuality.synchronised };
afterAll(() => directory.remove());
afterEach(() => jest.useRealTimers());

/** Every such definition is tried here, and all of them by `./scripts/trials fuzz converters`. */
const every = 60;

test("of a sample of definitions, Lintel records what their converters return, and nothing else", async () => {
  const definitions = allDefinitions();
  let agreed = 0;
  for (let index = 0; index < definitions.length; index += every) {
    const definition = definitions[index];
    if (definition === undefined) break;
    const { verdict, difference } = await consult(host, definition, index);
    expect({ index, model: definition.model, verdict, difference }).toMatchObject({ difference: undefined });
    if (verdict === "agrees") agreed += 1;
  }
  expect(agreed).toBeGreaterThan(20);
});

test("the end of a motion that a converter makes up by a timer is not recorded", async () => {
  jest.useFakeTimers();
  const device = new StandInDevice("0x3000000000000001", { modelID: "lumi.sensor_motion.aq2" });
  const definition = await findByDevice(device as never);
  const message = {
    type: "attributeReport",
    cluster: "msOccupancySensing",
    data: { occupancy: 1 },
    device,
    endpoint: device.getEndpoint(1),
    linkquality: 100,
    meta: { zclTransactionSequenceNumber: 1, rawData: Buffer.alloc(0) },
  } as unknown as Events.MessagePayload;
  const herdsmanLog = new HerdsmanLog({ ...host, dropped: () => {} });
  const sensors = new Sensors({ host, statuses: new LastStatuses(host), herdsmanLog });
  await sensors.identify(device as unknown as Models.Device);
  host.readings.length = 0;
  sensors.message(message, moment);
  await sensors.settled();
  // Its converter, asked by somebody who takes what it publishes, does make one up.
  const published: unknown[] = [];
  const asked = new StandInDevice("0x3000000000000002", { modelID: "lumi.sensor_motion.aq2" });
  const copy = { ...message, device: asked, endpoint: asked.getEndpoint(1) };
  const [converter] = definition?.fromZigbee.filter(({ cluster }) => cluster === message.cluster) ?? [];
  const meta = { device: asked, state: {}, deviceExposesChanged: () => {} };
  converter?.convert(
    definition as never,
    copy as never,
    (payload) => published.push(payload),
    {},
    meta as never,
  );
  jest.advanceTimersByTime(600_000);
  await sensors.settled();
  expect(published).toEqual([{ occupancy: false }]);
  expect(host.readings.map(({ values }) => values)).toEqual([{ event: 0b10 }]);
});

test("the facts of a device are those of its definition: that nobody hears the end of its motions, and what it measures", async () => {
  const told = async (ieee: string, modelID: string) => {
    const device = new StandInDevice(ieee, { modelID });
    const herdsmanLog = new HerdsmanLog({ ...host, dropped: () => {} });
    const sensors = new Sensors({ host, statuses: new LastStatuses(host), herdsmanLog });
    const sensor = await sensors.identify(device as unknown as Models.Device);
    return host.facts.get(sensor?.device.address ?? "");
  };
  const source = /^zigbee-herdsman-converters [0-9]+\.[0-9]+\.[0-9]+$/;
  const motion = await told("0x3000000000000003", "lumi.sensor_motion.aq2");
  expect(motion).toMatchObject({
    description: "Motion sensor",
    events: { form: "translated" },
    measures: expect.arrayContaining([{ quantity: "illuminance", unit: "lx" }]),
    never: ["the end of a movement"],
    blind_s: 60,
  });
  const [what, by] = motion?.events?.from.split(", by ") ?? [];
  expect([what, source.test(by ?? "")]).toEqual(["occupancy", true]);
  const climate = await told("0x3000000000000004", "lumi.weather");
  expect(climate?.measures).toEqual([
    { quantity: "temperature", unit: "°C" },
    { quantity: "humidity", unit: "%" },
    { quantity: "pressure", unit: "hPa" },
  ]);
  expect([climate?.events, climate?.never]).toEqual([undefined, undefined]);
  const presence = await told("0x3000000000000005", "SML001");
  expect(presence?.never).toBeUndefined();
});

test("the facts of every definition of a sample can be kept", async () => {
  const definitions = allDefinitions();
  let known = 0;
  for (let index = 0; index < definitions.length; index += every) {
    const device = new StandInDevice("0x02", printOf(definitions[index] ?? ({} as never)));
    const translator = await converterTranslator(
      device as never,
      new HerdsmanLog({ ...host, dropped: () => {} }),
    );
    if (translator === undefined) continue;
    const facts = keptFacts(factsOf(device as never, translator));
    expect([index, facts?.description]).toEqual([index, expect.any(String)]);
    known += 1;
  }
  expect(known).toBeGreaterThan(20);
});

test("whether a model has a definition is told by the index as the library tells it", async () => {
  const definitions = allDefinitions();
  for (let index = 0; index < definitions.length; index += 200) {
    const device = new StandInDevice("0x01", printOf(definitions[index] ?? ({} as never)));
    expect(isListed(device as unknown as Models.Device)).toBe(
      (await findByDevice(device as never)) !== undefined,
    );
  }
  for (const modelID of ["3041 and more", "a sensor of my own", 'quoted"']) {
    const device = new StandInDevice("0x01", { modelID });
    expect(await findByDevice(device as never)).toBeUndefined();
    expect(isListed(device as unknown as Models.Device)).toBe(false);
  }
  // Some have no name, or an empty one.
  const nameless = new StandInDevice("0x01", {});
  expect(isListed(nameless as unknown as Models.Device)).toBe(true);
});

test("definitions that are made on demand are those of the library, in every file of a maker", () => {
  const load = createRequire(import.meta.url);
  const directory = join(dirname(load.resolve("zigbee-herdsman-converters/package.json")), "dist/devices");
  const files = readdirSync(directory).filter((name) => /(?<!^index)\.js$/.test(name));
  expect(files.length).toBeGreaterThan(300);
  let waiting = 0;
  for (const name of files) {
    const made = run(join(directory, name)) as { definitions: Definition[] };
    const whole = load(join(directory, name));
    if (Object.getOwnPropertyDescriptor(made.definitions, 0)?.get !== undefined) waiting += 1;
    expect([name, ...Object.keys(made)].toSorted()).toEqual([name, ...Object.keys(whole)].toSorted());
    expect([name, asText(made.definitions) === asText(whole.definitions)]).toEqual([name, true]);
  }
  // Of the others somebody has asked for the first one above.
  expect(waiting).toBeGreaterThan(300);
});

/** Definitions as text, with each function by how many parameters it has. */
function asText(definitions: readonly Definition[]): string {
  const plain = (_: string, value: unknown) =>
    typeof value === "function"
      ? `of ${value.length}`
      : typeof value === "bigint" || value instanceof RegExp
        ? String(value)
        : value;
  return JSON.stringify(definitions, plain);
}
